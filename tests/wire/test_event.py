from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest

from citestream.errors import DecodeError, EncodeError
from citestream.events import (
    AbortData,
    AssistantMessageData,
    RawSessionEventData,
    SessionErrorData,
    SessionEvent,
    SessionEventType,
)
from citestream.model import Citations, Extra
from citestream.wire import decode_event, encode_event

pytestmark = pytest.mark.usefixtures("codec")

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def tree(**changes):
    base = {"id": "e", "timestamp": "2026-01-01T12:00:00Z", "type": "abort", "data": {}}
    return {key: value for key, value in (base | changes).items() if value is not ...}


def test_the_envelope_is_read():
    event = decode_event(tree(parentId="p", agentId="a", ephemeral=True, data={"reason": "r"}))
    assert event == SessionEvent(
        id="e",
        timestamp=NOON,
        type=SessionEventType.ABORT,
        data=AbortData(reason="r"),
        parent_id="p",
        agent_id="a",
        ephemeral=True,
    )
    assert event.timestamp_text == "2026-01-01T12:00:00Z"


@pytest.mark.parametrize(
    "changes",
    [
        {"parentId": None},
        {"parentId": None, "agentId": None, "ephemeral": None},
        {"parentId": "p", "new": {"a": None}},
        {"ephemeral": False},
        {"type": "session.info", "data": ...},
        {"type": "session.info", "data": None},
        {"type": "session.info", "data": [1, {"a": None}]},
        {"type": "unknown"},
        {"type": "unknown", "data": ...},
        {"type": "a.new.kind", "data": 5},
        {"type": "a.new.kind", "data": None, "parentId": None},
        {"type": "", "data": ""},
        {"id": ""},
    ],
)
def test_what_is_not_known_comes_back(changes):
    assert encode_event(decode_event(tree(**changes))) == tree(**changes)


@pytest.mark.parametrize(
    ("name", "kind", "raw_type"),
    [
        ("session.info", SessionEventType.SESSION_INFO, None),
        ("a.new.kind", SessionEventType.UNKNOWN, "a.new.kind"),
        ("unknown", SessionEventType.UNKNOWN, "unknown"),
    ],
)
def test_kinds_without_a_class_keep_their_payload(name, kind, raw_type):
    event = decode_event(tree(type=name, data={"a": 1}))
    assert (event.type, event.raw_type) == (kind, raw_type)
    assert event.data == RawSessionEventData(raw={"a": 1})
    assert event.data["a"] == 1


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T12:00:00+00:00", NOON),
        ("2026-01-01T12:00:00.000Z", NOON),
        ("2026-01-01T14:00:00+02:00", NOON),
        ("2026-01-01T12:00:00", NOON),
        ("2026-01-01", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
    ],
)
def test_the_time_comes_back_as_it_was_written(text, moment):
    event = decode_event(tree(timestamp=text))
    assert event.timestamp == moment
    assert event.timestamp.tzinfo is not None
    assert encode_event(event)["timestamp"] == text


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({"timestamp": NOON + timedelta(1)}, "2026-01-02T12:00:00+00:00"),
        ({"timestamp": NOON.astimezone(timezone(timedelta(hours=1)))}, "2026-01-01T12:00:00Z"),
        ({"timestamp_text": None}, "2026-01-01T12:00:00+00:00"),
        ({"timestamp_text": "noon"}, "2026-01-01T12:00:00+00:00"),
        ({"timestamp_text": "2026-01-01T12:00:00"}, "2026-01-01T12:00:00"),
    ],
)
def test_a_time_that_was_changed_is_written_anew(changes, written):
    event = attrs.evolve(decode_event(tree()), **changes)
    assert encode_event(event)["timestamp"] == written


