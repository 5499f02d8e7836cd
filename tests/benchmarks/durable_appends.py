"""The same load on two stores of the same durability: sessions that append one event at a time.

Ours is ``SQLiteStore``; theirs is what one writes with ``aiosqlite``: one connection, one commit
for each event, WAL and ``synchronous=FULL``.
"""

import asyncio
import time
from uuid import uuid4

from citestream.store import EventRecord, SQLiteStore

__all__ = ("BODY", "appends_of_aiosqlite", "appends_of_ours")

BODY = '{"type": "assistant.message", "data": {"messageId": "m", "content": "' + "x" * 60 + '"}}'

_TABLE = (
    "CREATE TABLE event (session TEXT, seq INTEGER, event_id TEXT, type TEXT, body TEXT,"
    " PRIMARY KEY (session, seq), UNIQUE (session, event_id))"
)


async def _load(append, sessions, events):
    """Let each session append its events; return the seconds that each append took."""
    seconds = []

    async def session(number):
        for _ in range(events):
            start = time.perf_counter()
            await append(number, str(uuid4()))
            seconds.append(time.perf_counter() - start)

    await asyncio.gather(*(session(number) for number in range(sessions)))
    return seconds


async def appends_of_ours(path, sessions, events):
    """Return the seconds in all, and those of each append."""
    async with SQLiteStore(path) as store:
        leases = [await store.create(f"s{number}") for number in range(sessions)]

        async def append(number, name):
            event = EventRecord(event_id=name, type="assistant.message", body=BODY)
            await store.append(leases[number], [event])

        start = time.perf_counter()
        each = await _load(append, sessions, events)
        return time.perf_counter() - start, each


async def appends_of_aiosqlite(aiosqlite, path, sessions, events):
    """The same with ``aiosqlite``."""
    async with aiosqlite.connect(path) as database:
        await database.execute("PRAGMA journal_mode = WAL")
        await database.execute("PRAGMA synchronous = FULL")
        await database.execute(_TABLE)
        await database.commit()
        last = [0] * sessions
        lock = asyncio.Lock()

        async def append(number, name):
            async with lock:  # a commit would otherwise take the half of another task along
                last[number] += 1
                await database.execute(
                    "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
                    (f"s{number}", last[number], name, "assistant.message", BODY),
                )
                await database.commit()

        start = time.perf_counter()
        each = await _load(append, sessions, events)
        return time.perf_counter() - start, each
