"""Perplexity: answers with numbers in brackets, which are taken out and become citations.

In: a ``Conversation``, then the chunks of Perplexity's SDK or OpenAI's, streamed or whole, as
objects or plain dicts. Out: keyword arguments of ``client.chat.completions``, then items for
``AnswerAssembler``.

``[1]`` is the first of ``search_results`` (or of ``citations``, urls alone), the last lists that
are not empty. A number that has no entry there cites nothing.

Deliberately elsewhere: what is a citation in a text (``bracket_numbers``), reading the chunks of
Chat Completions (``openai_chat``).
"""

from collections.abc import Iterator
from typing import Any

from ..conversation.turns import AssistantTurn, Conversation, ToolTurn, render_turns
from ..errors import OptionError
from ..events import (
    AnswerCitation,
    AnswerEnd,
    AnswerItem,
    AnswerText,
    OffsetUnit,
    SourceFacts,
    TextRange,
)
from ..prompts import PromptOptions, neutralise
from .bracket_numbers import NumberFilter
from .chunks import items, text
from .openai_annotations import joined
from .openai_chat import ChatReader

__all__ = ("Perplexity",)

_PROVIDER = "perplexity"
_DEFAULT_OPTIONS = PromptOptions()
_METADATA = {"date": "date", "last_updated": "lastUpdated", "snippet": "snippet"}


class Perplexity:
    """One exchange. ``request`` begins it anew; what comes after its end says nothing.

    >>> exchange = Perplexity()
    >>> items = exchange.decode({
    ...     "choices": [{"message": {"content": "Rents rose [1]."}}],
    ...     "search_results": [{"title": "City", "url": "https://city.example"}],
    ... })
    >>> items[0].text, items[1].place.start, items[1].source.url
    ('Rents rose.', 10, 'https://city.example')
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._reader = ChatReader()
        self._numbers = NumberFilter()
        self._results: list[Any] = []
        self._urls: list[Any] = []

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

        ``options`` says how material is shown, but for its kind and how finely it is cited. Results
        of tools are told as the user's words, for Perplexity knows no tools, and takes turns only.
        ``arguments`` are passed on. Raises OptionError where the conversation has tools, and where
        the syntax lacks the locators of a source.
        """
        if conversation.tools:
            count = len(conversation.tools)
            raise OptionError(f"tools: wanted none, since Perplexity calls none, got {count}")
        self._begin()
        system, turns = render_turns(conversation, options=options)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        for turn, shown in turns:
            role = "assistant" if isinstance(turn, AssistantTurn) else "user"
            words = joined(shown, turn.text)
            if isinstance(turn, ToolTurn):
                words = joined(neutralise(turn.text, syntax=options.syntax), shown)
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] = joined(messages[-1]["content"], words)
            else:
                messages.append({"role": role, "content": words})
        return {"model": model, "messages": messages} | arguments

    def decode(self, chunk: object, /) -> list[AnswerItem]:
        """Return what a chunk, or a whole completion, holds; nothing for what says nothing."""
        piece = self._reader.read(chunk)
        self._results = items(chunk, "search_results") or self._results
        self._urls = items(chunk, "citations") or self._urls
        words = self._numbers.feed(piece.text)
        over = piece.ended or piece.failure is not None
        if over:
            words += self._numbers.finish()
        found: list[AnswerItem] = [AnswerText(text=words)] if words else []
        if piece.failure is not None:
            found.append(piece.failure)
        elif over:
            found += self._citations()
            found.append(AnswerEnd(model=text(chunk, "model")))
        return found

    def _citations(self) -> Iterator[AnswerCitation]:
        known: dict[int, tuple[SourceFacts, dict[str, Any]] | None] = {}
        for position, numbers in self._numbers.found:
            place = TextRange(start=position, end=position, unit=OffsetUnit.CODE_POINT, part=0)
            for number in numbers:
                if number not in known:
                    known[number] = self._source(number)
                cited = known[number]
                if cited is not None:
                    source, metadata = cited
                    yield AnswerCitation(source=source, place=place, metadata=dict(metadata))

    def _source(self, number: int) -> tuple[SourceFacts, dict[str, Any]] | None:
        """Return what is listed as ``number``, and what is told of it beyond its name."""
        result = self._results[number - 1] if number <= len(self._results) else None
        listed = self._urls[number - 1] if number <= len(self._urls) else None
        url = text(result, "url") or (listed if isinstance(listed, str) else text(listed, "url"))
        title = text(result, "title") or text(listed, "title")
        if not url and title is None:
            return None
        facts = SourceFacts(
            provider=_PROVIDER, key=("result", number), title=title, url=url or None
        )
        told = {ours: text(result, theirs) for theirs, ours in _METADATA.items()}
        return facts, {"number": number, **{n: one for n, one in told.items() if one is not None}}
