"""The client: creates, resumes, lists, follows, moves and deletes the sessions of one store.

In: a provider that answers, a store that keeps. Out: sessions. Deliberately elsewhere: what a
session does (``session``), how events are kept (``store``).
"""

import logging
import os
import platform
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias, Unpack
from uuid import uuid4

import anyio
import attrs
from anyio.abc import TaskGroup

from ..errors import DecodeError, OptionError, StateError, StoreError, brief
from ..events import (
    SessionEvent,
    SessionEventType,
    SessionResumeData,
    SessionStartData,
    UserMessageData,
)
from ..logs.decoding import UpstreamEvent
from ..offsets import well_formed
from ..store import MemoryStore, SessionRecord, Store
from ..wire import decode_event
from .backing import Backing
from .follow import Follower, read_all, stored_events
from .intake import is_unfinished
from .journal import Journal, Keeper
from .options import SessionOptions
from .provider import Provider
from .session import Session
from .settings import CheckedSettings, SessionSettings, check_settings
from .transfer import ImportedSession, export_lines, import_events

__all__ = ("Client", "ResumeChoice", "SessionMetadata")

ResumeChoice: TypeAlias = Literal["takeover", "wait", "fail", "observe"]
"""What to do about a session that someone else holds: fence them off, wait until they let it go,
raise SessionInUseError, or only watch what they do."""

_logger = logging.getLogger("citestream.session")
_LONGEST_SUMMARY = 120


@attrs.frozen(kw_only=True)
class SessionMetadata:
    """What a list of sessions shows. ``summary`` is the beginning of the first question."""

    session_id: str
    start_time: datetime
    modified_time: datetime
    summary: str | None = attrs.field(default=None, repr=False)


