"""A process that writes, says what is kept after each transaction, and ends without closing.

``python abandoning.py FILE``: prints one line of JSON for each transaction.
"""

import json
import os
import sys

import anyio

from citestream.store import SQLiteStore
from store.stores import event, kept, piece


async def main(path):
    async with SQLiteStore(path) as store:
        leases = [await store.create("s"), await store.create("t")]

        async def say():
            print(json.dumps([await kept(store, "s"), await kept(store, "t")]))  # noqa: T201

        await say()
        for turn in range(12):
            lease = leases[turn % 2]
            for number in range(3):
                store.accept(lease, [piece(f"{turn}-{number}-{n}", str(turn)) for n in range(5)])
                await store.flush()
                await say()
            await store.append(lease, [event(f"tool-{turn}", body='"' + "x" * 5_000 + '"')])
            await say()
            if turn % 3:
                await store.append(lease, [event(f"end-{turn}", str(turn))])
                await say()
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
