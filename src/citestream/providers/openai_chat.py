"""OpenAI Chat Completions, and who speaks as they do: sources shown with markers, annotations read.

In: a ``Conversation``, then what the vendor sends, streamed or whole, as objects of its SDK or as
plain dicts. Out: keyword arguments of ``client.chat.completions``, then items for
``AnswerAssembler``.

- Only the first choice is read. A refusal is what the answer says.
- Streamed annotations are no field of the SDK's chunks, but it keeps them; its helper that gathers
  chunks fails over them, so read the chunks themselves.
- Some servers send annotations before any text and without a range: a source without a place.
- Some send with each chunk the message so far: it counts where there is no delta.
- Calls of functions come as pieces, or whole in the message. What Gemini adds to one
  (``extra_content``) goes back with it.

Deliberately elsewhere: annotations (``openai_annotations``), calls (``tool_calls``), markers in the
answer (``resolver``).
"""

from typing import Any

import attrs

from ..conversation.tool_definitions import function_tools, with_tools
from ..conversation.turns import Conversation, Message, UserTurn, messages_of, render_turns
from ..events import AnswerCitation, AnswerEnd, AnswerFailure, AnswerItem, AnswerText
from ..offsets import well_formed
from ..prompts import PromptOptions, neutralise
from .chunks import field, items, number, text
from .openai_annotations import Annotation, failure, joined, read_annotation
from .tool_calls import EXTRA, ToolCalls, function_call

__all__ = ("ChatPiece", "ChatReader", "OpenAIChat", "chat_messages")

_DEFAULT_OPTIONS = PromptOptions()
_CUT_OFF = {"length", "content_filter"}
_CHUNK = "chat.completion.chunk"  # some servers call a chunk what a whole completion is called


class OpenAIChat:
    """One exchange with Chat Completions. ``provider`` names whose answers they are.

    ``request`` begins the exchange anew; what comes after its end says nothing.

    >>> exchange = OpenAIChat(provider="openrouter")
    >>> exchange.decode({"choices": [{"delta": {"content": "Rents rose."}}]})
    [AnswerText(text='Rents rose.', part=0)]
    """

    def __init__(self, *, provider: str = "openai") -> None:
        self._provider = provider
        self._begin()

    def _begin(self) -> None:
        self._reader = ChatReader()
        self._texts: list[str] = []
        self._annotations: dict[tuple[object, ...], Annotation] = {}
        self._calls = ToolCalls()

    def request(
        self,
        conversation: Conversation,
        /,
        *,
        model: str,
        options: PromptOptions = _DEFAULT_OPTIONS,
        **arguments: Any,  # noqa: ANN401 - the SDK's own
    ) -> dict[str, Any]:
        """Return the keyword arguments of ``client.chat.completions.create``.

        ``options`` says how material is shown, but for its kind and how finely it is cited.
        ``arguments`` are passed on, such as ``stream=True``; their ``tools`` join those of the
        conversation. Raises OptionError where the syntax lacks the locators of a source.
        """
        self._begin()
        asked = {"model": model, "messages": chat_messages(conversation, options=options)}
        return with_tools(asked, arguments, tools=function_tools(conversation.tools))

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a chunk, or a whole completion, holds; nothing for what says nothing."""
        piece = self._reader.read(chunk)
        found: list[AnswerItem] = []
        if piece.text:
            self._texts.append(piece.text)
            found.append(AnswerText(text=piece.text))
        for one in (*items(piece.delta, "annotations"), *items(piece.message, "annotations")):
            self._note(one)
        self._calls.gather(items(piece.delta, "tool_calls"))
        if piece.failure is not None:
            found.append(piece.failure)
        elif piece.ended:
            if not self._calls:
                self._calls.note(items(piece.message, "tool_calls"))
            found += self._citations()
            found += self._calls.take(cut=piece.reason in _CUT_OFF)
            found.append(AnswerEnd(model=text(chunk, "model")))
        return found

    def _note(self, annotation: object) -> None:
        read = read_annotation(annotation)
        if read is not None:
            known = self._annotations.setdefault(read.identity, read)
            if known.title is None and read.title is not None:
                self._annotations[read.identity] = attrs.evolve(known, title=read.title)

    def _citations(self) -> list[AnswerCitation]:
        words = well_formed("".join(self._texts))
        noted = self._annotations.values()
        return [one.cite(words, part=0, provider=self._provider) for one in noted]


@attrs.frozen(kw_only=True)
class ChatPiece:
    """What a chunk adds to an answer. ``delta`` and ``message`` are those of its first choice."""

    text: str = ""
    delta: object = None
    message: object = None
    ended: bool = False
    reason: str | None = None
    failure: AnswerFailure | None = None


_NOTHING = ChatPiece()


class ChatReader:
    """Reads the first choice of the chunks of one answer; after its end everything is nothing."""

    def __init__(self) -> None:
        self._given: list[str] = []
        self._ended = False

    def read(self, chunk: object, /) -> ChatPiece:
        """Return what ``chunk``, or a whole completion, adds."""
        if self._ended:
            return _NOTHING
        choice = next((one for one in items(chunk, "choices") if not number(one, "index")), None)
        error = field(chunk, "error")
        if choice is None and not error:
            return _NOTHING
        delta, message = field(choice, "delta"), field(choice, "message")
        reason = text(choice, "finish_reason")
        ended = reason is not None or (
            delta is None and message is not None and text(chunk, "object") != _CHUNK
        )
        words = _words(delta)
        if words:
            self._given.append(words)
        if message is not None and (ended or not words):
            words += self._rest(_words(message))
        self._ended = ended or bool(error)
        return ChatPiece(
            text=words,
            delta=delta,
            message=message,
            ended=ended,
            reason=reason,
            failure=failure(error) if error else None,
        )

    def _rest(self, whole: str) -> str:
        """Return what of the message so far was not given out yet."""
        given = "".join(self._given)
        if not whole.startswith(given):
            return ""
        self._given = [whole]
        return whole[len(given) :]


def chat_messages(conversation: Conversation, /, *, options: PromptOptions) -> list[dict[str, Any]]:
    """Return ``conversation`` as messages, its material shown with markers and the rules for them.

    Raises OptionError where the syntax of ``options`` lacks the locators of a source.
    """
    system, turns = render_turns(conversation, options=options)
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    return messages + [one for said in messages_of(turns) for one in _messages(said, options)]


def _messages(message: Message, options: PromptOptions) -> list[dict[str, Any]]:
    turn, shown, calls = message
    if isinstance(turn, UserTurn):
        return [{"role": "user", "content": joined(shown, turn.text)}]
    if not calls:
        return [{"role": "assistant", "content": turn.text}]
    made, results = [], []
    for call, material in calls:
        extra = field(call.provider_data, EXTRA)
        made.append(function_call(call) | ({} if extra is None else {EXTRA: extra}))
        result = joined(neutralise(call.text, syntax=options.syntax), material)
        results.append({"role": "tool", "tool_call_id": call.call_id, "content": result})
    return [{"role": "assistant", "content": turn.text or None, "tool_calls": made}, *results]


def _words(message: object) -> str:
    """Return what a message, or the delta of one, says."""
    content = field(message, "content")
    if isinstance(content, str):
        words = content
    else:  # parts, as in what is sent
        words = "".join(text(part, "text") or "" for part in items(message, "content"))
    return words or text(message, "refusal") or ""
