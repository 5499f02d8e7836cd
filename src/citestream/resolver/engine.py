"""The engine: upstream events in, the events that a session gives out back. No I/O, no clock.

``Resolver.feed(event)`` returns the events to give out in its place; ``finish()`` those that were
still held. What happens to each kind of event is in SPEC section 3:

- deltas come back with markers withheld; they are never read for citations;
- the final message comes back clean, with its citations, followed by one warning for each issue;
- everything else passes through, the same object.

Law 1: the deltas of a message, joined, are its content. Law 2: the same input, however cut, gives
the same citations. Both follow from one tokenizer and one set of blank rules (``markers``).
"""

from uuid import UUID, uuid5

import attrs

from ..errors import StateError
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
)
from ..issues import Issue
from ..markers import MarkerFilter
from ..model import Extra
from .answer import resolve
from .options import CitationOptions

__all__ = ("MAX_OPEN_MESSAGES", "Resolver")

MAX_OPEN_MESSAGES = 1024
"""Messages that may stream at once; one more ends the oldest, so that memory stays bounded when an
upstream never sends the final messages (as after retried calls)."""

_IDS = UUID(
    "6b1c4b2e-6d53-5b0e-8f0a-5a3c1f0c7f11"
)  # makes ids of our events from those they follow
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

    def __init__(self, options: CitationOptions | None = None, /) -> None:
        self._options = options or CitationOptions()
        self._open: dict[tuple[str | None, str], _OpenMessage] = {}
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
        answer = resolve(data.content, citations=data.citations, options=self._options)
        if answer.content != data.content or answer.citations != data.citations:
            data = attrs.evolve(data, content=answer.content, citations=answer.citations)
            event = attrs.evolve(event, data=data)
        warnings = [
            _warning(event, data.message_id, issue, number)
            for number, issue in enumerate(answer.issues)
        ]
        return [*rest, event, *warnings]

    def _end_all(self) -> list[SessionEvent]:
        messages = list(self._open.values())
        self._open.clear()
        return [event for message in messages for event in message.rest()]


def _with_delta(event: SessionEvent, data: AssistantMessageDeltaData, text: str) -> SessionEvent:
    return attrs.evolve(event, data=attrs.evolve(data, delta_content=text))


def _warning(event: SessionEvent, message_id: str, issue: Issue, number: int) -> SessionEvent:
    details = {"messageId": message_id, "index": issue.index, "raw": issue.raw}
    if issue.suggestions:
        details["suggestions"] = list(issue.suggestions)
    return SessionEvent(
        id=str(uuid5(_IDS, f"{event.id}:issue:{number}")),
        timestamp=event.timestamp,
        timestamp_text=event.timestamp_text,
        parent_id=event.id,
        agent_id=event.agent_id,
        ephemeral=True,
        type=SessionEventType.SESSION_WARNING,
        data=SessionWarningData(
            message=issue.message, warning_type=f"citation.{issue.kind}", extra=Extra(details)
        ),
    )
