import anyio
import pytest

from citestream.cancellation import is_cancelled

pytestmark = pytest.mark.anyio


async def test_a_scope_that_is_cancelled_cancels_what_runs_in_it():
    assert not is_cancelled()
    with anyio.CancelScope() as scope:
        scope.cancel()
        assert is_cancelled()
        with anyio.CancelScope(shield=True):
            await anyio.lowlevel.checkpoint()
            assert not is_cancelled()
        await anyio.lowlevel.checkpoint()
    assert not is_cancelled()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_is_cancelled_knows_it():
    import asyncio  # noqa: PLC0415 - one backend only

    seen = []

    async def run():
        try:
            await asyncio.sleep(60)
        finally:
            seen.append(is_cancelled())

    async def fail():
        raise asyncio.CancelledError

    task = asyncio.ensure_future(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == [True]
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(fail())
    assert not is_cancelled()
