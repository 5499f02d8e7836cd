"""Anthropic Messages: documents and search results in, blocks of text with citations out.

In: a conversation, and what comes back, as the SDK's objects or plain dicts, streamed or whole.
Out: arguments for ``messages.create`` or ``messages.stream``, and the items of the answer. A block
of text that has citations is cited as a whole; blocks of any other kind say nothing to a reader.

===============================  =================  ==============================================
citation                         source             location
===============================  =================  ==============================================
``char_location``                what was sent      ``char``
``page_location``                what was sent      ``page``; the exclusive end becomes the last
``content_block_location``       what was sent      ``block``, or ``page`` where pages were sent
``search_result_location``       what was sent      the same
``web_search_result_location``   the url            none: the vendor has no public one
any other                        left out
===============================  =================  ==============================================

Deliberately elsewhere: HTTP (the caller's client), offsets in the answer (``resolver``).
"""

from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from ..events import AnswerCitation, AnswerEnd, AnswerFailure, AnswerItem, AnswerText, SourceFacts
from ..prompts.neutral import one_line
from ..sources import Granularity
from .chunks import field, items, number, text
from .conversation import (
    AssistantTurn,
    Conversation,
    Material,
    SentMaterial,
    Turn,
    UserTurn,
    add_blocks,
    pieces_of,
    shown_text,
    url_or_path,
)

__all__ = ("Anthropic",)

_Unit: TypeAlias = Literal["char", "page", "block"]

_PROVIDER = "anthropic"
_CITABLE = {"enabled": True}  # the same for all: the vendor refuses a mixture
_GOES_ON = "pause_turn"
_UNSAID = "the vendor reported an error"


