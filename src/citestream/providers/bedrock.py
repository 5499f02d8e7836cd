"""AWS Bedrock Converse: documents and search results in, blocks of text with citations out.

In: a conversation, and what comes back from ``converse`` (whole) or ``converse_stream`` (its
members), as dicts. Out: arguments for either call, and the items of the answer. Claude models cite
natively, which Bedrock relays; any other is shown the material as text, with the rules for markers.

========================  ================  ======================================================
location                  source            becomes
========================  ================  ======================================================
``documentChar``          what was sent     ``char``
``documentPage``          what was sent     ``page``; the exclusive end becomes the last page
``documentChunk``         what was sent     ``block``, or ``page`` where pages were sent
``searchResultLocation``  what was sent     the same for Claude, none for others: what Nova counts
                                            there is not settled
``web``                   the url           none
========================  ================  ======================================================

Deliberately elsewhere: HTTP and its framing (the caller's client), offsets (``resolver``).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from ..errors import LimitError
from ..events import AnswerCitation, AnswerEnd, AnswerFailure, AnswerItem, AnswerText, SourceFacts
from ..prompts import PromptOptions
from ..prompts.neutral import one_line
from ..prompts.prompt_options import DEFAULT_OPTIONS
from ..sources import Granularity
from .chunks import field, items, number, text
from .conversation import (
    AssistantTurn,
    Conversation,
    Material,
    SentMaterial,
    ToolTurn,
    Turn,
    UserTurn,
    add_blocks,
    pieces_of,
    render_turns,
    shown_text,
    url_or_path,
)

__all__ = ("MAX_DOCUMENTS", "MAX_DOCUMENT_BYTES", "Bedrock", "is_claude")

MAX_DOCUMENTS = 5
"""Documents that the service takes in one message."""
MAX_DOCUMENT_BYTES = 4_500_000
"""Bytes that the service takes in one document."""

_Unit: TypeAlias = Literal["char", "page", "block"]

_CITABLE = {"enabled": True}
_UNNAMED = "Document"
_LONGEST_NAME = 200
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 ()\[\]-]+")
_SEE_ATTACHED = "See the documents."  # a message with documents must have text


def is_claude(model: str, /) -> bool:
    """Tell whether a model id or ARN names a Claude model, the ones that cite natively.

    >>> is_claude("eu.anthropic.claude-sonnet-4-v1:0"), is_claude("amazon.nova-pro-v1:0")
    (True, False)
    """
    name = model.lower()
    return "anthropic" in name or "claude" in name


class Bedrock:
    """One exchange with the Converse API.

    ``claude`` says whether the model is one, where its id does not tell (as that of an application
    inference profile); without it and without a request it counts as another. ``prompt`` is for the
    models that are shown markers. ``max_documents`` and ``max_document_bytes`` are limits of the
    service, which change.

    >>> exchange = Bedrock()
    >>> [item.text for item in exchange.decode({
    ...     "contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Rents rose."}},
    ... })]
    ['Rents rose.']
    """

    def __init__(
        self,
        *,
        claude: bool | None = None,
        prompt: PromptOptions = DEFAULT_OPTIONS,
        max_documents: int = MAX_DOCUMENTS,
        max_document_bytes: int = MAX_DOCUMENT_BYTES,
    ) -> None:
        self._claude = claude
        self._prompt = prompt
        self._max_documents = max_documents
        self._max_document_bytes = max_document_bytes
        self._model: str | None = None
        self._documents = SentMaterial()
        self._results = SentMaterial()
        self._names: set[str] = set()
        self._base = 0  # the part that the first block of this response is
        self._part = 0
        self._next = 0
        self._held: _Held | None = None

    @property
    def _is_claude(self) -> bool:
        return is_claude(self._model or "") if self._claude is None else self._claude

    @property
    def _provider(self) -> str:
        return "anthropic" if self._is_claude else "bedrock"

    # -- what is sent

    def request(
        self, conversation: Conversation, /, *, model: str, max_tokens: int | None = None
    ) -> dict[str, Any]:
        """Return the arguments of ``converse`` and ``converse_stream``.

        For Claude, attachments are sent as documents and what tools returned as search results.
        What has no text (and is no PDF) is left out, since the service refuses it. Tools, and
        whatever else the client takes, are for the caller to add.

        Raises LimitError for more or larger documents than the service takes.
        """
        self._model = model
        self._documents, self._results = SentMaterial(), SentMaterial()
        self._names.clear()
        messages: list[dict[str, Any]] = []
        if self._is_claude:
            for turn in conversation.turns:
                self._add_turn(messages, turn)
            self._check_documents(messages)
            system = conversation.system
        else:
            system, turns = render_turns(conversation, options=self._prompt)
            for turn, shown in turns:
                _add_shown(messages, turn, shown)
        request: dict[str, Any] = {"modelId": model, "messages": messages}
        if system:
            request["system"] = [{"text": system}]
        if max_tokens is not None:
            request["inferenceConfig"] = {"maxTokens": max_tokens}
        return request

    def _add_turn(self, messages: list[dict[str, Any]], turn: Turn) -> None:
        if isinstance(turn, AssistantTurn):
            add_blocks(messages, "assistant", _texts(turn.text))
            return
        blocks = [block for material in turn.materials for block in self._material(material)]
        if isinstance(turn, UserTurn):
            said = turn.text
            if not said.strip() and any("document" in block for block in blocks):
                said = _SEE_ATTACHED
            add_blocks(messages, "user", [*blocks, *_texts(said)])
        else:
            _add_call(messages, turn, [*_texts(turn.text), *blocks])

    def _material(self, material: Material) -> Iterable[dict[str, Any]]:
        if material.origin == "tool" and material.has_text:
            yield {"searchResult": self._result(material)}
        elif material.has_text or material.pdf:
            yield {"document": self._document(material)}

    def _document(self, material: Material) -> dict[str, Any]:
        document = material.source.document
        name = self._name(document.title or document.path or document.url or "")
        self._documents.add(material, name=name)
        form, source, size = _source(material)
        if size > self._max_document_bytes:
            raise LimitError(
                f"max_document_bytes: a document may have {self._max_document_bytes}, got {size}"
            )
        return {"name": name, "format": form, "source": source, "citations": _CITABLE}

    def _name(self, wanted: str) -> str:
        """Return ``wanted`` in the characters that the service takes, unlike any name before."""
        base = " ".join(_NOT_IN_NAMES.sub("-", one_line(wanted)).split())
        base = base.strip(" -")[:_LONGEST_NAME] or _UNNAMED
        name, count = base, 1
        while name.casefold() in self._names:
            count += 1
            end = f" ({count})"
            name = base[: _LONGEST_NAME - len(end)].rstrip() + end
        self._names.add(name.casefold())
        return name

    def _result(self, material: Material) -> dict[str, Any]:
        source, title = material.names
        self._results.add(material, name=source)
        content = [{"text": piece} for piece in pieces_of(material.source).texts]
        return {"source": source, "title": title, "content": content, "citations": _CITABLE}

    def _check_documents(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            count = sum("document" in block for block in message["content"])
            if count > self._max_documents:
                raise LimitError(
                    f"max_documents: a message may have {self._max_documents}, got {count}"
                )

    # -- what comes back

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a member of a stream or a whole response says; nothing of what is unknown."""
        if (event := field(chunk, "contentBlockDelta")) is not None:
            return self._delta(event)
        if (output := field(chunk, "output")) is not None:
            return self._message(field(output, "message"))
        if field(chunk, "messageStart") is not None:
            found = self._release()
            self._base = self._part = self._next
            return found
        if field(chunk, "messageStop") is not None:
            return [*self._release(), AnswerEnd(model=self._model)]
        if field(chunk, "contentBlockStop") is not None:
            return self._release()
        return _failures(chunk)

    def _delta(self, event: object) -> list[AnswerItem]:
        index = number(event, "contentBlockIndex")
        if index is not None:
            self._part = self._base + index
            self._next = max(self._next, self._part + 1)
        part, delta = self._part, field(event, "delta")
        found: list[AnswerItem] = []
        if self._held is not None and self._held.part != part:
            found += self._release()
        piece = text(delta, "text")
        if piece is not None:
            found.append(AnswerText(text=piece, part=part))
        citation = field(delta, "citation")
        if citation is None:
            return found
        if self._held is not None and _goes_on(citation):
            quoted = self._held.quoted + _quoted(citation)
            self._held = attrs.evolve(self._held, quoted=quoted)
            return found
        # The empty text gives the block its place, should no text follow.
        found += [*self._release(), AnswerText(text="", part=part)]
        self._held = _Held(citation=citation, quoted=_quoted(citation), part=part)
        return found

    def _message(self, message: object) -> list[AnswerItem]:
        found: list[AnswerItem] = self._release()
        base = self._next
        for part, block in enumerate(items(message, "content"), start=base):
            self._next = part + 1
            words, cited = text(block, "text"), field(block, "citationsContent")
            if words is None and cited is None:
                continue
            words = words or "".join(text(one, "text") or "" for one in items(cited, "content"))
            found.append(AnswerText(text=words, part=part))
            for citation in items(cited, "citations"):
                held = _Held(citation=citation, quoted=_quoted(citation), part=part)
                found.append(self._citation(held))
        return [*found, AnswerEnd(model=self._model)]

    def _release(self) -> list[AnswerItem]:
        """Give the citation that was held since its quotation might go on."""
        held, self._held = self._held, None
        return [] if held is None else [self._citation(held)]

    # -- citations

    def _citation(self, held: "_Held") -> AnswerCitation:
        citation = held.citation
        title, source = text(citation, "title"), text(citation, "source")
        kind, where = _where(citation)
        if kind == "web":
            url, domain = text(where, "url"), text(where, "domain")
            web = SourceFacts(provider=self._provider, key=("web", title), title=title, url=url)
            return AnswerCitation(
                source=web,
                place=held.part,
                cited_text=held.quoted or None,
                metadata={} if domain is None else {"domain": domain},
            )
        is_result = kind == _RESULT or (not kind and source is not None)
        sent, name = (self._results, source) if is_result else (self._documents, title)
        what = "search_result" if is_result else "document"
        numbered = "searchResultIndex" if is_result else "documentIndex"
        index = number(where, numbered)
        metadata: dict[str, Any] = {} if index is None else {numbered: index}
        found = sent.find(index, name=name)
        material = sent.get(found)
        if material is not None:
            facts = sent.facts(found, provider=self._provider, kind=what)
            metadata["citableSourceId"] = material.source.id
        else:
            url, path = url_or_path(source or "")
            key = (what, source or title) if is_result else (what, index, title)
            facts = SourceFacts(provider=self._provider, key=key, title=title, url=url, path=path)
        location = None
        if kind != _RESULT or self._is_claude:
            location = sent.location(
                found,
                unit=_UNITS.get(kind, "char"),
                start=number(where, "start"),
                end=number(where, "end"),
                cited_text=held.quoted or None,
            )
        return AnswerCitation(
            source=facts,
            place=held.part,
            cited_text=sent.exact_text(found, held.quoted or None),
            location=location,
            metadata=metadata,
        )


