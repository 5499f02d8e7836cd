"""Stores: durable appends against aiosqlite, and reading against bare sqlite3."""

import asyncio
import sqlite3
import statistics
from uuid import uuid4

import pytest
from durable_appends import BODY, appends_of_aiosqlite, appends_of_ours
from ratios import compare, report

from citestream.store import EventRecord, SQLiteStore

SESSIONS = 64
ROUNDS = 5


def percentile(values, share):
    return sorted(values)[int(len(values) * share)] * 1e3


def test_durable_appends_against_aiosqlite(tmp_path):
    aiosqlite = pytest.importorskip("aiosqlite", reason="aiosqlite is absent")
    ratios, rates, theirs, latencies = [], [], [], []
    for number in range(ROUNDS):
        ours, each = asyncio.run(appends_of_ours(tmp_path / f"ours{number}.db", SESSIONS, 100))
        other, _ = asyncio.run(
            appends_of_aiosqlite(aiosqlite, tmp_path / f"theirs{number}.db", SESSIONS, 20)
        )
        rates.append(SESSIONS * 100 / ours)
        theirs.append(SESSIONS * 20 / other)
        ratios.append(rates[-1] / theirs[-1])
        latencies += each
    ratio = statistics.median(ratios)
    print(
        f"\n{SESSIONS} sessions that append, every event synced to disk before it is acknowledged:"
    )
    print(f"ours {statistics.median(rates):,.0f}/s, aiosqlite {statistics.median(theirs):,.0f}/s,")
    print(f"{ratio:.1f}x (gate 4x); our latency p50 {percentile(latencies, 0.5):.1f} ms,")
    print(f"p99 {percentile(latencies, 0.99):.1f} ms")
    assert ratio >= 4


async def fill(store, turns, pieces):
    """Write turns of so many pieces that are dropped when their message is kept."""
    lease = await store.create("s")
    for turn in range(turns):
        stream = str(turn)
        events = [
            EventRecord(event_id=str(uuid4()), type="delta", body=BODY, stream=stream)
            for _ in range(pieces)
        ]
        store.accept(lease, events)
        await store.flush()
        end = EventRecord(event_id=str(uuid4()), type="message", body=BODY, ends=(stream,))
        await store.append(lease, [end])


def test_reading_against_sqlite3(tmp_path):
    path = tmp_path / "s.db"
    store = SQLiteStore(path)
    with asyncio.Runner() as runner:
        runner.run(store.__aenter__())
        runner.run(fill(store, 2_000, 49))
        bare = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)

        def read():
            return runner.run(store.read("s"))

        def fetch():
            return bare.execute(
                "SELECT place, epoch, event_id, type, body, stream FROM event ORDER BY place"
            ).fetchall()

        events = read()
        assert len(events) == len(fetch()) == 2_000
        assert events[-1].seq == 100_000
        ratio = compare(read, fetch)
        bare.close()
        runner.run(store.__aexit__(None, None, None))
    print("\n" + report("2,000 events that are left of 100,000", [("read", ratio, 1 / 3)]))
    assert ratio.value >= 1 / 3
