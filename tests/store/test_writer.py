"""The thread that writes: whatever goes wrong, everyone is told, and the store goes on."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import anyio
import anyio.from_thread
import pytest

from citestream.errors import SessionFenced, SessionNotFoundError, StoreBusyError, StoreError
from citestream.store.sqlite import opening
from citestream.store.sqlite import writer as writer_module
from store.stores import event, kept, make, piece

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


@pytest.fixture
def store(path):
    return make("wal", path)


async def do(store, work):
    """Have ``work(connection)`` done by the thread, inside of a transaction."""
    return await store._do("test", lambda connection, _heads, _now: work(connection))  # noqa: SLF001


@contextlib.asynccontextmanager
async def held_up(store):
    """Hold the thread up, so that what is asked for meanwhile comes in one batch."""
    held, go_on = threading.Event(), threading.Event()

    def hold(_connection):
        held.set()
        go_on.wait(10)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(do, store, hold)
        await anyio.to_thread.run_sync(held.wait)
        try:
            yield tasks
            await anyio.wait_all_tasks_blocked()
        finally:
            go_on.set()


class Outcomes(dict):
    """What came of calls, by name."""

    async def note(self, name, call, *arguments):
        try:
            self[name] = await call(*arguments)
        except StoreError as error:
            self[name] = error


def wrong(name, **fields):
    """An event that could not be made: of a wrong type, or too large."""
    record = event(name)
    for field, value in fields.items():
        object.__setattr__(record, field, value)
    return record


LARGE = "x" * 200_000


@pytest.mark.parametrize(
    "poison",
    [
        {"body": LARGE},
        {"body": b"bytes"},
        {"body": object()},
        {"body": None},
        {"type": 5},
        {"event_id": None},
        {"ends": 5},
        {"stream": 5},
        {"body": "\ud800"},
    ],
    ids=str.split("large bytes object none type id ends stream surrogate"),
)
async def test_a_poisoned_event_hurts_nobody_else(store, path, poison):
    async with store:
        await do(store, lambda c: c.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000))
        leases = [await store.create(name) for name in "abcd"]
        outcomes = Outcomes()
        async with held_up(store) as tasks:
            for number, lease in enumerate(leases):
                events = [event("good")] if number != 2 else [event("x"), wrong("bad", **poison)]
                tasks.start_soon(outcomes.note, number, store.append, lease, events)
        bad = outcomes.pop(2)
        assert isinstance(bad, StoreError)
        assert str(bad).startswith(f"{path}: ")
        assert outcomes == {0: 1, 1: 1, 3: 1}
        assert await kept(store, "c") == []
        assert await store.append(leases[2], [event("good")]) == 1


async def test_poisoned_pieces_are_told_by_the_next_append(store):
    async with store:
        lease, other = await store.create("s"), await store.create("t")
        store.accept(lease, [piece("1")])
        store.accept(other, [piece("1")])
        store.accept(lease, [wrong("2", stream="m", body=b"")])
        store.accept(lease, [piece("3")])
        await store.flush()
        assert await kept(store) == [(1, "1")]
        outcomes = Outcomes()
        async with held_up(store) as tasks:
            tasks.start_soon(outcomes.note, "first", store.append, lease, [event("a")])
            await anyio.wait_all_tasks_blocked()
            store.accept(lease, [piece("4")])
            tasks.start_soon(outcomes.note, "second", store.append, lease, [event("b")])
        assert isinstance(outcomes["first"], StoreError)
        assert outcomes["second"] == 3
        assert await kept(store) == [(1, "1"), (2, "4"), (3, "b")]
        assert await store.append(other, [event("a")]) == 2


@pytest.mark.parametrize("kind", ["wal", "truncate"])
async def test_a_full_disk(kind, path):
    async with make(kind, path) as store:
        lease, other = await store.create("s"), await store.create("t")
        await store.append(lease, [event("before")])
        pages = await do(store, lambda c: c.execute("PRAGMA page_count").fetchone()[0])
        await do(store, lambda c: c.execute(f"PRAGMA max_page_count = {pages + 2}"))
        with pytest.raises(StoreError, match=r"s\.db: database or disk is full \(SQLITE_FULL\)"):
            await store.append(lease, [event("large", body=f'"{LARGE}"')])
        store.accept(other, [wrong("large", stream="m", body=f'"{LARGE}"')])
        await store.flush()
        with pytest.raises(StoreError, match="full"):
            await store.append(other, [event("after")])
        assert await store.append(other, [event("after")]) == 1
        assert await store.append(lease, [event("after")]) == 2
        await do(store, lambda c: c.execute("PRAGMA max_page_count = 100000"))
        assert await store.append(lease, [event("large", body=f'"{LARGE}"')]) == 3
        assert await kept(store) == [(1, "before"), (2, "after"), (3, "large")]


def fail_with(code):
    def work(_connection):
        error = sqlite3.OperationalError("it is broken")
        error.sqlite_errorcode = code
        error.sqlite_errorname = "SQLITE_BROKEN"
        raise error

    return work


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR | 3 << 8])
async def test_a_broken_connection_is_opened_anew(store, path, code):
    async with store:
        lease = await store.create("s")
        outcomes = Outcomes()
        async with held_up(store) as tasks:
            tasks.start_soon(outcomes.note, "good", store.append, lease, [event("a")])
            tasks.start_soon(outcomes.note, "bad", do, store, fail_with(code))
        assert outcomes["good"] == 1
        assert str(outcomes["bad"]) == f"{path}: it is broken (SQLITE_BROKEN)"
        assert isinstance(outcomes["bad"].__cause__, sqlite3.OperationalError)
        assert await store.append(lease, [event("b")]) == 2


async def test_a_file_that_others_hold(path):
    store = make("wal", path, busy_seconds=0.05)
    async with store:
        lease = await store.create("s")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        outcomes = Outcomes()
        store.accept(lease, [piece("1")])
        async with anyio.create_task_group() as tasks:
            for name in "ab":
                tasks.start_soon(outcomes.note, name, store.append, lease, [event(name)])
        other.execute("ROLLBACK")
        other.close()
        assert {type(error) for error in outcomes.values()} == {StoreBusyError}
        assert "others held the file for too long" in str(outcomes["a"])
        assert await store.append(lease, [event("a")]) == 1


async def test_a_lock_file_that_is_none(store, path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))  # which needs one
    lock = path.with_name("s.db-lock")
    lock.mkdir()
    with pytest.raises(StoreError, match=r"s\.db: .*Is a directory"):
        async with store:
            pass
    assert opening._open == set()  # noqa: SLF001 - nothing is left open
    lock.rmdir()
    async with store:
        await store.create("s")


async def test_a_file_that_is_no_database(store, path):
    path.write_bytes(b"no database" * 1_000)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"s\.db: file is not a database"):
            async with store:
                pass
    path.unlink()
    async with store:
        await store.create("s")


async def test_what_nobody_thought_of_is_told_to_all(store, path, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a")])
        outcomes = Outcomes()
        async with held_up(store) as tasks:
            tasks.start_soon(outcomes.note, "append", store.append, lease, [event("b")])
            tasks.start_soon(outcomes.note, "bad", do, store, lambda _: 1 / 0)
            tasks.start_soon(outcomes.note, "get", store.get, "s")
            store.accept(lease, [piece("1")])
        for name in ("append", "bad"):
            assert str(outcomes[name]) == (
                f"{path}: the thread that writes has ended; open the store anew"
            )
        for call in (store.append(lease, [event("b")]), store.flush()):
            with pytest.raises(StoreError, match="has ended"):
                await call
        store.accept(lease, [piece("2")])
        assert await kept(store) == [(1, "a")]
    assert seen == [ZeroDivisionError]
    async with store:
        assert await store.append(lease, [event("b")]) == 2


async def test_what_is_committed_is_told_whatever_comes_after(store, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    monkeypatch.setattr(writer_module.Checkpoints, "erase", lambda *_, **__: 1 / 0)
    async with store:
        await store.create("s")
        await store.delete("s")
        with pytest.raises(StoreError, match="has ended"):
            await store.flush()
        assert await store.list() == []
    assert seen == [ZeroDivisionError]


async def test_what_was_deleted_is_erased_when_nobody_reads_any_more(store, path):
    log = path.with_name("s.db-wal")
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a")])
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM event").fetchall()
        await store.append(lease, [event("b")])
        await store.delete("s")
        assert log.stat().st_size > 0
        reader.close()
        with anyio.fail_after(10):
            while log.stat().st_size > 0:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.005)


@pytest.mark.parametrize("again", [False, True])
async def test_events_of_other_processes(path, again):
    async with make("wal", path) as store, make("wal", path) as other:
        lease = await store.create("s")
        woken = []

        changed = [anyio.Event() for _ in range(3)]

        async def follow(after):
            await store.wait("s", after=after)
            woken.append(after)
            changed[after].set()

        async def lose():
            with pytest.raises(SessionNotFoundError):
                await store.wait("s", after=100)

        async with anyio.create_task_group() as tasks:
            for after in range(3):
                tasks.start_soon(follow, after)
            tasks.start_soon(lose)
            await anyio.wait_all_tasks_blocked()
            lease = await other.acquire("s")
            await other.append(lease, [event("a"), event("b")])
            await changed[0].wait()
            await changed[1].wait()
            assert sorted(woken) == [0, 1]
            other.accept(lease, [piece("c")])
            await changed[2].wait()
            await other.delete("s")
            if again:
                await other.create("s")


async def test_a_thousand_followers(path):
    async with make("wal", path) as store, make("wal", path) as other:
        leases = [await other.create(f"s{number}") for number in range(100)]
        async with anyio.create_task_group() as tasks:
            for number in range(1_000):
                tasks.start_soon(store.wait, f"s{number % 100}")
            await anyio.wait_all_tasks_blocked()
            for lease in leases:
                await other.append(lease, [event("a")])


async def test_followers_are_told_when_the_file_cannot_be_read(store, monkeypatch):
    async with store:
        await store.create("s")

        def broken(*_):
            fail_with(sqlite3.SQLITE_IOERR)(None)

        monkeypatch.setattr(writer_module, "last_event_of", broken)
        with pytest.raises(StoreError, match="it is broken"):
            await store.wait("s")
        monkeypatch.undo()
        assert (await store.get("s")).last_seq == 0


async def test_what_another_process_wrote_is_noticed(path):
    async with make("wal", path) as store, make("wal", path) as other:
        lease = await store.create("s")
        await store.append(lease, [event("a"), piece("1")])
        newer = await other.acquire("s", holder="other")
        with pytest.raises(SessionFenced, match="'other' took it over"):
            await store.append(lease, [event("b")])
        assert await other.append(newer, [event("c")]) == 3
        newest = await store.acquire("s")
        assert await store.append(newest, [event("c"), event("d", "m")]) == 4
        assert await kept(store) == [(1, "a"), (3, "c"), (4, "d")]


async def test_pieces_that_wait_are_bounded(path):
    store = make("wal", path, max_accepted=3, accept_seconds=30.0)
    async with store:
        lease, other = await store.create("s"), await store.create("t")
        store.accept(lease, [piece("1"), piece("2"), piece("3")])
        store.accept(other, [piece("1")])
        await store.flush()
        assert await kept(store) == [(1, "1"), (2, "2"), (3, "3")]
        with pytest.raises(StoreBusyError, match="3 pieces wait to be kept"):
            await store.append(other, [event("a")])
        store.accept(other, [piece("1")])
        assert await store.append(other, [event("a")]) == 2


async def test_accepted_pieces_are_kept_before_long(path):
    store = make("wal", path, accept_seconds=0.01)
    async with store:
        lease = await store.create("s")
        store.accept(lease, [piece("1")])
        await store.wait("s")
        store.accept(lease, [piece("2")])
        await store.wait("s", after=1)


async def test_a_store_of_two_event_loops(store):
    async def write(name):
        lease = await store.create(name)
        for number in range(20):
            await store.append(lease, [event(str(number))])
            await store.wait(name, after=number)
            assert len(await kept(store, name)) == number + 1

    async with store:
        await anyio.to_thread.run_sync(lambda: anyio.run(write, "asyncio", backend="asyncio"))
        await anyio.to_thread.run_sync(lambda: anyio.run(write, "trio", backend="trio"))
        await write("here")
        assert len(await store.list()) == 3


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_an_event_loop_that_is_gone_is_not_waited_for(store, backend):
    async def give_up(lease):
        with anyio.move_on_after(0):
            await store.append(lease, [event("a")])

    async with store:
        lease = await store.create("s")
        async with held_up(store):
            await anyio.to_thread.run_sync(lambda: anyio.run(give_up, lease, backend=backend))
        assert await store.append(lease, [event("a")]) == 1


async def test_closing_does_not_take_forever(path, monkeypatch):
    monkeypatch.setattr(writer_module, "_CLOSE_SECONDS", 0.01)
    go_on = threading.Event()
    store = make("wal", path, busy_seconds=0.01)
    async with anyio.create_task_group() as tasks:
        async with store:
            tasks.start_soon(do, store, lambda _: go_on.wait(10) and None)
            await anyio.wait_all_tasks_blocked()
        go_on.set()  # only now: the store was left while its thread was held up


READ_ONLY = """
import anyio, os, sys
from citestream.errors import StoreError
from citestream.store import SQLiteStore

