"""The messages of a request to Bedrock, and the material in them as Claude numbers it.

In: a conversation. Out: ``messages`` and ``system``, and what was sent as documents and as search
results, by which ``bedrock`` recognises what is cited. Models that do not cite natively are shown
the material as text, with the rules for markers.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..conversation.turns import (
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
    add_blocks,
    messages_of,
    render_turns,
)
from ..errors import LimitError
from ..prompts import PromptOptions
from ..prompts.neutral import one_line
from ..sources import Granularity
from .chunks import items, text
from .sent_material import SentMaterial, pieces_of, shown_text
from .tool_calls import decoded

__all__ = ("REASONING", "BedrockMessages", "DocumentLimits", "tool_config")

REASONING = "reasoning"
"""What the blocks of reasoning that led to a call are kept as in its ``provider_data``; bytes in
them are written in base 64."""

_CITABLE = {"enabled": True}
_UNNAMED = "Document"
_LONGEST_NAME = 200
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 ()\[\]-]+")
_SEE_ATTACHED = "See the documents."  # a message with documents must have text
_GONE = "This tool is not available any more. Do not call it."


@attrs.frozen(kw_only=True)
class DocumentLimits:
    """What the service takes: ``count`` documents in a message, ``size`` bytes in each."""

    count: int
    size: int


class BedrockMessages:
    """The messages of one request, within ``limits``."""

    def __init__(self, *, limits: DocumentLimits) -> None:
        self.documents: SentMaterial = SentMaterial()
        self.results: SentMaterial = SentMaterial()
        self.messages: list[dict[str, Any]] = []
        self.system: str | None = None
        self._limits = limits
        self._names: set[str] = set()

    def add_native(self, conversation: Conversation, /) -> None:
        """Add ``conversation`` with its material as documents and search results, for Claude.

        Raises LimitError for more or larger documents than the limits allow.
        """
        self.system = conversation.system
        for turn, _, calls in messages_of((turn, "") for turn in conversation.turns):
            if isinstance(turn, UserTurn):
                blocks = [one for material in turn.materials for one in self._material(material)]
                said = turn.text
                if not said.strip() and any("document" in block for block in blocks):
                    said = _SEE_ATTACHED
                add_blocks(self.messages, "user", [*blocks, *_texts(said)])
                continue
            self._add_said(turn.text, [call for call, _ in calls])
            for call, _ in calls:
                found = (one for material in call.materials for one in self._material(material))
                self._add_result(call, found)
        self._check_documents()

    def add_shown(self, conversation: Conversation, /, *, options: PromptOptions) -> None:
        """Add ``conversation`` with its material as text, and the rules for markers.

        Raises OptionError where the syntax of ``options`` lacks the locators of a source.
        """
        self.system, turns = render_turns(conversation, options=options)
        for turn, shown, calls in messages_of(turns):
            if isinstance(turn, UserTurn):
                add_blocks(self.messages, "user", [*_texts(shown), *_texts(turn.text)])
                continue
            self._add_said(turn.text, [call for call, _ in calls])
            for call, material in calls:
                self._add_result(call, _texts(material))

    def _add_said(self, words: str, calls: list[ToolTurn]) -> None:
        """Add what the assistant said and called."""
        thoughts = [_thoughts(call) for call in calls]
        # With reasoning, Claude insists on its being first.
        blocks = [*(thoughts[0] if thoughts else ()), *_texts(words)]
        for number, call in enumerate(calls):
            blocks += thoughts[number] if number else ()
            about = {"toolUseId": call.call_id, "name": call.name, "input": call.input}
            blocks.append({"toolUse": about})
        add_blocks(self.messages, "assistant", blocks)

    def _add_result(self, call: ToolTurn, blocks: Iterable[dict[str, Any]]) -> None:
        result = {"toolUseId": call.call_id, "content": [*_texts(call.text), *blocks]}
        add_blocks(self.messages, "user", [{"toolResult": result}])

    def _material(self, material: Material) -> Iterable[dict[str, Any]]:
        if material.origin == "tool" and material.has_text:
            yield {"searchResult": self._search_result(material)}
        elif material.has_text or material.pdf:
            yield {"document": self._document(material)}

    def _document(self, material: Material) -> dict[str, Any]:
        document = material.source.document
        name = self._name(document.title or document.path or document.url or "")
        self.documents.add(material, name=name)
        form, source, size = _source(material)
        if size > self._limits.size:
            raise LimitError(
                f"max_document_bytes: a document may have {self._limits.size}, got {size}"
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

    def _search_result(self, material: Material) -> dict[str, Any]:
        source, title = material.names
        self.results.add(material, name=source)
        content = [{"text": piece} for piece in pieces_of(material.source).texts]
        return {"source": source, "title": title, "content": content, "citations": _CITABLE}

    def _check_documents(self) -> None:
        for message in self.messages:
            count = sum("document" in block for block in message["content"])
            if count > self._limits.count:
                raise LimitError(
                    f"max_documents: a message may have {self._limits.count}, got {count}"
                )


def tool_config(
    conversation: Conversation,
    given: Mapping[str, Any],
    /,
) -> dict[str, Any]:
    """Return what is sent as ``toolConfig``: ``given`` with the tools of ``conversation`` too.

    The service refuses calls of before where there are no tools. So where there are none, those
    that were called are listed as gone.
    """
    tools = [
        {"toolSpec": {**one.named, "inputSchema": {"json": dict(one.parameters)}}}
        for one in conversation.tools
    ]
    tools += given.get("tools") or ()
    if not tools:
        called = (turn.name for turn in conversation.turns if isinstance(turn, ToolTurn))
        nothing = {"json": {"type": "object", "properties": {}}}
        tools = [
            {"toolSpec": {"name": name, "description": _GONE, "inputSchema": nothing}}
            for name in dict.fromkeys(called)
        ]
    return {**given, "tools": tools} if tools else {**given}


def _thoughts(call: ToolTurn) -> list[dict[str, Any]]:
    thoughts = items(call.provider_data, REASONING)
    hidden = ((one, decoded(text(one, "redactedContent"))) for one in thoughts)
    return [
        {"reasoningContent": {"redactedContent": data} if data else one} for one, data in hidden
    ]


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
