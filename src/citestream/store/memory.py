"""A store that keeps sessions as long as the process lives: for tests, and chats that may be lost.

One event loop uses it at a time; any number of tasks and clients in it may share one.
"""

import itertools
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel

from ..errors import StoreError
from . import names, refusals
from .records import EventRecord, Lease, ResumeMode, SessionRecord, StoredEvent
from .streams import lasting

__all__ = ("MemoryStore",)

_seq = attrgetter("seq")


class MemoryStore:
    """Keeps sessions in this process. What every store does is said in ``Store``.

    ``lease_seconds`` is for how long a session counts as in use after its writer was last heard of.
    Sessions stay when the store is left, and are there when it is entered again.

    Raises OptionError for a lease that lasts no time.
    """

    def __init__(self, *, lease_seconds: float = 30.0) -> None:
        names.check_seconds("lease_seconds", lease_seconds)
        self._lease_seconds = lease_seconds
        self._sessions: dict[str, _Session] = {}
        self._refused: dict[Lease, StoreError] = {}
        self._keys = itertools.count(1)
        self._users = 0

    async def create(
        self, session_id: str, /, *, owner: str | None = None, holder: str = ""
    ) -> Lease:
        """Make an empty session; see ``Store.create``."""
        names.check_session_id(session_id)
        names.check_people(owner, holder)
        await self._checkpoint("create")
        if session_id in self._sessions:
            raise refusals.exists(session_id)
        session = _Session(session_id, owner=owner, key=next(self._keys))
        self._sessions[session_id] = session
        return session.take(holder, seconds=self._lease_seconds)

    async def acquire(
        self,
        session_id: str,
        /,
        *,
        owner: str | None = None,
        holder: str = "",
        mode: ResumeMode = "takeover",
    ) -> Lease:
        """Take a session up; see ``Store.acquire``."""
        names.check_mode(mode)
        names.check_people(owner, holder)
        while True:
            await self._checkpoint("acquire")
            session = self._session(session_id, owner)
            left = session.expires - time.time()
            if mode == "takeover" or left <= 0:
                return session.take(holder, seconds=self._lease_seconds)
            if mode == "fail":
                raise refusals.in_use(
                    session_id,
                    holder=session.holder,
                    since=session.taken_at,
                    expires=session.expires,
                )
            with anyio.move_on_after(left):
                await session.changed.wait()

    async def renew(self, lease: Lease, /) -> None:
        """Keep a lease; see ``Store.renew``."""
        await self._checkpoint("renew")
        self._held(lease).renew(self._lease_seconds)

    async def release(self, lease: Lease, /) -> None:
        """Give a lease back; see ``Store.release``."""
        await self._checkpoint("release")
        session = self._sessions.get(lease.session_id)
        if session is not None and (session.key, session.epoch) == (lease.key, lease.epoch):
            session.renew(0)
            session.notify()

    async def append(self, lease: Lease, events: Sequence[EventRecord], /) -> int:
        """Keep events; see ``Store.append``."""
        names.check_events(events)
        await self._checkpoint("append")
        error = self._refused.pop(lease, None)
        if error is not None:
            raise error
        session = self._held(lease)
        last = session.append(events)
        session.renew(self._lease_seconds)
        session.notify()
        return last

    def accept(self, lease: Lease, events: Sequence[EventRecord], /) -> None:
        """Take pieces of streams; see ``Store.accept``."""
        names.check_pieces(events)
        self._check_open("accept")
        if lease in self._refused:
            return
        try:
            session = self._held(lease)
        except StoreError as error:
            self._refused[lease] = error
            return
        for event in events:
            session.add(event)
        session.renew(self._lease_seconds)
        session.notify()

    async def flush(self) -> None:
        """Do nothing: what was accepted is kept already."""
        await self._checkpoint("flush")

    async def read(
        self, session_id: str, /, *, owner: str | None = None, after: int = 0, limit: int = 10_000
    ) -> list[StoredEvent]:
        """Return events; see ``Store.read``."""
        names.check_number("after", after)
        names.check_number("limit", limit)
        await self._checkpoint("read")
        events = self._session(session_id, owner).events
        start = bisect_right(events, after, key=_seq)
        return events[start : start + limit]

    async def wait(self, session_id: str, /, *, owner: str | None = None, after: int = 0) -> None:
        """Wait for events; see ``Store.wait``."""
        names.check_number("after", after)
        await self._checkpoint("wait")
        session = self._session(session_id, owner)
        while session.last_seq <= after:
            await session.changed.wait()
            self._check_open("wait")
            if self._sessions.get(session_id) is not session:
                raise refusals.not_found(session_id)

    async def get(self, session_id: str, /, *, owner: str | None = None) -> SessionRecord:
        """Describe a session; see ``Store.get``."""
        await self._checkpoint("get")
        return self._session(session_id, owner).record()

    async def list(self, *, owner: str | None = None) -> list[SessionRecord]:
        """Describe the sessions of an owner; see ``Store.list``."""
        names.check_people(owner)
        await self._checkpoint("list")
        mine = [session for session in self._sessions.values() if session.owner == owner]
        mine.sort(key=lambda session: (session.updated_at, session.key), reverse=True)
        return [session.record() for session in mine]

    async def delete(self, session_id: str, /, *, owner: str | None = None) -> None:
        """Remove a session; see ``Store.delete``."""
        await self._checkpoint("delete")
        session = self._session(session_id, owner)
        del self._sessions[session_id]
        session.notify()

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._check_open("leave")
        self._users -= 1
        if not self._users:
            for session in self._sessions.values():
                session.notify()

    # -- inside

    def _check_open(self, call: str) -> None:
        if not self._users:
            raise refusals.closed(call)

    async def _checkpoint(self, call: str) -> None:
        self._check_open(call)
        await anyio.lowlevel.checkpoint()
        self._check_open(call)

    def _session(self, session_id: str, owner: str | None) -> "_Session":
        names.check_session_id(session_id)
        names.check_people(owner)
        session = self._sessions.get(session_id)
        if session is None or session.owner != owner:
            raise refusals.not_found(session_id)
        return session

    def _held(self, lease: Lease) -> "_Session":
        session = self._sessions.get(lease.session_id)
        if session is None or session.key != lease.key:
            raise refusals.not_found(lease.session_id)
        if session.epoch != lease.epoch:
            raise refusals.fenced(
                lease.session_id,
                epoch=lease.epoch,
                holder=session.holder,
                current=session.epoch,
                since=session.taken_at,
            )
        return session


