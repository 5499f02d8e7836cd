"""One session as server-sent events: all of it, or what comes after the last event that was read.

In: the events of a follower. Out: frames. The ``id`` of a frame is the cursor of its event, which
a browser sends back as ``Last-Event-ID`` when it connects again. The data of a frame::

    {"event": {...},       as the wire has it
     "html": "...",        of a final message: the answer with its numbers, safe to insert
     "speech": "...",      the same as it is read aloud
     "cited": {"1": ...}}  what stands behind the numbers (``documents.places``)

``event: gone`` says that the session was deleted. Deliberately elsewhere: what HTTP makes of it
(``app``).
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio

from citestream import (
    Citations,
    FollowedEvent,
    SessionNotFoundError,
    SourceRegistry,
    render,
    wire,
)
from citestream.events import AssistantMessageData
from citestream.session import Follower

from .chats import Chats
from .documents import places, registered_id

__all__ = ("Streams",)

KEEP_ALIVE_SECONDS = 15.0
"""How often a stream says that it is there: proxies close what is silent."""

SETTLE_SECONDS = 5.0
"""How often a stream looks whether whoever writes the answer still lives."""

_RETRY = "retry: 1000\n\n"
_GONE = "event: gone\ndata: {}\n\n"
_NOTHING = Citations(sources=(), spans=())


class Streams:
    """All streams of an application, so that they can be ended: none ends by itself."""

    def __init__(self) -> None:
        self._waiting: set[anyio.CancelScope] = set()
        self._ended = False

    def end(self) -> None:
        """End every stream, now and later. Browsers connect again, perhaps to another server."""
        self._ended = True
        for scope in self._waiting:
            scope.cancel()

    async def frames(
        self, follower: Follower, /, *, chats: Chats, owner: str, session_id: str
    ) -> AsyncIterator[str]:
        """Give the frames of what ``follower`` reads of a session, until that is deleted."""
        writer = _Frames(chats, owner, session_id)
        yield _RETRY
        try:
            settled = await chats.settle(owner, session_id)
            async with follower:
                while not self._ended:
                    seconds = KEEP_ALIVE_SECONDS if settled else SETTLE_SECONDS
                    followed = await self._next(follower, seconds)
                    if followed is not None:
                        settled = False
                        yield await writer.frame(followed)
                    elif not self._ended:
                        settled = settled or await chats.settle(owner, session_id)
                        yield ": still here\n\n"
        except SessionNotFoundError:
            yield _GONE

    async def _next(self, follower: Follower, seconds: float) -> FollowedEvent | None:
        """Return the next event, None when none came for ``seconds`` or the stream ended."""
        with anyio.move_on_after(seconds) as scope:
            self._waiting.add(scope)
            try:
                return await anext(follower)
            finally:
                self._waiting.discard(scope)
        return None


class _Frames:
    """Writes the frames of one stream."""

    def __init__(self, chats: Chats, owner: str, session_id: str) -> None:
        self._chats = chats
        self._owner = owner
        self._session_id = session_id
        self._sources: SourceRegistry | None = None
        self._unknown: set[str] = set()

    async def frame(self, followed: FollowedEvent) -> str:
        """Return the frame of an event."""
        event = followed.event
        value: dict[str, Any] = {"event": wire.encode_event(event)}
        data = event.data
        if isinstance(data, AssistantMessageData):
            citations = data.citations or _NOTHING
            value["html"] = render.html(
                data.content, citations, anchor_prefix=f"{data.message_id}-", quotes=True
            )
            value["speech"] = render.speech(data.content, citations)
            value["cited"] = places(citations, await self._registry(citations))
        return render.sse.frame(wire.encode_json(value), id=followed.cursor)

    async def _registry(self, citations: Citations) -> SourceRegistry:
        """Return what the session may cite: read anew where a citation names something new."""
        named = set(_named(citations)) - self._unknown
        if self._sources is None or not all(one in self._sources for one in named):
            self._sources = await self._chats.sources(self._owner, self._session_id)
            self._unknown |= {one for one in named if one not in self._sources}
        return self._sources


def _named(citations: Citations) -> Iterator[str]:
    for span in citations.spans:
        for reference in span.references:
            name = registered_id(reference)
            if name is not None:
                yield name
