"""However the log was cut or garbled: the file opens, and holds the first transactions, whole."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from citestream.store import SQLiteStore
from store.stores import ENVIRONMENT, event, kept

pytestmark = pytest.mark.long

ROUNDS = 500


@pytest.fixture(scope="module")
def abandoned(tmp_path_factory):
    """A file with a log that was never folded back, and its state after each transaction."""
    path = tmp_path_factory.mktemp("abandoned") / "s.db"
    here = Path(__file__)
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, here.with_name("abandoning.py"), path],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    states = [json.loads(line) for line in done.stdout.splitlines()]
    return path, [[list(map(tuple, part)) for part in state] for state in states]


def damaged(log, draw):
    at = draw.randrange(len(log))
    match draw.randrange(4):
        case 0:
            return log[:at]
        case 1:
            return log[:at] + bytes(len(log) - at)
        case 2:
            return log[:at] + draw.randbytes(len(log) - at)
        case _:
            return log[:at] + draw.randbytes(1) + log[at + 1 :]


def test_a_damaged_log(abandoned, tmp_path):
    source, states = abandoned
    log = source.with_name("s.db-wal").read_bytes()
    draw = random.Random(20261130)  # noqa: S311 - not for secrets

    async def look(path):
        async with SQLiteStore(path) as store:
            sessions = {found.session_id for found in await store.list()}
            if not sessions >= {"s", "t"}:
                return -1
            found = states.index([await kept(store, "s"), await kept(store, "t")])
            lease = await store.acquire("s")
            last = (await store.get("s")).last_seq
            assert await store.append(lease, [event("more")]) == last + 1
            return found

    async def rounds():
        found = set()
        for number in range(ROUNDS):
            path = tmp_path / f"{number}.db"
            shutil.copy(source, path)
            path.with_name(path.name + "-wal").write_bytes(damaged(log, draw))
            found.add(await look(path))
            path.unlink()
        return found

    found = anyio.run(rounds)
    assert len(found) > len(states) / 2


def test_a_whole_log(abandoned, tmp_path):
    source, states = abandoned
    for name in ("s.db", "s.db-wal"):
        shutil.copy(source.with_name(name), tmp_path / name)

    async def look():
        async with SQLiteStore(tmp_path / "s.db") as store:
            return [await kept(store, "s"), await kept(store, "t")]

    assert anyio.run(look) == states[-1]