class _Session:
    def __init__(self, session_id: str, *, owner: str | None, key: int) -> None:
        self.session_id = session_id
        self.owner = owner
        self.key = key
        self.epoch = 0
        self.holder = ""
        self.taken_at = self.expires = 0.0
        self.created_at = self.updated_at = time.time()
        self.last_seq = 0
        self.events: list[StoredEvent] = []
        self.changed = anyio.Event()
        self._opening: str | None = None
        self._appended: dict[str, int] = {}
        self._streams: dict[str, int] = {}  # the number of the first piece of each

    def take(self, holder: str, *, seconds: float) -> Lease:
        self.epoch += 1
        self.holder = holder
        self.taken_at = time.time()
        self.renew(seconds)
        return Lease(session_id=self.session_id, epoch=self.epoch, key=self.key)

    def renew(self, seconds: float) -> None:
        self.expires = time.time() + seconds if seconds else 0.0

    def append(self, events: Sequence[EventRecord]) -> int:
        last = self.last_seq
        for event in lasting(events):
            known = self._appended.get(event.event_id)
            last = self.add(event) if known is None else known
            self._appended[event.event_id] = last
        return last

    def add(self, event: EventRecord) -> int:
        self.last_seq += 1
        self.updated_at = time.time()
        self.events.append(
            StoredEvent(
                seq=self.last_seq,
                epoch=self.epoch,
                event_id=event.event_id,
                type=event.type,
                body=event.body,
                stream=event.stream,
            )
        )
        if event.stream is not None:
            self._streams.setdefault(event.stream, self.last_seq)
        elif event.type == "user.message" and self._opening is None:
            self._opening = event.body
        for stream in event.ends:
            self._drop(stream)
        return self.last_seq

    def notify(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    def record(self) -> SessionRecord:
        return SessionRecord(
            session_id=self.session_id,
            owner=self.owner,
            epoch=self.epoch,
            last_seq=self.last_seq,
            created_at=self.created_at,
            updated_at=self.updated_at,
            holder=self.holder if self.expires > time.time() else None,
            opening=self._opening,
        )

    def _drop(self, stream: str) -> None:
        first = self._streams.pop(stream, None)
        if first is None:
            return
        start = bisect_left(self.events, first, key=_seq)
        tail = self.events[start:]
        self.events[start:] = [event for event in tail if event.stream != stream]
        for event in tail:
            if event.stream == stream and self._appended.get(event.event_id) == event.seq:
                del self._appended[event.event_id]
