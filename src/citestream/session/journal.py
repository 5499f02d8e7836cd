"""Keeping the events of a session: what streams in the background, what stays before it is seen.

In: raw events, in order. Out: records for a store. Deltas that wait are joined, so that the busier
a store is the fewer records it gets. Deliberately elsewhere: how records are kept (``store``).

=================================  ===========================================================
event                              kept as
=================================  ===========================================================
``assistant.message_delta``        a piece of its message, until the ``assistant.message``
``assistant.reasoning_delta``      a piece of its reasoning, until the ``assistant.reasoning``
other ephemeral events             a piece of the turn, until the ``session.idle``
everything else                    an event that stays
=================================  ===========================================================
"""

import logging
from collections.abc import Sequence
from typing import TypeAlias

import anyio
import attrs

from ..errors import CitestreamError, StoreError
from ..events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    AssistantReasoningData,
    AssistantReasoningDeltaData,
    SessionErrorData,
    SessionEvent,
    SessionIdleData,
    SessionResumeData,
    SessionShutdownData,
)
from ..store import EventRecord, Lease, Store, StoredEvent
from ..wire import encode_event, encode_json

__all__ = ("FLUSH_SECONDS", "RENEW_SECONDS", "Journal", "Keeper", "stream_of")

FLUSH_SECONDS = 0.025
"""How long a delta waits to be kept: what a crash may lose of an answer that streams."""

RENEW_SECONDS = 10.0
"""How often a session that is held says so."""

_TURN = "turn"
_logger = logging.getLogger("citestream.session")


def stream_of(event: SessionEvent, /) -> str | None:
    """Return the name of what ``event`` is a piece of, None for an event that stays."""
    data = event.data
    if isinstance(data, AssistantMessageDeltaData | AssistantMessageStartData):
        return f"message/{event.agent_id or ''}/{data.message_id}"
    if isinstance(data, AssistantReasoningDeltaData):
        return f"reasoning/{event.agent_id or ''}/{data.reasoning_id or ''}"
    # How a turn ended is what a reader who comes later wants to know, though it is ephemeral.
    lasts = isinstance(data, SessionErrorData) or _ends(event)
    return _TURN if event.ephemeral and not lasts else None


def _ends(event: SessionEvent) -> tuple[str, ...]:
    data = event.data
    if isinstance(data, AssistantMessageData):
        return (f"message/{event.agent_id or ''}/{data.message_id}",)
    if isinstance(data, AssistantReasoningData):
        return (f"reasoning/{event.agent_id or ''}/{data.reasoning_id or ''}",)
    ending = SessionIdleData | SessionResumeData | SessionShutdownData
    return (_TURN,) if isinstance(data, ending) else ()


_Waiting: TypeAlias = tuple[SessionEvent | EventRecord, str, list[str]]
"""What is kept, what it is a piece of, and its text with that of the deltas right behind it."""


class Journal:
    """What one session keeps. ``last`` is the number of the last event known to be kept."""

    def __init__(self, store: Store, lease: Lease, keeper: "Keeper", /, *, last: int = 0) -> None:
        self.lease: Lease = lease
        self.last: int = last
        self._store = store
        self._keeper = keeper
        self._waiting: list[_Waiting] = []

    def accept(self, event: SessionEvent, stream: str, /) -> None:
        """Take an event that may be lost in a crash. It is kept within FLUSH_SECONDS.

        Raises EncodeError and OptionError for what cannot be kept.
        """
        waiting = self._waiting
        # What is more than text is encoded at once: whoever feeds hears what cannot be.
        text = _plain_text(event)
        kept = event if text is not None else _record(event, stream)
        last = waiting[-1] if waiting else None
        if text is not None and last is not None and _alike(last[0], event):
            last[2].append(text)
            return
        if not waiting:
            self._keeper.add(self)
        waiting.append((kept, stream, [] if text is None else [text]))

    async def append(self, events: Sequence[SessionEvent], /) -> bool:
        """Keep events for good, after what waits; tell whether the last of them is new.

        An event whose id was kept before is not new. Raises StoreError and EncodeError.
        """
        ended = {stream for event in events for stream in _ends(event)}
        pieces = [one for one in self._taken() if one.stream not in ended]
        number = await self._store.append(self.lease, [*pieces, *map(_record, events)])
        new = number > self.last
        self.last = max(self.last, number)
        return new

    async def begin(self, event: SessionEvent, /) -> StoredEvent:
        """Keep the first event of this writer and return it as it is kept."""
        record = _record(event)
        self.last = await self._store.append(self.lease, [record])
        return StoredEvent(
            seq=self.last,
            epoch=self.lease.epoch,
            event_id=record.event_id,
            type=record.type,
            body=record.body,
        )

    def flush(self) -> None:
        """Give what waits to the store."""
        records = self._taken()
        if records:
            self._store.accept(self.lease, records)

    async def renew(self) -> None:
        """Say that the session is held. Raises SessionFenced."""
        await self._store.renew(self.lease)

    async def close(self) -> None:
        """Keep what waits and let others have the session."""
        self.flush()
        await self._store.release(self.lease)

    def _taken(self) -> list[EventRecord]:
        waiting, self._waiting = self._waiting, []
        return [
            one if isinstance(one, EventRecord) else _record(_joined(one, texts), stream)
            for one, stream, texts in waiting
        ]


