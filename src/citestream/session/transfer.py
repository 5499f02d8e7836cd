"""Moving sessions into a store and out of it: from the events of a log, to the lines of one.

In: events, as a log or a stream has them, or the id of a session. Out: a session that can be
resumed, followed and asked further, or a line of JSON for each event that is kept: an events.jsonl
that the Copilot CLI reads. What is taken out, in and out again is the same to the byte.
Deliberately elsewhere: bytes and damage (``logs``), what stays and what streams (``journal``).
"""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing, suppress
from uuid import UUID, uuid4, uuid5

import anyio
import attrs

from ..errors import DecodeError, OptionError, StoreError
from ..events import SessionEvent, SessionStartData
from ..logs.decoding import UpstreamEvent, decoded
from ..model import Extra
from ..store import Lease, Store
from ..wire import decode_event, encode_event, encode_json
from .journal import Journal, Keeper, stream_of

__all__ = ("ImportedSession", "export_lines", "import_events")

_VERSION, _PARENT = "copilotVersion", "parentId"
_BATCH = 200
_PAGE = 1000
_IDS = UUID("5d0c9a3e-6c0b-5a86-8d2f-2b3f0a7f4c11")  # makes ids for events whose own was taken


@attrs.frozen(kw_only=True)
class ImportedSession:
    """A session that was imported, and how many ``events`` came.

    ``repeated`` of them came before, as a LogReader means it, and are kept once. ``renamed`` had
    the id of another event, or none, and were given one of their own.
    """

    session_id: str
    events: int
    repeated: int
    renamed: int


async def import_events(
    store: Store,
    events: Iterable[UpstreamEvent] | AsyncIterable[UpstreamEvent],
    /,
    *,
    session_id: str | None = None,
    owner: str | None = None,
    holder: str = "",
) -> ImportedSession:
    """Make a session of ``events``; see ``Client.import_session``."""
    async with aclosing(_each(events)) as each:
        begun: list[SessionEvent] = []
        async for event in each:
            begun.append(event)
            if isinstance(event.data, SessionStartData):
                session_id = event.data.session_id if session_id is None else session_id
            if session_id is not None or len(begun) == _BATCH:
                break
        if not begun:
            raise OptionError("events: wanted at least one, got none")
        lease = await store.create(session_id or str(uuid4()), owner=owner, holder=holder)
        done = False
        try:
            arrivals = _Arrivals(store, lease)
            for event in begun:
                await arrivals.take(event)
            async for event in each:
                await arrivals.take(event)
            imported = await arrivals.finish()
            done = True
        finally:
            if not done:
                # Nothing is told about a store that fails here too: whoever waits hears the first.
                with anyio.CancelScope(shield=True), suppress(StoreError):
                    await store.delete(lease.session_id, owner=owner)
    return imported


async def export_lines(
    store: Store, session_id: str, /, *, owner: str | None = None
) -> AsyncGenerator[str, None]:
    """Give the lines of a session; see ``Client.export_session``."""
    after = 0
    while page := await store.read(session_id, owner=owner, after=after, limit=_PAGE):
        for stored in page:
            yield _line(stored.body)
        after = page[-1].seq


def _line(body: str) -> str:
    """Add what the Copilot CLI wants of each event, and of the start, where it is missing."""
    try:
        event = decode_event(body)
    except DecodeError:
        return body
    data, extra = event.data, event.extra
    if isinstance(data, SessionStartData) and _VERSION not in data.extra:
        data = attrs.evolve(data, extra=Extra({**data.extra, _VERSION: "0"}))
    if event.parent_id is None and _PARENT not in extra:
        extra = Extra({**extra, _PARENT: None})
    if data is event.data and extra is event.extra:
        return body
    return encode_json(encode_event(attrs.evolve(event, data=data, extra=extra)))


class _Arrivals:
    """The events of one import, kept as those of a session that is live."""

    def __init__(self, store: Store, lease: Lease, /) -> None:
        self._store = store
        self._lease = lease
        self._journal = Journal(store, lease, Keeper(store))
        self._waiting: list[SessionEvent] = []
        self._events = self._repeated = self._renamed = self._pieces = 0
        self._ids = {""}
        self._seen: set[int] = set()

    async def take(self, event: SessionEvent) -> None:
        self._events += 1
        mark = hash(event)
        if mark in self._seen:
            self._repeated += 1
            return
        self._seen.add(mark)
        if event.id in self._ids:
            self._renamed += 1
            event = attrs.evolve(event, id=str(uuid5(_IDS, f"{event.id}:{self._events}")))
        self._ids.add(event.id)
        stream = stream_of(event)
        if stream is None:
            self._waiting.append(event)
            if len(self._waiting) == _BATCH:
                await self._append()
            return
        if self._waiting:
            await self._append()
        # One by one: deltas that wait together are joined, and lose their ids.
        self._journal.accept(event, stream)
        self._journal.flush()
        self._pieces += 1
        if self._pieces % _BATCH == 0:
            await self._store.flush()

    async def finish(self) -> ImportedSession:
        await self._append()  # also nothing: it tells what became of the pieces
        await self._journal.close()
        return ImportedSession(
            session_id=self._lease.session_id,
            events=self._events,
            repeated=self._repeated,
            renamed=self._renamed,
        )

    async def _append(self) -> None:
        waiting, self._waiting = self._waiting, []
        await self._journal.append(waiting)


async def _each(
    events: Iterable[UpstreamEvent] | AsyncIterable[UpstreamEvent],
) -> AsyncGenerator[SessionEvent, None]:
    if isinstance(events, AsyncIterable):
        async for event in events:
            yield decoded(event)
    else:
        for event in events:
            yield decoded(event)
