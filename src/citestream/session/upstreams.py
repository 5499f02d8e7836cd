"""A session of the Copilot SDK as the upstream of ours: attach, detach, lose nothing between.

In: a ``copilot.CopilotSession`` (any object whose ``on`` takes a handler and returns what ends it)
and a ``Session``. Out: the events of the one go to the other, in order, translated and repaired by
``providers.copilot``. The Copilot SDK calls its handlers synchronously in an asyncio loop, and so
this is the one part of the package that wants asyncio.
"""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..errors import DecodeError, StateError
from ..logs.decoding import UpstreamEvent
from ..providers.copilot import event_mapping, repaired, unparsed_event
from .session import Session

if TYPE_CHECKING:
    import asyncio

__all__ = ("Attachment", "CopilotSession", "attach")

_logger = logging.getLogger("citestream.session")
_tasks: set["asyncio.Task[None]"] = set()  # a loop keeps no task alive


class CopilotSession(Protocol):
    """What ``attach`` asks of a session of the Copilot SDK."""

    session_id: str

    def on(self, handler: Callable[[Any], None], /) -> Callable[[], None]:
        """Call ``handler`` with every event; return a function that ends that."""


def attach(copilot: CopilotSession, session: Session, /, *, repair: bool = True) -> "Attachment":
    """Feed every event of ``copilot`` to ``session``, from now on; call what is returned to detach.

    ::

        detach = attach(copilot_session, session)      # inside a running asyncio loop
        await copilot_session.send_and_wait("...")
        detach()

    ``repair`` undoes what the runtime gets wrong in citations (``providers.copilot``). To miss
    nothing, attach before the first ``send``: what came before is not given out again.

    Events that the Copilot SDK fails to parse reach none of its handlers. They are taken from the
    error that the loop reports: while attached, the exception handler of the loop is one of ours,
    which passes every report on. An exception handler that is set later replaces it.

    Raises StateError outside a running asyncio loop, and what ``copilot.on`` raises.
    """
    return Attachment(copilot, session, repair=repair)


class Attachment:
    """What ties a session of Copilot to one of ours. Call it to detach; ``attach`` makes it.

    Handlers of Copilot cannot wait, so what came waits here, in order and unbounded, until the
    session has given it out. Also an async context manager that detaches and waits for that.
    """

    def __init__(self, copilot: CopilotSession, session: Session, /, *, repair: bool) -> None:
        import asyncio  # noqa: PLC0415 - who never attaches does not pay for it

        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError as error:
            raise StateError("attach: wants a running asyncio loop, as Copilot does") from error
        self._session = session
        self._copilot_id = copilot.session_id
        self._repair = repair
        self._waiting: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self._attached = True
        self._unsubscribe = copilot.on(self._take)
        self._handler = self._report  # bound once, to be recognised
        self._before = self._loop.get_exception_handler()
        self._loop.set_exception_handler(self._handler)
        self._task = self._loop.create_task(self._run())
        _tasks.add(self._task)
        self._task.add_done_callback(_tasks.discard)

    def __call__(self) -> None:
        """Detach. What came before is still given out, and what was withheld. Idempotent."""
        if self._attached:
            self._attached = False
            self._unsubscribe()
            if self._loop.get_exception_handler() == self._handler:
                self._loop.set_exception_handler(self._before)
            self._arrived.set()

    async def aclose(self) -> None:
        """Detach and wait until everything that came was given out."""
        import asyncio  # noqa: PLC0415 - imported already

        self()
        if asyncio.current_task() is not self._task:  # a handler may close what calls it
            await asyncio.wait((self._task,))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    # -- inside

    def _take(self, event: object) -> None:
        """Take an event of Copilot, at once: other handlers may change it afterwards."""
        try:
            taken: object = event_mapping(event)
        except DecodeError:
            taken = event  # the session says that it is none
        self._waiting.append(taken)
        self._arrived.set()

    def _report(self, loop: "asyncio.AbstractEventLoop", context: dict[str, Any]) -> None:
        """Take the event that an error of the loop is about, and pass the report on."""
        error = context.get("exception")
        if self._attached and isinstance(error, BaseException):
            event = unparsed_event(error, session_id=self._copilot_id)
            if event is not None:
                self._take(event)
        if self._before is None:
            loop.default_exception_handler(context)
        else:
            self._before(loop, context)

    async def _run(self) -> None:
        try:
            async with aclosing(self._events()) as events:
                await self._session.consume(events, on_error="skip")
        except StateError:
            _logger.debug("session %s was disconnected first", self._session.session_id)
        finally:
            self()

    async def _events(self) -> AsyncGenerator[UpstreamEvent, None]:
        while self._waiting or self._attached:
            while self._waiting:
                event = self._waiting.popleft()
                if self._repair and self._session.enable_citations and isinstance(event, Mapping):
                    for one in repaired(event):
                        yield one
                else:
                    yield event
            if self._attached:
                self._arrived.clear()
                await self._arrived.wait()
