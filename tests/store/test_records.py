"""Records of events: what can be kept."""

import attrs
import pytest

from citestream.errors import OptionError
from citestream.store import EventRecord, Lease
from store.stores import event


def test_a_record():
    record = EventRecord(event_id="a", type="b", body='"\\ud800"', ends=("m", "n"))
    assert (record.stream, record.ends) == (None, ("m", "n"))
    assert "ud800" not in repr(record)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("event_id", "", "event_id: wanted a text, got ''"),
        ("event_id", None, "event_id: wanted a text, got None"),
        ("type", 5, "type: wanted a text, got 5"),
        ("body", "é", r"body: wanted JSON in ASCII, got '\\xe9'"),
        ("body", b"{}", "body: wanted JSON in ASCII"),
        ("stream", "", "stream: wanted a text or None, got ''"),
        ("stream", 5, "stream: wanted a text or None, got 5"),
        ("ends", ["m"], "ends: wanted a tuple of texts, got an array of 1"),
        ("ends", "m", "ends: wanted a tuple of texts, got 'm'"),
        ("ends", ("m", ""), "ends: wanted a tuple of texts, got an array of 2"),
        ("ends", (5,), "ends: wanted a tuple of texts"),
    ],
)
def test_what_is_no_record(field, value, message):
    with pytest.raises(OptionError, match=message):
        attrs.evolve(event("a"), **{field: value})


def test_what_ends_streams_stays():
    with pytest.raises(OptionError, match="ends: what ends streams stays, but this is a piece of"):
        EventRecord(event_id="a", type="b", body="{}", stream="m", ends=("n",))


def test_a_lease_is_of_one_session():
    assert Lease(session_id="s", epoch=1, key=1) != Lease(session_id="s", epoch=1, key=2)
    assert Lease(session_id="s", epoch=1) == Lease(session_id="s", epoch=1, key=0)
