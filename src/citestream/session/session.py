"""A session: upstream events in, clean events with citations out to everyone who listens.

In: ``feed`` one event, or ``consume`` a whole stream. Out: callbacks (``on``), async iterators
(``events``), the history (``get_events``). What happens to an event is decided in ``resolver``;
this room only moves events, in order, on asyncio and trio.
"""

import logging
import re
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping
from contextvars import ContextVar
from inspect import isawaitable
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias
from uuid import uuid4

import anyio
import anyio.lowlevel
import attrs

from ..errors import DecodeError, OptionError, StateError, brief
from ..events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    AssistantReasoningDeltaData,
    SessionEvent,
    SessionEventType,
    SessionWarningData,
)
from ..model import Extra
from ..resolver import MessageKey, Resolver
from ..sources import SourceRegistry
from ..wire import decode_event
from .eventstream import CHECKPOINT_EVERY, EventBuffer, EventStream
from .options import SessionOptions

__all__ = ("EventHandler", "Session", "UpstreamEvent")

EventHandler: TypeAlias = Callable[[SessionEvent], Awaitable[object] | object]
"""A callback: sync or async, given every event of a session; what it returns is ignored."""

UpstreamEvent: TypeAlias = SessionEvent | Mapping[str, Any]
"""An event, or the JSON object of one."""

_Interrupted: TypeAlias = tuple[SessionEvent, Iterator[EventHandler], Iterator[EventBuffer]]
_logger = logging.getLogger("citestream.session")
_CITABLE = re.compile(r"\$\.data\.result\.citableSources\[([0-9]+)\]")
_STREAMING = (AssistantMessageDeltaData, AssistantReasoningDeltaData, AssistantMessageStartData)
_inside: ContextVar[tuple[tuple["Session", int], ...]] = ContextVar("_inside", default=())


