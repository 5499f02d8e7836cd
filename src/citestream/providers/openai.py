"""OpenAI Responses: sources shown with markers, answers in parts with annotations.

In: a ``Conversation``, then what the vendor sends, streamed or whole, as objects of its SDK or as
plain dicts. Out: keyword arguments of ``client.responses``, then items for ``AnswerAssembler``.

- Annotations (``openai_annotations``) come as events and again in the final payload; either may
  lack some that the other has, so each counts once, from wherever it came.
- A ``function_call`` is a call once it is complete; tools that the vendor runs are none.
- A refusal is what the answer says. Text of sources is only in the results of a file search.
- After a gap in the numbers of the events, text waits until it comes whole.

Deliberately elsewhere: HTTP (the caller's client), markers in the answer (``resolver``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from ..conversation.tool_definitions import with_tools
from ..conversation.turns import Conversation, Message, UserTurn, messages_of, render_turns
from ..events import AnswerCitation, AnswerEnd, AnswerItem, AnswerText
from ..offsets import well_formed
from ..prompts import PromptOptions, neutralise
from ..wire import encode_json
from .chunks import field, items, number, text
from .openai_annotations import Annotation, failure, joined, read_annotation
from .tool_calls import ToolCalls

__all__ = ("FILE_SEARCH_RESULTS", "WEB_SEARCH_SOURCES", "OpenAIResponses")

FILE_SEARCH_RESULTS = "file_search_call.results"
WEB_SEARCH_SOURCES = "web_search_call.action.sources"
"""What may be included in an answer: texts that were found, and urls that were looked at."""

_DEFAULT_OPTIONS = PromptOptions()
_WORDS = {"output_text": "text", "text": "text", "refusal": "refusal"}  # of kinds of content
_RUNNING = {"queued", "in_progress"}
_BROKEN = {"failed", "cancelled"}

_Key: TypeAlias = tuple[int, int]  # of a part: output index, content index


class _Part:
    """One part of the answer: its text so far, what is not given out of it, its annotations."""

    def __init__(self, number: int, *, waits: bool) -> None:
        self.number = number
        self.waits = waits
        self.given: list[str] = []
        self.held: list[str] = []
        self.done = False
        self.annotations: dict[tuple[object, ...], Annotation] = {}

    def add(self, words: str) -> str:
        """Take the next words and return what can be given out."""
        (self.held if self.waits else self.given).append(words)
        return "" if self.waits else words

    def complete(self, whole: str) -> str:
        """Take the whole text and return what of it was not given out yet.

        What was given out cannot be taken back, so what contradicts it is left out.
        """
        given = self.text
        self.done = True
        if not whole.startswith(given):
            given, whole = well_formed(given), well_formed(whole)
            if not whole.startswith(given):
                return self.release()
        self.held.clear()
        self.waits = False
        self.given = [whole]
        return whole[len(given) :]

    def release(self) -> str:
        """Stop waiting and return what was held."""
        held = "".join(self.held)
        self.held.clear()
        self.waits = False
        self.given.append(held)
        return held

    @property
    def text(self) -> str:
        """What was given out."""
        return "".join(self.given)

    def annotate(self, annotations: Iterable[object], *, first: bool = False) -> None:
        """Note what is not noted yet; ``first`` puts it before what is."""
        found: dict[tuple[object, ...], Annotation] = {}
        for annotation in map(read_annotation, annotations):
            if annotation is not None:
                key = annotation.identity
                known = found.get(key) or self.annotations.get(key)
                if known is not None and known.title is not None:
                    annotation = attrs.evolve(annotation, title=known.title)  # noqa: PLW2901 - the first title
                found[key] = annotation
        self.annotations = found | self.annotations | found if first else self.annotations | found


class OpenAIResponses:
    """One exchange with the Responses API, of OpenAI or of who speaks as it does.

    ``provider`` names whose answers they are. ``request`` begins the exchange anew; what comes
    after its end says nothing.

    >>> exchange = OpenAIResponses()
    >>> exchange.decode({"type": "response.output_text.delta", "delta": "Rents rose."})
    [AnswerText(text='Rents rose.', part=0)]
    """

    def __init__(self, *, provider: str = "openai") -> None:
        self._provider = provider
        self._readers: dict[str, Callable[[object], list[AnswerItem]]] = {
            "response.output_text.delta": self._delta,
            "response.refusal.delta": self._delta,
            "response.output_text.done": self._done,
            "response.refusal.done": self._done,
            "response.output_text.annotation.added": self._annotation,
            "response.content_part.added": self._part_added,
            "response.content_part.done": self._part_done,
            "response.output_item.done": self._item_done,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._end,
            "error": self._error,
        }
        self._begin()

    def _begin(self) -> None:
        self._parts: dict[_Key, _Part] = {}
        self._calls = ToolCalls()
        self._results: dict[str, dict[str, None]] = {}  # texts that a search found, by file
        self._next: int | None = None  # the number that the next event should have
        self._gap = False
        self._ended = False

    # -- asking

    def request(
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        options: PromptOptions = _DEFAULT_OPTIONS,
        include: Iterable[str] = (),
        **arguments: Any,  # noqa: ANN401 - the SDK's own
    ) -> dict[str, Any]:
        """Return the keyword arguments of ``client.responses.create`` and ``.stream``.

        ``options`` says how material is shown, but for its kind and how finely it is cited.
        ``include`` takes FILE_SEARCH_RESULTS, which alone brings cited text, and
        WEB_SEARCH_SOURCES. ``arguments`` are passed on, such as ``stream=True``; their ``tools``
        join those of the conversation, which are not strict, so that any schema will do. Raises
        OptionError where the syntax lacks the locators of a source.
        """
        self._begin()
        system, turns = render_turns(conversation, options=options)
        asked: dict[str, Any] = {"model": model}
        if system:
            asked["instructions"] = system
        asked["input"] = [one for said in messages_of(turns) for one in _input(said, options)]
        if included := list(include):
            asked["include"] = included
        tools = [
            {"type": "function", **one.named, "parameters": dict(one.parameters), "strict": False}
            for one in conversation.tools
        ]
        return with_tools(asked, arguments, tools=tools)

    # -- reading

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what an event, or a whole response, holds; nothing for what says nothing."""
        if self._ended:
            return []
        kind = field(chunk, "type")
        if isinstance(kind, str):
            self._watch(chunk)
            read = self._readers.get(kind)
            return [] if read is None else read(chunk)
        if field(chunk, "object") == "response" or items(chunk, "output"):
            return self._finish(chunk)
        return self._error(chunk) if field(chunk, "error") else []

    def _watch(self, event: object) -> None:
        """Notice that events are missing: with a delta gone, the next one must not be shown."""
        place = number(event, "sequence_number")
        if place is None:
            return
        if self._next is not None and place > self._next:
            self._gap = True
            for part in self._parts.values():
                part.waits = part.waits or not part.done
        self._next = place + 1

    def _part(self, key: _Key) -> _Part:
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Part(len(self._parts), waits=self._gap)
        return part

    def _delta(self, event: object) -> list[AnswerItem]:
        words = text(event, "delta")
        if words is None:
            return []
        part = self._part(_key(event))
        return _texts(part, part.add(words))

    def _done(self, event: object) -> list[AnswerItem]:
        words = text(event, "text") or text(event, "refusal")
        return self._whole_part(_key(event), words, ())

    def _annotation(self, event: object) -> list[AnswerItem]:
        self._part(_key(event)).annotate([field(event, "annotation")])
        return []

    def _part_added(self, event: object) -> list[AnswerItem]:
        # What has begun before our eyes lacks nothing, whatever was missing before.
        self._parts.setdefault(_key(event), _Part(len(self._parts), waits=False))
        return []

    def _part_done(self, event: object) -> list[AnswerItem]:
        content = field(event, "part")
        return self._whole_part(_key(event), _words(content), items(content, "annotations"))

    def _item_done(self, event: object) -> list[AnswerItem]:
        return self._contents({number(event, "output_index") or 0: field(event, "item")})

    def _contents(self, output: Mapping[int, object]) -> list[AnswerItem]:
        """Read items of the output that are complete, by their index."""
        contents: dict[_Key, object] = {}
        for index, item in output.items():
            kind = text(item, "type")
            if kind == "file_search_call":
                self._note_results(item)
            elif kind == "function_call":
                self._note_call(item, index)
            elif kind in {"message", None}:
                for place, content in enumerate(items(item, "content")):
                    contents[index, place] = content
        found: list[AnswerItem] = []
        for key, content in contents.items():
            words = _words(content)
            if key not in self._parts and words is not None:
                self._adopt(key, words, contents)
            found += self._whole_part(key, words, items(content, "annotations"))
        return found

    def _note_results(self, call: object) -> None:
        for result in items(call, "results"):
            file_id, words = text(result, "file_id"), text(result, "text")
            if file_id is not None and words is not None:
                self._results.setdefault(file_id, {})[words] = None

    def _note_call(self, call: object, index: int) -> None:
        """Note a call, which comes as an event and again in the final payload."""
        call_id = text(call, "call_id")
        self._calls.begin(
            index if call_id is None else call_id,
            call_id=call_id,
            name=text(call, "name"),
            arguments=field(call, "arguments"),
        )

    def _adopt(self, key: _Key, words: str, contents: Mapping[_Key, object]) -> None:
        """Find the part that streamed these words under another index, as some servers do."""
        for other, part in self._parts.items():
            if other not in contents and part.text and words.startswith(part.text):
                self._parts[key] = self._parts.pop(other)
                return

    def _whole_part(
        self, key: _Key, words: str | None, annotations: Iterable[object]
    ) -> list[AnswerItem]:
        annotations = list(annotations)
        if words is None and not annotations:
            return []
        part = self._part(key)
        part.annotate(annotations, first=True)
        return _texts(part, part.complete(words)) if words is not None else []

    # -- the end

    def _end(self, event: object) -> list[AnswerItem]:
        failed = field(event, "type") == "response.failed"
        return self._finish(field(event, "response"), failed=failed)

    def _finish(self, response: object, *, failed: bool = False) -> list[AnswerItem]:
        found = self._contents(dict(enumerate(items(response, "output"))))
        status = text(response, "status")
        if status in _RUNNING:
            return found
        self._ended = True
        parts = sorted(self._parts.values(), key=lambda part: part.number)
        found += [item for part in parts for item in _texts(part, part.release())]
        error = field(response, "error")
        if failed or status in _BROKEN or error:
            return [*found, failure(error)]
        found += self._citations(parts)
        found += self._calls.take(cut=status == "incomplete")
        return [*found, AnswerEnd(model=text(response, "model"))]

    def _citations(self, parts: Iterable[_Part]) -> Iterator[AnswerCitation]:
        for part in parts:
            words = well_formed(part.text)
            for annotation in part.annotations.values():
                results = self._results.get(annotation.file_id or "", {})
                quote = next(iter(results)) if len(results) == 1 else None
                yield annotation.cite(words, part=part.number, provider=self._provider, quote=quote)

    def _error(self, event: object) -> list[AnswerItem]:
        self._ended = True
        return [failure(field(event, "error") or event)]


def _key(event: object) -> _Key:
    return number(event, "output_index") or 0, number(event, "content_index") or 0


def _words(content: object) -> str | None:
    name = _WORDS.get(text(content, "type") or "text")
    return None if name is None else text(content, name)


def _texts(part: _Part, words: str) -> list[AnswerItem]:
    return [AnswerText(text=words, part=part.number)] if words else []


def _input(message: Message, options: PromptOptions) -> list[dict[str, Any]]:
    turn, shown, calls = message
    if isinstance(turn, UserTurn):
        return [{"role": "user", "content": joined(shown, turn.text)}]
    said = [{"role": "assistant", "content": turn.text}] if turn.text or not calls else []
    made, results = [], []
    for call, material in calls:
        function = {"name": call.name, "arguments": encode_json(call.input)}
        made.append({"type": "function_call", "call_id": call.call_id, **function})
        output = joined(neutralise(call.text, syntax=options.syntax), material)
        results.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    return [*said, *made, *results]
