"""The work of a session that asks: one question after the other, each until it is answered.

In: questions, and a provider. Out: events, through ``intake``: the user's message, what the model
says, what its tools return, ``session.idle`` when a question is done. Deliberately elsewhere: one
call of a model (``asking``), running the tools that it asks for (``toolwork``).
"""

from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

import anyio
import attrs

from ..attachments import attachment_payloads, read_attachments
from ..conversation import Conversation
from ..errors import (
    CitestreamError,
    OptionError,
    SessionError,
    SessionNotFoundError,
    StateError,
    StoreError,
    brief,
)
from ..events import (
    AbortData,
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantTurnEndData,
    AssistantTurnStartData,
    SessionErrorData,
    SessionEvent,
    SessionEventData,
    SessionEventType,
    SessionIdleData,
    UserMessageData,
)
from ..model import Extra
from ..resolver import MessageKey
from ..sources import Granularity
from ..store import StoredEvent
from .asking import ask_model
from .backing import Backing
from .intake import Intake
from .options import SessionOptions
from .provider import Exchange, Provider
from .question import Question
from .toolwork import run_requests
from .transcript import SOURCE_IDS

__all__ = ("PATIENCE", "Work")


PATIENCE = 5.0
"""Seconds that closing waits for handlers, providers and tools to let go."""

_inside: ContextVar["Work | None"] = ContextVar("_inside", default=None)


