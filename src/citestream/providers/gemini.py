"""Gemini: asking generateContent, and reading its answers and those of the Interactions API.

In: a ``Conversation``, then what the vendor sends, streamed or whole, as objects of google-genai or
as plain dicts in either spelling. Out: keyword arguments, then items for ``AnswerAssembler``.

- Offsets are UTF-8 bytes over the whole answer without its thoughts, whatever the documentation
  says of parts, and are handed on with the words that should stand there.
- Grounding is sent anew with everything in it: the last that is not empty counts.
- ``citationMetadata`` says what the answer recites: nothing that it rests on, so it is not read.
- Gemini cites no documents of the caller's natively: they are shown with markers (``prompts``).
- A function call is one part, or one step. The signature of the thought behind it goes back with
  it. Arguments that stream (an option of Vertex) are not put together: such calls are left out.

Deliberately elsewhere: what is sent (``gemini_contents``), what is said of a source
(``gemini_sources``).
"""

from collections.abc import Iterator
from typing import Any

from ..conversation.turns import Conversation, messages_of, render_turns
from ..events import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerItem,
    AnswerText,
    OffsetUnit,
    TextRange,
)
from ..prompts import PromptOptions
from .chunks import field, items, number, text
from .gemini_contents import config_of, contents_of, signature_of
from .gemini_sources import CitedSource, annotation_source, grounding_source, known, spelled
from .tool_calls import ToolCalls

__all__ = ("Gemini",)

_DEFAULT_OPTIONS = PromptOptions()
_COMPLETE = {"STOP", "MAX_TOKENS", "CONTINUATION"}
_NOT_OVER = {"FINISH_REASON_UNSPECIFIED"}  # what a field that nobody set reads as
_STARTS = {"step.start": "step", "content.start": "content"}
_DELTAS = {"step.delta", "content.delta"}
_COMPLETIONS = {"interaction.completed", "interaction.complete"}
_RUNNING = {"in_progress", "queued", "requires_continuation"}
_BROKEN = {"failed", "cancelled", "budget_exceeded"}
_SHOWING = {None, "model_output", "text"}  # steps, and contents of older versions


