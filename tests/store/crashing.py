"""A process that writes and is killed, over and over.

what was acknowledged, until it is killed at a random moment. Prints the acknowledgements.
"""

import os
import random
import select
import signal
import sys
import time

import anyio

from citestream.store import EventRecord, SQLiteStore
from citestream.store.sqlite import checkpoints


def event(name, **more):
    return EventRecord(event_id=name, type="assistant.message", body='"' + "x" * 300 + '"', **more)


async def write(store, lease, pipe):
    """Write turns of three pieces, their end and a tool's result; tell of what is kept for good."""
    for turn in range(100_000):
        name = f"{lease.epoch}-{turn}"
        for number in range(3):
            store.accept(lease, [event(f"{name}-{number}", stream=name)])
            if turn % 4 == number:
                await store.flush()
        for kind, ends in (("tool", ()), ("end", (name,))):
            number = await store.append(lease, [event(f"{kind}-{name}", ends=ends)])
            os.write(pipe, f"{lease.session_id} {kind}-{name} {number}\n".encode())


async def writer(path, pipe):
    async with SQLiteStore(path) as store, anyio.create_task_group() as tasks:
        known = {found.session_id for found in await store.list()}
        for name in "abc":
            take = store.acquire if name in known else store.create
            tasks.start_soon(write, store, await take(name), pipe)


def one_round(path, seconds):
    read, pipe = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        anyio.run(writer, path, pipe)
        os._exit(1)
    os.close(pipe)
    deadline = time.monotonic() + seconds
    said = b""
    try:
        while (left := deadline - time.monotonic()) > 0:
            if select.select([read], [], [], left)[0]:
                said += os.read(read, 65_536)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    while more := os.read(read, 65_536):
        said += more
    os.close(read)
    return said.decode()


def main(path, rounds):
    checkpoints._PAGES = 60  # noqa: SLF001 - so that some are killed while the log is folded back
    for _ in range(rounds):
        sys.stdout.write(one_round(path, random.uniform(0.05, 0.25)))  # noqa: S311


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