class Keeper:
    """Flushes the journals of a client, and renews their leases, while ``run`` runs."""

    def __init__(self, store: Store, /) -> None:
        self._store = store
        self._journals: dict[Journal, None] = {}
        self._waiting: list[Journal] = []
        self._arrived = anyio.Event()

    def add(self, journal: Journal, /) -> None:
        """Flush ``journal`` soon."""
        self._waiting.append(journal)
        self._arrived.set()

    def watch(self, journal: Journal, /) -> None:
        """Renew the lease of ``journal`` from time to time, until ``forget``."""
        self._journals[journal] = None

    def forget(self, journal: Journal, /) -> None:
        """Renew the lease of ``journal`` no more."""
        self._journals.pop(journal, None)

    async def run(self) -> None:
        """Work until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._renew)
            while True:
                await self._arrived.wait()
                await anyio.sleep(FLUSH_SECONDS)
                self._arrived = anyio.Event()
                waiting, self._waiting = self._waiting, []
                for journal in waiting:
                    self._flush(journal)
                try:
                    await self._store.flush()  # while it is busy, deltas are joined
                except StoreError:
                    continue  # the next append of each session says so

    def _flush(self, journal: Journal) -> None:
        try:
            journal.flush()
        except CitestreamError:  # one session's trouble is not that of the others
            _logger.exception("deltas of session %s cannot be kept", journal.lease.session_id)

    async def _renew(self) -> None:
        while True:
            await anyio.sleep(RENEW_SECONDS)
            for journal in list(self._journals):
                try:
                    await journal.renew()
                except StoreError:
                    self.forget(journal)  # its next append says so to whom it concerns


def _record(event: SessionEvent, stream: str | None = None) -> EventRecord:
    return EventRecord(
        event_id=event.id,
        type=event.raw_type or event.type.value,
        body=encode_json(encode_event(event)),
        stream=stream,
        ends=_ends(event),
    )


def _joined(event: SessionEvent, texts: list[str]) -> SessionEvent:
    data = event.data
    if len(texts) < 2 or not isinstance(data, AssistantMessageDeltaData):  # noqa: PLR2004 - none to join
        return event
    return attrs.evolve(event, data=attrs.evolve(data, delta_content="".join(texts)))


def _plain_text(event: SessionEvent) -> str | None:
    """Return the text of a delta that is nothing but text, None for any other event."""
    data = event.data
    if not isinstance(data, AssistantMessageDeltaData) or data.extra or event.extra:
        return None
    fields = (data.delta_content, data.message_id, event.id)
    plain = all(type(one) is str for one in fields) and event.id
    return data.delta_content if plain else None


def _alike(one: SessionEvent | EventRecord, other: SessionEvent) -> bool:
    if isinstance(one, EventRecord):
        return False
    a, b = one.data, other.data
    return (
        isinstance(a, AssistantMessageDeltaData)
        and isinstance(b, AssistantMessageDeltaData)
        and (a.message_id, one.agent_id) == (b.message_id, other.agent_id)
        and (a.parent_tool_call_id, a.extra, one.extra)
        == (b.parent_tool_call_id, b.extra, other.extra)
    )
