"""Who waits for events of which session."""

import pytest

from citestream.errors import SessionNotFoundError, StateError, StoreError
from citestream.store.sqlite.watches import Watch, Watches

pytestmark = pytest.mark.anyio


def added(watches, name, after, key=None):
    watch = Watch(name, after=after)
    watch.key = key
    watches.add(watch)
    return watch


async def test_who_waits_is_woken_by_events_above():
    watches = Watches()
    assert not watches
    low, high, other = (added(watches, *which) for which in (("s", 1), ("s", 2), ("t", 0)))
    assert watches
    assert sorted(watches.sessions()) == ["s", "t"]
    assert watches.advanced("s", key=1, last=1) == []
    assert watches.advanced("s", key=1, last=2) == [low.waiter]
    assert watches.advanced("s", key=1, last=3) == [high.waiter]
    assert watches.advanced("s", key=1, last=4) == []
    assert (low.waiter.done, low.waiter.error, other.waiter.done) == (True, None, False)
    assert watches.sessions() == ["t"]
    watches.remove(other)
    watches.remove(other)
    assert not watches


async def test_who_waits_for_a_session_that_is_gone_is_told():
    watches = Watches()
    gone, made_anew, unknown = (added(watches, "s", 5, key) for key in (1, 2, None))
    assert watches.advanced("s", key=2, last=3) == [gone.waiter]
    assert isinstance(gone.waiter.error, SessionNotFoundError)
    assert watches.lost("t") == []
    assert watches.lost("s") == [made_anew.waiter, unknown.waiter]
    assert isinstance(unknown.waiter.error, SessionNotFoundError)
    assert not watches


async def test_all_are_told_when_there_is_nothing_to_wait_for():
    watches = Watches()
    first, second = added(watches, "s", 0), added(watches, "t", 0)
    error = StoreError("broken")
    assert watches.fail(error) == [first.waiter, second.waiter]
    assert str(first.waiter.error) == "broken"
    assert first.waiter.error is not second.waiter.error
    third = added(watches, "s", 0)
    assert watches.close() == [third.waiter]
    assert isinstance(third.waiter.error, StateError)
    with pytest.raises(StateError, match="wait: the store is not open"):
        watches.add(third)
