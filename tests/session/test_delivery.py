import anyio
import pytest

from citestream import SessionEvent, SessionEventType
from citestream.events import AssistantMessageDeltaData, SessionIdleData
from citestream.session.delivery import Delivery

pytestmark = pytest.mark.anyio


def idle(number):
    return SessionEvent(id=str(number), type=SessionEventType.SESSION_IDLE, data=SessionIdleData())


async def test_events_come_in_order_whoever_runs():
    delivery, seen = Delivery("s"), []

    async def slow(event):
        await anyio.lowlevel.checkpoint()
        seen.append(event.id)

    delivery.subscribe(slow)
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            delivery.put([idle(number)])
            tasks.start_soon(delivery.run)
    assert seen == list("01234")
    assert [event.id for event in delivery.history] == seen


async def test_a_handler_is_inside_and_does_not_wait_for_itself():
    delivery, inside = Delivery("s"), []

    async def handle(event):
        inside.append(delivery.is_inside())
        if event.id == "0":
            delivery.put([idle(1)])
            await delivery.run()
            assert len(inside) == 1

    delivery.subscribe(handle)
    delivery.put([idle(0)])
    await delivery.run()
    assert inside == [True, True]
    assert not delivery.is_inside()


async def test_closing_ends_iterators_behind_what_was_put():
    delivery = Delivery("s")
    stream = delivery.stream(1)
    delivery.put([idle(0), idle(1)])
    delivery.close()
    await delivery.run()
    assert [event.id async for event in stream] == ["0", "1"]


def test_what_only_streams_is_not_history():
    delivery = Delivery("s")
    data = AssistantMessageDeltaData(message_id="m", delta_content="x")
    streams = SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE_DELTA, data=data)
    gone = SessionEvent(type=SessionEventType.SESSION_IDLE, data=SessionIdleData(), ephemeral=True)
    for event in (streams, gone, idle(0)):
        delivery.remember(event)
    assert [one.id for one in delivery.history] == ["0"]
