"""What is asked and what becomes of it: one session after the other, in front of one user.

``input`` and Ctrl-C belong to the main thread, so the SDK's event loop has a thread of its own,
behind a portal of anyio; events come from there in a queue. A program that is async itself awaits
the same methods instead of calling them through a portal.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import Enum, auto
from queue import Empty, SimpleQueue
from typing import TypeAlias

import attrs
from anyio.from_thread import BlockingPortal

from citestream import (
    CitestreamError,
    Client,
    PermissionRequest,
    PermissionRequestResult,
    Session,
    SessionEvent,
    SessionEventType,
    wire,
)
from citestream.events import UserMessageData
from citestream.session import SessionSettings
from citestream.sources import Granularity, SourceDocument

from .screen import Screen, one_line

with suppress(ImportError):  # not on Windows
    import termios

__all__ = ("Chat",)

HELP = """\
/sources  what may be cited so far
/new      a new session
/quit     leave, as Ctrl-D does
Ctrl-C stops an answer; where there is none to stop, it leaves."""


class Signal(Enum):
    """What the user does while an answer comes."""

    CTRL_C = auto()


@attrs.frozen(eq=False)
class Permission:
    """Whether a tool may run, and where the answer goes."""

    request: PermissionRequest
    answer: Future[bool] = attrs.field(factory=Future)


Item: TypeAlias = SessionEvent | Permission | Signal


class Chat:
    """The loop of questions. ``settings`` are those of every session.

    ``documents`` are registered to be cited, for a provider that quotes from what is registered.
    """

    def __init__(
        self,
        client: Client,
        portal: BlockingPortal,
        screen: Screen,
        *,
        settings: SessionSettings,
        documents: Sequence[SourceDocument] = (),
    ) -> None:
        self._client = client
        self._portal = portal
        self._screen = screen
        self._settings: SessionSettings = {"on_permission_request": self._permit, **settings}
        self._documents = documents
        self._items: SimpleQueue[Item] = SimpleQueue()

    def open(self, resume: str | None = None, /) -> None:
        """Create a session, or resume one and show it: ``resume`` is its id, ``""`` the last."""
        self.session: Session = self._portal.call(self._open, resume)
        for event in self._portal.call(self.session.get_events):
            if isinstance(event.data, UserMessageData):
                self._screen.question(event.data.content)
            self._screen.show(event)

    def run(self) -> None:
        """Answer until the user leaves."""
        while (line := self._screen.ask("> ")) is not None:
            match line.split():
                case []:
                    pass
                case ["/quit"]:
                    break
                case ["/new"]:
                    self._portal.call(self.session.disconnect)
                    self.open()
                case ["/sources"]:
                    for source in self._portal.call(lambda: self.session.sources.sources):
                        self._screen.note(f"{source.id}  {source.document.title or ''}")
                case [word, *_] if word.startswith("/"):
                    self._screen.print(HELP, style="dim")
                case _:
                    self._answer(line)

    async def _open(self, resume: str | None = None) -> Session:
        if resume == "":
            kept = await self._client.list_sessions()
            resume = kept[0].session_id if kept else None
        if resume is None:
            session = await self._client.create_session(**self._settings)
        else:
            session = await self._client.resume_session(resume, **self._settings)
        known = {source.document for source in session.sources.sources}
        for document in self._documents:
            if document not in known:
                session.sources.add(document, granularity=Granularity.LINE)
        return session

    # -- one question

    def _answer(self, question: str) -> None:
        """Ask, and show what comes of it until the session is idle again."""
        self._items = SimpleQueue()
        self._screen.begin()
        end = self._portal.call(self.session.on, self._items.put)
        try:
            self._portal.call(self.session.send, question)
            while (permission := self._watch()) is not None:
                self._decide(permission)
        except CitestreamError as error:
            self._screen.note(f"error: {error}", style="red")
        finally:
            self._portal.call(end)

    def _watch(self) -> Permission | None:
        """Show events until the session is idle, or until a tool asks for permission."""
        with ctrl_c_calls(lambda: self._items.put(Signal.CTRL_C)), silent(), self._screen.live():
            while True:
                try:
                    item = self._items.get(timeout=0.2)  # or Windows would not notice Ctrl-C
                except Empty:
                    continue
                if isinstance(item, Permission):
                    return item
                if isinstance(item, Signal):
                    self._stop()
                    continue
                self._screen.show(item)
                if item.type is SessionEventType.SESSION_IDLE:
                    return None

    def _stop(self) -> None:
        """Stop the answer; where that takes too long for the user, leave."""
        if self._screen.stopping:
            raise KeyboardInterrupt
        self._screen.stopping = True
        self._portal.start_task_soon(self.session.abort)

    # -- permission for tools

    async def _permit(self, request: PermissionRequest, _: object) -> PermissionRequestResult:
        """Ask the main thread, which asks the user, where there is one."""
        if not sys.stdin.isatty():
            return PermissionRequestResult(kind="user-not-available")
        permission = Permission(request)
        self._items.put(permission)
        allowed = await asyncio.wrap_future(permission.answer)
        return PermissionRequestResult(kind="approve-once" if allowed else "reject")

    def _decide(self, permission: Permission) -> None:
        if not permission.answer.set_running_or_notify_cancel():
            return  # the answer was stopped meanwhile
        request = permission.request
        shown = one_line(f"{request.tool_name} {wire.encode_json(request.args)}")
        said = self._screen.ask(f"May it run {shown}? [y/n] ")
        if said is None:
            self._stop()
        permission.answer.set_result((said or "").strip().lower() in {"y", "yes"})


@contextmanager
def ctrl_c_calls(handler: Callable[[], object]) -> Iterator[None]:
    """Call ``handler`` for Ctrl-C, instead of raising KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, lambda *_: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def silent() -> Iterator[None]:
    """Keep what is typed meanwhile out of sight, for the next question."""
    if "termios" not in globals() or not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    changed = before.copy()
    changed[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
