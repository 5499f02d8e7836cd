"""Copilot: events of its SDK as JSON objects, and what its runtime gets wrong in citations undone.

In: events of ``github-copilot-sdk`` (never imported here), or JSON objects of them. Out: mappings
that ``Session.feed`` takes. What is undone, in ``assistant.message`` alone, and reported by one
``session.warning`` for each kind of repair:

==========  =======================================================================================
``offset``  ranges on OpenAI models count code points; the runtime takes them for UTF-16, so that
            they are off after an emoji. Both readings are checked against the link that they cite
``words``   ``citedText`` on OpenAI models is the answer's own text, not that of the source
``pages``   ``endPage`` on Anthropic models is Anthropic's exclusive one, not the last page
``path``    ``url`` of a search result may be a path of the workspace, or empty
==========  =======================================================================================

Deliberately elsewhere: listening to a session of Copilot (``session.upstreams``).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from uuid import UUID, uuid5

from ..errors import DecodeError, brief
from ..offsets import to_utf16_many, utf16_length, utf16_slice
from .chunks import field, items, number, text
from .sent_material import url_or_path

__all__ = ("event_mapping", "repaired", "unparsed_event")

_Object: TypeAlias = Mapping[str, Any]

_IDS = UUID("9a0e5d3c-2f64-5c55-8b6e-5c2f0f0f7b1d")  # makes ids of warnings from those of messages
# What an SDK that checks by ``assert`` raises for an event that it made itself.
_ITS_ERRORS = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
_HALVES = re.compile("\\A[\udc00-\udfff]|[\ud800-\udbff]\\Z")  # of characters that a range cut
_SAID = {
    "offset": "{} of the runtime's ranges moved: they count code points, it took them for UTF-16",
    "words": "{} of the runtime's cited texts left out: they were the answer's own",
    "pages": "{} of the runtime's page ranges shortened: their end was exclusive",
    "path": "{} of the runtime's urls were none",
}


def event_mapping(event: Any, /) -> _Object:  # noqa: ANN401 - an SDK's object
    """Return an event of the Copilot SDK as the JSON object it was; mappings as they are.

    Raises DecodeError for what is no event, and where the SDK cannot say one that it made.
    """
    if isinstance(event, Mapping):
        return event
    try:
        found = event.to_dict()
    except _ITS_ERRORS as error:
        raise _misfit(event) from error
    if not isinstance(found, Mapping):
        raise _misfit(event)
    return found


def unparsed_event(error: BaseException, /, *, session_id: str) -> _Object | None:
    """Return the event of ``session_id`` that the Copilot SDK failed to parse with ``error``.

    The SDK parses in a callback of the event loop and guards nothing, so an event that it does not
    understand reaches no handler; all that is left of it is in the frames that the error came
    through. It is recognised by the shape of the notification (``sessionId`` and ``event``).
    """
    trace = error.__traceback__
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            event = value.get("event") if isinstance(value, dict) else None
            if isinstance(event, Mapping) and value.get("sessionId") == session_id:
                return event
        trace = trace.tb_next
    return None


def repaired(event: _Object, /) -> list[_Object]:
    """Return ``event`` with the citations of its message as they should be, and warnings of it.

    Nothing is written to ``event``; what is right, or no event of a message, comes back as it is.

    >>> source = {"id": "s0", "provider": "anthropic", "url": "docs/memo.md"}
    >>> citations = {"sources": [source], "spans": []}
    >>> message, warning = repaired({
    ...     "id": "e1", "timestamp": "2026-11-30T04:55:10Z", "type": "assistant.message",
    ...     "data": {"content": "Rents rose.", "messageId": "m1", "citations": citations},
    ... })
    >>> message["data"]["citations"]["sources"]
    [{'id': 's0', 'provider': 'anthropic', 'path': 'docs/memo.md'}]
    """
    data = event.get("data")
    content, citations = text(data, "content"), field(data, "citations")
    if (
        event.get("type") != "assistant.message"
        or not isinstance(data, Mapping)
        or not isinstance(citations, Mapping)
        or content is None
    ):
        return [event]
    repair = _Repair(content, items(citations, "sources"))
    spans = [repair.span(span) for span in items(citations, "spans")]
    if not repair.counts:
        return [event]
    right = {**citations, "sources": repair.sources, "spans": spans}
    return [{**event, "data": {**data, "citations": right}}, *_warnings(event, data, repair.counts)]


class _Repair:
    """The repairs of one message."""

    def __init__(self, content: str, sources: list[Any]) -> None:
        self.counts: dict[str, int] = {}
        self._content = content
        self._astral = utf16_length(content) != len(content)
        self._by_id = {key: one for one in sources if (key := text(one, "id")) is not None}
        self.sources = [self._source(one) for one in sources]

    def _note(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def _source(self, source: Any) -> Any:  # noqa: ANN401 - a JSON value
        url = field(source, "url")
        if field(source, "provider") != "anthropic" or not isinstance(url, str):
            return source
        _, path = url_or_path(url)
        if url and path is None:
            return source
        self._note("path")
        rest = {key: value for key, value in source.items() if key != "url"}
        return rest if path is None else {**rest, "path": path}

    def span(self, span: Any) -> Any:  # noqa: ANN401 - a JSON value
        references = items(span, "references")
        if not isinstance(span, Mapping) or not references:
            return span
        changed = {**span, "references": [self._reference(one, span) for one in references]}
        moved = self._moved(span, references) if self._astral else None
        if moved is not None:
            self._note("offset")
            changed["startIndex"], changed["endIndex"] = moved
        return changed

    def _cites(self, reference: object, provider: str) -> Any:  # noqa: ANN401 - a JSON object
        """Return the source of ``reference`` if it is of ``provider``."""
        source = self._by_id.get(text(reference, "sourceId") or "")
        return source if field(source, "provider") == provider else None

    def _reference(self, reference: Any, span: _Object) -> Any:  # noqa: ANN401 - a JSON value
        words = text(reference, "citedText")
        if words is not None and self._cites(reference, "openai") is not None:
            start, end = number(span, "startIndex"), number(span, "endIndex")
            if self._own(words, start, end):
                self._note("words")
                return {key: value for key, value in reference.items() if key != "citedText"}
        location = field(reference, "location")
        first, last = number(location, "startPage"), number(location, "endPage")
        if first is None or last is None or not first < last:
            return reference
        if text(location, "type") != "page" or self._cites(reference, "anthropic") is None:
            return reference
        self._note("pages")
        return {**reference, "location": {**location, "endPage": last - 1}}

    def _own(self, words: str, start: int | None, end: int | None) -> bool:
        """Tell whether ``words`` are the answer's; the runtime may have cut a character in two."""
        if start is None or end is None or end < start:
            return False
        return _HALVES.sub("", words) in utf16_slice(self._content, start, end)

    def _moved(self, span: _Object, references: list[Any]) -> tuple[int, int] | None:
        """Return the range in UTF-16 where the numbers of ``span`` are code points instead."""
        start, end = number(span, "startIndex"), number(span, "endIndex")
        if start is None or end is None or not start < end <= len(self._content):
            return None
        found = (text(self._cites(one, "openai"), "url") for one in references)
        urls = [url for url in found if url is not None]
        here = _link(utf16_slice(self._content, start, end), urls)
        there = _link(self._content[start:end], urls)
        # Where both readings look alike, the vendor's own way to count is the likelier one.
        if not there or here > there:
            return None
        first, last = to_utf16_many(self._content, (start, end))
        return None if (first, last) == (start, end) else (first, last)


def _link(words: str, urls: list[str]) -> int:
    """Tell how much ``words`` look like the link to one of ``urls``: not at all, a bit, wholly."""
    if not any(url in words for url in urls):
        return 0
    whole = words.startswith(("(", "[")) and words.endswith(")")
    return 2 if whole and words.count("(") == words.count(")") else 1


def _warnings(event: _Object, data: _Object, counts: dict[str, int]) -> Iterator[_Object]:
    """Give one warning for each kind of repair, as the session's own about citations are."""
    for kind, count in counts.items():
        details = {"messageId": data.get("messageId"), "repair": kind, "count": count}
        yield {
            "id": str(uuid5(_IDS, f"{event.get('id')}:{kind}")),
            "timestamp": event.get("timestamp"),
            "parentId": event.get("id"),
            "agentId": event.get("agentId"),
            "ephemeral": True,
            "type": "session.warning",
            "data": {
                "warningType": "citation.offset_repaired",
                "message": _SAID[kind].format(count),
                **details,
            },
        }


def _misfit(event: object) -> DecodeError:
    return DecodeError(path="$", expected="an event of the Copilot SDK", got=brief(event))
