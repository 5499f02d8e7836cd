"""Reads: how many at once, and what becomes of their connections."""

import sqlite3
import threading

import anyio
import pytest

from citestream.errors import SessionNotFoundError, StoreError
from citestream.store.sqlite import SQLiteOptions, opening
from citestream.store.sqlite.readers import Readers

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.db"
    writer = opening.open_writer(path, SQLiteOptions())
    yield path
    opening.close(writer)


@pytest.fixture
def readers(path):
    readers = Readers(path, SQLiteOptions(readers=2))
    yield readers
    readers.close()


def count(connection):
    return connection.execute("SELECT count(*) FROM session").fetchone()[0]


async def test_connections_are_used_again(readers):
    used = set()
    for _ in range(5):
        assert await readers.run(count) == 0
        used.add(await readers.run(id))
    assert len(used) == 1


async def test_so_many_read_at_once_and_no_more(readers):
    running, most, lock = set(), [], threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def query(connection):
        with lock:
            running.add(connection)
            most.append(len(running))
        both.wait()
        with lock:
            running.discard(connection)

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(readers.run, query)
    assert len(most) == 6
    assert max(most) <= 2


async def test_readers_do_not_wait_for_other_threads(readers):
    limiter = anyio.to_thread.current_default_thread_limiter()
    async with anyio.create_task_group() as tasks:
        go_on = threading.Event()
        for _ in range(int(limiter.total_tokens)):
            tasks.start_soon(anyio.to_thread.run_sync, go_on.wait)
        with anyio.fail_after(10):
            assert await readers.run(count) == 0
        go_on.set()


async def test_what_goes_wrong_is_told_and_costs_the_connection(readers, path):
    first = await readers.run(id)
    with pytest.raises(StoreError, match=r"s\.db: no such table: missing") as raised:
        await readers.run(lambda connection: connection.execute("SELECT * FROM missing"))
    assert isinstance(raised.value.__cause__, sqlite3.OperationalError)

    def not_found(connection):
        assert count(connection) == 0
        raise SessionNotFoundError("s")

    with pytest.raises(SessionNotFoundError):
        await readers.run(not_found)
    assert first
    assert await readers.run(count) == 0
    readers.close()
    path.unlink()
    with pytest.raises(StoreError, match=r"s\.db: unable to open database file"):
        await readers.run(count)


async def test_a_connection_in_use_is_closed_when_it_is_given_back(readers):
    def query(connection):
        readers.close()
        assert count(connection) == 0
        return connection

    connection = await readers.run(query)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        count(connection)


async def test_any_event_loop_may_read(readers):
    for backend in ("asyncio", "trio"):
        found = await anyio.to_thread.run_sync(
            lambda backend=backend: anyio.run(readers.run, count, backend=backend)
        )
        assert found == 0
