"""Many sessions that stream at once in one process: ``python many_sessions.py COUNT SECONDS``.

Prints one line of JSON: how long it took, what was lost, and the memory of a session at most.
"""

import gc
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import anyio

from citestream import Client, SessionEventType, SQLiteStore
from citestream.events import AnswerEnd, AnswerText

RATE = 50  # deltas a second in each session


class Paced:
    """Answers with ``count`` words, RATE a second."""

    def __init__(self, count):
        self.count = count

    async def answer(self, _exchange):
        start = anyio.current_time()
        for number in range(self.count):
            await anyio.sleep_until(start + number / RATE)
            yield AnswerText(text=f"w{number:04d} ")
        yield AnswerEnd()


def resident():
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """What the process held at most, and how long the loop did not turn."""

    def __init__(self):
        self.peak, self.stalls = 0, []

    async def run(self):
        while True:
            start = perf_counter()
            await anyio.sleep(0.01)
            self.stalls.append(perf_counter() - start - 0.01)
            self.peak = max(self.peak, resident())


async def main(count, seconds):
    words = int(seconds * RATE)
    text = "".join(f"w{number:04d} " for number in range(words))
    watch, given = Watch(), [[] for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "sessions.db")
        async with Client(provider=Paced(words), store=store) as client:
            gc.collect()
            before = resident()
            sessions = [await client.create_session(enable_citations=True) for _ in range(count)]
            idle = resident() - before
            for session, lengths in zip(sessions, given, strict=True):

                def note(event, lengths=lengths):
                    if event.type is SessionEventType.ASSISTANT_MESSAGE_DELTA:
                        lengths.append(len(event.data.delta_content))

                session.on(note)
            start, cpu = perf_counter(), process_time()
            async with anyio.create_task_group() as watching:
                watching.start_soon(watch.run)
                async with anyio.create_task_group() as tasks:
                    for session in sessions:
                        tasks.start_soon(ask, session)
                watching.cancel_scope.cancel()
            took, cpu = perf_counter() - start, process_time() - cpu
            lost = sum(sum(lengths) != len(text) for lengths in given)
        async with Client(store=store) as client:
            for session in sessions:
                again = await client.resume_session(session.session_id)
                contents = [
                    event.data.content
                    for event in await again.get_events()
                    if event.type is SessionEventType.ASSISTANT_MESSAGE
                ]
                lost += contents != [text]
    stalls = sorted(watch.stalls)
    return {
        "sessions": count,
        "deltas": count * words,
        "lost": lost,
        "seconds": round(took, 2),
        "paced": seconds,
        "cpu": round(cpu, 2),
        "kib_idle": round(idle / count / 1024, 1),
        "kib_peak": round((watch.peak - before) / count / 1024, 1),
        "stall_p99_ms": round(stalls[int(len(stalls) * 0.99)] * 1e3, 1),
    }


async def ask(session):
    await session.send_and_wait("?", timeout=None)


if __name__ == "__main__":
    print(json.dumps(anyio.run(main, int(sys.argv[1]), float(sys.argv[2]))))