async def use(path):
    async with SQLiteStore(path) as store:
        await store.create("s")

anyio.run(use, sys.argv[2])  # whatever is still to be imported
if os.getuid() == 0:  # who may write anywhere
    os.setuid(65534)
try:
    anyio.run(use, sys.argv[1])
except StoreError as error:
    assert sys.argv[1] in str(error), error
    print("refused")
"""


@pytest.fixture
def open_folder():
    """A folder where anyone may look."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_is_read_only(path, open_folder, there):
    async def begin():
        async with make("wal", open_folder / "s.db") as store:
            await store.create("t")

    if there:
        anyio.run(begin)
        (open_folder / "s.db").chmod(0o444)
    open_folder.chmod(0o555)
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", READ_ONLY, open_folder / "s.db", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "refused\n", done.stderr


async def test_what_fails_after_a_commit_takes_nothing_back(store, monkeypatch, caplog):
    async with store:
        lease = await store.create("s")
        monkeypatch.setattr(
            writer_module.Checkpoints, "wrote", lambda *_, **__: fail_with(sqlite3.SQLITE_IOERR)(0)
        )
        assert await store.append(lease, [event("a")]) == 1
        await store.flush()
        monkeypatch.undo()
        assert "it is broken" in caplog.text
        assert await store.append(lease, [event("b")]) == 2
