import anyio
import pytest

from citestream import SessionEvent, SessionEventType
from citestream.events import AbortData
from citestream.session import EventBuffer, EventStream

pytestmark = pytest.mark.anyio


def event(number):
    return SessionEvent(id=str(number), type=SessionEventType.ABORT, data=AbortData())


async def put_all(buffer, count, done):
    for number in range(count):
        await buffer.put(event(number))
        done.append(number)


async def test_events_come_in_order_and_the_end_ends_the_loop():
    buffer = EventBuffer(4)
    done = []
    seen = []
    async with anyio.create_task_group() as tasks:

        async def produce():
            await put_all(buffer, 300, done)
            buffer.close()

        tasks.start_soon(produce)
        async for item in EventStream(buffer):
            assert len(done) - len(seen) <= 6
            seen.append(int(item.id))
    assert seen == list(range(300))


async def test_a_full_buffer_makes_the_session_wait():
    buffer, done = EventBuffer(2), []
    stream = EventStream(buffer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put_all, buffer, 5, done)
        await anyio.wait_all_tasks_blocked()
        assert done == [0, 1]
        assert (await anext(stream)).id == "0"
        await anyio.wait_all_tasks_blocked()
        assert done == [0, 1, 2]
        await stream.aclose()
    assert done == [0, 1, 2, 3, 4]


async def test_a_reader_that_is_dropped_holds_nobody_up():
    buffer, done = EventBuffer(1), []
    stream = EventStream(buffer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put_all, buffer, 3, done)
        await anyio.wait_all_tasks_blocked()
        del stream
    assert done == [0, 1, 2]
    assert buffer.closed


async def test_a_reader_that_waits_is_woken_by_an_event_and_by_the_end():
    buffer, seen = EventBuffer(1), []

    async def read():
        async with EventStream(buffer) as stream:
            seen.extend([item.id async for item in stream])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        await buffer.put(event(0))
        await anyio.wait_all_tasks_blocked()
        assert buffer.closed is False
        buffer.close()
    assert seen == ["0"]


async def test_a_fast_producer_lets_others_have_their_turn():
    buffer = EventBuffer(1000)
    await put_all(buffer, 500, [])
    turns = []

    async def other():
        turns.append("other")

    stream = EventStream(buffer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        for _ in range(500):
            await anext(stream)
        assert turns == ["other"]


async def test_who_stopped_waiting_can_wait_again_and_misses_nothing():
    buffer, done = EventBuffer(1), []
    stream = EventStream(buffer)
    for _ in range(2):
        with anyio.move_on_after(0.001):
            await anext(stream)
    await put_all(buffer, 1, done)
    for number in (1, 2):
        with anyio.move_on_after(0.001):
            await buffer.put(event(number))
    assert [(await anext(stream)).id for _ in range(3)] == ["0", "1", "2"]


async def test_near_the_end_nobody_waits():
    buffer, done = EventBuffer(1), []
    stream = EventStream(buffer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put_all, buffer, 3, done)
        await anyio.wait_all_tasks_blocked()
        assert done == [0]
        buffer.release()
    buffer.close()
    assert [int(item.id) async for item in stream] == [0, 1, 2]


async def test_what_comes_after_the_end_is_dropped():
    buffer = EventBuffer(1)
    buffer.close()
    await buffer.put(event(0))
    assert [item async for item in EventStream(buffer)] == []
