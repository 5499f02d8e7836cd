"""Sessions: the price of a callback against the Copilot SDK, and the memory of a long answer."""

import contextlib
import json
import logging
import sys
import tracemalloc
from collections import deque
from pathlib import Path

import anyio
import pytest
from answers import answer
from ratios import compare, report

from citestream import Session, wire

LINE = (
    (Path(__file__).parents[1] / "data" / "copilot" / "live-openai-markers.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()[6]
)
EVENTS = 1_000


def event(kind, **data):
    return {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}


@pytest.mark.parametrize("handlers", [1, 10])
def test_dispatch_against_the_copilot_sdk(handlers):
    copilot_session = pytest.importorskip("copilot.session", reason="github-copilot-sdk is absent")
    events = pytest.importorskip("copilot.session_events")
    logging.getLogger("copilot").setLevel(logging.WARNING)
    their_event = events.session_event_from_dict(json.loads(LINE))
    our_event = wire.decode_event(LINE)
    theirs = copilot_session.CopilotSession("s", None)
    ours = Session(enable_citations=True)
    counts = [deque(maxlen=1) for _ in range(handlers)]
    for count in counts:
        theirs.on(count.append)
        ours.on(count.append)

    def dispatch():
        for _ in range(EVENTS):
            theirs._dispatch_event(their_event)  # noqa: SLF001 - there is no public way in

    def deliver():
        delivery = ours._delivery  # noqa: SLF001 - as with theirs
        queue, dispatch = delivery._queue.append, delivery._dispatch  # noqa: SLF001
        for _ in range(EVENTS):
            queue(our_event)
            dispatch()

    def feed():
        for _ in range(EVENTS):
            with contextlib.suppress(StopIteration):  # sync handlers: it never has to wait
                ours.feed(our_event).send(None)

    for job, event in ((dispatch, their_event), (deliver, our_event), (feed, our_event)):
        job()
        assert [list(count) for count in counts] == [[event]] * handlers
    rows = [
        ("dispatch against dispatch", compare(deliver, dispatch), 4),
        ("our whole feed() against dispatch", compare(feed, dispatch), 1),
    ]
    print("\n" + report(f"{EVENTS:,} events to {handlers} callbacks", rows))
    assert all(ratio.value >= gate for _, ratio, gate in rows)


@pytest.mark.parametrize("every", [200, 5_000])
def test_memory_of_a_long_answer(every):
    text = answer(4_000_000, every=every)
    size = sys.getsizeof(text)

    async def upstream():
        for start in range(0, len(text), 4):
            piece = text[start : start + 4]
            yield event("assistant.message_delta", messageId="m", deltaContent=piece)
        yield event("assistant.message", messageId="m", content=text)

    async def main():
        async with Session(enable_citations=True) as session:
            session.on(lambda _: None)
            tracemalloc.start()
            await session.consume(upstream())
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return peak

    peak = anyio.run(main)
    print(f"\n4,000,000 characters in deltas of 4, a marker every {every:,}: ")
    print(f"peak {peak / 1e6:.1f} MB, {peak / size:.2f} times the answer ({size / 1e6:.1f} MB)")
    assert peak < 6 * size