class Session:
    """Embeds the events of one conversation in an async program.

    With ``enable_citations`` the events come out with markers hidden and citations on the final
    messages (SPEC section 3). Without, they pass, but for ``citations``, which are dropped.

    ``sources`` is what may be cited: register there what the model is shown. What tools return to
    be cited (``citableSources``) is registered while the session takes events.

    An async context manager; leaving it disconnects.
    """

    def __init__(
        self,
        *,
        enable_citations: bool = False,
        session_id: str | None = None,
        options: SessionOptions | None = None,
        sources: SourceRegistry | None = None,
    ) -> None:
        self.session_id: str = session_id if session_id is not None else str(uuid4())
        self.enable_citations: bool = enable_citations
        self._options = options or SessionOptions()
        pattern = self._options.citations.syntax.id_pattern
        self.sources: SourceRegistry = (
            SourceRegistry(id_pattern=pattern) if sources is None else sources
        )
        self._resolver = Resolver(self._options.citations, registry=self.sources)
        self._subscriptions: dict[object, EventHandler] = {}
        self._handlers: tuple[EventHandler, ...] = ()
        self._buffers: list[EventBuffer] = []
        self._history: list[SessionEvent] = []
        self._queue: deque[SessionEvent] = deque()
        self._delivering = False
        self._delivered: anyio.Event | None = None
        self._interrupted: _Interrupted | None = None
        self._connected = True

    # -- listening

    def on(self, handler: EventHandler, /) -> Callable[[], None]:
        """Call ``handler`` with every event from now on; return a function that ends that.

        Handlers are called in the order in which they were added, one event at a time; async ones
        are awaited before the next event. One that raises is logged and harms nobody.

        Raises OptionError for what cannot be called, StateError after ``disconnect``.
        """
        self._check_connected("on")
        if not callable(handler):
            raise OptionError(f"on: wanted a callable, got {brief(handler)}")
        subscription = object()
        self._subscriptions[subscription] = handler
        self._handlers = tuple(self._subscriptions.values())

        def unsubscribe() -> None:
            self._subscriptions.pop(subscription, None)
            self._handlers = tuple(self._subscriptions.values())

        return unsubscribe

    def events(self) -> EventStream:
        """Return an async iterator over the events from now on, until the session disconnects.

        Raises StateError after ``disconnect``.
        """
        self._check_connected("events")
        buffer = EventBuffer(self._options.buffer_size)
        self._buffers.append(buffer)
        return EventStream(buffer)

    async def get_events(self) -> list[SessionEvent]:
        """Return the events given out so far, in order, without those that only stream."""
        return list(self._history)

    # -- feeding

    async def feed(self, event: UpstreamEvent, /) -> None:
        """Take one event of the upstream; return when every handler has had what came of it.

        A handler that feeds its own session does not wait: what it feeds comes after its event.
        When the call is cancelled while a handler runs, the handlers and iterators behind it get
        the event with the next call.

        Raises DecodeError for a mapping that is not an event (the session goes on), StateError
        after ``disconnect``.
        """
        self._check_connected("feed")
        self._queue.extend(self._process(_decoded(event)))
        await self._deliver()

    async def consume(
        self,
        events: AsyncIterable[UpstreamEvent],
        /,
        *,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> None:
        """Feed a whole stream. At its end, what was withheld of its open messages is released.

        Several streams may be consumed at once. ``on_error`` says what to do about an event that
        cannot be decoded: ``raise`` its DecodeError, or ``skip`` it and give out a
        ``session.warning``; only what cannot be decoded of citations and citable sources is left
        out then, so no message costs its text. Either way the session goes on.

        Raises what the stream raises, StateError after ``disconnect``.
        """
        if on_error not in {"raise", "skip"}:
            raise OptionError(f"on_error: wanted 'raise' or 'skip', got {brief(on_error)}")
        self._check_connected("consume")
        opened: dict[MessageKey, None] = {}
        count = 0
        try:
            async for event in events:
                self._check_connected("consume")
                count += 1
                if count % CHECKPOINT_EVERY == 0:
                    await anyio.lowlevel.checkpoint()
                decoded, warning = _decoded_leniently(event, skip=on_error == "skip")
                if decoded is not None:
                    if isinstance(decoded.data, AssistantMessageDeltaData):
                        opened[decoded.agent_id, decoded.data.message_id] = None
                    self._queue.extend(self._process(decoded))
                if warning is not None:
                    self._queue.append(warning)
                await self._deliver()
        finally:
            self._queue.extend(self._resolver.end(opened))
            await self._deliver()

    async def disconnect(self) -> None:
        """Release what was withheld, end all iterators and take no more events. Idempotent."""
        if self._connected:
            self._queue.extend(self._resolver.finish())
            self._connected = False
        for buffer in self._buffers:
            buffer.release()
        await self._deliver()

    async def __aenter__(self) -> Self:
        self._check_connected("async with")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.disconnect()

    # -- inside

    def _check_connected(self, call: str) -> None:
        if not self._connected:
            raise StateError(f"{call}: the session is disconnected")

    def _process(self, event: SessionEvent) -> list[SessionEvent]:
        if self.enable_citations:
            return self._resolver.feed(event)
        data = event.data
        if isinstance(data, AssistantMessageData) and data.citations is not None:
            return [attrs.evolve(event, data=attrs.evolve(data, citations=None))]
        return [event]

    async def _deliver(self) -> None:
        """Give out what is queued, in order, one event at a time whoever feeds."""
        while True:
            while self._delivering:
                if (self, anyio.get_current_task().id) in _inside.get():
                    return  # a handler feeds its own session: the loop that called it goes on
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
                if not (event.ephemeral or isinstance(event.data, _STREAMING)):
                    self._history.append(event)
                handlers = iter(self._handlers)
                result = self._call(handlers, event)
                if result is not None or self._buffers:
                    waiting = self._go_on(event, handlers, result, self._readers())
            if waiting is None and not self._connected:
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
                _logger.exception("a handler of session %s raised", self.session_id)
            else:
                if result is not None and isawaitable(result):
                    return result
        return None

    async def _wait_for(self, result: Awaitable[object]) -> None:
        token = _inside.set((*_inside.get(), (self, anyio.get_current_task().id)))
        try:
            await result
        except Exception:  # whatever a handler raises must harm nobody
            _logger.exception("a handler of session %s raised", self.session_id)
        finally:
            _inside.reset(token)

    def _end_delivery(self) -> None:
        self._delivering = False
        if self._delivered is not None:
            self._delivered.set()
            self._delivered = None


def _decoded(event: UpstreamEvent) -> SessionEvent:
    if isinstance(event, SessionEvent):
        return event
    if isinstance(event, Mapping):
        return decode_event(event)
    raise DecodeError(path="$", expected="an event or a mapping", got=brief(event))


def _decoded_leniently(
    event: UpstreamEvent, *, skip: bool
) -> tuple[SessionEvent | None, SessionEvent | None]:
    """Return the event, or what of it can be decoded, and a warning about what cannot."""
    try:
        return _decoded(event), None
    except DecodeError as error:
        if not skip:
            raise
        decoded = _without_damage(event, error)
        return decoded, _warning(error, kept=decoded is not None)


def _without_damage(event: UpstreamEvent, error: DecodeError) -> SessionEvent | None:
    """Decode an event again without what cannot be decoded of its citations or citable sources.

    So a message never costs its text, and one source never costs another.
    """
    problem = error
    while isinstance(event, Mapping):
        smaller = _without(event, problem.path)
        if smaller is None:
            return None
        try:
            return decode_event(smaller)
        except DecodeError as another:
            event, problem = smaller, another
    return None


def _without(event: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    """Leave out of ``event`` the citations or the citable source that ``path`` leads into."""
    data = event.get("data")
    data = dict(data) if isinstance(data, Mapping) else {}
    # What is nested too deep is reported at the root: citations are what may be left out.
    if path.startswith("$.data.citations") or (path == "$" and "citations" in data):
        del data["citations"]
    elif damaged := _CITABLE.match(path):
        sources = list(data["result"]["citableSources"])
        del sources[int(damaged[1])]
        data["result"] = {**data["result"], "citableSources": sources}
    else:
        return None
    return {**event, "data": data}


def _warning(error: DecodeError, *, kept: bool) -> SessionEvent:
    details = {"path": error.path, "expected": error.expected, "got": error.got}
    return SessionEvent(
        ephemeral=True,
        type=SessionEventType.SESSION_WARNING,
        data=SessionWarningData(
            message=f"{'part of an event' if kept else 'an event'} was skipped: {error}",
            warning_type="decode_error",
            extra=Extra(details),
        ),
    )
