"""A store in one SQLite file, for the tasks, event loops and processes of one machine.

Calls are checked here and go to the writer or to the readers. Deliberately elsewhere: everything
that knows SQL.
"""

import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio

from ...errors import OptionError, SessionInUseError, StateError, brief
from .. import names, refusals
from ..records import EventRecord, Lease, ResumeMode, SessionRecord, StoredEvent
from . import queries, sessions
from .additions import Write
from .batch import Job
from .readers import Readers
from .sqlite_options import SQLiteOptions
from .waiters import Waiter
from .watches import Watch, Watches
from .writer import Writer

__all__ = ("SQLiteStore",)

_ASK_AGAIN = 0.05  # seconds, while someone else holds a session


class SQLiteStore:
    """Keeps sessions in the file at ``path``. What every store does is said in ``Store``.

    The file and its side files (``-wal``, ``-shm``, ``-lock``) are made when the store is first
    entered, readable by this user alone, and so are missing folders. When the last one leaves, what
    was accepted is kept and everything is closed; the store can be entered again.

    Several processes may use one file. A process that was forked must make a store of its own.
    """

    def __init__(
        self, path: str | os.PathLike[str], /, *, options: SQLiteOptions | None = None
    ) -> None:
        try:
            given = Path(path)
        except TypeError as error:
            raise OptionError(f"path: wanted the path of a file, got {brief(path)}") from error
        memory = str(given) == ":memory:" or str(given).startswith("file:")
        if memory or not given.name or "\0" in str(given):
            raise OptionError(f"path: wanted the path of a file, got {brief(str(path))}")
        self.path: Path = given.absolute()
        self._options = options or SQLiteOptions()
        self._lock = threading.Lock()
        self._users = 0
        self._process = os.getpid()
        self._watches = Watches()
        self._opened: list[tuple[Writer, Readers]] = []  # none or one

    async def create(
        self, session_id: str, /, *, owner: str | None = None, holder: str = ""
    ) -> Lease:
        """Make an empty session; see ``Store.create``."""
        names.check_session_id(session_id)
        names.check_people(owner, holder)
        claim = self._claim(session_id, owner, holder)
        lease: Lease = await self._do("create", partial(sessions.create, claim=claim))
        return lease

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
        names.check_session_id(session_id)
        names.check_people(owner, holder)
        names.check_mode(mode)
        work = partial(sessions.acquire, claim=self._claim(session_id, owner, holder), mode=mode)
        while True:
            try:
                lease: Lease = await self._do("acquire", work)
            except SessionInUseError:
                if mode == "fail":
                    raise
            else:
                return lease
            await anyio.sleep(_ASK_AGAIN)

    async def renew(self, lease: Lease, /) -> None:
        """Keep a lease; see ``Store.renew``."""
        seconds = self._options.lease_seconds
        await self._do("renew", partial(sessions.renew, lease=lease, seconds=seconds))

    async def release(self, lease: Lease, /) -> None:
        """Give a lease back; see ``Store.release``."""
        await self._do("release", partial(sessions.release, lease=lease))

    async def append(self, lease: Lease, events: Sequence[EventRecord], /) -> int:
        """Keep events; see ``Store.append``."""
        names.check_events(events)
        writer, _ = self._open("append")
        waiter = Waiter()
        writer.submit(Write(lease=lease, events=tuple(events), waiter=waiter))
        last: int = await waiter.wait()
        return last

    def accept(self, lease: Lease, events: Sequence[EventRecord], /) -> None:
        """Take pieces of streams; see ``Store.accept``."""
        names.check_pieces(events)
        writer, _ = self._open("accept")
        writer.accept(Write(lease=lease, events=tuple(events), waiter=None))

    async def flush(self) -> None:
        """Have what was accepted kept; see ``Store.flush``."""
        await self._do("flush", _nothing)

    async def read(
        self, session_id: str, /, *, owner: str | None = None, after: int = 0, limit: int = 10_000
    ) -> list[StoredEvent]:
        """Return events; see ``Store.read``."""
        names.check_session_id(session_id)
        names.check_people(owner)
        names.check_number("after", after)
        names.check_number("limit", limit)
        _, readers = self._open("read")
        return await readers.run(
            partial(
                queries.read_events, session_id=session_id, owner=owner, after=after, limit=limit
            )
        )

    async def wait(self, session_id: str, /, *, owner: str | None = None, after: int = 0) -> None:
        """Wait for events; see ``Store.wait``."""
        names.check_session_id(session_id)
        names.check_people(owner)
        names.check_number("after", after)
        writer, readers = self._open("wait")
        watches, watch = self._watches, Watch(session_id, after=after)
        watches.add(watch)
        try:
            writer.watch()
            watch.key, last = await readers.run(
                partial(queries.last_event, session_id=session_id, owner=owner)
            )
            if last <= after:
                await watch.waiter.wait()
        finally:
            watches.remove(watch)

    async def get(self, session_id: str, /, *, owner: str | None = None) -> SessionRecord:
        """Describe a session; see ``Store.get``."""
        names.check_session_id(session_id)
        names.check_people(owner)
        _, readers = self._open("get")
        return await readers.run(
            partial(queries.get_session, session_id=session_id, owner=owner, now=time.time())
        )

    async def list(self, *, owner: str | None = None) -> list[SessionRecord]:
        """Describe the sessions of an owner; see ``Store.list``."""
        names.check_people(owner)
        _, readers = self._open("list")
        return await readers.run(partial(queries.list_sessions, owner=owner, now=time.time()))

    async def delete(self, session_id: str, /, *, owner: str | None = None) -> None:
        """Remove a session; see ``Store.delete``.

        What it held is overwritten in the file, and in its log as soon as nobody reads from there.
        """
        names.check_session_id(session_id)
        names.check_people(owner)
        work = partial(sessions.delete, session_id=session_id, owner=owner)
        await self._do("delete", work, deletes=session_id)

    async def __aenter__(self) -> Self:
        with self._lock:
            if self._users:
                self._check_process("enter")
            self._users += 1
            if not self._opened:
                self._process = os.getpid()
                self._watches = Watches()
                writer = Writer(self.path, self._options, self._watches)
                writer.start()
                self._opened.append((writer, Readers(self.path, self._options)))
        entered = False
        try:
            await self._do("enter", _nothing)  # opens the file
            entered = True
        finally:
            if not entered:
                await self._leave()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open("leave")
        await self._leave()

    def __del__(self) -> None:
        for writer, readers in getattr(
            self, "_opened", ()
        ):  # it has none when its path was refused
            if self._process == os.getpid():
                text = f"unclosed store {self.path}"
                warnings.warn(text, ResourceWarning, source=self, stacklevel=2)
                writer.stop()
                readers.close()

    # -- inside

    async def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            writer, readers = self._opened.pop()
        readers.close()
        await writer.close()

    def _open(self, call: str) -> tuple[Writer, Readers]:
        self._check_process(call)
        for opened in self._opened:
            return opened
        raise refusals.closed(call)

    def _check_process(self, call: str) -> None:
        if self._process != os.getpid():
            raise StateError(
                f"{call}: the store was opened in process {self._process}, of which this one is a "
                "fork; make a store of its own here"
            )

    def _claim(self, session_id: str, owner: str | None, holder: str) -> sessions.Claim:
        return sessions.Claim(
            session_id=session_id,
            owner=owner,
            holder=holder,
            seconds=self._options.lease_seconds,
        )

    async def _do(
        self, call: str, work: Callable[..., object], *, deletes: str | None = None
    ) -> Any:  # noqa: ANN401 - what the work returns
        writer, _ = self._open(call)
        waiter = Waiter()
        writer.submit(Job(work=work, waiter=waiter, deletes=deletes))
        return await waiter.wait()


def _nothing(*_: object) -> None:
    pass