@attrs.frozen(kw_only=True)
class _Held:
    """A citation of a block, with what it has quoted so far."""

    citation: Any
    quoted: str
    part: int


_RESULT = "searchResultLocation"
_UNITS: dict[str, _Unit] = {
    "documentChar": "char",
    "documentPage": "page",
    "documentChunk": "block",
    _RESULT: "block",
}


def _where(citation: object) -> tuple[str, Any]:
    """Return the kind of the location and its fields, "" where it is of no known kind."""
    location = field(citation, "location")
    for kind in ("web", *_UNITS):
        where = field(location, kind)
        if where is not None:
            return kind, where
    return "", None


def _quoted(citation: object) -> str:
    return "".join(text(one, "text") or "" for one in items(citation, "sourceContent"))


def _goes_on(citation: object) -> bool:
    """Tell whether a citation of a stream only lengthens the quotation of the one before.

    The service types quotations as pieces but was never seen to split one.
    """
    return all(field(citation, name) is None for name in ("title", "source", "location"))


def _failures(chunk: object) -> list[AnswerItem]:
    return [
        AnswerFailure(message=text(error, "message") or kind, error_type=kind)
        for kind, error in (chunk.items() if isinstance(chunk, Mapping) else ())
        if isinstance(kind, str) and kind.endswith("Exception") and error is not None
    ]