class Client:
    """Sessions with a provider that answers and a store that keeps them.

    ``provider`` may be missing where sessions are only fed. ``store`` is by default a MemoryStore,
    which forgets when the client closes. ``working_directory`` is where relative paths of
    attachments start, and what no attachment leads out of.

    An async context manager; leaving it disconnects its sessions.

    Settings of a session, the same when it is resumed:

    - ``enable_citations``: hide markers and give citations. What was kept is read anew with it.
    - ``tools``: what the model may call (``tool``).
    - ``on_permission_request``: who decides whether a tool may run; without it none may but those
      with ``skip_permission``. ``PermissionHandler.approve_all`` lets all run.
    - ``on_event``: a handler that is there before anything can be missed, as with ``Session.on``.
    - ``options``: a SessionOptions; without it also pages of PDFs are cited (CLIENT_OPTIONS).
    - ``owner``: to whom the session belongs, where one store has many users.
    """

    def __init__(
        self,
        *,
        provider: Provider | None = None,
        store: Store | None = None,
        working_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        self._provider = provider
        self._store: Store = MemoryStore() if store is None else store
        self._root = None if working_directory is None else Path(working_directory)
        self._keeper = Keeper(self._store)
        self._sessions: dict[Session, None] = {}
        self._stack: AsyncExitStack | None = None
        self._tasks: TaskGroup | None = None

    async def create_session(
        self, *, session_id: str | None = None, **settings: Unpack[SessionSettings]
    ) -> Session:
        """Create a session; its id is a random UUID unless ``session_id`` gives one.

        Raises SessionExistsError, OptionError and StoreError.
        """
        checked = check_settings(settings)
        tasks = self._running("create_session")
        session_id = str(uuid4()) if session_id is None else session_id
        # Whoever is cancelled now leaves no session behind that nobody knows of.
        with anyio.CancelScope(shield=True):
            lease = await self._store.create(session_id, owner=checked.owner, holder=_holder())
            journal = Journal(self._store, lease, self._keeper)
            data = SessionStartData(
                session_id=session_id,
                start_time=datetime.now(UTC).isoformat(),
                producer="citestream",
                version=1,
            )
            event = SessionEvent(type=SessionEventType.SESSION_START, data=data)
            try:
                first = await journal.begin(event)
            except StoreError:
                await self._store.delete(session_id, owner=checked.owner)
                raise
        backing = Backing(tasks=tasks, journal=journal, past=(first,))
        return self._session(session_id, backing, checked)

    async def resume_session(
        self,
        session_id: str,
        /,
        *,
        mode: ResumeChoice = "takeover",
        **settings: Unpack[SessionSettings],
    ) -> Session:
        """Resume a session that was kept, wherever it was written.

        Its events are read anew: with the switch and the options given here. An answer that was
        being written when its writer died is complete as far as it was kept, and ``interrupted``.
        With ``observe`` the session shows what another writer does and cannot ask itself.

        Raises SessionNotFoundError, SessionInUseError, OptionError and StoreError.
        """
        if mode not in {"takeover", "wait", "fail", "observe"}:
            raise OptionError(
                f"mode: wanted 'takeover', 'wait', 'fail' or 'observe', got {brief(mode)}"
            )
        checked = check_settings(settings)
        tasks, owner = self._running("resume_session"), checked.owner
        if mode == "observe":
            past = await read_all(self._store, session_id, owner=owner)
            after = past[-1].seq if past else 0
            following = partial(stored_events, self._store, session_id, owner=owner, after=after)
            backing = Backing(tasks=tasks, following=following, past=tuple(past))
            return self._session(session_id, backing, checked)
        with anyio.CancelScope(shield=mode != "wait"):
            lease = await self._store.acquire(session_id, owner=owner, holder=_holder(), mode=mode)
        with anyio.CancelScope(shield=True):
            past = await read_all(self._store, session_id, owner=owner)
            journal = Journal(self._store, lease, self._keeper, last=past[-1].seq if past else 0)
            data = SessionResumeData(
                event_count=len(past), resume_time=datetime.now(UTC).isoformat()
            )
            event = SessionEvent(type=SessionEventType.SESSION_RESUME, data=data)
            resumed = await journal.begin(event)
            backing = Backing(tasks=tasks, journal=journal, past=(*past, resumed))
            session = self._session(session_id, backing, checked)
            if is_unfinished(past):
                await session.get_events()  # an answer was interrupted: followers are told now
        return session

    async def list_sessions(self, *, owner: str | None = None) -> list[SessionMetadata]:
        """Return what the store has of ``owner``, the last written first."""
        self._running("list_sessions")
        return [_metadata(record) for record in await self._store.list(owner=owner)]

    async def delete_session(self, session_id: str, /, *, owner: str | None = None) -> None:
        """Delete a session and everything that was kept of it. Raises SessionNotFoundError."""
        self._running("delete_session")
        await self._store.get(session_id, owner=owner)
        # Called by a handler or a tool of the session, this stops what it is part of.
        with anyio.CancelScope(shield=True):
            for session in [one for one in self._sessions if one.session_id == session_id]:
                await self._disconnect(session)
            await self._store.delete(session_id, owner=owner)

    async def import_session(
        self,
        events: Iterable[UpstreamEvent] | AsyncIterable[UpstreamEvent],
        /,
        *,
        session_id: str | None = None,
        owner: str | None = None,
    ) -> ImportedSession:
        """Make a new session of the events of a log, such as a ``LogReader`` gives.

        Ids, times, order and unknown events stay as they are. The id of the session is that of the
        ``session.start`` among the first events, else a random UUID, unless ``session_id`` gives
        one. As in a live session, what only streams is kept until it is complete: an answer that
        was cut off is ``interrupted`` when the session is resumed.

        All or nothing: when it raises or is cancelled, no session is left. Raises
        SessionExistsError, OptionError (also where there is no event), DecodeError for what is no
        event, StoreError, and what ``events`` raises.
        """
        self._running("import_session")
        return await import_events(
            self._store, events, session_id=session_id, owner=owner, holder=_holder()
        )

    def export_session(
        self, session_id: str, /, *, owner: str | None = None
    ) -> AsyncGenerator[str, None]:
        """Return an async iterator over a log of the session: one line of JSON for each event kept.

        The lines are ASCII and have no line's end. The Copilot CLI reads such a log as its own;
        for it, what follows no event says so, and the start names a version. Reading raises
        SessionNotFoundError.
        """
        self._running("export_session")
        return export_lines(self._store, session_id, owner=owner)

    def follow(
        self,
        session_id: str,
        /,
        *,
        after: str | None = None,
        enable_citations: bool = False,
        options: SessionOptions | None = None,
        owner: str | None = None,
    ) -> Follower:
        """Return an iterator over all events of a session, whoever writes it, then over the new.

        ``after`` is the cursor of the last event that was read, None for none. Raises OptionError
        for what is no cursor.
        """
        self._running("follow")
        return Follower(
            self._store,
            session_id,
            owner=owner,
            after=after,
            enable_citations=enable_citations,
            options=options,
        )

    async def __aenter__(self) -> Self:
        if self._stack is not None:
            raise StateError("async with: the client is open already")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._store)
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self._tasks.start_soon(self._keeper.run)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stack, tasks = self._stack, self._tasks
        self._stack = self._tasks = None
        if stack is None or tasks is None:
            return
        async with stack:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as leaving:
                    for session in list(self._sessions):
                        leaving.start_soon(self._disconnect, session)
            tasks.cancel_scope.cancel()

    # -- inside

    def _running(self, call: str) -> TaskGroup:
        if self._tasks is None:
            raise StateError(f"{call}: wants to be called inside 'async with Client(...)'")
        return self._tasks

    def _session(self, session_id: str, backing: Backing, checked: CheckedSettings) -> Session:
        if backing.journal is not None:
            self._keeper.watch(backing.journal)

        def closed() -> None:
            self._sessions.pop(session, None)
            if backing.journal is not None:
                self._keeper.forget(backing.journal)

        session = Session(
            enable_citations=checked.enable_citations,
            session_id=session_id,
            options=checked.options,
            backing=attrs.evolve(
                backing,
                provider=self._provider,
                tools=checked.tools,
                on_permission_request=checked.on_permission_request,
                working_directory=self._root,
                closed=closed,
            ),
        )
        self._sessions[session] = None
        if checked.on_event is not None:
            session.on(checked.on_event)
        return session

    async def _disconnect(self, session: Session) -> None:
        try:
            await session.disconnect()
        except StoreError as error:
            # Whoever asked for something of it was told; the other sessions must close too.
            _logger.warning("session %s closed with an error: %s", session.session_id, error)


def _holder() -> str:
    return f"process {os.getpid()} on {platform.node() or 'this machine'}"


def _metadata(record: SessionRecord) -> SessionMetadata:
    return SessionMetadata(
        session_id=record.session_id,
        start_time=datetime.fromtimestamp(record.created_at, UTC),
        modified_time=datetime.fromtimestamp(record.updated_at, UTC),
        summary=None if record.opening is None else _summary(record.opening),
    )


def _summary(opening: str) -> str | None:
    try:
        data = decode_event(opening).data
    except DecodeError:
        return None
    if not isinstance(data, UserMessageData):
        return None
    return " ".join(well_formed(data.content).split())[:_LONGEST_SUMMARY]
