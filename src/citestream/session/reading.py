"""Reading the raw events of a session, live or kept: one way, so that both give the same.

In: raw events, in order. Out: the events to give out. What a kept session registered to be cited
stands between its events as ``citestream.sources``, and is registered again when it is read.
Deliberately elsewhere: what an answer becomes (``resolver``), where events are kept (``journal``).
"""

import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid5

import attrs

from ..errors import DecodeError
from ..events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    RawSessionEventData,
    SessionEvent,
    SessionEventType,
    SessionWarningData,
    ToolExecutionCompleteData,
)
from ..model import Extra
from ..resolver import CitationOptions, MessageKey, Resolver
from ..resolver.growing_text import GrowingText
from ..sources import SourceRegistry
from ..sources.registrations import register_again
from ..store import StoredEvent
from ..wire import decode_event

__all__ = ("SOURCES", "Reading", "sources_event")

SOURCES = "citestream.sources"
"""The type of the event that keeps what was registered. It is not given out."""

_logger = logging.getLogger("citestream.session")
_IDS = UUID(
    "a3f1c7de-3f3b-5c0e-9a54-0f6b8c1f2d77"
)  # makes ids of our events from those they follow


def sources_event(registrations: list[dict[str, Any]], files: dict[str, Any], /) -> SessionEvent:
    """Return the event that keeps ``registrations``, and the files of attachments by source id."""
    raw: dict[str, Any] = {"registrations": registrations}
    data = RawSessionEventData(raw=raw | ({"files": files} if files else {}))
    return SessionEvent(type=SessionEventType.UNKNOWN, raw_type=SOURCES, data=data)


class Reading:
    """What the events so far make of those that follow. ``sources`` is where they register.

    ``files`` holds what was kept of attachments that are sent as files, by source id.
    """

    def __init__(
        self, options: CitationOptions, /, *, sources: SourceRegistry, enable_citations: bool
    ) -> None:
        self.enable_citations: bool = enable_citations
        self.sources: SourceRegistry = sources
        self.files: dict[str, Any] = {}
        self._resolver = Resolver(options, registry=sources)
        self._texts: dict[MessageKey, tuple[GrowingText, SessionEvent]] = {}

    def process(self, event: SessionEvent, /) -> list[SessionEvent]:
        """Take the next event and return those to give out. Raises DecodeError for bad SOURCES."""
        if event.raw_type == SOURCES:
            self._register(event.data)
            return []
        if self.enable_citations:
            return self._resolver.feed(event)
        data = event.data
        if isinstance(data, ToolExecutionCompleteData):
            self._resolver.feed(event)  # ids count tool calls, whether they are cited or not
        elif isinstance(data, AssistantMessageData) and data.citations is not None:
            return [attrs.evolve(event, data=attrs.evolve(data, citations=None))]
        return [event]

    def end(self, messages: Iterable[MessageKey], /) -> list[SessionEvent]:
        """Say that no more deltas of ``messages`` come and return what of them is visible still."""
        return self._resolver.end(messages)

    def finish(self) -> list[SessionEvent]:
        """Say that nothing follows and return what was withheld and is visible."""
        return self._resolver.finish()

    # -- texts that stream

    def note(self, event: SessionEvent, /) -> None:
        """Remember the text of a message that streams, as it came, until it is complete."""
        data = event.data
        if isinstance(data, AssistantMessageDeltaData):
            key = event.agent_id, data.message_id
            if key not in self._texts:
                self._texts[key] = GrowingText(), event
            self._texts[key][0].add(data.delta_content)
        elif isinstance(data, AssistantMessageData):
            self._texts.pop((event.agent_id, data.message_id), None)

    def recall(self, event: SessionEvent, /) -> list[SessionEvent]:
        """Take the next event of a log in which deltas of complete messages may be missing.

        What is missing of a message whose beginning was read comes as one delta before it, so that
        the deltas of a message, joined, are its content here too.
        """
        missing = self._missing(event)
        self.note(event)
        return [*(self.process(missing) if missing else ()), *self.process(event)]

    def recall_stored(self, stored: StoredEvent, /) -> list[SessionEvent]:
        """Do so with an event as it is kept. What cannot be read any more is told, not left out."""
        try:
            return self.recall(decode_event(stored.body))
        except DecodeError as error:
            _logger.warning("event %d of a session cannot be read: %s", stored.seq, error.expected)
            data = SessionWarningData(
                message=f"event {stored.seq} cannot be read: {error}", warning_type="decode_error"
            )
            return [SessionEvent(type=SessionEventType.SESSION_WARNING, data=data)]

    def interrupted(self, messages: Iterable[MessageKey] | None = None, /) -> list[SessionEvent]:
        """Return a final message for each that streamed and was not completed, as far as it came.

        All of them, or of ``messages``. ``interrupted`` is set in their data. Raw: they go the way
        of every event.
        """
        keys = list(self._texts if messages is None else messages)
        return [_interrupted(key, *self._texts[key]) for key in keys if key in self._texts]

    def forget(self, messages: Iterable[MessageKey], /) -> None:
        """Say that nothing more comes of ``messages``, complete or not."""
        for key in messages:
            self._texts.pop(key, None)

    def _missing(self, event: SessionEvent) -> SessionEvent | None:
        data = event.data
        if not isinstance(data, AssistantMessageData):
            return None
        text, first = self._texts.get((event.agent_id, data.message_id), (None, None))
        if text is None or first is None or not isinstance(first.data, AssistantMessageDeltaData):
            return None
        so_far = str(text)
        if len(so_far) >= len(data.content) or not data.content.startswith(so_far):
            return None
        delta = attrs.evolve(first.data, delta_content=data.content[len(so_far) :])
        return attrs.evolve(first, id=str(uuid5(_IDS, f"{event.id}:missing")), data=delta)

    def _register(self, data: object) -> None:
        raw = data.raw if isinstance(data, RawSessionEventData) else None
        values = raw if isinstance(raw, dict) else {}
        path = "$.data.registrations"
        register_again(self.sources, values.get("registrations"), path=path)
        files = values.get("files")
        self.files |= files if isinstance(files, dict) else {}


def _interrupted(key: MessageKey, text: GrowingText, first: SessionEvent) -> SessionEvent:
    agent_id, message_id = key
    return SessionEvent(
        id=str(uuid5(_IDS, f"{first.id}:interrupted")),
        parent_id=first.parent_id,
        agent_id=agent_id,
        type=SessionEventType.ASSISTANT_MESSAGE,
        data=AssistantMessageData(
            message_id=message_id, content=str(text), extra=Extra({"interrupted": True})
        ),
    )
