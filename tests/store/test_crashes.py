"""Killed at any moment, a store has everything it acknowledged, in order and without holes."""

import sqlite3
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import anyio
import pytest

from citestream.store import SQLiteStore

pytestmark = pytest.mark.long

ROUNDS = 50


def test_killed_over_and_over(tmp_path):
    path = tmp_path / "s.db"
    script = Path(__file__).with_name("crashing.py")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, script, path, str(ROUNDS)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
    )
    acknowledged = {}
    for line in done.stdout.splitlines():
        session, name, number = line.split()
        assert acknowledged.setdefault((session, name), int(number)) == int(number)
    assert len(acknowledged) > ROUNDS

    kept = anyio.run(sessions, path)
    numbers = {
        (session, stored.event_id): stored.seq for session in kept for stored in kept[session]
    }
    assert acknowledged.items() <= numbers.items()
    for events in kept.values():
        check(events)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def sessions(path):
    async with SQLiteStore(path) as store:
        return {
            found.session_id: await store.read(found.session_id, limit=10**9)
            for found in await store.list()
        }


def check(events):
    """Nothing is out of order, and of every writer there is a beginning without holes."""
    assert [one.seq for one in events] == sorted({one.seq for one in events})
    assert [one.epoch for one in events] == sorted(one.epoch for one in events)
    for epoch, group in groupby(events, lambda one: one.epoch):
        whole, rest = [], []
        for one in group:
            (whole if one.stream is None else rest).append(one)
        expected = [
            f"{kind}-{epoch}-{turn}" for turn in range(len(whole)) for kind in ("tool", "end")
        ]
        assert [one.event_id for one in whole] == expected[: len(whole)]
        # Only the answer that was not finished has pieces, and they are its first ones.
        unfinished = f"{epoch}-{len(whole) // 2}"
        assert [one.event_id for one in rest] == [f"{unfinished}-{n}" for n in range(len(rest))]
