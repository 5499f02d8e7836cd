"""Tasks that wait for a thread."""

import threading

import anyio
import pytest

from citestream.store.sqlite.waiters import Waiter, wake

pytestmark = pytest.mark.anyio


async def test_a_waiter_gets_what_a_thread_says():
    waiters = [Waiter() for _ in range(3)]
    assert not waiters[0].done

    def settle():
        waiters[0].settle("result")
        waiters[1].settle(error=ValueError("no"))
        waiters[2].settle()
        wake(waiters)

    thread = threading.Thread(target=settle)
    thread.start()
    assert await waiters[0].wait() == "result"
    with pytest.raises(ValueError, match="no"):
        await waiters[1].wait()
    assert await waiters[2].wait() is None
    thread.join()
    assert all(waiter.done for waiter in waiters)


async def test_each_event_loop_is_told_once(monkeypatch):
    class Loop:
        def __init__(self, kind):
            self.calls = []
            setattr(self, kind, lambda call, group: self.calls.append((call, group)))

    loops = [Loop("call_soon_threadsafe"), Loop("run_sync_soon")]
    waiters = [Waiter() for _ in range(4)]
    for number, waiter in enumerate(waiters):
        monkeypatch.setattr(waiter, "loop", loops[number % 2])
    wake(waiters)
    assert [[group for _, group in loop.calls] for loop in loops] == [
        [waiters[0::2]],
        [waiters[1::2]],
    ]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_an_event_loop_that_is_closed_is_passed_over(backend):
    async def make():
        return Waiter()

    gone = await anyio.to_thread.run_sync(lambda: anyio.run(make, backend=backend))
    here = Waiter()
    for waiter in (gone, here):
        waiter.settle("result")
    wake([gone, here])
    assert await here.wait() == "result"


async def test_a_cancelled_wait_is_harmless():
    waiter = Waiter()
    with anyio.move_on_after(0):
        await waiter.wait()
    waiter.settle("result")
    wake([waiter, waiter])
    assert await waiter.wait() == "result"
