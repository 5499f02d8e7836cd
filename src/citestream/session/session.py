"""A session: upstream events in, clean events with citations out to everyone who listens.

In: ``feed`` one event, or ``consume`` a whole stream; or ``send`` a message, where a client with a
provider made the session. Out: callbacks (``on``), async iterators (``events``), the history
(``get_events``). What happens to an event is decided in ``resolver``; this room only moves events,
in order, on asyncio and trio.
"""

import logging
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self
from uuid import uuid4

import anyio
import anyio.lowlevel

from ..errors import OptionError, StateError, StoreError, brief
from ..events import AssistantMessageDeltaData, SessionEvent
from ..logs.decoding import UpstreamEvent, decoded, decoded_leniently
from ..resolver import MessageKey
from ..sources import SourceRegistry
from .backing import Backing
from .delivery import Delivery, EventHandler
from .eventstream import CHECKPOINT_EVERY, EventStream
from .intake import Intake
from .options import SessionOptions
from .reading import Reading
from .work import PATIENCE, Work

__all__ = ("Session",)

_logger = logging.getLogger("citestream.session")


class Session:
    """Embeds the events of one conversation in an async program.

    With ``enable_citations`` the events come out with markers hidden and citations on the final
    messages (SPEC section 3). Without, they pass, but for ``citations``, which are dropped.

    ``sources`` is what may be cited: register there what the model is shown. What tools return to
    be cited (``citableSources``) is registered while the session takes events.

    Made by a ``Client`` (which gives the ``backing``), a session is kept in the client's store and
    can ``send``. Made by itself it takes the events of whatever upstream feeds it.

    An async context manager; leaving it disconnects.
    """

    def __init__(
        self,
        *,
        enable_citations: bool = False,
        session_id: str | None = None,
        options: SessionOptions | None = None,
        sources: SourceRegistry | None = None,
        backing: Backing | None = None,
    ) -> None:
        self.session_id: str = session_id if session_id is not None else str(uuid4())
        self._options = options or SessionOptions()
        citations = self._options.citations
        if sources is None:
            sources = SourceRegistry(id_pattern=citations.syntax.id_pattern)
        self._delivery = Delivery(self.session_id)
        self._reading = Reading(citations, sources=sources, enable_citations=enable_citations)
        self._intake: Intake | None = None
        self._work: Work | None = None
        self._backing = backing
        if backing is not None:
            journal, past = backing.journal, backing.past
            self._intake = Intake(self._reading, self._delivery, journal, past=past)
            self._work = Work(self.session_id, self._intake, backing, self._options)
        self._connected = True

    @property
    def enable_citations(self) -> bool:
        """Whether the session cites."""
        return self._reading.enable_citations

    @property
    def sources(self) -> SourceRegistry:
        """What may be cited. What a kept session registers is kept with the next event."""
        if self._intake is not None:
            self._intake.recall_at_once()
        return self._reading.sources

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
        return self._delivery.subscribe(handler)

    def events(self) -> EventStream:
        """Return an async iterator over the events from now on, until the session disconnects.

        Raises StateError after ``disconnect``.
        """
        self._check_connected("events")
        return self._delivery.stream(self._options.buffer_size)

    async def get_events(self) -> list[SessionEvent]:
        """Return the events given out so far, in order, without those that only stream.

        Of a resumed session, also those of before: with the citations that they have now.
        """
        if self._intake is not None:
            await self._intake.recall()
        return list(self._delivery.history)

    # -- asking

    async def send(
        self, prompt: str, /, *, attachments: Sequence[Mapping[str, Any]] | None = None
    ) -> str:
        """Ask the provider of the client; return the id of the message before it is answered.

        Questions are answered one after the other; one that waits is kept when its turn comes.
        ``attachments`` are mappings as the Copilot SDK has them, of type ``file``, ``directory``,
        ``selection`` or ``blob``; what they hold is registered to be cited.

        Raises StateError for a session that cannot ask, OptionError, DecodeError, LimitError or
        OSError for an attachment, and StoreError where the question could not be kept.
        """
        return (await self._working("send").ask(prompt, attachments or ())).message_id

    async def send_and_wait(
        self,
        prompt: str,
        /,
        *,
        attachments: Sequence[Mapping[str, Any]] | None = None,
        timeout: float | None = 60.0,  # noqa: ASYNC109 - the Copilot SDK's name
    ) -> SessionEvent | None:
        """Ask, and return the last message of the root agent, None where there was none.

        It returns when everything that came of the question was given out. ``timeout`` is in
        seconds, None for no limit. A message that ``abort`` cut off has ``interrupted`` set in its
        ``data.extra``.

        Raises TimeoutError (the work goes on), SessionError when the session failed, StateError
        inside a handler of this session, which would wait for itself, and what ``send`` raises.
        """
        work = self._working("send_and_wait")
        if self._delivery.is_inside():
            raise StateError("send_and_wait: a handler of the session would wait for itself")
        with anyio.fail_after(timeout):
            question = await work.ask(prompt, attachments or ())
            return await question.wait()

    async def abort(self) -> None:
        """Stop the answer in progress; what came of it is kept, marked as interrupted.

        Returns when that was given out (inside a handler: at once). Questions that wait are
        answered next. Does nothing when nothing is in progress.
        """
        await self._working("abort").abort()

    # -- feeding

    async def feed(self, event: UpstreamEvent, /) -> None:
        """Take one event of the upstream; return when every handler has had what came of it.

        A handler that feeds its own session does not wait: what it feeds comes after its event.
        When the call is cancelled while a handler runs, the handlers and iterators behind it get
        the event with the next call.

        Raises DecodeError for a mapping that is not an event (the session goes on), StateError
        after ``disconnect``, and StoreError where the event could not be kept; it was not given out
        then.
        """
        self._check_connected("feed")
        await self._take(decoded(event))

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

        Raises what the stream raises, StateError after ``disconnect``, StoreError as ``feed`` does.
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
                read, warning = decoded_leniently(event, skip=on_error == "skip")
                if warning is not None and read is None:
                    self._delivery.put([warning])
                    await self._delivery.run()
                if read is not None:
                    if isinstance(read.data, AssistantMessageDeltaData):
                        opened[read.agent_id, read.data.message_id] = None
                    await self._take(read, warning)
        finally:
            self._delivery.put(self._reading.end(opened))
            await self._delivery.run()

    async def disconnect(self) -> None:
        """Release what was withheld, end all iterators and take no more events. Idempotent.

        A kept session is interrupted where it was answering, and can be resumed. Inside a handler
        or a tool of it this returns at once, and it disconnects when that has returned; handlers
        that do not return are abandoned after some seconds. Raises StoreError where what came last
        could not be kept.
        """
        connected, self._connected = self._connected, False
        work, backing = self._work, self._backing
        if not connected or work is None or backing is None:
            if connected:
                self._delivery.put(self._reading.finish())
            self._delivery.close()
            await self._delivery.run()
        elif work.is_inside():
            backing.tasks.start_soon(self._leave_later, work)
        else:
            await self._leave(work)

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

    async def _leave(self, work: Work) -> None:
        with anyio.CancelScope(shield=True):
            try:
                self._delivery.release()
                await work.close()
            finally:
                self._delivery.put(self._reading.finish())
                self._delivery.close()
                with anyio.move_on_after(PATIENCE) as patience:
                    await self._delivery.run()
                if patience.cancelled_caught:
                    self._delivery.mute()

    async def _leave_later(self, work: Work) -> None:
        try:
            await self._leave(work)
        except StoreError as error:
            _logger.warning("session %s closed with an error: %s", self.session_id, error)

    def _check_connected(self, call: str) -> None:
        if not self._connected:
            raise StateError(f"{call}: the session is disconnected")

    def _working(self, call: str) -> Work:
        self._check_connected(call)
        if self._work is None:
            raise StateError(f"{call}: wants a session that a Client made")
        return self._work

    async def _take(self, event: SessionEvent, warning: SessionEvent | None = None) -> None:
        if self._intake is None:
            self._delivery.put(self._reading.process(event))
        elif self._backing is not None and self._backing.journal is None:
            raise StateError("feed: the session only observes")
        elif not self._intake.take_at_once(event):
            await self._intake.keep(event)
        if warning is not None:
            self._delivery.put([warning])
        waiting = self._delivery.begin()
        if waiting is not None:
            await waiting
