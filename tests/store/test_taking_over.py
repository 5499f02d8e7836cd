"""Several processes that take one session from each other: nothing is lost, doubled or mixed in."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from citestream.store import SQLiteStore
from store.stores import ENVIRONMENT

pytestmark = pytest.mark.long

SECONDS = 8


def test_four_processes_take_one_session_from_each_other(tmp_path):
    path = tmp_path / "s.db"

    async def begin():
        async with SQLiteStore(path) as store:
            await store.create("s")

    anyio.run(begin)
    here = Path(__file__)
    writers = [
        subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, here.with_name("seizing.py"), path, str(SECONDS), name],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    try:
        said = [writer.communicate(timeout=SECONDS + 40)[0].splitlines() for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]

    async def stored():
        async with SQLiteStore(path) as store:
            return await store.read("s", limit=10**9)

    events = anyio.run(stored)
    acknowledged = {tuple(line.split()) for lines in said for line in lines[:-1]}
    assert acknowledged == {(str(one.epoch), one.event_id, str(one.seq)) for one in events}
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    assert [one.epoch for one in events] == sorted(one.epoch for one in events)
    assert sum(int(lines[-1]) for lines in said) > 0
    assert len(events) > 0
