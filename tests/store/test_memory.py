"""What only a store in memory does."""

import pytest

from citestream.errors import OptionError
from citestream.store import MemoryStore
from store.stores import event, kept, piece

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("seconds", [0, -1, True, "1", None, float("inf"), float("nan")])
def test_leases_last(seconds):
    with pytest.raises(OptionError, match="lease_seconds: wanted a number of seconds above 0"):
        MemoryStore(lease_seconds=seconds)


async def test_sessions_outlast_the_store():
    store = MemoryStore()
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a")])
    async with store:
        assert await store.append(lease, [event("b")]) == 2
    async with MemoryStore() as other:
        assert await other.list() == []


async def test_pieces_are_there_at_once():
    async with MemoryStore() as store:
        lease = await store.create("s")
        store.accept(lease, [piece("1")])
        assert await kept(store) == [(1, "1")]


async def test_an_accepted_piece_may_have_the_id_of_an_appended_event():
    async with MemoryStore() as store:
        lease = await store.create("s")
        await store.append(lease, [event("1")])
        store.accept(lease, [piece("1")])
        assert await store.append(lease, [event("end", "m")]) == 3
        assert await store.append(lease, [event("1")]) == 1
        assert await kept(store) == [(1, "1"), (3, "end")]