class Anthropic:
    """One exchange with Anthropic's Messages API.

    >>> exchange = Anthropic()
    >>> [item.text for item in exchange.decode({
    ...     "type": "content_block_delta", "index": 0,
    ...     "delta": {"type": "text_delta", "text": "Rents rose."},
    ... })]
    ['Rents rose.']
    """

    def __init__(self) -> None:
        self._documents = SentMaterial()
        self._results = SentMaterial()
        self._model: str | None = None
        self._paused = False
        self._base = 0  # the part that the first block of this response is
        self._part = 0
        self._next = 0
        # The events that the SDK's helper adds (``text``, ``citation``, ...) repeat these.
        self._decoders: dict[str | None, Callable[[object], list[AnswerItem]]] = {
            "message_start": self._start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "message_delta": self._delta,
            "message_stop": self._stop,
            "message": self._message,
            "error": self._error,
        }

    # -- what is sent

    def request(
        self, conversation: Conversation, /, *, model: str, max_tokens: int = 4096
    ) -> dict[str, Any]:
        """Return the arguments of ``messages.create`` and ``messages.stream``.

        Attachments are sent as documents, what tools returned as search results. What has no text
        (and is no PDF) is left out, since the vendor refuses it. Tools, and whatever else the SDK
        takes, are for the caller to add.
        """
        self._documents, self._results = SentMaterial(), SentMaterial()
        messages: list[dict[str, Any]] = []
        for turn in conversation.turns:
            self._add_turn(messages, turn)
        request: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "messages": messages}
        if conversation.system:
            request["system"] = conversation.system
        return request

    def _add_turn(self, messages: list[dict[str, Any]], turn: Turn) -> None:
        if isinstance(turn, AssistantTurn):
            add_blocks(messages, "assistant", _texts(turn.text))
            return
        blocks = [block for material in turn.materials for block in self._material(material)]
        if isinstance(turn, UserTurn):
            add_blocks(messages, "user", [*blocks, *_texts(turn.text)])
            return
        call = {"type": "tool_use", "id": turn.call_id, "name": turn.name}
        add_blocks(messages, "assistant", [{**call, "input": dict(turn.arguments)}])
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": turn.call_id}
        if content := [*_texts(turn.text), *blocks]:
            result["content"] = content
        add_blocks(messages, "user", [result])

    def _material(self, material: Material) -> Iterable[dict[str, Any]]:
        if material.origin == "tool" and material.has_text:
            yield self._result(material)
        elif material.has_text or material.pdf:
            yield self._document(material)

    def _document(self, material: Material) -> dict[str, Any]:
        document = material.source.document
        block = {"type": "document", "source": _source(material), "citations": _CITABLE}
        title = one_line(document.title or document.path or document.url or "") or None
        self._documents.add(material, name=title)
        return block if title is None else {**block, "title": title}

    def _result(self, material: Material) -> dict[str, Any]:
        source, title = material.names
        self._results.add(material, name=source)
        return {
            "type": "search_result",
            "source": source,
            "title": title,
            "content": _text_blocks(pieces_of(material.source).texts),
            "citations": _CITABLE,
        }

    # -- what comes back

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what an event of a stream or a whole message says; nothing of what is unknown.

        Where the vendor pauses a turn, the answer goes on in the next response that comes here.
        """
        decode = self._decoders.get(text(chunk, "type"))
        return [] if decode is None else decode(chunk)

    def _start(self, chunk: object) -> list[AnswerItem]:
        self._begin(field(chunk, "message"))
        return []

    def _begin(self, message: object) -> None:
        self._model = text(message, "model") or self._model
        self._paused = False
        self._base = self._part = self._next

    def _block_start(self, chunk: object) -> list[AnswerItem]:
        part = self._part_of(chunk)
        block = field(chunk, "content_block")
        return self._block(block, part) if text(block, "type") == "text" else []

    def _block_delta(self, chunk: object) -> list[AnswerItem]:
        part = self._part_of(chunk)
        delta = field(chunk, "delta")
        kind = text(delta, "type")
        if kind == "text_delta":
            piece = text(delta, "text")
            return [] if piece is None else [AnswerText(text=piece, part=part)]
        if kind == "citations_delta":
            return self._citations([field(delta, "citation")], part)
        return []

    def _delta(self, chunk: object) -> list[AnswerItem]:
        self._pause(field(chunk, "delta"))
        return []

    def _pause(self, stopped: object) -> None:
        reason = text(stopped, "stop_reason")
        if reason is not None:
            self._paused = reason == _GOES_ON

    def _stop(self, _chunk: object) -> list[AnswerItem]:
        return [] if self._paused else [AnswerEnd(model=self._model)]

    def _message(self, message: object) -> list[AnswerItem]:
        self._begin(message)
        found: list[AnswerItem] = []
        for index, block in enumerate(items(message, "content")):
            if text(block, "type") == "text":
                found += self._block(block, self._base + index)
        self._pause(message)
        return found + self._stop(message)

    def _error(self, chunk: object) -> list[AnswerItem]:
        error = field(chunk, "error")
        kind = text(error, "type")
        message = text(error, "message") or kind or _UNSAID
        return [AnswerFailure(message=message, error_type=kind or "provider")]

    def _part_of(self, chunk: object) -> int:
        """Return the part that a block is; one without its number goes on where the last was."""
        index = number(chunk, "index")
        if index is not None:
            self._part = self._base + index
            self._next = max(self._next, self._part + 1)
        return self._part

    def _block(self, block: object, part: int) -> list[AnswerItem]:
        """Return what a block of text says, also where it is empty: its place counts."""
        self._next = max(self._next, part + 1)
        start = AnswerText(text=text(block, "text") or "", part=part)
        return [start, *self._citations(items(block, "citations"), part)]

    # -- citations

    def _citations(self, citations: list[Any], part: int) -> list[AnswerItem]:
        found: list[AnswerItem] = []
        for citation in citations:
            kind = text(citation, "type")
            if kind in _SENT:
                found.append(self._sent(citation, part, *_SENT[kind]))
            elif kind == "web_search_result_location":
                found.append(_web(citation, part))
        return found

    def _sent(
        self, citation: object, part: int, kind: str, unit: _Unit, first: str, last: str
    ) -> AnswerCitation:
        """Read a citation of a document or of a search result."""
        is_result = kind == "search_result"
        sent = self._results if is_result else self._documents
        index = number(citation, f"{kind}_index")
        name = text(citation, "source" if is_result else "document_title")
        found = sent.find(index, name=name)
        metadata: dict[str, Any] = {}
        if index is not None:
            metadata["searchResultIndex" if is_result else "documentIndex"] = index
        if file_id := text(citation, "file_id"):
            metadata["fileId"] = file_id
        material = sent.get(found)
        if material is not None:
            source = sent.facts(found, provider=_PROVIDER, kind=kind)
            metadata["citableSourceId"] = material.source.id
        elif is_result:
            source = _stranger(citation, name)
        else:
            source = SourceFacts(
                provider=_PROVIDER,
                key=("fileId", file_id) if index is None and file_id else (kind, index, name),
                title=name,
            )
        cited_text = text(citation, "cited_text")
        start, end = number(citation, first), number(citation, last)
        location = sent.location(found, unit=unit, start=start, end=end, cited_text=cited_text)
        return AnswerCitation(
            source=source,
            place=part,
            cited_text=sent.exact_text(found, cited_text),
            location=location,
            metadata=metadata,
        )


def _stranger(citation: object, source: str | None) -> SourceFacts:
    """Return what a search result says of itself that was not sent from here."""
    url, path = url_or_path(source or "")
    title = text(citation, "title")
    key = ("search_result", source or title)
    return SourceFacts(provider=_PROVIDER, key=key, title=title, url=url, path=path)


def _web(citation: object, part: int) -> AnswerCitation:
    title, url = text(citation, "title"), text(citation, "url")
    token = text(citation, "encrypted_index")
    return AnswerCitation(
        source=SourceFacts(provider=_PROVIDER, key=("web", title), title=title, url=url),
        place=part,
        cited_text=text(citation, "cited_text"),
        metadata={} if token is None else {"encryptedIndex": token},
    )


# What is numbered, what is counted in it, and the fields of the range.
_SENT: dict[str | None, tuple[str, _Unit, str, str]] = {
    "char_location": ("document", "char", "start_char_index", "end_char_index"),
    "page_location": ("document", "page", "start_page_number", "end_page_number"),
    "content_block_location": ("document", "block", "start_block_index", "end_block_index"),
    "search_result_location": ("search_result", "block", "start_block_index", "end_block_index"),
}


def _source(material: Material) -> dict[str, Any]:
    if material.pdf:
        data = b64encode(material.pdf).decode("ascii")
        return {"type": "base64", "media_type": "application/pdf", "data": data}
    if material.source.granularity in {Granularity.BLOCK, Granularity.PAGE}:
        return {"type": "content", "content": _text_blocks(pieces_of(material.source).texts)}
    return {"type": "text", "media_type": "text/plain", "data": shown_text(material.source)}


def _texts(words: str) -> list[dict[str, Any]]:
    """Return ``words`` as a block, nothing for blank ones, which the vendor refuses."""
    return _text_blocks([words] if words.strip() else [])


def _text_blocks(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in texts]