# -- making requests


def _add_call(
    messages: list[dict[str, Any]], turn: ToolTurn, content: list[dict[str, Any]]
) -> None:
    call = {"toolUseId": turn.call_id, "name": turn.name, "input": dict(turn.arguments)}
    add_blocks(messages, "assistant", [{"toolUse": call}])
    add_blocks(messages, "user", [{"toolResult": {"toolUseId": turn.call_id, "content": content}}])


def _add_shown(messages: list[dict[str, Any]], turn: Turn, shown: str) -> None:
    if isinstance(turn, AssistantTurn):
        add_blocks(messages, "assistant", _texts(turn.text))
    elif isinstance(turn, UserTurn):
        add_blocks(messages, "user", [*_texts(shown), *_texts(turn.text)])
    else:
        _add_call(messages, turn, [*_texts(turn.text), *_texts(shown)])


def _source(material: Material) -> tuple[str, dict[str, Any], int]:
    """Return the format of a document, its source and how many bytes that is."""
    if material.pdf:
        return "pdf", {"bytes": material.pdf}, len(material.pdf)
    if material.source.granularity in {Granularity.BLOCK, Granularity.PAGE}:
        pieces = pieces_of(material.source).texts
        content = [{"text": piece} for piece in pieces]
        return "txt", {"content": content}, sum(len(piece.encode()) for piece in pieces)
    shown = shown_text(material.source)
    return "txt", {"text": shown}, len(shown.encode())


def _texts(words: str) -> list[dict[str, Any]]:
    """Return ``words`` as a block, nothing for blank ones, which the service refuses."""
    return [{"text": words}] if words.strip() else []