class Gemini:
    """One exchange: what is asked, and what comes back.

    ``decode`` never raises for anything that a vendor sends, and gives the same citations for the
    same answer, streamed or whole.

    >>> items = Gemini().decode({
    ...     "candidates": [{
    ...         "content": {"parts": [{"text": "Rents rose."}]},
    ...         "finishReason": "STOP",
    ...         "groundingMetadata": {
    ...             "groundingChunks": [{"web": {"uri": "https://a.example"}}],
    ...             "groundingSupports": [{
    ...                 "segment": {"endIndex": 11, "text": "Rents rose."},
    ...                 "groundingChunkIndices": [0],
    ...             }],
    ...         },
    ...     }],
    ... })
    >>> [type(item).__name__ for item in items]
    ['AnswerText', 'AnswerCitation', 'AnswerEnd']
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Forget the answer that is over; an exchange with tools has several."""
        self._part = -1
        self._kind = ""  # of the part that came last
        self._shown: set[int | None] = set()  # the parts that the answer consists of
        self._grounding: object = None
        self._steps: dict[int, str | None] = {}
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
        """Return the keyword arguments of ``client.models.generate_content`` and ``..._stream``.

        ``options`` says how material is shown and cited, but for what kind of material it is and
        how finely it is cited: the material says so. ``arguments`` are passed on: of a ``config``,
        which has everything from ``temperature`` on, the tools join those of the conversation.
        Raises OptionError where the syntax lacks the locators of a source.
        """
        self._begin()
        system, turns = render_turns(conversation, options=options)
        asked = {"model": model, "contents": contents_of(messages_of(turns)), **arguments}
        config = config_of(conversation, arguments.get("config"), system=system)
        return {**asked, "config": config} if config else asked

    # -- reading

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a chunk, or a whole answer, holds; nothing for what says nothing."""
        if isinstance(chunk, list):  # a stream without framing is one array
            return [item for one in chunk for item in self._decode(one)]
        return self._decode(chunk)

    def _decode(self, chunk: object) -> list[AnswerItem]:
        candidates = items(chunk, "candidates")
        if candidates:
            return self._response(chunk, candidates)
        chunk = known(chunk, kind="event_type")
        event = text(chunk, "event_type")
        if event is not None:
            return self._event(event, chunk)
        error = field(chunk, "error")
        if error is not None:
            return [_failure(error)]
        if any(field(chunk, name) is not None for name in ("steps", "outputs", "status")):
            self._begin()
            return [*self._interaction(chunk), *self._interaction_end(chunk)]
        return _blocked(chunk)

    def _response(self, response: object, candidates: list[Any]) -> list[AnswerItem]:
        candidate = next((c for c in candidates if not number(c, "index")), None)
        found: list[AnswerItem] = list(self._texts(candidate))
        grounding = field(candidate, spelled(candidate, "grounding_metadata"))
        if grounding is not None and items(grounding, spelled(grounding, "grounding_supports")):
            self._grounding = grounding
        reason = text(candidate, spelled(candidate, "finish_reason"))
        if reason is not None and reason not in _NOT_OVER:
            said = text(candidate, spelled(candidate, "finish_message"))
            model = text(response, spelled(response, "model_version"))
            found += self._end(reason, said, AnswerEnd(model=model))
        return found

    def _texts(self, candidate: object) -> Iterator[AnswerText]:
        """Give the text of the answer. A part goes on in the next chunk, where it is the first."""
        for place, part in enumerate(items(field(candidate, "content"), "parts")):
            words = field(part, "text")
            kind = "other"
            if isinstance(words, str):
                kind = "thought" if field(part, "thought") else "text"
            else:
                self._note_call(part)
            if place or kind != self._kind:
                self._part += 1
                self._kind = kind
            if kind == "text" and words:
                self._shown.add(self._part)
                yield AnswerText(text=words, part=self._part)

    def _note_call(self, part: object) -> None:
        call = field(part, spelled(part, "function_call"))
        if call is not None and not field(call, spelled(call, "will_continue")):
            signature = field(part, spelled(part, "thought_signature"))
            self._calls.begin(
                object(),
                call_id=text(call, "id"),
                name=text(call, "name"),
                arguments=field(call, "args"),
                provider_data=signature_of(signature),
            )

    def _end(self, reason: str, said: str | None, end: AnswerEnd) -> list[AnswerItem]:
        complete = reason in _COMPLETE
        found: list[AnswerItem] = []
        if self._shown or complete:
            calls = self._calls.take() if complete else []
            found = [*self._citations(), *calls, end]
        if not complete:
            found.append(_stopped(reason, said))
        self._begin()
        return found

    def _citations(self) -> Iterator[AnswerCitation]:
        grounding = self._grounding
        chunks = items(grounding, spelled(grounding, "grounding_chunks"))
        sources = [grounding_source(chunk) for chunk in chunks]
        for support in items(grounding, spelled(grounding, "grounding_supports")):
            place = self._place(field(support, "segment"))
            if place is not None:
                yield from _support(support, place, sources)

    def _place(self, segment: object) -> TextRange | None:
        start = number(segment, spelled(segment, "start_index")) or 0  # left out where it is 0
        end = number(segment, spelled(segment, "end_index"))
        words = text(segment, "text")
        if words is not None and (end is None or end <= start):
            end = start + len(words.encode(errors="surrogatepass"))
        if end is None:
            return None
        part = number(segment, spelled(segment, "part_index"))
        return TextRange(
            start=start,
            end=end,
            unit=OffsetUnit.UTF8,
            # 0 comes with offsets in the whole answer too. Of a part that no text came for, the
            # words must do.
            part=part if part and part in self._shown else None,
            expected=words,
        )

    # -- reading the Interactions API

    def _event(self, kind: str, event: object) -> list[AnswerItem]:
        if kind == "error":
            return [_failure(field(event, "error"))]
        if kind in _COMPLETIONS:
            interaction = field(event, "interaction")
            # What streamed may come once more, as a whole.
            streamed = self._shown or self._calls
            found = [] if streamed else self._interaction(interaction)
            return [*found, *self._interaction_end(interaction, over=True)]
        index = number(event, "index") or 0
        if kind in _STARTS:
            step = known(field(event, _STARTS[kind]), kind="type")
            self._steps[index] = text(step, "type")
            self._note_step(index, step)
            return self._step(index, [step, *items(step, "content")])
        if kind not in _DELTAS:
            return []
        delta = field(event, "delta")
        found = self._step(index, [delta])
        if not found:
            self._note_step(index, known(delta, kind="type"))
        return found

    def _note_step(self, index: int, step: object) -> None:
        """Note a call, which older versions send as a delta, or a piece of its arguments."""
        kind = text(step, "type")
        arguments = field(step, "arguments")
        if kind == "arguments_delta":
            self._calls.add(index, arguments)
        elif kind == "function_call":
            name = text(step, "name")
            self._calls.begin(index, call_id=text(step, "id"), name=name, arguments=arguments)

    def _step(self, index: int, contents: list[Any]) -> list[AnswerItem]:
        if self._steps.get(index) not in _SHOWING:
            return []
        found = [item for content in contents for item in _content(content, part=index)]
        if found:
            self._shown.add(index)
        return found

    def _interaction(self, interaction: object) -> list[AnswerItem]:
        """Give the answer of a whole interaction; every content that has text is a part."""
        found: list[AnswerItem] = []
        steps = (*items(interaction, "steps"), *items(interaction, "outputs"))
        for index, step in enumerate(known(one, kind="type") for one in steps):
            self._note_step(index, step)
            if text(step, "type") in _SHOWING:
                for content in (step, *items(step, "content")):
                    part = len(self._shown)
                    these = list(_content(content, part=part))
                    self._shown |= {part} if these else set()
                    found += these
        return found

    def _interaction_end(self, interaction: object, *, over: bool = False) -> list[AnswerItem]:
        """Give the end, and why it came; ``over`` says that it did."""
        status = text(interaction, "status")
        broken = status in _BROKEN
        found: list[AnswerItem] = []
        if self._shown if broken else over or status not in _RUNNING:
            found += [] if broken else self._calls.take(cut=status == "incomplete")
            found.append(AnswerEnd(model=text(interaction, "model")))
        if status is not None and broken:
            error = next(iter(items(interaction, "errors")), None)
            found.append(_stopped(status, None) if error is None else _failure(error))
        self._begin()
        return found


def _support(
    support: object, place: TextRange, sources: list[CitedSource | None]
) -> Iterator[AnswerCitation]:
    """Give a citation of every source that ``support`` names."""
    scores = items(support, spelled(support, "confidence_scores"))
    for order, index in enumerate(items(support, spelled(support, "grounding_chunk_indices"))):
        # Chunks have been named that were not sent.
        cited = sources[index] if type(index) is int and 0 <= index < len(sources) else None
        if cited is None:
            continue
        noted = {**cited.metadata, "chunkIndex": index}
        score = scores[order] if order < len(scores) else None
        if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1:
            noted["confidence"] = score
        yield AnswerCitation(
            source=cited.facts,
            place=place,
            cited_text=cited.cited_text,
            location=cited.location,
            metadata=noted,
        )


def _content(content: object, *, part: int) -> Iterator[AnswerItem]:
    content = known(content, kind="type")
    if "thought" in (text(content, "type") or ""):
        return
    words = text(content, "text")
    if words is not None:
        yield AnswerText(text=words, part=part)
    for one in items(content, "annotations"):
        annotation = known(one, kind="type")
        cited = annotation_source(annotation)
        if cited is not None:
            yield AnswerCitation(
                source=cited.facts,
                place=_annotated(annotation, part),
                location=cited.location,
                metadata=cited.metadata or None,
            )


def _annotated(annotation: object, part: int) -> TextRange | int:
    start, end = number(annotation, "start_index"), number(annotation, "end_index")
    if end is None:  # it says nothing but what it stands at
        return part
    return TextRange(start=start or 0, end=end, unit=OffsetUnit.UTF8, part=part)


def _blocked(response: object) -> list[AnswerItem]:
    """Say why there is no answer, if that is said."""
    feedback = field(response, spelled(response, "prompt_feedback"))
    reason = text(feedback, spelled(feedback, "block_reason"))
    said = text(feedback, spelled(feedback, "block_reason_message"))
    return [_stopped(reason, said)] if reason else []


def _failure(error: object) -> AnswerFailure:
    said = error if isinstance(error, str) else text(error, "message")
    kind = text(error, "status") or text(error, "code") or "provider"
    return AnswerFailure(message=said or "Gemini reported an error", error_type=kind)


def _stopped(reason: str, said: str | None) -> AnswerFailure:
    reason = str(getattr(reason, "value", reason))  # the SDK has an enumeration of strings
    return AnswerFailure(message=said or f"Gemini stopped: {reason}", error_type=reason)
