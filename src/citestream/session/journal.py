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

from collections.abc import Sequence
from typing import TypeAlias

import anyio
import attrs

from ..errors import StoreError
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


_Waiting: TypeAlias = tuple[SessionEvent, str, list[str]]
"""An event, what it is a piece of, and its text with that of the deltas right behind it."""


class Journal:
    """What one session keeps. ``last`` is the number of the last event known to be kept."""

    def __init__(self, store: Store, lease: Lease, keeper: "Keeper", /, *, last: int = 0) -> None:
        self.lease: Lease = lease
        self.last: int = last
        self._store = store
        self._keeper = keeper
        self._waiting: list[_Waiting] = []

    def accept(self, event: SessionEvent, stream: str, /) -> None:
        """Take an event that may be lost in a crash. It is kept within FLUSH_SECONDS."""
        waiting = self._waiting
        if not waiting:
            self._keeper.add(self)
        data = event.data
        if not isinstance(data, AssistantMessageDeltaData):
            waiting.append((event, stream, []))
        elif waiting and _alike(waiting[-1][0], event):
            waiting[-1][2].append(data.delta_content)
        else:
            waiting.append((event, stream, [data.delta_content]))

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
        return [_record(_joined(event, texts), stream) for event, stream, texts in waiting]


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
                    journal.flush()
                try:
                    await self._store.flush()  # while it is busy, deltas are joined
                except StoreError:
                    continue  # the next append of each session says so

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


def _alike(one: SessionEvent, other: SessionEvent) -> bool:
    a, b = one.data, other.data
    return (
        isinstance(a, AssistantMessageDeltaData)
        and isinstance(b, AssistantMessageDeltaData)
        and (a.message_id, one.agent_id) == (b.message_id, other.agent_id)
        and (a.parent_tool_call_id, a.extra, one.extra)
        == (b.parent_tool_call_id, b.extra, other.extra)
    )
