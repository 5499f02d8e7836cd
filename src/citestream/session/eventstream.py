"""The events of a session as an async iterator with a bounded buffer.

The session puts events in and waits while the buffer is full; the reader takes them out. A reader
that goes away, closed or just dropped, never holds the session up.
"""

from collections import deque
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel

from ..events import SessionEvent

__all__ = ("CHECKPOINT_EVERY", "EventBuffer", "EventStream")

CHECKPOINT_EVERY = 128
"""Events taken without waiting, before others get their turn."""


class EventBuffer:
    """What a session and one reader share: the events that wait, and who waits for them."""

    def __init__(self, size: int, /) -> None:
        self._size = size
        self._events: deque[SessionEvent] = deque()
        self._arrived: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._bounded = True
        self.closed: bool = False

    async def put(self, event: SessionEvent, /) -> None:
        """Add ``event``; wait while the buffer is full, drop it when the reader has gone.

        A wait that is cancelled adds it all the same: a reader misses nothing.
        """
        try:
            while self._bounded and len(self._events) >= self._size and not self.closed:
                if self._taken is None:
                    self._taken = anyio.Event()
                await self._taken.wait()
        finally:
            if not self.closed:
                self._events.append(event)
                self._wake_reader()

    async def get(self) -> SessionEvent | None:
        """Take the next event; None when the buffer is closed and empty."""
        while not self._events:
            if self.closed:
                return None
            if self._arrived is None:
                self._arrived = anyio.Event()
            await self._arrived.wait()
        event = self._events.popleft()
        self._wake_session()
        return event

    def release(self) -> None:
        """Say that the end is near: what still comes is taken without waiting for the reader."""
        self._bounded = False
        self._wake_session()

    def close(self) -> None:
        """End the stream; what waits can still be taken."""
        self.closed = True
        self._wake_reader()
        self._wake_session()

    def _wake_reader(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None

    def _wake_session(self) -> None:
        if self._taken is not None:
            self._taken.set()
            self._taken = None


class EventStream:
    """An async iterator over the events of a session, from when it was made until it ends.

    Read it in a task of its own: a session waits for a reader whose buffer is full. Also an async
    context manager that ends the subscription.
    """

    def __init__(self, buffer: EventBuffer, /) -> None:
        self._buffer = buffer
        self._count = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        self._count += 1
        if self._count % CHECKPOINT_EVERY == 0:
            await anyio.lowlevel.checkpoint()
        event = await self._buffer.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """End the subscription; events that wait are dropped."""
        self._buffer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._buffer.close()
