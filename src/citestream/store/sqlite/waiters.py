"""Tasks that wait for a thread, and how it tells them: once per event loop, all together."""

from collections.abc import Iterable
from typing import Any

import anyio
import anyio.lowlevel

__all__ = ("Waiter", "wake")


class Waiter:
    """Waits in the event loop that made it. A thread sets ``result`` or ``error`` and ``done``."""

    __slots__ = ("_event", "done", "error", "loop", "result")

    def __init__(self) -> None:
        self.loop: Any = anyio.lowlevel.current_token().native_token
        self.done: bool = False
        self.result: Any = None
        self.error: BaseException | None = None
        self._event = anyio.Event()

    async def wait(self) -> Any:  # noqa: ANN401 - whatever was asked for
        """Return ``result``, or raise ``error``. To be cancelled is to wait no longer, no more."""
        await self._event.wait()
        if self.error is not None:
            raise self.error
        return self.result

    def settle(self, result: object = None, /, *, error: BaseException | None = None) -> None:
        """Say what came of it; ``wake`` tells the task."""
        self.result, self.error, self.done = result, error, True

    def _set(self) -> None:
        self._event.set()


def wake(waiters: Iterable[Waiter], /) -> None:
    """Tell ``waiters``, from any thread, that they are settled. Never waits for an event loop."""
    loops: dict[Any, list[Waiter]] = {}
    for waiter in waiters:
        loops.setdefault(waiter.loop, []).append(waiter)
    for loop, group in loops.items():
        # asyncio's name for it, or trio's
        soon = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
        try:
            soon(_set, group)
        except RuntimeError:  # the loop is closed: nobody waits there any more
            continue


def _set(waiters: list[Waiter]) -> None:
    for waiter in waiters:
        waiter._set()  # noqa: SLF001 - the other half of this module
