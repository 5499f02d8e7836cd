"""Taking the events of a session in: kept first, then read, then given out, in one order.

In: raw events, from however many tasks. Out: what they become, to ``delivery``. An event that
stays is kept for good before anyone sees it; one that streams is seen at once and kept soon.
Deliberately elsewhere: keeping (``journal``), reading (``reading``), giving out (``delivery``).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from ..events import SessionEvent, SessionEventType, SessionIdleData
from ..resolver import MessageKey
from ..sources import SourceRegistry
from ..sources.registered import Registration
from ..sources.registrations import dump_registrations
from ..store import StoredEvent
from .delivery import Delivery
from .eventstream import CHECKPOINT_EVERY
from .journal import Journal, stream_of
from .reading import Reading, sources_event
from .transcript import Transcript

__all__ = ("Intake", "is_unfinished")

_ENDS = {
    kind.value
    for kind in (
        SessionEventType.SESSION_IDLE,
        SessionEventType.SESSION_ERROR,
        SessionEventType.SESSION_SHUTDOWN,
        SessionEventType.ABORT,
    )
}


def is_unfinished(events: Sequence[StoredEvent], /) -> bool:
    """Tell whether something streams at the end of ``events``, or a question has no end."""
    asked = SessionEventType.USER_MESSAGE.value
    last = next((one.type for one in reversed(events) if one.type in {asked, *_ENDS}), None)
    return last == asked or any(one.stream is not None for one in events)


class Intake:
    """The one way into a session that is kept. ``past`` is what was kept before, in order.

    The past is read when it is first needed: until then it costs nothing but its memory.
    """

    def __init__(
        self,
        reading: Reading,
        delivery: Delivery,
        journal: Journal | None,
        /,
        *,
        past: Sequence[StoredEvent] = (),
    ) -> None:
        self._reading = reading
        self._delivery = delivery
        self._journal = journal
        self._past = list(past)
        self._order = anyio.Lock(fast_acquire=True)
        self._calls: list[Registration | None] = []
        self._files: dict[str, Any] = {}
        self.transcript: Transcript = Transcript(
            reading.sources, reading.files, citing=reading.enable_citations
        )
        if not self._past:
            reading.sources.recorder = self._calls.append

    async def take(self, event: SessionEvent, /) -> list[SessionEvent]:
        """Keep an event, read it and give out what comes of it; return that.

        Not to be cancelled half-way: an event that is kept is given out. An event whose id was
        kept before gives nothing. Raises StoreError, and then nothing was given out.
        """
        given = await self.keep(event)
        await self.deliver()
        return given

    def take_at_once(self, event: SessionEvent, /) -> bool:
        """Take an event that streams, but for giving out, where nothing is to be waited for.

        Returns False, and has done nothing, for an event that has to wait.
        """
        stream = stream_of(event)
        if stream is None or self._past or self._calls or self._order.locked():
            return False
        self._stream(event, stream)
        return True

    async def keep(self, event: SessionEvent, /) -> list[SessionEvent]:
        """Do what ``take`` does, but for giving out."""
        stream = stream_of(event)
        given: list[SessionEvent] = []
        with anyio.CancelScope(shield=True):
            async with self._order:
                await self._recall()
                if stream is not None:
                    await self._keep_registered()
                    given = self._stream(event, stream)
                elif await self._append([event]):
                    given = self._read(event)
        return given

    async def deliver(self) -> None:
        """Give out what was read."""
        waiting = self._delivery.begin()
        if waiting is not None:
            await waiting

    def is_inside(self) -> bool:
        """Tell whether a handler of this session called what runs now, in the same task."""
        return self._delivery.is_inside()

    @property
    def sources(self) -> SourceRegistry:
        """What may be cited."""
        return self._reading.sources

    async def tell(self, event: SessionEvent, /) -> None:
        """Give out an event that is not kept."""
        self._delivery.put([event])
        await self._delivery.run()

    async def show(self, events: Sequence[StoredEvent], /) -> None:
        """Give out events that someone else keeps."""
        await self.recall()
        for stored in events:
            given = self._reading.recall_stored(stored)
            self.transcript.take_all(given)
            self._delivery.put(given)
            await self._delivery.run()

    def attach_files(self, files: dict[str, Any], /) -> None:
        """Keep the files of attachments, by the ids of their sources, with the next event."""
        self._files |= files
        self._reading.files |= files

    async def recall(self) -> None:
        """Read the past, if that was not done yet."""
        if self._past:
            with anyio.CancelScope(shield=True):
                async with self._order:
                    await self._recall()

    def recall_at_once(self) -> None:
        """Read the past without giving others their turn."""
        for _ in self._remembering():
            pass

    async def interrupt(self, messages: Iterable[MessageKey], /) -> list[SessionEvent]:
        """Complete those of ``messages`` that stream, as far as they came, marked interrupted.

        Returns what was given out.
        """
        given = [await self.take(event) for event in self._reading.interrupted(messages)]
        return [one for events in given for one in events]

    def forget(self, messages: Iterable[MessageKey], /) -> None:
        """Say that nothing more comes of ``messages``."""
        self._reading.forget(messages)

    def mute(self) -> None:
        """Give nothing out any more: somebody does not take it."""
        self._delivery.mute()

    async def close(self) -> None:
        """Keep what is not kept yet and let others have the session."""
        await self._keep_registered()
        if self._journal is not None:
            await self._journal.close()

    # -- inside

    async def _keep_registered(self) -> None:
        if self._calls:
            await self._append([])

    async def _append(self, events: list[SessionEvent]) -> bool:
        """Keep what was registered, then ``events``; tell whether the last of them is new.

        What fails is registered with the next.
        """
        calls, files = list(self._calls), self._files
        registered = [sources_event(dump_registrations(calls), files)] if calls else []
        if self._journal is None or not (registered or events):
            return True
        new = await self._journal.append([*registered, *events])
        del self._calls[: len(calls)]
        self._files = {name: file for name, file in self._files.items() if name not in files}
        return new

    def _stream(self, event: SessionEvent, stream: str) -> list[SessionEvent]:
        if self._journal is not None:
            self._journal.accept(event, stream)
        return self._process(event)

    def _read(self, event: SessionEvent) -> list[SessionEvent]:
        count = len(self._calls)
        given = self._process(event)
        del self._calls[count:]  # what a tool returned is registered again when its event is read
        self.transcript.take_all(given)
        return given

    def _process(self, event: SessionEvent) -> list[SessionEvent]:
        self._reading.note(event)
        given = self._reading.process(event)
        self._delivery.put(given)
        return given

    async def _recall(self) -> None:
        unfinished = is_unfinished(self._past)
        for number, _ in enumerate(self._remembering()):
            if number % CHECKPOINT_EVERY == 0:
                await anyio.lowlevel.checkpoint()
        if unfinished and self._journal is not None:  # by the death of whoever wrote it
            idle = SessionEvent(
                type=SessionEventType.SESSION_IDLE,
                data=SessionIdleData(aborted=True),
                ephemeral=True,
            )
            for event in (*self._reading.interrupted(), idle):
                await self._journal.append([event])
                self._remember(self._reading.recall(event))

    def _remembering(self) -> Iterator[None]:
        past, self._past = self._past, []
        for stored in past:
            self._remember(self._reading.recall_stored(stored))
            yield
        self._reading.sources.recorder = self._calls.append

    def _remember(self, events: Sequence[SessionEvent]) -> None:
        self.transcript.take_all(events)
        for event in events:
            self._delivery.remember(event)
