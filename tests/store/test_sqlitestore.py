"""The file of a store: who may read it, what is left in it, and what a process may do with it."""

import os
import subprocess
import sys
import threading

import anyio
import pytest

from citestream.errors import OptionError, StateError
from citestream.store import SQLiteOptions, SQLiteStore
from store.stores import ENVIRONMENT, event, kept, make, piece

pytestmark = pytest.mark.anyio


def run(code, *arguments, **options):
    """Run ``code`` as a process of its own and return what it printed."""
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", None, 5, b"bytes"])
def test_paths_are_checked(path):
    with pytest.raises(OptionError, match="path: wanted the path of a file"):
        SQLiteStore(path)


@pytest.mark.parametrize("kind", ["wal", "truncate"])
async def test_files_are_for_this_user_alone(tmp_path, kind):
    before = os.umask(0)
    try:
        path = tmp_path / "new" / "folders" / "s #1%41?.db"
        async with make(kind, path) as store:
            await store.append(await store.create("s"), [event("a")])
            await store.read("s")
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert path.name in modes
    if kind == "wal":
        assert {path.name + "-wal", path.name + "-shm"} <= set(modes)
    assert set(modes.values()) == {0o600}
    for folder in (path.parent, path.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


async def test_what_was_deleted_is_gone(tmp_path):
    path = tmp_path / "s.db"

    def left():
        # In another process: closing a file here would give up the locks that the store has on it.
        code = "import pathlib, sys; print(*[open(p, 'rb').read().count(b'CANARY')"
        code += " for p in pathlib.Path(sys.argv[1]).iterdir()])"
        return sum(map(int, run(code, tmp_path).stdout.split()))

    async with make("wal", path) as store:
        lease, other = await store.create("s"), await store.create("t")
        for number in range(30):
            body = f'"{"CANARY" * (number * 20)}"'
            await store.append(lease, [event(f"CANARY{number}", body=body), piece(f"p{number}")])
            await store.append(other, [event(f"{number}")])
        assert await anyio.to_thread.run_sync(left) > 100
        await store.delete("s")
        assert await anyio.to_thread.run_sync(left) == 0
        assert len(await kept(store, "t")) == 30


SECOND = """
import anyio, os, sys
from citestream.errors import StateError
from citestream.store import EventRecord, SQLiteStore

async def main():
    async with SQLiteStore(sys.argv[1]) as store:
        lease = await store.create("s")
        if os.fork() == 0:
            code = 1
            refused = 0
            for call in (store.get("s"), store.append(lease, []), store.flush(), store.wait("s"),
                         store.__aenter__(), store.__aexit__(None, None, None)):
                try:
                    await call
                except StateError as error:
                    refused += "a fork" in str(error)
            try:
                store.accept(lease, [])
            except StateError:
                refused += 1
            del store, lease
            os._exit(0 if refused == 7 else 1)
        _, status = os.wait()
        assert status == 0
        event = EventRecord(event_id="a", type="b", body="{}")
        assert await store.append(lease, [event]) == 1

anyio.run(main)
"""


async def test_a_fork_needs_a_store_of_its_own(tmp_path):
    await anyio.to_thread.run_sync(run, SECOND, tmp_path / "s.db")
    async with make("wal", tmp_path / "s.db") as store:
        assert await kept(store) == [(1, "a")]


async def test_a_store_that_was_left_can_be_used_in_a_fork(tmp_path):
    store = make("wal", tmp_path / "s.db")
    async with store:
        pass
    store._process = -1  # noqa: SLF001 - as it is in a fork
    async with store:
        await store.create("s")


async def test_a_fork_is_told_from_its_parent(tmp_path, monkeypatch):
    store = make("wal", tmp_path / "s.db")
    async with store:
        lease = await store.create("s")
        with monkeypatch.context() as fork:
            fork.setattr(os, "getpid", lambda: -1)
            with pytest.raises(StateError, match=r"append: the store was opened in process [0-9]+"):
                await store.append(lease, [event("a")])
            with pytest.raises(StateError, match="enter: the store was opened"):
                await store.__aenter__()
            store.__del__()
        assert await store.append(lease, [event("a")]) == 1


UNCLOSED = """
import anyio, sys
from citestream.store import SQLiteStore

async def main():
    store = await SQLiteStore(sys.argv[1]).__aenter__()
    await store.create("s")
    if sys.argv[2] == "kept":
        globals()["store"] = store

anyio.run(main)
print("done")
"""


@pytest.mark.parametrize("what", ["kept", "dropped"])
async def test_an_unclosed_store_holds_nobody_up(tmp_path, what):
    done = await anyio.to_thread.run_sync(run, UNCLOSED, tmp_path / "s.db", what)
    assert done.stdout == "done\n"
    async with make("wal", tmp_path / "s.db") as store:
        assert len(await store.list()) == 1


async def test_an_unclosed_store_warns(tmp_path):
    store = make("wal", tmp_path / "s.db", accept_seconds=30.0)
    await store.__aenter__()
    lease = await store.create("s")
    store.accept(lease, [piece("1")])
    (thread,) = [one for one in threading.enumerate() if one.name == "citestream-store s.db"]
    stores = [store]
    del store
    with pytest.warns(ResourceWarning, match=r"unclosed store .*s\.db"):
        stores.clear()
    await anyio.to_thread.run_sync(thread.join, 10)
    assert not thread.is_alive()
    async with make("wal", tmp_path / "s.db") as store:
        assert await kept(store) == [(1, "1")]


async def test_entering_at_once_opens_once(tmp_path):
    store = make("wal", tmp_path / "s.db")
    entered = []

    async def enter():
        async with store:
            entered.append(await store.list())

    for _ in range(3):
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(enter)
    assert entered == [[]] * 30
    assert [one for one in threading.enumerate() if one.name.startswith("citestream")] == []


async def test_stores_at_once_make_one_file(tmp_path):
    async def enter(name):
        async with make("wal", tmp_path / "s.db") as store:
            await store.append(await store.create(name), [event("a")])

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(enter, f"s{number}")
    async with make("wal", tmp_path / "s.db") as store:
        assert len(await store.list()) == 8


async def test_the_journal_mode_may_change(tmp_path):
    for number, kind in enumerate(["wal", "truncate", "wal"]):
        async with make(kind, tmp_path / "s.db") as store:
            lease = await (store.acquire if number else store.create)("s")
            assert await store.append(lease, [event(str(number))]) == number + 1


async def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore("s.db", options=SQLiteOptions())
    monkeypatch.chdir("/")
    async with store:
        await store.create("s")
    assert (tmp_path / "s.db").exists()
