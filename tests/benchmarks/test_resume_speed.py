"""Resuming a long session against reading its rows: 100,000 events, of which 2,000 stayed."""

import sqlite3
from contextlib import closing
from functools import partial
from statistics import median
from time import perf_counter

import anyio
from answers import answer

from citestream import Client, SQLiteStore, wire

TURNS, DELTAS = 400, 245


def event(kind, number, **data):
    return wire.decode_event(
        {
            "id": f"e{number}",
            "timestamp": "2026-11-30T04:55:10Z",
            "type": kind,
            "data": data,
            "ephemeral": kind == "assistant.message_delta",
        }
    )


async def build(path):
    """Feed a session with turns of 5 events that stay and 245 deltas that do not."""
    text, number = answer(1_000), 0
    async with Client(store=SQLiteStore(path)) as client:
        session = await client.create_session(session_id="s")
        for turn in range(TURNS):
            message = f"m{turn}"
            kinds = [("user.message", {"content": "What about it?"})]
            kinds += [("assistant.turn_start", {"turnId": "0"})]
            delta = {"messageId": message, "deltaContent": text[:4]}
            kinds += [("assistant.message_delta", delta)] * DELTAS
            kinds += [("assistant.message", {"messageId": message, "content": text})]
            kinds += [("assistant.turn_end", {"turnId": "0"}), ("session.idle", {})]
            for kind, data in kinds:
                number += 1
                await session.feed(event(kind, number, **data))
    return number


def read_bare(path):
    query = "SELECT place, epoch, event_id, type, stream, body FROM event ORDER BY place"
    with closing(sqlite3.connect(path)) as connection:
        return len(connection.execute(query).fetchall())


async def resume(path):
    """Return the seconds that resuming takes, and those until every event is there."""
    async with Client(store=SQLiteStore(path)) as client:
        start = perf_counter()
        session = await client.resume_session("s", enable_citations=True)
        resumed = perf_counter() - start
        events = await session.get_events()
        whole = perf_counter() - start
        assert sum(one.type.value == "assistant.message" for one in events) == TURNS
    return resumed, whole


def test_resuming_a_long_session(tmp_path, capsys):
    path = tmp_path / "sessions.db"
    count = anyio.run(build, path)
    rounds = []
    for _ in range(11):
        start = perf_counter()
        rows = read_bare(path)
        bare = perf_counter() - start
        rounds.append((bare, *anyio.run(partial(resume, path))))
    ratio = median(resumed / bare for bare, resumed, _ in rounds)
    bare, resumed, whole = (median(column) * 1e3 for column in zip(*rounds, strict=True))
    with capsys.disabled():
        print(f"\nresume {count:,} events, {rows:,} rows: {ratio:.2f}x bare sqlite3", end="")
        print(f" ({resumed:.1f} ms against {bare:.1f}; all events decoded {whole:.0f} ms)")
    assert ratio <= 3
