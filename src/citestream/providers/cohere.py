"""Cohere: asking v2 chat with documents that it cites itself, and reading what it answers.

In: a ``Conversation``, then what the vendor sends, streamed or whole, as objects of its SDK or as
plain dicts. Out: keyword arguments, then items for ``AnswerAssembler``.

- Attached material becomes ``documents``, what tools brought becomes documents in their messages:
  one for every page or block, unless a source is cited as a whole. What is cited is recognised by
  the id that was sent.
- Offsets count characters of the answer (the documentation says of the source: it is wrong), from
  where the content begins; ``text`` are the words of the answer that should stand there.
- Citations of plans and of thinking have offsets in other texts than the answer: left out.
- What was said before calls is sent as their plan, since Cohere refuses content with calls.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from ..conversation.tool_definitions import function_tools, with_tools
from ..conversation.turns import (
    Conversation,
    Material,
    Message,
    ToolTurn,
    UserTurn,
    messages_of,
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
from ..prompts.neutral import one_line
from ..sources import RegisteredSource
from .chunks import field, items, number, text
from .sent_material import CitedPiece, SentMaterial, cited_pieces, url_or_path
from .tool_calls import ToolCalls, function_call

__all__ = ("Cohere",)

_PROVIDER = "cohere"
_OF_THE_ANSWER = {None, "TEXT_CONTENT"}  # older models do not say
_TEXTS = {"content-start", "content-delta"}
_CALLS = {"tool-call-start", "tool-call-delta"}
_BROKEN = ("ERROR", "TIMEOUT")  # how reasons begin that are no end of an answer

_Sent: TypeAlias = tuple[RegisteredSource, CitedPiece, int]  # the last is the number of the source


class Cohere:
    """One exchange: what is asked, and what comes back.

    ``decode`` never raises for anything that a vendor sends, and gives the same citations for the
    same answer, streamed or whole.

    >>> items = Cohere().decode({
    ...     "finish_reason": "COMPLETE",
    ...     "message": {
    ...         "content": [{"type": "text", "text": "Rents rose."}],
    ...         "citations": [{
    ...             "start": 0,
    ...             "end": 5,
    ...             "text": "Rents",
    ...             "sources": [{"type": "document", "id": "d0", "document": {"title": "Memo"}}],
    ...         }],
    ...     },
    ... })
    >>> [type(item).__name__ for item in items]
    ['AnswerText', 'AnswerCitation', 'AnswerEnd']
    """

    def __init__(self) -> None:
        self._sent = SentMaterial()
        self._pieces: dict[str, _Sent] = {}  # by the id that Cohere was given
        self._outputs: dict[tuple[str, str], str] = {}  # such ids, by call and place in its result
        self._tools: dict[str, str] = {}  # names, by call
        self._begin()

    def _begin(self) -> None:
        """Forget the answer that is over; an exchange with tools has several."""
        self._index = 0
        self._shown: set[int] = set()  # the contents that the answer consists of
        self._noted: list[Any] = []  # citations, as they came
        self._calls = ToolCalls()

    # -- asking

    def request(
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        **arguments: Any,  # noqa: ANN401 - the SDK's own
    ) -> dict[str, Any]:
        """Return the keyword arguments of ``client.chat`` and ``client.chat_stream``.

        Material without text (nothing could be read in a file) is not sent: it could not be cited.
        ``arguments`` are passed on; their ``tools`` join those of the conversation. Raises
        EncodeError for arguments of a tool that JSON cannot say.
        """
        self._begin()
        said = messages_of((turn, "") for turn in conversation.turns)
        messages = [one for message in said for one in self._messages(message)]
        if conversation.system:
            messages.insert(0, {"role": "system", "content": conversation.system})
        asked: dict[str, Any] = {"model": model, "messages": messages}
        attached = (t.materials for t in conversation.turns if isinstance(t, UserTurn))
        documents = {
            document["id"]: document
            for materials in attached
            for material in materials
            for document in self._documents(material)
        }
        if documents:
            asked["documents"] = list(documents.values())
        return with_tools(asked, arguments, tools=function_tools(conversation.tools))

    def _messages(self, message: Message) -> list[dict[str, Any]]:
        turn, _, calls = message
        if isinstance(turn, UserTurn):
            return [{"role": "user", "content": turn.text}]
        if not calls:
            return [{"role": "assistant", "content": turn.text}] if turn.text else []
        plan = {"tool_plan": turn.text} if turn.text else {}
        made = [function_call(call) for call, _ in calls]
        said = {"role": "assistant", "tool_calls": made, **plan}
        return [said, *(self._result(call) for call, _ in calls)]

    def _result(self, turn: ToolTurn) -> dict[str, Any]:
        self._tools[turn.call_id] = turn.name
        documents = [d for material in turn.materials for d in self._documents(material)]
        contents: list[dict[str, Any]] = []
        if turn.text or not documents:
            contents.append({"type": "text", "text": turn.text})
        for document in documents:
            self._outputs[turn.call_id, str(len(contents))] = document["id"]
            contents.append({"type": "document", "document": document})
        return {"role": "tool", "tool_call_id": turn.call_id, "content": contents}

    def _documents(self, material: Material) -> Iterator[dict[str, Any]]:
        """Give the documents of ``material``, under the same ids however often it is sent."""
        place: int | None = None
        source = material.source
        for piece in cited_pieces(source) if material.has_text else ():
            wanted = f"{source.id}-{piece.name}" if piece.name else source.id
            name, copies = wanted, 1
            while name in self._pieces and self._pieces[name][:2] != (source, piece):
                copies += 1  # sources of another registry may have the same ids
                name = f"{wanted}-{copies}"
            if name not in self._pieces:
                place = self._sent.add(material) if place is None else place
                self._pieces[name] = source, piece, place
            document = source.document
            named = {"title": document.title, "url": document.url, "path": document.path}
            data = {key: one_line(value) for key, value in named.items() if value}
            yield {"id": name, "data": {**data, "snippet": piece.shown}}

    # -- reading

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a chunk, or a whole answer, holds; nothing for what says nothing."""
        kind = text(chunk, "type")
        if kind is None:
            return self._whole(chunk)
        message = field(field(chunk, "delta"), "message")
        if kind in _TEXTS:
            index = number(chunk, "index")
            self._index = self._index if index is None else index
            return self._text(field(message, "content"), self._index)
        if kind == "citation-start":
            citation = field(message, "citations")  # one, whatever the name says
            self._noted += citation if isinstance(citation, list) else [citation]
        if kind in _CALLS:
            self._call(kind, number(chunk, "index"), field(message, "tool_calls"))
        if kind == "message-end":
            delta = field(chunk, "delta")
            return self._end(text(delta, "finish_reason"), field(delta, "error"))
        return []

    def _call(self, kind: str, index: int | None, call: object) -> None:
        """Note a call that starts, or a piece of its arguments."""
        function = field(call, "function")
        arguments = field(function, "arguments")
        if kind == "tool-call-delta":
            self._calls.add(index, arguments)
            return
        name = text(function, "name")
        self._calls.begin(index, call_id=text(call, "id"), name=name, arguments=arguments)

    def _whole(self, answer: object) -> list[AnswerItem]:
        message, error = field(answer, "message"), field(answer, "error")
        if error is not None or isinstance(message, str):
            return [_failure(message if error is None else error)]
        if message is None:
            return []
        content = field(message, "content")
        contents = content if isinstance(content, list) else [content]
        found = [item for index, one in enumerate(contents) for item in self._text(one, index)]
        self._noted += items(message, "citations")
        self._calls.note(items(message, "tool_calls"))
        return found + self._end(text(answer, "finish_reason"), None)

    def _text(self, content: object, index: int) -> list[AnswerItem]:
        words = content if isinstance(content, str) else text(content, "text")
        if not words:  # or it is thinking
            return []
        self._shown.add(index)
        return [AnswerText(text=words, part=index)]

    def _end(self, reason: str | None, error: object) -> list[AnswerItem]:
        broken = error is not None or (reason is not None and reason.startswith(_BROKEN))
        found: list[AnswerItem] = []
        if self._shown or not broken:
            found = [c for noted in self._noted for c in self._citations(noted)]
            found += [] if broken else self._calls.take(cut=reason == "MAX_TOKENS")
            found.append(AnswerEnd())
        if broken:
            found.append(_failure(f"Cohere stopped: {reason}" if error is None else error))
        self._begin()
        return found

    def _citations(self, noted: object) -> Iterator[AnswerCitation]:
        """Give a citation of every source of one that Cohere sent."""
        place = self._place(noted) if text(noted, "type") in _OF_THE_ANSWER else None
        for source in items(noted, "sources") if place is not None else ():
            facts, piece = self._source(source)
            if facts is not None and place is not None:
                kind, name = text(source, "type"), text(source, "id")
                metadata = {"type": kind, "id": name}
                yield AnswerCitation(
                    source=facts,
                    place=place,
                    cited_text=piece.cited_text if piece else None,
                    location=piece.location if piece else None,
                    metadata={key: value for key, value in metadata.items() if value},
                )

    def _place(self, noted: object) -> TextRange | None:
        start, end = number(noted, "start") or 0, number(noted, "end")
        words = text(noted, "text")
        if words is not None and (end is None or end <= start):
            end = start + len(words)
        part = number(noted, "content_index")
        shown = part is None or part in self._shown
        # Of a content that is not shown, or is not the one that was meant, the words must do.
        if end is None or not (shown or words):
            return None
        return TextRange(
            start=start,
            end=end,
            unit=OffsetUnit.CODE_POINT,
            part=part if shown else None,
            expected=words,
        )

    def _source(self, source: object) -> tuple[SourceFacts | None, CitedPiece | None]:
        """Return what is known of a source, and the piece that was sent, if it was."""
        kind, name = text(source, "type"), text(source, "id") or ""
        call, _, output = name.rpartition(":")
        sent = self._pieces.get(name) or self._pieces.get(self._outputs.get((call, output), ""))
        if sent is not None:
            _, piece, place = sent
            return self._sent.facts(place, provider=_PROVIDER, kind="document"), piece
        if kind == "tool":
            # Of several results of one call, those without an address are one source.
            key, told = ("tool", call or name), field(source, "tool_output")
            title = text(told, "title") or self._tools.get(call or name)
        else:
            key, told = ("document", name), field(source, "document")
            title = text(told, "title")
        url, path = url_or_path(text(told, "url") or "")
        if not (name or url or path or title):
            return None, None
        provider = "client" if kind == "tool" else _PROVIDER
        return SourceFacts(provider=provider, key=key, title=title, url=url, path=path), None


def _failure(error: object) -> AnswerFailure:
    said = error if isinstance(error, str) else text(error, "message")
    return AnswerFailure(message=said or "Cohere reported an error")
