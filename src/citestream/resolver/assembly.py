"""Putting a vendor's answer together: items of a provider in, the events of an upstream out.

What comes out is what any upstream sends (``assistant.message_start``, deltas, the message with
its native ``citations``), so the engine takes it from there, and native citations and markers meet
in one place. Ranges are converted once, when the answer is complete (``ranges``).
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import uuid4

from ..claims import claim_spans
from ..errors import StateError
from ..events import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerItem,
    AnswerText,
    AnswerToolCall,
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    SessionErrorData,
    SessionEvent,
    SessionEventType,
    SessionWarningData,
    SourceFacts,
    TextRange,
)
from ..model import CitationReference, Citations, CitationSource, Extra
from ..offsets import to_utf16_many, well_formed
from .collection import CitationCollection, SourceKey, source_key
from .growing_text import GrowingText
from .options import CitationOptions
from .ranges import RangeFinder

__all__ = ("AnswerAssembler",)


def _new_id() -> str:
    return str(uuid4())


class AnswerAssembler:
    """Turns the items of a provider into events, one message from the first item to AnswerEnd.

    ``new_id`` makes the ids of messages.
    """

    def __init__(
        self,
        options: CitationOptions | None = None,
        /,
        *,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self._options = options or CitationOptions()
        self._new_id = new_id
        self._message_id: str | None = None
        self._event_ids: Iterator[str] = iter(())
        self._parts: dict[int, GrowingText] = {}
        self._citations: list[AnswerCitation] = []
        self._calls: list[AnswerToolCall] = []
        self._finished = False

    def feed(self, item: AnswerItem, /) -> list[SessionEvent]:
        """Take the next item and return the events that it makes.

        Raises StateError after ``finish``.
        """
        if self._finished:
            raise StateError("feed: the answer is finished")
        if isinstance(item, AnswerText):
            return self._text(item)
        if isinstance(item, AnswerCitation):
            self._citations.append(item)
            return []
        if isinstance(item, AnswerToolCall):
            self._calls.append(item)
            return []
        if isinstance(item, AnswerFailure):
            data = SessionErrorData(message=item.message, error_type=item.error_type)
            return [SessionEvent(type=SessionEventType.SESSION_ERROR, data=data)]
        return self._end(item)

    def finish(self) -> list[SessionEvent]:
        """Say that nothing follows. An answer without its end gives no message.

        Raises StateError when called twice.
        """
        if self._finished:
            raise StateError("finish: the answer is finished already")
        self._finished = True
        return []

    def _text(self, item: AnswerText) -> list[SessionEvent]:
        events = []
        if self._message_id is None:
            self._message_id = self._new_id()
            self._event_ids = _series()
            start = AssistantMessageStartData(message_id=self._message_id)
            events.append(self._streaming(SessionEventType.ASSISTANT_MESSAGE_START, start))
        if item.part not in self._parts:
            self._parts[item.part] = GrowingText()
        self._parts[item.part].add(item.text)
        if item.text:
            delta = AssistantMessageDeltaData(message_id=self._message_id, delta_content=item.text)
            events.append(self._streaming(SessionEventType.ASSISTANT_MESSAGE_DELTA, delta))
        return events

    def _streaming(
        self,
        kind: SessionEventType,
        data: AssistantMessageStartData | AssistantMessageDeltaData,
    ) -> SessionEvent:
        return SessionEvent(id=next(self._event_ids), type=kind, data=data, ephemeral=True)

    def _end(self, end: AnswerEnd) -> list[SessionEvent]:
        message_id = self._message_id or self._new_id()
        parts = {part: well_formed(str(text)) for part, text in self._parts.items()}
        answer = _Answer(parts, self._options)
        for citation in self._citations:
            answer.add(citation)
        requests = tuple(map(_tool_request, self._calls)) or None
        self._message_id = None
        self._parts.clear()
        self._citations.clear()
        self._calls.clear()
        data = AssistantMessageData(
            message_id=message_id,
            content=answer.content,
            citations=answer.citations(),
            model=end.model,
            tool_requests=requests,
        )
        message = SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE, data=data)
        return [message, *(_warning(message_id, *problem) for problem in answer.problems)]


class _Answer:
    """One answer whose text is complete. Ranges are code points until the last step."""

    def __init__(self, parts: dict[int, str], options: CitationOptions) -> None:
        self.content = "".join(parts.values())
        self.problems: list[tuple[str, str]] = []
        self._options = options
        self._finders: dict[int | None, tuple[RangeFinder, int]] = {
            None: (RangeFinder(self.content), 0)
        }
        self._whole: dict[int, tuple[int, int]] = {}
        at = 0
        for part, text in parts.items():
            self._finders[part] = RangeFinder(text), at
            self._whole[part] = at, at + len(text)
            at += len(text)
        self._collection = CitationCollection()
        self._cited: list[tuple[tuple[int, int], SourceKey, AnswerCitation]] = []

    def add(self, citation: AnswerCitation) -> None:
        place = self._place(citation)
        facts = citation.source
        source = CitationSource(
            id="", provider=facts.provider, title=facts.title, url=facts.url, path=facts.path
        )
        key = _key(facts, source)
        self._collection.add_source(key, source)
        if place is not None:
            self._cited.append((place, key, citation))

    def _place(self, citation: AnswerCitation) -> tuple[int, int] | None:
        wanted = citation.place
        if wanted is None:
            return None
        if isinstance(wanted, int):
            return self._whole.get(wanted, (len(self.content),) * 2)
        finder, at = self._finders.get(wanted.part, (None, 0))
        found = finder.find(wanted) if finder is not None else None
        where = f"{wanted.start} to {wanted.end} ({wanted.unit.value}s)"
        if found is None:
            self.problems.append(("out_of_range", f"a citation of {where} does not fit the answer"))
            return None
        if found.repaired:
            message = f"a citation of {where} was moved to where its words stand"
            self.problems.append(("offset_repaired", message))
        return at + found.start, at + found.end

    def citations(self) -> Citations | None:
        points = sorted({place[0] for place, _, c in self._cited if _is_point(c)})
        claims = dict(
            zip(
                points,
                claim_spans(self.content, points, spans=self._options.spans),
                strict=True,
            )
        )
        ranges = [claims[place[0]] if _is_point(c) else place for place, _, c in self._cited]
        units = to_utf16_many(self.content, [edge for pair in ranges for edge in pair])
        spans = zip(units[::2], units[1::2], strict=True)
        for span, (_, key, citation) in zip(spans, self._cited, strict=True):
            reference = CitationReference(
                source_id="",
                cited_text=citation.cited_text,
                location=citation.location,
                provider_metadata=citation.metadata,
            )
            self._collection.add(span, key, reference, mark=repr(citation.metadata))
        return self._collection.build()


def _tool_request(call: AnswerToolCall) -> dict[str, Any]:
    """Return a call as ``assistant.message`` carries it."""
    arguments = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
    request = {"toolCallId": call.call_id, "name": call.name, "arguments": arguments}
    more = {} if call.provider_data is None else {"providerData": dict(call.provider_data)}
    return {**request, "type": "function", **more}


def _is_point(citation: AnswerCitation) -> bool:
    place = citation.place
    return isinstance(place, TextRange) and place.start == place.end


def _key(facts: SourceFacts, source: CitationSource) -> SourceKey:
    if source.url or source.path or not facts.key:
        return source_key(source)
    return facts.key


def _series() -> Iterator[str]:
    """Give UUIDs that differ in their last part: a new one for each delta costs more than all."""
    beginning = str(uuid4())[:24]
    return (f"{beginning}{number:012x}" for number in count())


def _warning(message_id: str, kind: str, message: str) -> SessionEvent:
    return SessionEvent(
        type=SessionEventType.SESSION_WARNING,
        ephemeral=True,
        data=SessionWarningData(
            message=message,
            warning_type=f"citation.{kind}",
            extra=Extra({"messageId": message_id}),
        ),
    )
