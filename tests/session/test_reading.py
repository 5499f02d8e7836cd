import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitationOptions, DecodeError, SourceRegistry, format_marker, wire
from citestream.session.reading import SOURCES, Reading, sources_event
from citestream.sources import Granularity, from_text
from citestream.sources.registered import Registration
from citestream.sources.registrations import dump_registrations
from citestream.store import StoredEvent

LOGS = sorted((Path(__file__).parents[1] / "data" / "copilot").glob("*.jsonl"))
MARK = format_marker("rules", locator="L1")
RULES = Registration(
    document=from_text("Meals are paid."), kind="file", granularity=Granularity.LINE, alias="rules"
)


def reading(*, cite=True):
    return Reading(CitationOptions(), sources=SourceRegistry(), enable_citations=cite)


def event(kind, number=0, **data):
    return wire.decode_event(
        {"id": f"e{number}", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    )


def delta(text, number=0, message="m"):
    return event("assistant.message_delta", number, messageId=message, deltaContent=text)


def message(text, message="m", **data):
    return event("assistant.message", 9, messageId=message, content=text, **data)


def visible(events):
    return "".join(getattr(one.data, "delta_content", "") for one in events)


def test_what_was_registered_is_registered_again_and_not_given_out():
    read = reading()
    files = {"turn0file0": {"data": "", "mimeType": "application/pdf"}}
    assert read.process(sources_event(dump_registrations([None, RULES]), files)) == []
    assert read.sources.get("rules").id == "turn0file0"
    assert read.files == files
    (given,) = read.process(message(f"Yes.{MARK}"))
    assert given.data.citations.spans[0].references[0].cited_text == "Meals are paid."


@pytest.mark.parametrize("raw", [None, 1, {}, {"registrations": 1}, {"registrations": [1]}])
def test_damaged_registrations_raise(raw):
    damaged = wire.decode_event(
        {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": SOURCES, "data": raw}
    )
    with pytest.raises(DecodeError, match=r"\$\.data\.registrations"):
        reading().process(damaged)


def test_ids_count_tool_calls_whether_they_are_cited_or_not():
    result = {"content": "", "citableSources": [{"id": "a", "content": "b"}]}
    tool = event("tool.execution_complete", toolCallId="c", success=True, result=result)
    on, off = reading(), reading(cite=False)
    assert on.process(tool) == off.process(tool) == [tool]
    assert on.sources.ids == off.sources.ids == ("turn0file0", "a")


def test_without_citations_events_pass_but_for_citations():
    read = reading(cite=False)
    plain = message(f"Yes.{MARK}")
    assert read.process(plain) == [plain]
    cited = message("Yes.", citations={"sources": [], "spans": []})
    (given,) = read.process(cited)
    assert given.data.citations is None


@given(st.integers(0, 40), st.integers(0, 40))
def test_what_is_missing_of_a_message_comes_before_it(have, whole):
    text = f"One.{MARK} Two \ue200 three.{MARK} Four and five."
    text = text[:whole]
    have = min(have, len(text))
    read = reading()
    given = [] if not have else read.recall(delta(text[:have]))
    given += read.recall(message(text))
    (final,) = (one for one in given if one.type.value == "assistant.message")
    assert visible(given) == (final.data.content if have else "")
    assert read.interrupted() == []


def test_nothing_is_made_up_where_the_message_says_something_else():
    read = reading()
    given = [*read.recall(delta("One")), *read.recall(message("Two and more"))]
    assert visible(given) == "One"


def test_a_message_that_was_not_completed_is_interrupted():
    read = reading()
    for number, text in enumerate(("Half ", f"an{MARK}", " answer \ue200ci")):
        read.recall(delta(text, number))
    read.recall(delta("Other.", message="n"))
    (first, second) = read.interrupted()
    assert first.data.content == f"Half an{MARK} answer \ue200ci"
    assert first.data.extra["interrupted"] is True
    assert first.id == reading_again_id(first)
    given = read.process(first)
    assert given[0].data.content == "Half an answer"
    assert second.data.content == "Other."


def reading_again_id(event):
    read = reading()
    read.note(delta("Half "))
    (again,) = read.interrupted()
    assert again.id == event.id
    return again.id


def stored(text):
    return StoredEvent(seq=7, epoch=1, event_id="e", type="x", body=text)


def test_what_cannot_be_read_any_more_is_told(caplog):
    (told,) = reading().recall_stored(stored('{"broken'))
    assert told.data.message.startswith("event 7 cannot be read: ")
    assert told.ephemeral is None  # it belongs to the history
    assert "event 7" in caplog.text
    assert "broken" not in caplog.text


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_kept_events_read_as_live_ones(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    live, kept = reading(), reading()
    events = [wire.decode_event(json.loads(line)) for line in lines]
    given = [one for event in events for one in live.process(event)]
    again = [
        one
        for event in events
        for one in kept.recall_stored(stored(wire.encode_json(wire.encode_event(event))))
    ]
    assert again == given
    assert live.finish() == kept.finish() == []
