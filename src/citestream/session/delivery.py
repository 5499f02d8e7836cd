"""Giving events out: to callbacks in order, to iterators with a bounded buffer, one at a time.

In: the events that a session gives out. Out: calls of handlers, events in buffers. Whoever feeds,
from however many tasks, one event is given out wholly before the next. Deliberately elsewhere: what
is given out (``session``).
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextvars import ContextVar
from inspect import isawaitable
from typing import TypeAlias

import anyio
import anyio.lowlevel

from ..cancellation import is_cancelled
from ..events import (
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    AssistantReasoningDeltaData,
    SessionEvent,
)
from .eventstream import EventBuffer, EventStream

__all__ = ("Delivery", "EventHandler")

EventHandler: TypeAlias = Callable[[SessionEvent], Awaitable[object] | object]
"""A callback: sync or async, given every event of a session; what it returns is ignored."""

_Interrupted: TypeAlias = tuple[SessionEvent, Iterator[EventHandler], Iterator[EventBuffer]]
_STREAMING = (AssistantMessageDeltaData, AssistantReasoningDeltaData, AssistantMessageStartData)
_logger = logging.getLogger("citestream.session")
_inside: ContextVar[tuple[tuple["Delivery", int], ...]] = ContextVar("_inside", default=())


class Delivery:
    """The queue of one session and everyone who listens to it. ``name`` is for the log.

    ``history`` is what was given out, in order, without what only streams.
    """

    def __init__(self, name: str, /) -> None:
        self._name = name
        self._subscriptions: dict[object, EventHandler] = {}
        self._handlers: tuple[EventHandler, ...] = ()
        self._buffers: list[EventBuffer] = []
        self._queue: deque[SessionEvent] = deque()
        self._delivering = False
        self._delivered: anyio.Event | None = None
        self._interrupted: _Interrupted | None = None
        self._open = True
        self.history: list[SessionEvent] = []

    def remember(self, event: SessionEvent, /) -> None:
        """Add ``event`` to the history, unless it only streams."""
        if not (event.ephemeral or isinstance(event.data, _STREAMING)):
            self.history.append(event)

    def subscribe(self, handler: EventHandler, /) -> Callable[[], None]:
        """Call ``handler`` with every event from now on; return a function that ends that."""
        subscription = object()
        self._subscriptions[subscription] = handler
        self._handlers = tuple(self._subscriptions.values())

        def unsubscribe() -> None:
            self._subscriptions.pop(subscription, None)
            self._handlers = tuple(self._subscriptions.values())

        return unsubscribe

    def stream(self, size: int, /) -> EventStream:
        """Return an iterator over the events from now on; ``size`` bounds those that wait."""
        buffer = EventBuffer(size)
        self._buffers.append(buffer)
        return EventStream(buffer)

    def put(self, events: Iterable[SessionEvent], /) -> None:
        """Add events to what ``run`` gives out."""
        self._queue.extend(events)

    def close(self) -> None:
        """Say that nothing follows what was put: iterators end behind it."""
        self._open = False
        self.release()

    def release(self) -> None:
        """Say that the end is near: nobody waits for those who read iterators any more."""
        for buffer in self._buffers:
            buffer.release()

    def mute(self) -> None:
        """Give nothing out any more, to whoever listens."""
        self._subscriptions.clear()
        self._handlers = ()
        self._interrupted = None
        for buffer in self._buffers:
            buffer.close()

    def is_inside(self) -> bool:
        """Tell whether a handler of this session called what runs now, in the same task."""
        return (self, anyio.get_current_task().id) in _inside.get()

    def begin(self) -> Awaitable[None] | None:
        """Do what ``run`` does as far as nobody has to wait; return the rest, None for none."""
        if self._delivering:
            return self.run()
        waiting = self._dispatch()
        return None if waiting is None else self._rest(waiting)

    async def _rest(self, waiting: Awaitable[None]) -> None:
        await waiting
        await self.run()

    async def run(self) -> None:
        """Give out what was put, in order, one event at a time whoever calls.

        Inside a handler this returns at once: whoever called the handler goes on.
        """
        while True:
            while self._delivering:
                if self.is_inside():
                    return
                if self._delivered is None:
                    self._delivered = anyio.Event()
                await self._delivered.wait()
            waiting = self._dispatch()
            if waiting is None:
                return
            await waiting

    def _dispatch(self) -> Awaitable[None] | None:
        """Give out what is queued, up to an event that has to wait; return the rest of that one.

        Most handlers are sync, and then an event costs no coroutine.
        """
        self._delivering = True
        waiting = None
        try:
            waiting = self._unfinished()
            while waiting is None and self._queue:
                event = self._queue.popleft()
                self.remember(event)
                handlers = iter(self._handlers)
                result = self._call(handlers, event)
                if result is not None or self._buffers:
                    waiting = self._go_on(event, handlers, result, self._readers())
            if waiting is None and not self._open:
                for buffer in self._buffers:
                    buffer.close()
        finally:
            if waiting is None:
                self._end_delivery()
        return waiting

    def _unfinished(self) -> Awaitable[None] | None:
        """Return the rest of an event whose delivery was cancelled."""
        if self._interrupted is None:
            return None
        event, handlers, readers = self._interrupted
        self._interrupted = None
        return self._go_on(event, handlers, self._call(handlers, event), readers)

    def _readers(self) -> Iterator[EventBuffer]:
        self._buffers = [buffer for buffer in self._buffers if not buffer.closed]
        return iter(self._buffers)

    async def _go_on(
        self,
        event: SessionEvent,
        handlers: Iterator[EventHandler],
        result: Awaitable[object] | None,
        readers: Iterator[EventBuffer],
    ) -> None:
        """Await what a handler returned, call the handlers after it, and fill the buffers."""
        complete = False
        try:
            while result is not None:
                await self._wait_for(result)
                result = self._call(handlers, event)
            for buffer in readers:
                await buffer.put(event)
            complete = True
        finally:
            if not complete:
                self._interrupted = event, handlers, readers
            self._end_delivery()

    def _call(
        self, handlers: Iterator[EventHandler], event: SessionEvent
    ) -> Awaitable[object] | None:
        """Call ``handlers`` up to the first one that has to be awaited; return what it returned."""
        for handler in handlers:
            try:
                result = handler(event)
            except Exception:  # whatever a handler raises must harm nobody
                _logger.exception("a handler of session %s raised", self._name)
            else:
                if result is not None and isawaitable(result):
                    return result
        return None

    async def _wait_for(self, result: Awaitable[object]) -> None:
        token = _inside.set((*_inside.get(), (self, anyio.get_current_task().id)))
        try:
            await result
        except anyio.get_cancelled_exc_class():
            if is_cancelled():
                raise
            _logger.exception("a handler of session %s was cancelled from inside", self._name)
        except Exception:  # whatever a handler raises must harm nobody
            _logger.exception("a handler of session %s raised", self._name)
        finally:
            _inside.reset(token)

    def _end_delivery(self) -> None:
        self._delivering = False
        if self._delivered is not None:
            self._delivered.set()
            self._delivered = None
