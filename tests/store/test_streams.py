"""Pieces that come together with the end of their stream."""

from citestream.store.streams import lasting
from store.stores import event, piece


def test_pieces_before_the_end_are_left_out():
    events = [piece("m1"), piece("n1", "n"), event("a"), event("end", "m"), piece("m2")]
    assert lasting(events) == events[1:]
    assert lasting(events[:3]) is not None
    assert lasting([]) == []


def test_without_an_end_nothing_changes():
    events = [piece("m1"), event("a")]
    assert lasting(events) is events


def test_one_event_may_end_many():
    events = [piece("m1"), piece("n1", "n"), piece("o1", "o"), event("end", "m", "n")]
    assert [one.event_id for one in lasting(events)] == ["o1", "end"]
