"""What only asyncio has: tasks made by hand, queues as upstreams, and its own debug mode."""

import asyncio

import pytest

from citestream import Session, format_marker


def event(kind, **data):
    return {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}


@pytest.mark.asyncio
async def test_a_queue_filled_by_another_task_is_an_upstream():
    queue = asyncio.Queue()

    async def upstream():
        while (item := await queue.get()) is not None:
            yield item

    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        task = asyncio.create_task(session.consume(upstream()))
        text = f"Rents rose. {format_marker('a')}"
        for piece in text:
            await queue.put(event("assistant.message_delta", messageId="m", deltaContent=piece))
        await queue.put(event("assistant.message", messageId="m", content=text))
        await queue.put(None)
        await task
    assert "".join(e.data.delta_content for e in seen[:-1]) == seen[-1].data.content
    assert seen[-1].data.content == "Rents rose."


@pytest.mark.asyncio
async def test_a_cancelled_task_leaves_the_session_usable():
    async def silent():
        await asyncio.Event().wait()
        yield

    async with Session() as session:
        task = asyncio.create_task(session.consume(silent()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await session.feed(event("abort"))
        assert len(await session.get_events()) == 1
