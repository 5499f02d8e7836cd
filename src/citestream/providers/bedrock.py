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

``toolUse`` is a call; the reasoning before it goes back with it, as Claude demands.

Deliberately elsewhere: the messages that are sent (``bedrock_messages``), HTTP and its framing (the
caller's client), offsets (``resolver``).
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from ..conversation.turns import Conversation
from ..events import AnswerCitation, AnswerEnd, AnswerFailure, AnswerItem, AnswerText, SourceFacts
from ..prompts import PromptOptions
from ..prompts.prompt_options import DEFAULT_OPTIONS
from .bedrock_messages import REASONING, BedrockMessages, DocumentLimits, tool_config
from .chunks import field, items, number, text
from .sent_material import SentMaterial, url_or_path
from .tool_calls import ToolCalls

__all__ = ("MAX_DOCUMENTS", "MAX_DOCUMENT_BYTES", "Bedrock", "is_claude")

MAX_DOCUMENTS = 5
"""Documents that the service takes in one message."""
MAX_DOCUMENT_BYTES = 4_500_000
"""Bytes that the service takes in one document."""

_Unit: TypeAlias = Literal["char", "page", "block"]

_CUT_OFF = {"max_tokens", "model_context_window_exceeded", "malformed_tool_use"}
_NO_CONFIG: Mapping[str, Any] = {}


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
    inference profile); without it and without a request it counts as another. ``max_documents`` and
    ``max_document_bytes`` are limits of the service, which change.

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
        max_documents: int = MAX_DOCUMENTS,
        max_document_bytes: int = MAX_DOCUMENT_BYTES,
    ) -> None:
        self._claude = claude
        self._limits = DocumentLimits(count=max_documents, size=max_document_bytes)
        self._model: str | None = None
        self._documents = SentMaterial()
        self._results = SentMaterial()
        self._calls = ToolCalls()
        self._thoughts: list[_Thought] = []  # since the last call
        self._base = 0  # the part that the first block of this response is
        self._part = 0
        self._next = 0
        self._held: _Held | None = None
        self._readers: dict[str, Callable[[object], list[AnswerItem]]] = {
            "contentBlockDelta": self._delta,
            "contentBlockStart": self._start,
            "contentBlockStop": self._release,
            "messageStart": self._begin,
            "messageStop": self._end,
        }

    @property
    def _is_claude(self) -> bool:
        return is_claude(self._model or "") if self._claude is None else self._claude

    @property
    def _provider(self) -> str:
        return "anthropic" if self._is_claude else "bedrock"

    # -- what is sent

    def request(
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        max_tokens: int | None = None,
        options: PromptOptions = DEFAULT_OPTIONS,
        **arguments: Any,  # noqa: ANN401 - the client's own
    ) -> dict[str, Any]:
        """Return the arguments of ``converse`` and ``converse_stream``.

        For Claude, attachments are sent as documents and what tools returned as search results.
        What has no text (and is no PDF) is left out, since the service refuses it. To other models
        material is shown as ``options`` say, but for its kind and how finely it is cited.
        ``arguments`` are passed on; ``inferenceConfig`` and the tools of ``toolConfig`` join what
        is sent anyway.

        Raises LimitError for more or larger documents than the service takes, OptionError where the
        syntax lacks the locators of a source.
        """
        self._model = model
        sent = BedrockMessages(limits=self._limits)
        if self._is_claude:
            sent.add_native(conversation)
        else:
            sent.add_shown(conversation, options=options)
        self._documents, self._results = sent.documents, sent.results
        request: dict[str, Any] = {"modelId": model, "messages": sent.messages}
        if sent.system:
            request["system"] = [{"text": sent.system}]
        request |= arguments
        limit = {} if max_tokens is None else {"maxTokens": max_tokens}
        if inference := limit | arguments.get("inferenceConfig", _NO_CONFIG):
            request["inferenceConfig"] = inference
        if tools := tool_config(conversation, arguments.get("toolConfig", _NO_CONFIG)):
            request["toolConfig"] = tools
        return request

    # -- what comes back

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a member of a stream or a whole response says; nothing of what is unknown."""
        for name, read in self._readers.items():
            if (event := field(chunk, name)) is not None:
                return read(event)
        return _failures(chunk) if field(chunk, "output") is None else self._message(chunk)

    def _begin(self, _event: object) -> list[AnswerItem]:
        found = self._release()
        self._base = self._part = self._next
        self._calls.clear()
        self._thoughts.clear()
        return found

    def _end(self, stopped: object) -> list[AnswerItem]:
        calls = self._calls.take(cut=text(stopped, "stopReason") in _CUT_OFF)
        return [*self._release(), *calls, AnswerEnd(model=self._model)]

    def _place(self, event: object) -> int:
        """Return the part that a block is; one without its number goes on where the last was."""
        index = number(event, "contentBlockIndex")
        if index is not None:
            self._part = self._base + index
            self._next = max(self._next, self._part + 1)
        return self._part

    def _start(self, event: object) -> list[AnswerItem]:
        part = self._place(event)
        if (call := field(field(event, "start"), "toolUse")) is not None:
            self._call(call, part)
        return []

    def _delta(self, event: object) -> list[AnswerItem]:
        part, delta = self._place(event), field(event, "delta")
        found: list[AnswerItem] = []
        if self._held is not None and self._held.part != part:
            found += self._release()
        piece = text(delta, "text")
        if piece is not None:
            found.append(AnswerText(text=piece, part=part))
        citation = field(delta, "citation")
        if citation is None:
            if piece is None:
                self._unsaid(delta, part)
            return found
        if self._held is not None and _goes_on(citation):
            quoted = self._held.quoted + _quoted(citation)
            self._held = attrs.evolve(self._held, quoted=quoted)
            return found
        # The empty text gives the block its place, should no text follow.
        found += [*self._release(), AnswerText(text="", part=part)]
        self._held = _Held(citation=citation, quoted=_quoted(citation), part=part)
        return found

    def _unsaid(self, delta: object, part: int) -> None:
        """Note a piece of a call or of reasoning."""
        self._calls.add(part, text(field(delta, "toolUse"), "input"))
        if (thought := field(delta, "reasoningContent")) is not None:
            self._think(thought, part)

    def _message(self, response: object) -> list[AnswerItem]:
        found: list[AnswerItem] = self._begin(response)
        message = field(field(response, "output"), "message")
        for part, block in enumerate(items(message, "content"), start=self._base):
            self._next = part + 1
            words, cited = text(block, "text"), field(block, "citationsContent")
            if words is None and cited is None:
                if (call := field(block, "toolUse")) is not None:
                    self._call(call, part)
                elif (thought := field(block, "reasoningContent")) is not None:
                    whole = field(thought, "reasoningText")
                    self._think(thought if whole is None else whole, part)
                continue
            words = words or "".join(text(one, "text") or "" for one in items(cited, "content"))
            found.append(AnswerText(text=words, part=part))
            for citation in items(cited, "citations"):
                held = _Held(citation=citation, quoted=_quoted(citation), part=part)
                found.append(self._citation(held))
        return [*found, *self._end(response)]

    def _call(self, call: object, part: int) -> None:
        """Note a call, with the reasoning that led to it; the service runs those of a type."""
        if text(call, "type") is not None:
            return
        thoughts = [block for one in self._thoughts if (block := one.block()) is not None]
        self._thoughts.clear()
        self._calls.begin(
            part,
            call_id=text(call, "toolUseId"),
            name=text(call, "name"),
            arguments=field(call, "input"),
            provider_data={REASONING: thoughts} if thoughts else None,
        )

    def _think(self, thought: object, part: int) -> None:
        if not self._thoughts or self._thoughts[-1].part != part:
            self._thoughts.append(_Thought(part))
        self._thoughts[-1].add(thought)

    def _release(self, _event: object = None) -> list[AnswerItem]:
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


class _Thought:
    """A block of reasoning, as far as it came."""

    def __init__(self, part: int) -> None:
        self.part = part
        self._texts: list[str] = []
        self._signatures: list[str] = []
        self._redacted = b""

    def add(self, piece: object) -> None:
        self._texts.append(text(piece, "text") or "")
        self._signatures.append(text(piece, "signature") or "")
        redacted = field(piece, "redactedContent")
        self._redacted += redacted if isinstance(redacted, bytes) else b""

    def block(self) -> dict[str, Any] | None:
        """Return the block as it goes back, None for one without what proves its origin."""
        if self._redacted:
            return {"redactedContent": b64encode(self._redacted).decode("ascii")}
        signature = "".join(self._signatures)
        if not signature:
            return None
        return {"reasoningText": {"text": "".join(self._texts), "signature": signature}}


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
