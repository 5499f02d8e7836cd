"""The engine: upstream events in, the events that a session gives out back. No I/O, no clock.

``Resolver.feed(event)`` returns the events to give out in its place; ``finish()`` those that were
still held. What happens to each kind of event is in SPEC section 3:

- deltas come back with markers withheld; they are never read for citations;
- the final message comes back clean, with its citations, followed by one warning for each issue;
- everything else passes through, the same object.

Law 1: the deltas of a message, joined, are its content. Law 2: the same input, however cut, gives
the same citations. Both follow from one tokenizer and one set of blank rules (``markers``).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias
from uuid import UUID, uuid5

import attrs

from ..errors import LimitError, StateError, brief
from ..events import (
    AbortData,
    AssistantMessageData,
    AssistantMessageDeltaData,
    SessionErrorData,
    SessionEvent,
    SessionEventType,
    SessionIdleData,
    SessionShutdownData,
    SessionWarningData,
    ToolExecutionCompleteData,
)
from ..issues import Issue
from ..markers import MarkerFilter
from ..model import Extra
from ..sources import Granularity, SourceRegistry
from .answer import resolve
from .options import CitationOptions

__all__ = ("MAX_OPEN_MESSAGES", "MessageKey", "Resolver")

MessageKey: TypeAlias = tuple[str | None, str]
"""What a message that streams is known by: the agent, None for the root agent, and its id."""

MAX_OPEN_MESSAGES = 1024
"""Messages that may stream at once; one more ends the oldest, so that memory stays bounded when an
upstream never sends the final messages (as after retried calls)."""

_IDS = UUID(
    "6b1c4b2e-6d53-5b0e-8f0a-5a3c1f0c7f11"
)  # makes ids of our events from those they follow
_OUR_FORM = re.compile("turn[0-9]+[a-z]+[0-9]+")
_ENDS = (AbortData, SessionErrorData, SessionIdleData, SessionShutdownData)


class _OpenMessage:
    """A message that streams: its filter, and the last delta it came with."""

    __slots__ = ("data", "event", "filter")

    def __init__(
        self, options: CitationOptions, event: SessionEvent, data: AssistantMessageDeltaData
    ) -> None:
        self.filter = MarkerFilter(syntax=options.syntax, other_families=options.other_families)
        self.event = event
        self.data = data

    def rest(self) -> list[SessionEvent]:
        """End the message and return a delta of what was withheld, if that is visible."""
        text = "".join(self.filter.finish())
        if not text:
            return []
        event = _with_delta(self.event, self.data, text)
        return [attrs.evolve(event, id=str(uuid5(_IDS, f"{event.id}:rest")))]


class Resolver:
    """Turns the events of an upstream into those of a session with citations."""

    def __init__(
        self, options: CitationOptions | None = None, /, *, registry: SourceRegistry | None = None
    ) -> None:
        self._options = options or CitationOptions()
        pattern = self._options.syntax.id_pattern
        self._registry = SourceRegistry(id_pattern=pattern) if registry is None else registry
        self._open: dict[MessageKey, _OpenMessage] = {}
        self._finished = False

    def feed(self, event: SessionEvent, /) -> list[SessionEvent]:
        """Take the next event of the upstream and return the events to give out.

        Raises StateError after ``finish``.
        """
        if self._finished:
            raise StateError("feed: the resolver is finished")
        data = event.data
        if isinstance(data, AssistantMessageDeltaData):
            return self._delta(event, data)
        if isinstance(data, AssistantMessageData):
            return self._message(event, data)
        if isinstance(data, ToolExecutionCompleteData):
            return [event, *self._tool(event, data)]
        if isinstance(data, _ENDS):
            return [*self._end_all(), event]
        return [event]

    def finish(self) -> list[SessionEvent]:
        """Say that the upstream has ended and return deltas of what was withheld and is visible.

        Raises StateError when called twice.
        """
        if self._finished:
            raise StateError("finish: the resolver is finished already")
        self._finished = True
        return self._end_all()

    def end(self, messages: Iterable[MessageKey], /) -> list[SessionEvent]:
        """Say that no more deltas of ``messages`` come and return what of them is still visible."""
        ended = [self._open.pop(key) for key in messages if key in self._open]
        return [event for message in ended for event in message.rest()]

    def _delta(self, event: SessionEvent, data: AssistantMessageDeltaData) -> list[SessionEvent]:
        key = (event.agent_id, data.message_id)
        message = self._open.get(key)
        before: list[SessionEvent] = []
        if message is None:
            if len(self._open) >= MAX_OPEN_MESSAGES:
                before = self._open.pop(next(iter(self._open))).rest()
            message = self._open[key] = _OpenMessage(self._options, event, data)
        message.event = event
        message.data = data
        delta = data.delta_content
        pieces = message.filter.feed(delta)
        if not pieces and delta:
            return before
        if pieces == [delta] or not delta:
            return [*before, event]
        return [*before, _with_delta(event, data, "".join(pieces))]

    def _message(self, event: SessionEvent, data: AssistantMessageData) -> list[SessionEvent]:
        message = self._open.pop((event.agent_id, data.message_id), None)
        rest = message.rest() if message else []
        answer = resolve(
            data.content, self._registry, citations=data.citations, options=self._options
        )
        if answer.content != data.content or answer.citations != data.citations:
            data = attrs.evolve(data, content=answer.content, citations=answer.citations)
            event = attrs.evolve(event, data=data)
        # A message that calls tools or was cut off is not the answer: it need not cite anything.
        partial = data.tool_requests or data.extra.get("interrupted")
        issues = [i for i in answer.issues if i.kind != "uncited" or not partial]
        warnings = [
            _warning(event, number, f"citation.{issue.kind}", issue.message, _details(data, issue))
            for number, issue in enumerate(issues)
        ]
        return [*rest, event, *warnings]

    def _tool(self, event: SessionEvent, data: ToolExecutionCompleteData) -> Iterator[SessionEvent]:
        """Register what a tool returned to be cited; a limit that is reached gives a warning."""
        self._registry.begin_turn()
        sources = (data.result and data.result.citable_sources) or ()
        # Who numbers its sources as we do shows the model its own ids: ours must not be in the way.
        kind = "tool" if any(_OUR_FORM.fullmatch(source.id) for source in sources) else "file"
        for number, source in enumerate(sources):
            try:
                added = self._registry.add(source, kind=kind, granularity=Granularity.LINE)
            except LimitError as error:
                problem = "source_limit", f"a source cannot be cited: {error}"
            else:
                if source.id in {added.id, added.alias}:
                    continue
                message = f"a source cannot be cited by its id {brief(source.id)}"
                problem = "source_id", f"{message}, only as {added.id}"
            details = {"toolCallId": data.tool_call_id, "citableSourceId": source.id}
            yield _warning(event, number, f"citation.{problem[0]}", problem[1], details)

    def _end_all(self) -> list[SessionEvent]:
        return self.end(list(self._open))


def _with_delta(event: SessionEvent, data: AssistantMessageDeltaData, text: str) -> SessionEvent:
    # attrs.evolve looks up every field by name, for each delta that ends in a blank.
    return SessionEvent(
        data=AssistantMessageDeltaData(
            message_id=data.message_id,
            delta_content=text,
            parent_tool_call_id=data.parent_tool_call_id,
            extra=data.extra,
        ),
        type=event.type,
        id=event.id,
        timestamp=event.timestamp,
        parent_id=event.parent_id,
        agent_id=event.agent_id,
        ephemeral=event.ephemeral,
        raw_type=event.raw_type,
        timestamp_text=event.timestamp_text,
        extra=event.extra,
    )


def _details(data: AssistantMessageData, issue: Issue) -> dict[str, Any]:
    details = {"messageId": data.message_id, "index": issue.index, "raw": issue.raw}
    return details | ({"suggestions": list(issue.suggestions)} if issue.suggestions else {})


def _warning(
    event: SessionEvent, number: int, kind: str, message: str, details: dict[str, Any]
) -> SessionEvent:
    """Make the warning ``number`` that follows ``event``."""
    return SessionEvent(
        id=str(uuid5(_IDS, f"{event.id}:warning:{number}")),
        timestamp=event.timestamp,
        timestamp_text=event.timestamp_text,
        parent_id=event.id,
        agent_id=event.agent_id,
        ephemeral=True,
        type=SessionEventType.SESSION_WARNING,
        data=SessionWarningData(message=message, warning_type=kind, extra=Extra(details)),
    )
