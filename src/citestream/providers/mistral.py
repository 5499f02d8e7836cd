"""Mistral: results of tools as numbered references, answers with references between their text.

In: a ``Conversation``, then what the vendor sends, streamed or whole, from chat or from
conversations, as objects of its SDK or as plain dicts. Out: keyword arguments of ``client.chat``,
then items for ``AnswerAssembler``.

- Mistral cites what a tool returned as an object of JSON, by its keys. So sources of tools are sent
  as one, in pieces unless they are cited as wholes. Attachments are shown with markers.
- A reference cites what stands before it, a point; thinking is no part of the answer.
- Calls come whole or in pieces, in chat and in conversations; what Mistral runs itself is none.
- An id may be a number in one chunk and a string in the next. What it means is in what was sent, or
  in ``sources`` of the caller; where nobody knows, the source has nothing but its id.

Deliberately elsewhere: HTTP (the caller's client), markers in the answer (``resolver``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..conversation.tool_definitions import function_tools, with_tools
from ..conversation.turns import (
    Conversation,
    Material,
    Message,
    ToolTurn,
    UserTurn,
    messages_of,
    render_turns,
)
from ..events import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerItem,
    AnswerText,
    OffsetUnit,
    SourceFacts,
    TextRange,
)
from ..model import CitationLocation
from ..offsets import utf16_length, well_formed
from ..prompts import PromptOptions, neutralise
from ..prompts.neutral import one_line
from ..wire import encode_json
from .chunks import field, items, number, text
from .openai_annotations import joined
from .sent_material import SentMaterial, cited_pieces
from .tool_calls import ToolCalls, function_call

__all__ = ("Mistral",)

_PROVIDER = "mistral"
_DEFAULT_OPTIONS = PromptOptions()
_NO_SOURCES: Mapping[str, SourceFacts] = {}
_ESCAPED = re.compile(
    r"\\\\|(?:\\u[1-9a-f][0-9a-f]{3}|\\u0[1-9a-f][0-9a-f]{2}|\\u00[89a-f][0-9a-f])+"
)
_MESSAGES = {"message.output", "message.output.delta"}
_CALLS = {"function.call", "function.call.delta"}
_CUT_OFF = {"length", "model_length", "error"}
_UNSAID = "the vendor reported an error"


@attrs.frozen(kw_only=True)
class _Reference:
    """What an id means."""

    source: SourceFacts
    cited_text: str | None = None
    location: CitationLocation | None = None
    metadata: dict[str, Any] = attrs.field(factory=dict)


class Mistral:
    """One exchange with Mistral's chat or conversations.

    ``sources`` tells what ids mean that were not sent from here. ``request`` begins the exchange
    anew; what comes after its end says nothing.

    >>> page = SourceFacts(provider="client", title="City", url="https://city.example")
    >>> items = Mistral(sources={"0": page}).decode({"choices": [{"message": {"content": [
    ...     {"type": "text", "text": "Rents rose"}, {"type": "reference", "reference_ids": [0]},
    ... ]}}]})
    >>> items[1].place.start, items[1].source.title
    (10, 'City')
    """

    def __init__(self, *, sources: Mapping[str, SourceFacts] = _NO_SOURCES) -> None:
        self._sources = dict(sources)
        self._begin()

    def _begin(self) -> None:
        self._sent = 0  # pieces of material
        self._known = {
            name: _Reference(source=source, metadata={"referenceId": name})
            for name, source in self._sources.items()
        }
        self._size = 0  # of the text so far, in UTF-16 units: cut surrogates keep theirs
        self._model: str | None = None
        self._ended = False
        self._calls = ToolCalls()

    # -- asking

    def request(
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        options: PromptOptions = _DEFAULT_OPTIONS,
        **arguments: Any,  # noqa: ANN401 - the SDK's own
    ) -> dict[str, Any]:
        """Return the keyword arguments of ``client.chat.complete`` and ``.stream``.

        ``options`` says how attachments are shown, but for how finely they are cited.
        ``arguments`` are passed on; their ``tools`` join those of the conversation. Raises
        OptionError where the syntax lacks the locators of an attachment.
        """
        self._begin()
        # The rules for markers are for attachments alone.
        bare = [
            attrs.evolve(turn, materials=()) if isinstance(turn, ToolTurn) else turn
            for turn in conversation.turns
        ]
        marked = attrs.evolve(conversation, turns=tuple(bare))
        system, shown = render_turns(marked, options=options)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        blocks = (material for _, material in shown)
        for message in messages_of(zip(conversation.turns, blocks, strict=True)):
            messages += self._messages(message, options)
        asked = {"model": model, "messages": messages}
        return with_tools(asked, arguments, tools=function_tools(conversation.tools))

    def _messages(self, message: Message, options: PromptOptions) -> list[dict[str, Any]]:
        turn, shown, calls = message
        if isinstance(turn, UserTurn):
            return [{"role": "user", "content": joined(shown, turn.text)}]
        said: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if calls:
            said["tool_calls"] = [function_call(call) for call, _ in calls]
        return [said, *(self._result(call, options) for call, _ in calls)]

    def _result(self, call: ToolTurn, options: PromptOptions) -> dict[str, Any]:
        content = neutralise(call.text, syntax=options.syntax)
        if call.materials:
            entries = {
                key: one for material in call.materials for key, one in self._entries(material)
            }
            content = _json({"text": content} | entries if content else entries)
        about = {"role": "tool", "name": call.name, "tool_call_id": call.call_id}
        return {**about, "content": content}

    def _entries(self, material: Material) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give what is sent of ``material``, by key, and note what the keys mean."""
        source, document = material.source, material.source.document
        facts = SentMaterial([material]).facts(0, provider=_PROVIDER, kind="reference")
        named = {"title": document.title, "url": document.url, "source": document.path}
        told = {name: one_line(value) for name, value in named.items() if value}
        for piece in cited_pieces(source):
            key = str(self._sent)
            self._sent += 1
            metadata: dict[str, Any] = {"referenceId": key, "citableSourceId": source.id}
            if piece.characters is not None:
                metadata["charRange"] = [*piece.characters]
            if key not in self._sources:
                self._known[key] = _Reference(
                    source=facts,
                    cited_text=piece.cited_text,
                    location=piece.location,
                    metadata=metadata,
                )
            yield key, {**told, "snippets": [[piece.shown]]}

    # -- reading

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what an event, or a whole answer, holds; nothing for what says nothing."""
        if self._ended:
            return []
        data = field(chunk, "data")
        chunk = _known(chunk if data is None else data)
        kind = text(chunk, "type")
        self._model = text(chunk, "model") or self._model
        if kind in _MESSAGES:
            return list(self._content(field(chunk, "content")))
        if kind in _CALLS:
            self._call(chunk)
            return []
        if kind == "conversation.response.done":
            return self._end()
        if kind == "conversation.response.error" or text(chunk, "object") == "error":
            return [self._failure(chunk)]
        error = field(chunk, "error")
        return [self._failure(error)] if error else [*self._outputs(chunk), *self._choice(chunk)]

    def _outputs(self, response: object) -> Iterator[AnswerItem]:
        """Give the items of a whole answer of conversations."""
        outputs = items(response, "outputs")
        for entry in map(_known, outputs):
            if text(entry, "type") in _MESSAGES:
                self._model = text(entry, "model") or self._model
                yield from self._content(field(entry, "content"))
            elif text(entry, "type") in _CALLS:
                self._call(entry)
        if outputs or text(response, "object") == "conversation.response":
            yield from self._end()

    def _call(self, call: object) -> None:
        """Note a call of conversations, or a piece of its arguments."""
        call_id, arguments = text(call, "tool_call_id"), field(call, "arguments")
        key = call_id or text(call, "id")
        if key in self._calls:
            self._calls.add(key, arguments)
            return
        name = text(call, "name")
        self._calls.begin(key, call_id=call_id, name=name, arguments=arguments)

    def _choice(self, chunk: object) -> list[AnswerItem]:
        choice = next((one for one in items(chunk, "choices") if not number(one, "index")), None)
        delta, message = field(choice, "delta"), field(choice, "message")
        found = list(self._content(field(message if delta is None else delta, "content")))
        self._calls.gather(items(delta, "tool_calls"))
        reason = text(choice, "finish_reason")
        if reason is None and (delta is not None or message is None):
            return found
        self._calls.note(items(message, "tool_calls"))
        return [*found, *self._end(cut=reason in _CUT_OFF)]

    def _content(self, content: object) -> Iterator[AnswerItem]:
        """Give the items of a text, a chunk or a list of chunks."""
        for one in content if isinstance(content, list | tuple) else [content]:
            chunk = _known(one)
            kind = text(chunk, "type")
            if kind == "reference":
                yield from self._cite([self._reference(i) for i in items(chunk, "reference_ids")])
                continue
            if kind == "tool_reference":
                yield from self._cite([_tool_reference(chunk)])
                continue
            words = chunk if isinstance(chunk, str) else text(chunk, "text")
            if words and kind in {"text", None}:
                self._size += utf16_length(words)
                yield AnswerText(text=words)

    def _reference(self, reference_id: object) -> _Reference | None:
        """Return what an id means, None for what is none."""
        if isinstance(reference_id, bool) or not isinstance(reference_id, int | str):
            return None
        name = str(reference_id)
        reference = self._known.get(name)
        if reference is None:
            source = SourceFacts(provider=_PROVIDER, key=("reference", name))
            reference = self._known[name] = _Reference(
                source=source, metadata={"referenceId": name}
            )
        return reference

    def _cite(self, references: Iterable[_Reference | None]) -> Iterator[AnswerCitation]:
        """Cite what stands before with each of ``references``."""
        place = TextRange(start=self._size, end=self._size, unit=OffsetUnit.UTF16, part=0)
        for one in references:
            if one is not None:
                yield AnswerCitation(
                    source=one.source,
                    place=place,
                    cited_text=one.cited_text,
                    location=one.location,
                    metadata=dict(one.metadata),
                )

    def _end(self, *, cut: bool = False) -> list[AnswerItem]:
        self._ended = True
        return [*self._calls.take(cut=cut), AnswerEnd(model=self._model)]

    def _failure(self, error: object) -> AnswerFailure:
        self._ended = True
        message = error if isinstance(error, str) else text(error, "message")
        code = text(error, "code") or number(error, "code")
        if code is None:
            return AnswerFailure(message=message or _UNSAID)
        return AnswerFailure(message=message or _UNSAID, error_type=str(code))


def _known(value: object) -> Any:  # noqa: ANN401 - whatever the vendor sent
    """Return ``value``, or what it wraps where the SDK does not know its kind."""
    return field(value, "raw") if field(value, "is_unknown") is True else value


def _tool_reference(chunk: object) -> _Reference:
    tool, title, url = text(chunk, "tool"), text(chunk, "title"), text(chunk, "url")
    source = SourceFacts(provider=_PROVIDER, key=("tool", tool, title), title=title, url=url)
    told = {"tool": tool, "description": text(chunk, "description")}
    return _Reference(source=source, metadata={n: one for n, one in told.items() if one})


def _json(value: Mapping[str, Any]) -> str:
    r"""Write JSON with its letters as they are: a model reads ``\u8cc3`` badly."""
    return _ESCAPED.sub(_letters, encode_json(value))


def _letters(match: re.Match[str]) -> str:
    if match[0] == r"\\":
        return match[0]
    return well_formed("".join(chr(int(digits, 16)) for digits in match[0].split(r"\u")[1:]))