@pytest.mark.parametrize(
    ("changes", "path", "expected", "got"),
    [
        ({"id": ...}, "$.id", "a value, since this key is required", "nothing"),
        ({"id": None}, "$.id", "a value, since this key is required", "null"),
        ({"id": 5}, "$.id", "a string", "5"),
        ({"timestamp": ...}, "$.timestamp", "a value, since this key is required", "nothing"),
        ({"timestamp": 1767268800}, "$.timestamp", "a string", "1767268800"),
        ({"timestamp": "noon"}, "$.timestamp", "a time in ISO 8601 form", "'noon'"),
        (
            {"timestamp": "2026-01-01\ud83d12:00:00X"},
            "$.timestamp",
            "a time in ISO 8601 form",
            r"'2026-01-01\ud83d12:00:00X'",
        ),
        ({"type": ...}, "$.type", "a value, since this key is required", "nothing"),
        ({"type": ["abort"]}, "$.type", "a string", "an array of 1"),
        ({"data": ...}, "$.data", "a value, since this key is required", "nothing"),
        ({"data": None}, "$.data", "a value, since this key is required", "null"),
        ({"data": []}, "$.data", "an object", "an array of 0"),
        ({"data": {"reason": 5}}, "$.data.reason", "a string", "5"),
        ({"parentId": 5}, "$.parentId", "a string", "5"),
        ({"agentId": False}, "$.agentId", "a string", "False"),
        ({"ephemeral": 0}, "$.ephemeral", "true or false", "0"),
        ({"ephemeral": "yes"}, "$.ephemeral", "true or false", "'yes'"),
    ],
)
def test_errors_name_the_place(changes, path, expected, got):
    with pytest.raises(DecodeError) as caught:
        decode_event(tree(**changes))
    error = caught.value
    assert (error.path, error.expected, error.got) == (path, expected, got)


def event(**changes):
    return SessionEvent(**{"type": SessionEventType.ABORT, "data": AbortData()} | changes)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        (None, "$", "a SessionEvent"),
        (event(id=5), "$.id", "a string"),
        (event(timestamp="now"), "$.timestamp", "a datetime with a time zone"),
        (event(timestamp=datetime(2026, 1, 1)), "$.timestamp", "a datetime with a time zone"),  # noqa: DTZ001 - the point
        (event(timestamp_text=5), "$.timestamp", "a string"),
        (event(type="abort"), "$.type", "a SessionEventType"),
        (event(raw_type="abort"), "$.type", "no raw_type, as this type is known"),
        (event(type=SessionEventType.UNKNOWN), "$.type", "a string"),
        (
            event(type=SessionEventType.UNKNOWN, raw_type="abort"),
            "$.type",
            "a raw_type that is not known",
        ),
        (event(data=None), "$.data", "a value of type AbortData"),
        (event(data=RawSessionEventData(raw={})), "$.data", "a value of type AbortData"),
        (
            event(type=SessionEventType.SESSION_INFO),
            "$.data",
            "a value of type RawSessionEventData",
        ),
        (event(parent_id=5), "$.parentId", "a string"),
        (event(ephemeral=1), "$.ephemeral", "true or false"),
        (event(extra=Extra({"id": "x"})), "$.id", "null, as this key has a field"),
        (event(extra=Extra({"x": object()})), "$.x", "a JSON value"),
        (event(data=AbortData(extra=Extra({"x": 1j}))), "$.data.x", "a JSON value"),
    ],
)
def test_encoding_refuses_what_would_not_come_back(value, path, expected):
    with pytest.raises(EncodeError) as caught:
        encode_event(value)
    assert (caught.value.path, caught.value.expected) == (path, expected)


def test_an_event_made_here_can_be_written_and_read():
    made = event(
        type=SessionEventType.SESSION_ERROR, data=SessionErrorData(message="m", status_code=500)
    )
    assert decode_event(encode_event(made)) == made


def test_citations_that_were_added_show_over_a_null():
    given = tree(
        type="assistant.message", data={"content": "c", "messageId": "m", "citations": None}
    )
    decoded = decode_event(given)
    assert type(decoded.data) is AssistantMessageData
    assert encode_event(decoded) == given
    added = attrs.evolve(decoded.data, citations=Citations(sources=(), spans=()))
    assert encode_event(attrs.evolve(decoded, data=added))["data"]["citations"] == {
        "sources": [],
        "spans": [],
    }
