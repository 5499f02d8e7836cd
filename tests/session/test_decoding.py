import pytest

from citestream import DecodeError, SessionEventType
from citestream.session.decoding import decoded, decoded_leniently

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
