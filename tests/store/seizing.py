"""A process that takes a session over whenever someone else has, and says what it kept.

``python seizing.py FILE SECONDS NAME``: prints ``epoch id number`` for each event that was kept,
and in the end how often it was fenced off.
"""

import sys
import time

import anyio

from citestream.errors import SessionFenced
from citestream.store import SQLiteStore
from store.stores import event


async def main(path, seconds, name):
    fenced = count = 0
    deadline = time.monotonic() + seconds
    async with SQLiteStore(path) as store:
        while time.monotonic() < deadline:
            lease = await store.acquire("s", holder=name)
            try:
                while time.monotonic() < deadline:
                    count += 1
                    number = await store.append(lease, [event(f"{name}-{count}")])
                    print(lease.epoch, f"{name}-{count}", number)  # noqa: T201
            except SessionFenced:
                fenced += 1
    print(fenced)  # noqa: T201


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], float(sys.argv[2]), sys.argv[3])
