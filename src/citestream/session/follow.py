"""Following a session that someone writes, here or elsewhere: all of it, then what comes, in order.

In: a store. Out: the events that the session gives out, each with a cursor that a reader can come
back with. A follower reads at its own pace and holds nobody up. Deliberately elsewhere: what raw
events become (``reading``), frames of server-sent events (``render``).

A cursor names the raw event and which of what came of it was read last::

    "57.1.0"    the raw event 57: 0 what came before it, 1 itself, 2 what came after, counted from 0
"""

import re
from collections import deque
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self, TypeAlias

import anyio
import anyio.lowlevel
import attrs

from ..errors import OptionError, StateError, brief
from ..events import SessionEvent
from ..sources import SourceRegistry
from ..store import Store, StoredEvent
from .options import CLIENT_OPTIONS, SessionOptions
from .reading import Reading

__all__ = ("FollowedEvent", "Follower", "read_all", "stored_events")

_Place: TypeAlias = tuple[int, int, int]
_CURSOR = re.compile(r"(0|[1-9][0-9]{0,17})\.([012])\.(0|[1-9][0-9]{0,8})")
_BEGINNING: _Place = (0, 0, 0)
_PAGE = 1000


@attrs.frozen(kw_only=True)
class FollowedEvent:
    """An event and where it stands: ``cursor`` says to ``follow`` that it was read."""

    cursor: str
    event: SessionEvent


async def stored_events(
    store: Store, session_id: str, /, *, owner: str | None = None, after: int = 0
) -> AsyncGenerator[list[StoredEvent], None]:
    """Give the raw events above ``after``, page by page, and then whatever comes. Never ends.

    Raises SessionNotFoundError, also when the session is deleted.
    """
    while True:
        page = await store.read(session_id, owner=owner, after=after, limit=_PAGE)
        if page:
            after = page[-1].seq
            yield page
        else:
            await store.wait(session_id, owner=owner, after=after)


async def read_all(
    store: Store, session_id: str, /, *, owner: str | None = None, after: int = 0
) -> list[StoredEvent]:
    """Return all raw events above ``after`` that are there now. Raises SessionNotFoundError."""
    found: list[StoredEvent] = []
    while page := await store.read(session_id, owner=owner, after=after):
        found += page
        after = page[-1].seq
    return found


class Follower:
    """An async iterator over the events of a session, from its beginning or behind a cursor.

    A session can go on at any time, so it ends only with ``aclose`` or the client. Reading raises
    SessionNotFoundError when the session is deleted. Also an async context manager.

    Of a message that is complete the deltas are gone: who comes later, also with a cursor of one of
    its deltas, gets it whole. Who was reading it gets the rest as one delta before it.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        /,
        *,
        owner: str | None = None,
        after: str | None = None,
        enable_citations: bool = False,
        options: SessionOptions | None = None,
    ) -> None:
        self._after = _BEGINNING if after is None else _place(after)
        citations = (options or CLIENT_OPTIONS).citations
        sources = SourceRegistry(id_pattern=citations.syntax.id_pattern)
        self._reading = Reading(citations, sources=sources, enable_citations=enable_citations)
        self._store, self._session_id, self._owner = store, session_id, owner
        self._seq = 0
        self._ready: deque[FollowedEvent] = deque()
        self._closed = False
        self._scope: anyio.CancelScope | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FollowedEvent:
        if self._ready:
            await anyio.lowlevel.checkpoint_if_cancelled()
        while not self._ready:
            if self._closed:
                raise StopAsyncIteration
            with anyio.CancelScope() as self._scope:
                await self._read_page()
        return self._ready.popleft()

    async def _read_page(self) -> None:
        try:
            page = await self._store.read(
                self._session_id, owner=self._owner, after=self._seq, limit=_PAGE
            )
            for stored in page:
                self._ready.extend(self._read(stored))
                self._seq = stored.seq
            if not page:
                await self._store.wait(self._session_id, owner=self._owner, after=self._seq)
        except StateError:  # the store was closed, and so is this
            self._closed = True

    async def aclose(self) -> None:
        """End it: nothing more is given, not even to whoever waits."""
        self._closed = True
        self._ready.clear()
        if self._scope is not None:
            self._scope.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _read(self, stored: StoredEvent) -> list[FollowedEvent]:
        given = self._reading.recall_stored(stored)
        own = next((n for n, one in enumerate(given) if one.id == stored.event_id), len(given))
        ready = []
        for number, event in enumerate(given):
            place = stored.seq, 1, 0
            if number != own:
                place = (
                    (stored.seq, 0, number) if number < own else (stored.seq, 2, number - own - 1)
                )
            if place > self._after:
                cursor = ".".join(map(str, place))
                ready.append(FollowedEvent(cursor=cursor, event=event))
        return ready


def _place(cursor: object) -> _Place:
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if found is None:
        raise OptionError(f"after: wanted a cursor such as '57.1.0', got {brief(cursor)}")
    return int(found[1]), int(found[2]), int(found[3])
