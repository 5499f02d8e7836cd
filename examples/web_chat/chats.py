"""The sessions that are open here, and what is asked of them.

In: what the routes were asked, and by which owner. Out: sessions that answer. A session is opened
when it is needed and closed when nobody has asked it anything for a while; what others do with it
meanwhile is followed from the store (``stream``). Deliberately elsewhere: HTTP (``app``).
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

import anyio
import attrs

from citestream import (
    Client,
    Session,
    SessionEvent,
    SessionEventType,
    SessionFenced,
    SessionInUseError,
    SessionMetadata,
    SourceRegistry,
    StateError,
    Store,
)
from citestream.session import Follower
from citestream.sources import SourceDocument

from .documents import granularity_of

__all__ = ("BusyError", "Chats")

IDLE_SECONDS = 600.0
"""How long a session stays open after it was last asked something."""

_Key: TypeAlias = tuple[str, str]  # the owner and the session
_SETTLED = {"session.start", "session.resume", "session.shutdown", "session.idle"}


class BusyError(StateError):
    """A session was asked something while it was answering."""


@attrs.define(eq=False)
class _Open:
    session: Session
    used: float
    busy: bool = False

    def note(self, event: SessionEvent) -> None:
        """Note what the session does. Called with every event."""
        if event.type == SessionEventType.SESSION_IDLE:
            self.busy, self.used = False, anyio.current_time()


class Chats:
    """The chats of all owners. ``documents`` are what a new one may cite.

    ``shared_store`` says that other servers use the store too: whoever holds a session may live.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        /,
        *,
        documents: Sequence[SourceDocument],
        shared_store: bool = False,
    ) -> None:
        self._client = client
        self._store = store
        self._documents = documents
        self._shared = shared_store
        self._open: dict[_Key, _Open] = {}
        self._opening = anyio.Lock()

    async def list(self, owner: str, /) -> list[SessionMetadata]:
        """Return the sessions of ``owner``, the last written first."""
        return await self._client.list_sessions(owner=owner)

    async def create(self, owner: str, /) -> str:
        """Make a session and return its id."""
        session = await self._client.create_session(enable_citations=True, owner=owner)
        self._keep(owner, session)
        return session.session_id

    async def ask(self, owner: str, session_id: str, text: str, /) -> str:
        """Ask a session; return the id of the question, which is answered in the background.

        Raises BusyError while it answers another, SessionNotFoundError, and StoreError.
        """
        chat = await self._opened(owner, session_id)
        try:
            return await self._ask(chat, text)
        except SessionFenced:  # another server had it since
            await self._close((owner, session_id))
            return await self._ask(await self._opened(owner, session_id), text)

    async def abort(self, owner: str, session_id: str, /) -> None:
        """Stop the answer in progress. One that another process writes is taken from it."""
        await self.check(owner, session_id)
        chat = self._open.get((owner, session_id))
        if chat is not None:
            await chat.session.abort()
        elif not await self._finished(owner, session_id):
            await self._opened(owner, session_id)

    async def delete(self, owner: str, session_id: str, /) -> None:
        """Delete a session. Raises SessionNotFoundError."""
        await self._client.delete_session(session_id, owner=owner)
        self._open.pop((owner, session_id), None)

    async def check(self, owner: str, session_id: str, /) -> None:
        """Raise SessionNotFoundError for a session that ``owner`` does not have."""
        await self._store.get(session_id, owner=owner)

    async def sources(self, owner: str, session_id: str, /) -> SourceRegistry:
        """Return what a session may cite, without taking it from whoever writes it."""
        chat = self._open.get((owner, session_id))
        if chat is not None:
            return chat.session.sources
        async with await self._client.resume_session(
            session_id, owner=owner, mode="observe"
        ) as session:
            return session.sources

    def follow(self, owner: str, session_id: str, /, *, after: str | None) -> Follower:
        """Return the events of a session behind the cursor ``after``. Raises OptionError."""
        return self._client.follow(session_id, after=after, owner=owner, enable_citations=True)

    async def settle(self, owner: str, session_id: str, /) -> bool:
        """Complete an answer whose writer died; tell whether nothing is in progress.

        In a shared store a session that someone holds is left alone: they may be thinking.
        """
        if (owner, session_id) in self._open:
            return not self._open[owner, session_id].busy
        if await self._finished(owner, session_id):
            return True
        with suppress(SessionInUseError):
            await self._opened(owner, session_id, takeover=not self._shared)
        return False

    async def run(self) -> None:
        """Close what nobody uses, until cancelled."""
        while True:
            await anyio.sleep(IDLE_SECONDS / 10)
            old = anyio.current_time() - IDLE_SECONDS
            for key, chat in list(self._open.items()):
                if not chat.busy and chat.used < old:
                    await self._close(key)

    # -- inside

    async def _ask(self, chat: _Open, text: str) -> str:
        if chat.busy:
            raise BusyError("the last question is still being answered")
        chat.busy = True
        try:
            if not len(chat.session.sources):
                for document in self._documents:
                    chat.session.sources.add(document, granularity=granularity_of(document))
            return await chat.session.send(text)
        except BaseException:
            chat.busy = False
            raise

    async def _finished(self, owner: str, session_id: str) -> bool:
        record = await self._store.get(session_id, owner=owner)
        last = await self._store.read(
            session_id, owner=owner, after=max(0, record.last_seq - 1), limit=1
        )
        return all(event.type in _SETTLED for event in last)

    async def _opened(self, owner: str, session_id: str, *, takeover: bool = True) -> _Open:
        async with self._opening:
            chat = self._open.get((owner, session_id))
            if chat is None:
                session = await self._client.resume_session(
                    session_id,
                    owner=owner,
                    mode="takeover" if takeover else "fail",
                    enable_citations=True,
                )
                chat = self._keep(owner, session)
            return chat

    def _keep(self, owner: str, session: Session) -> _Open:
        chat = _Open(session, anyio.current_time())
        session.on(chat.note)
        self._open[owner, session.session_id] = chat
        return chat

    async def _close(self, key: _Key) -> None:
        chat = self._open.pop(key, None)
        if chat is not None:
            await chat.session.disconnect()
