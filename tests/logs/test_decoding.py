import pytest

from citestream import DecodeError, SessionEventType
from citestream.logs.decoding import decoded, decoded_in_part, decoded_leniently

GOOD = {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": "abort", "data": {}}
TOOL = GOOD | {"type": "tool.execution_complete"}
BAD_SOURCE = {"id": 1, "content": "x"}


def test_events_and_mappings_are_read():
    event = decoded(GOOD)
    assert event.type is SessionEventType.ABORT
    assert decoded(event) is event
    with pytest.raises(DecodeError, match=r"^\$: expected an event or a mapping, got 1$"):
        decoded(1)


def test_without_skip_it_raises():
    assert decoded_leniently(GOOD, skip=False)[1] is None
    with pytest.raises(DecodeError):
        decoded_leniently({"id": 1}, skip=False)


@pytest.mark.parametrize("event", [{"id": 1}, 5, GOOD | {"type": 1}], ids=str)
def test_what_is_no_event_gives_a_warning(event):
    read, warning = decoded_leniently(event, skip=True)
    assert read is None
    assert warning.data.message.startswith("an event was skipped: ")
    assert set(warning.data.extra) == {"path", "expected", "got"}


def test_one_citable_source_never_costs_another():
    data = {
        "toolCallId": "c",
        "success": True,
        "result": {"content": "", "citableSources": [BAD_SOURCE, {"id": "a", "content": "b"}]},
    }
    read, warning = decoded_leniently(TOOL | {"data": data}, skip=True)
    assert [one.id for one in read.data.result.citable_sources] == ["a"]
    assert warning.data.message.startswith("part of an event was skipped: ")


def test_citations_never_cost_a_message_its_text():
    data = {"messageId": "m", "content": "Text.", "citations": {"sources": 1, "spans": []}}
    read, warning = decoded_leniently(GOOD | {"type": "assistant.message", "data": data}, skip=True)
    assert (read.data.content, read.data.citations) == ("Text.", None)
    assert warning is not None


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({}, []),
        ({"ephemeral": "yes", "parentId": 5}, ["$.parentId", "$.ephemeral"]),
        ({"data": {"reason": 5}}, ["$.data.reason"]),
        (
            {
                "type": "tool.execution_complete",
                "data": {"toolCallId": "c", "result": {"content": 1}},
            },
            ["$.data.success"],
        ),
    ],
)
def test_fields_are_left_out_where_asked(changes, paths):
    read, problems = decoded_in_part(GOOD | changes, fields=True)
    assert [one.path for one in problems][: len(paths)] == paths
    assert (read is None) is (paths == ["$.data.success"])


def test_what_lacks_what_it_needs_is_left_out_whole():
    data = {"toolCallId": "c", "success": True, "result": {"content": 1}, "error": "x"}
    read, problems = decoded_in_part(TOOL | {"data": data}, fields=True)
    assert [one.path for one in problems] == ["$.data.result.content"] * 2
    assert (read.data.result, read.data.error) == (None, "x")


@pytest.mark.parametrize("key", ["id", "timestamp", "type", "agentId", "data"])
def test_without_its_envelope_or_speaker_an_event_is_none(key):
    event = TOOL | {"data": {"toolCallId": "c", "success": True}, key: 5}
    read, problems = decoded_in_part(event, fields=True)
    assert read is None
    assert [one.path for one in problems] == [f"$.{key}"]


def test_fields_stay_where_not_asked():
    assert decoded_in_part(GOOD | {"parentId": 5}, fields=False)[0] is None


def test_every_bad_source_is_told():
    good = {"id": "a", "content": "b"}
    sources = [BAD_SOURCE, good, 7, good | {"title": 1}, good]
    data = {
        "toolCallId": "c",
        "success": True,
        "result": {"content": "", "citableSources": sources},
    }
    read, problems = decoded_in_part(TOOL | {"data": data}, fields=False)
    assert len(read.data.result.citable_sources) == 2
    assert [one.path for one in problems] == [
        "$.data.result.citableSources[0].id",
        "$.data.result.citableSources[2]",
        "$.data.result.citableSources[3].title",
    ]
    assert data["result"]["citableSources"] is sources
    assert len(sources) == 5
