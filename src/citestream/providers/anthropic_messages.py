"""The messages of a request to Anthropic, and the material in them as Anthropic numbers it.

In: a conversation. Out: ``messages``, and what was sent as documents and as search results, by
which ``anthropic`` recognises what is cited.
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from ..conversation.turns import (
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
    add_blocks,
    messages_of,
)
from ..prompts.neutral import one_line
from ..sources import Granularity
from .chunks import items
from .sent_material import SentMaterial, pieces_of, shown_text

__all__ = ("THINKING", "AnthropicMessages")

THINKING = "thinking"
"""What the blocks of thinking that led to a call are kept as in its ``provider_data``."""

_CITABLE = {"enabled": True}  # the same for all: the vendor refuses a mixture


class AnthropicMessages:
    """The messages of one request."""

    def __init__(self, conversation: Conversation = Conversation(turns=()), /) -> None:  # noqa: B008 - frozen
        self.documents: SentMaterial = SentMaterial()
        self.results: SentMaterial = SentMaterial()
        self.messages: list[dict[str, Any]] = []
        for turn, _, calls in messages_of((turn, "") for turn in conversation.turns):
            if isinstance(turn, UserTurn):
                blocks = [one for material in turn.materials for one in self._material(material)]
                add_blocks(self.messages, "user", [*blocks, *_texts(turn.text)])
            else:
                self._add_said(turn.text, [call for call, _ in calls])

    def _add_said(self, words: str, calls: list[ToolTurn]) -> None:
        """Add what the assistant said and called, and the results."""
        thoughts = [items(call.provider_data, THINKING) for call in calls]
        # With thinking, the vendor insists on its being first.
        blocks = [*(thoughts[0] if thoughts else ()), *_texts(words)]
        for number, call in enumerate(calls):
            blocks += thoughts[number] if number else ()
            about = {"type": "tool_use", "id": call.call_id, "name": call.name}
            blocks.append({**about, "input": call.input})
        add_blocks(self.messages, "assistant", blocks)
        add_blocks(self.messages, "user", map(self._result_of, calls))

    def _result_of(self, call: ToolTurn) -> dict[str, Any]:
        blocks = [one for material in call.materials for one in self._material(material)]
        content = [*_texts(call.text), *blocks]
        result = {"type": "tool_result", "tool_use_id": call.call_id}
        return {**result, "content": content} if content else result

    def _material(self, material: Material) -> Iterable[dict[str, Any]]:
        if material.origin == "tool" and material.has_text:
            yield self._search_result(material)
        elif material.has_text or material.pdf:
            yield self._document(material)

    def _document(self, material: Material) -> dict[str, Any]:
        document = material.source.document
        block = {"type": "document", "source": _source(material), "citations": _CITABLE}
        title = one_line(document.title or document.path or document.url or "") or None
        self.documents.add(material, name=title)
        return block if title is None else {**block, "title": title}

    def _search_result(self, material: Material) -> dict[str, Any]:
        source, title = material.names
        self.results.add(material, name=source)
        return {
            "type": "search_result",
            "source": source,
            "title": title,
            "content": _text_blocks(pieces_of(material.source).texts),
            "citations": _CITABLE,
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