class Work:
    """Answers the questions of one session."""

    def __init__(
        self, session_id: str, intake: Intake, backing: Backing, options: SessionOptions, /
    ) -> None:
        self._session_id = session_id
        self._intake = intake
        self._backing = backing
        self._options = options
        self._waiting: list[Question] = []
        self._current: Question | None = None
        self._scope: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()
        self._closing = False
        self._last_id: str | None = None
        self._attached: set[str] = set()
        self._streamed: set[MessageKey] = set()
        if backing.following is not None:
            backing.tasks.start_soon(self._observe, backing.following)

    async def ask(self, prompt: str, attachments: Sequence[Mapping[str, Any]], /) -> Question:
        """Begin to answer, or queue behind what is being answered."""
        if not isinstance(prompt, str):
            raise OptionError(f"prompt: wanted a text, got {brief(prompt)}")
        if self._backing.journal is None:
            raise StateError("send: the session only observes")
        self._provider()
        question = await self._question(prompt, attachments)
        self._waiting.append(question)
        if self._idle.is_set():
            self._idle = anyio.Event()
            self._backing.tasks.start_soon(self._run)
            await question.begun.wait()
            if isinstance(question.error, StoreError):
                raise question.error
        return question

    def is_inside(self) -> bool:
        """Tell whether what runs now is part of the work, or a handler that the session waits for.

        It would wait for itself.
        """
        return _inside.get() is self or self._intake.is_inside()

    async def abort(self) -> None:
        """Stop what is being answered; inside of it, return before it has stopped."""
        question = self._current
        self._stop()
        if question is not None and not self.is_inside():
            await question.done.wait()

    async def close(self) -> None:
        """Stop, keep what came, and let others have the session. Not to be called inside.

        Handlers that do not return are abandoned after a while.
        """
        self._closing = True
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(PATIENCE) as patience:
                await self.abort()
                await self._idle.wait()
            if patience.cancelled_caught:
                self._intake.mute()
                self._stop()
                with anyio.move_on_after(PATIENCE):
                    await self._idle.wait()
            try:
                await self._intake.close()
            finally:
                self._backing.closed()

    # -- inside

    async def _observe(
        self, following: Callable[[], AsyncGenerator[list[StoredEvent], None]]
    ) -> None:
        self._idle = anyio.Event()
        try:
            with anyio.CancelScope() as self._scope:
                async with aclosing(following()) as pages:
                    async for page in pages:
                        await self._intake.show(page)
        except SessionNotFoundError:
            ...  # deleted: nothing follows
        except StoreError as error:
            await self._tell(error)
        finally:
            self._idle.set()

    async def _run(self) -> None:
        _inside.set(self)
        try:
            while self._waiting:
                question = self._current = self._waiting.pop(0)
                if self._closing:
                    question.end(unless_done="send: the session was disconnected first")
                else:
                    await self._answered(question)
                    question.end()
        finally:
            for left in filter(None, (self._current, *self._waiting)):
                left.end(unless_done="send: the client was closed first")
            self._waiting.clear()
            self._current = None
            self._idle.set()

    async def _answered(self, question: Question) -> None:
        try:
            with anyio.CancelScope() as scope:
                self._scope = scope
                await self._answer(question)
            if scope.cancelled_caught:
                with anyio.CancelScope() as self._scope:
                    await self._stopped(question)
        except CitestreamError as error:
            question.error = error
            with anyio.CancelScope() as self._scope:
                await self._tell(error)
        finally:
            self._scope = None
            self._intake.forget(self._streamed)
            self._streamed.clear()

    async def _tell(self, error: CitestreamError) -> None:
        """Give out that the work failed; what cannot be kept is told all the same."""
        failed = SessionErrorData(message=str(error), error_type=type(error).__name__)
        kept = not isinstance(error, StoreError)
        for kind, data in (
            (SessionEventType.SESSION_ERROR, failed),
            (SessionEventType.SESSION_IDLE, SessionIdleData()),
        ):
            event = self._event(kind, data)
            try:
                if kept:
                    await self._intake.take(event)
            except StoreError:
                kept = False
            if not kept:
                await self._intake.tell(event)

    def _stop(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def _answer(self, question: Question) -> None:
        await self._begin(question)
        number, most = 0, self._options.max_tool_rounds
        asked = await self._turn(question, number)
        while asked and number < most:
            await run_requests(
                asked,
                backing=self._backing,
                session_id=self._session_id,
                take=lambda kind, data: self._take(question, kind, data),
            )
            number += 1
            asked = await self._turn(question, number)
        if asked:
            message = f"max_tool_rounds: at most {most}, and the model asked for more"
            await self._fail(question, SessionError(message, error_type="limit"))
        await self._end(question)

    async def _turn(self, question: Question, number: int) -> tuple[Any, ...]:
        """Ask the model once; return the calls of tools that it wants, none where it failed."""
        start = AssistantTurnStartData(turn_id=str(number))
        await self._take(question, SessionEventType.ASSISTANT_TURN_START, start)
        asked = await self._ask(question)
        end = AssistantTurnEndData(turn_id=str(number))
        await self._take(question, SessionEventType.ASSISTANT_TURN_END, end)
        return () if question.error is not None else asked

    async def _begin(self, question: Question) -> None:
        self._intake.attach_files(question.files)
        ids = [*question.source_ids, *self._untold()]
        extra = Extra({SOURCE_IDS: ids} if ids else {})
        data = attrs.evolve(question.data, extra=extra)
        await self._intake.keep(self._event(SessionEventType.USER_MESSAGE, data))
        question.begun.set()
        await self._intake.deliver()

    async def _question(self, prompt: str, attachments: Sequence[Mapping[str, Any]]) -> Question:
        """Read what is attached and register it, as one turn of ids."""
        root = self._backing.working_directory
        read = await read_attachments(attachments, root=root) if attachments else []
        ids: list[str] = []
        files: dict[str, Any] = {}
        await self._intake.recall()
        if read:
            self._intake.sources.begin_turn()
        pages = any(one.unit == "page" for one in self._options.citations.syntax.locators)
        for one in read:
            granularity = one.granularity if pages else Granularity.LINE
            source = self._intake.sources.add(one.document, granularity=granularity)
            ids.append(source.id)
            if one.data is not None:
                encoded = b64encode(one.data).decode("ascii")
                files[source.id] = {"data": encoded, "mimeType": one.media_type}
        data = UserMessageData(
            content=prompt,
            message_id=str(uuid4()),
            attachments=attachment_payloads(attachments, root=root) or None,
        )
        self._attached.update(ids)
        return Question(data, files, ids)

    def _untold(self) -> list[str]:
        """Return the ids of what the application registered and no model was told yet."""
        told = self._intake.transcript.shown | self._attached
        return [source.id for source in self._intake.sources.sources if source.id not in told]

    async def _ask(self, question: Question) -> tuple[Any, ...]:
        provider = self._provider()
        requests: tuple[Any, ...] = ()
        try:
            exchange = self._exchange(question)
            async with aclosing(ask_model(provider, exchange, self._options)) as events:
                async for event in events:
                    if isinstance(event.data, AssistantMessageDeltaData):
                        self._streamed.add((event.agent_id, event.data.message_id))
                        if self._intake.take_at_once(event):
                            await self._intake.deliver()
                            continue
                    given = await self._intake.take(self._stamped(event))
                    question.saw(given)
                    for one in given:
                        if one.agent_id is None and isinstance(one.data, AssistantMessageData):
                            requests += one.data.tool_requests or ()
        except SessionError as error:
            await self._interrupt(question)
            await self._fail(question, error)
            question.error = error
        return requests

    def _provider(self) -> Provider:
        if self._backing.provider is None:
            raise StateError("send: the client has no provider")
        return self._backing.provider

    def _exchange(self, question: Question) -> Exchange:
        conversation = Conversation(
            turns=self._intake.transcript.turns(),
            system=self._options.system_message,
            tools=tuple(tool.definition for tool in self._backing.tools.values()),
        )
        return Exchange(
            conversation=conversation,
            sources=self._intake.sources,
            question=question.data.content,
            syntax=self._options.citations.syntax,
        )

    async def _interrupt(self, question: Question) -> None:
        question.saw(await self._intake.interrupt(self._streamed))

    async def _stopped(self, question: Question) -> None:
        """Say that the question was stopped, when what was being done about it has ended."""
        await self._interrupt(question)
        reason = "session disconnected" if self._closing else "user initiated"
        await self._take(question, SessionEventType.ABORT, AbortData(reason=reason))
        await self._end(question, aborted=True)

    async def _end(self, question: Question, *, aborted: bool = False) -> None:
        data = SessionIdleData(aborted=aborted or None)
        await self._take(question, SessionEventType.SESSION_IDLE, data)

    async def _fail(self, question: Question, error: SessionError) -> None:
        data = SessionErrorData(
            message=str(error), error_type=error.error_type, status_code=error.status_code
        )
        await self._take(question, SessionEventType.SESSION_ERROR, data)

    async def _take(
        self, question: Question, kind: SessionEventType, data: SessionEventData
    ) -> None:
        question.saw(await self._intake.take(self._event(kind, data)))

    def _event(self, kind: SessionEventType, data: SessionEventData) -> SessionEvent:
        ephemeral = kind is SessionEventType.SESSION_IDLE or None
        return self._stamped(SessionEvent(type=kind, data=data, ephemeral=ephemeral))

    def _stamped(self, event: SessionEvent) -> SessionEvent:
        """Say which event ``event`` follows, as Copilot's events do; deltas say nothing."""
        if isinstance(event.data, AssistantMessageDeltaData):
            return event
        if event.parent_id is None:
            event = attrs.evolve(event, parent_id=self._last_id)
        self._last_id = event.id
        return event
