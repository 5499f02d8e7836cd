"""Anthropic Messages: documents and search results in, blocks of text with citations out.

In: a conversation, and what comes back, as the SDK's objects or plain dicts, streamed or whole.
Out: arguments for ``messages.create`` or ``messages.stream``, and the items of the answer. A block
of text that has citations is cited as a whole; ``tool_use`` is a call; blocks of any other kind say
nothing to a reader, but the thinking before a call goes back with it, as the vendor demands.

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

Deliberately elsewhere: the messages that are sent (``anthropic_messages``), HTTP (the caller's
client), offsets in the answer (``resolver``).
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from ..conversation.tool_definitions import with_tools
from ..conversation.turns import Conversation
from ..events import AnswerCitation, AnswerEnd, AnswerFailure, AnswerItem, AnswerText, SourceFacts
from .anthropic_messages import THINKING, AnthropicMessages
from .chunks import field, items, number, text
from .sent_material import SentMaterial, url_or_path
from .tool_calls import ToolCalls

__all__ = ("Anthropic",)

_Unit: TypeAlias = Literal["char", "page", "block"]

_PROVIDER = "anthropic"
_GOES_ON = "pause_turn"
_CUT_OFF = {"max_tokens", "model_context_window_exceeded", "refusal"}
_THOUGHTS = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}
_PIECES = {"thinking_delta": "thinking", "signature_delta": "signature"}
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
        self._reason: str | None = None  # for stopping
        self._calls = ToolCalls()
        self._thoughts: list[dict[str, list[str]]] = []  # since the last call
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
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        max_tokens: int = 4096,
        **arguments: Any,  # noqa: ANN401 - the SDK's own
    ) -> dict[str, Any]:
        """Return the arguments of ``messages.create`` and ``messages.stream``.

        Attachments are sent as documents, what tools returned as search results. What has no text
        (and is no PDF) is left out, since the vendor refuses it. ``arguments`` are passed on, such
        as ``stream=True``; their ``tools`` join those of the conversation.
        """
        sent = AnthropicMessages(conversation)
        self._documents, self._results = sent.documents, sent.results
        asked = {"model": model, "max_tokens": max_tokens, "messages": sent.messages}
        if conversation.system:
            asked["system"] = conversation.system
        tools = [{**one.named, "input_schema": dict(one.parameters)} for one in conversation.tools]
        return with_tools(asked, arguments, tools=tools)

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
        if self._reason != _GOES_ON:
            self._calls.clear()
        self._thoughts.clear()
        self._reason = None
        self._base = self._part = self._next

    def _block_start(self, chunk: object) -> list[AnswerItem]:
        return self._block(field(chunk, "content_block"), self._part_of(chunk))

    def _block_delta(self, chunk: object) -> list[AnswerItem]:
        part = self._part_of(chunk)
        delta = field(chunk, "delta")
        kind = text(delta, "type")
        if kind == "text_delta":
            piece = text(delta, "text")
            return [] if piece is None else [AnswerText(text=piece, part=part)]
        if kind == "citations_delta":
            return self._citations([field(delta, "citation")], part)
        if kind == "input_json_delta":
            self._calls.add(part, text(delta, "partial_json"))
        elif kind in _PIECES and self._thoughts:
            name = _PIECES[kind]
            self._thoughts[-1].setdefault(name, []).append(text(delta, name) or "")
        return []

    def _delta(self, chunk: object) -> list[AnswerItem]:
        self._reason = text(field(chunk, "delta"), "stop_reason") or self._reason
        return []

    def _stop(self, _chunk: object) -> list[AnswerItem]:
        if self._reason == _GOES_ON:
            return []
        calls = self._calls.take(cut=self._reason in _CUT_OFF)
        return [*calls, AnswerEnd(model=self._model)]

    def _message(self, message: object) -> list[AnswerItem]:
        self._begin(message)
        found: list[AnswerItem] = []
        for index, block in enumerate(items(message, "content")):
            found += self._block(block, self._base + index)
        self._reason = text(message, "stop_reason")
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
        """Return what a block of text says, also where it is empty: its place counts.

        Calls, and the thinking that led to them, are noted.
        """
        self._next = max(self._next, part + 1)
        kind = text(block, "type")
        if kind == "text":
            start = AnswerText(text=text(block, "text") or "", part=part)
            return [start, *self._citations(items(block, "citations"), part)]
        if kind == "tool_use":
            thoughts = [one for one in map(_thought, self._thoughts) if one]
            self._thoughts.clear()
            self._calls.begin(
                part,
                call_id=text(block, "id"),
                name=text(block, "name"),
                arguments=field(block, "input"),
                provider_data={THINKING: thoughts} if thoughts else None,
            )
        elif kind in _THOUGHTS:
            names = ("type", *_THOUGHTS[kind])
            self._thoughts.append({name: [text(block, name) or ""] for name in names})
        return []

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


def _thought(pieces: dict[str, list[str]]) -> dict[str, str] | None:
    """Return a block of thinking as it came, None for one without what proves its origin."""
    block = {name: "".join(those) for name, those in pieces.items()}
    return block if block.get("signature") or block.get("data") else None


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
