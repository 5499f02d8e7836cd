"""Every public coroutine, cancelled wherever it waits: the store goes on, nothing is left over."""

# ruff: noqa: ARG005 - the calls have one signature

import os
import threading
import types
from pathlib import Path

import anyio
import pytest

from store.stores import event, kept, make, piece

pytestmark = pytest.mark.anyio


class Cut:
    """Runs a coroutine and cancels ``scope`` where it waits for the ``at``-th time."""

    def __init__(self, at):
        self.at = at
        self.waits = 0

    @types.coroutine
    def run(self, coroutine, scope):
        value, error = None, None
        while True:
            try:
                wait = coroutine.send(value) if error is None else coroutine.throw(error)
            except StopIteration as done:
                return done.value
            self.waits += 1
            if self.waits == self.at:
                scope.cancel()
            try:
                value, error = (yield wait), None
            except BaseException as raised:  # noqa: BLE001 - it is handed on
                error = raised


def of_this_store(path):
    """What the process holds of the store: threads that write, and open files."""
    threads = [t.name for t in threading.enumerate() if t.name.startswith("citestream")]
    files = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(link)  # noqa: PTH115 - no path
        except OSError:
            continue
        if target.startswith(str(path)):
            files.append(target)
    return threads + files


CALLS = {
    "create": lambda store, lease, at: store.create(f"new{at}"),
    "acquire": lambda store, lease, at: store.acquire("other"),
    "acquire a free one": lambda store, lease, at: store.acquire("free", mode="wait"),
    "acquire one in use": lambda store, lease, at: store.acquire("s", mode="wait"),
    "renew": lambda store, lease, at: store.renew(lease),
    "release": lambda store, lease, at: store.release(lease),
    "append": lambda store, lease, at: store.append(lease, [piece("p"), event("a"), event("b")]),
    "flush": lambda store, lease, at: store.flush(),
    "read": lambda store, lease, at: store.read("s"),
    "wait for what is there": lambda store, lease, at: store.wait("other"),
    "wait": lambda store, lease, at: store.wait("s", after=1_000),
    "get": lambda store, lease, at: store.get("s"),
    "list": lambda store, lease, at: store.list(),
    "delete": lambda store, lease, at: store.delete(f"doomed{at}"),
}


@pytest.mark.parametrize("kind", ["memory", "wal"])
@pytest.mark.parametrize("call", CALLS)
async def test_a_call_may_be_cancelled_wherever_it_waits(kind, call, tmp_path):
    store = make(kind, tmp_path / "s.db")
    async with store:
        lease = await store.create("s")
        await store.append(await store.create("other"), [event("a")])
        await store.release(await store.create("free"))
        for at in range(1, 6):
            await store.create(f"doomed{at}")
        for at in range(1, 6):
            cut = Cut(at)
            with anyio.move_on_after(1), anyio.CancelScope() as scope:
                await cut.run(CALLS[call](store, lease, at), scope)
            if cut.waits < at:
                break
        assert at > 1
        assert await store.append(lease, [piece("p"), event("a"), event("b")]) == 3
        assert await kept(store) == [(1, "p"), (2, "a"), (3, "b")]
        assert (await store.acquire("s")).epoch == 2
        assert not getattr(store, "_watches", None)
    assert of_this_store(tmp_path) == []


@pytest.mark.parametrize("kind", ["memory", "wal"])
async def test_entering_and_leaving_may_be_cancelled_wherever_they_wait(kind, tmp_path):
    store = make(kind, tmp_path / "s.db")

    async def use(at):
        async with store:
            lease = await store.create(f"s{at}")
            store.accept(lease, [piece("p")])
            await store.append(lease, [event("a")])

    for at in range(1, 12):
        cut = Cut(at)
        with anyio.CancelScope() as scope:
            await cut.run(use(at), scope)
        assert of_this_store(tmp_path) == []
        async with store:
            lease = await store.create(f"t{at}")
            assert await store.append(lease, [event("a")]) == 1
            if not scope.cancelled_caught:
                assert await kept(store, f"s{at}") == [(1, "p"), (2, "a")]
        if cut.waits < at:
            break
    else:
        raise AssertionError("it never ends")


async def test_what_was_accepted_is_kept_when_leaving_is_cancelled(tmp_path):
    store = make("wal", tmp_path / "s.db", accept_seconds=30.0)
    with anyio.CancelScope() as scope:
        async with store:
            lease = await store.create("s")
            store.accept(lease, [piece("p")])
            scope.cancel()
    assert of_this_store(tmp_path) == []
    async with store:
        assert await kept(store) == [(1, "p")]
