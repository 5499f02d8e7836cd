"""The offline provider: answers a question with the passages of the sources that match it best.

In: a registry and a question. Out: the events of an upstream, in which the answer streams with
markers like those of a model, so that a ``Session`` or a ``Resolver`` takes it as any other. No
model, no key, no network; the answer says so. The extra ``ask`` brings what it ranks with.

Every passage is cited where it stands: by line, page or block as its source is registered. Where
the question matches the heading above a passage, the heading is shown and cited with it. Sources
and questions are text of strangers: nothing in them becomes a marker, and nothing in them raises.
Deliberately elsewhere: cutting (``passages``), comparing (``terms``), ranking (``ranking``).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4, uuid5

import attrs

from ..errors import LimitError, OptionError, brief
from ..events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    SessionEvent,
    SessionEventData,
    SessionEventType,
    SessionIdleData,
)
from ..markers import DEFAULT_SYNTAX, MarkerSyntax, format_marker
from ..offsets import well_formed
from ..prompts import PromptOptions, neutralise
from ..sources import Granularity, RegisteredSource, SourceRegistry
from ..sources.documents import Range
from .passages import Heading, Passage, passages

if TYPE_CHECKING:
    from .ranking import Ranking

__all__ = ("Extractive", "ExtractiveOptions")

_IDS = UUID("0e4b6a52-7f5c-5d5e-9d0a-3a1f1f6b2c94")  # makes ids of events from those of messages
_SPELLINGS = 9  # of a locator
# What is escaped already, code, or (``live``) the first character of what is to be escaped.
_LIVE = re.compile(
    r"\\.|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|(?P<live>!(?=\[)|\[(?=\^)|\](?=:)|<(?=[A-Za-z/!?]))"
)
_FOUND = "No model wrote this: it quotes what matches your question best in the sources."
_NOTHING = "No model wrote this. Nothing in the sources matches your question, so nothing is cited."


def _between(least: int, most: int) -> Any:  # noqa: ANN401 - an attrs validator
    def check(_instance: object, attribute: "attrs.Attribute[Any]", value: int) -> None:
        if type(value) is not int or not least <= value <= most:
            raise OptionError(
                f"{attribute.name}: wanted an integer from {least} to {most}, got {brief(value)}"
            )

    return check


@attrs.frozen(kw_only=True)
class ExtractiveOptions:
    """The choices of the offline provider. Raises OptionError for values out of bounds.

    - ``top``: passages of an answer, at most.
    - ``family``: the family of its markers.
    - ``delta_chars``: characters of a delta.
    - ``max_question_chars``: a longer question raises LimitError; no question is that long.
    """

    top: int = attrs.field(default=3, validator=_between(1, 100))
    family: str = "cite"
    delta_chars: int = attrs.field(default=24, validator=_between(1, 1_000_000))
    max_question_chars: int = attrs.field(default=10_000, validator=_between(1, 1_000_000))


_DEFAULT_OPTIONS = ExtractiveOptions()


@attrs.frozen(kw_only=True)
class _Found:
    """A passage and the source that it stands in."""

    source: RegisteredSource
    passage: Passage


class Extractive:
    """Answers from what is registered in ``registry``, at any time before the question.

    ``syntax`` is that of whoever reads the answer. Pages want one with locators for them:
    ``MarkerSyntax(locators=(LINES, PAGES))``. Raises OptionError where the extra is missing and for
    a family that does not cite.

    >>> from ..resolver import resolve
    >>> from ..sources import from_text
    >>> registry = SourceRegistry()
    >>> rules = from_text("Meals are paid up to 48 EUR. Taxis need a reason.", title="Rules")
    >>> _ = registry.add(rules, granularity=Granularity.LINE)
    >>> events = list(Extractive(registry).answer("How much is paid for a meal?"))
    >>> answer = resolve(events[-2].data.content, registry)
    >>> print(answer.content.splitlines()[-1], answer.citations.spans[0].references[0].location)
    - Meals are paid up to 48 EUR. CitationLocationChar(start_index=0, end_index=49)
    """

    def __init__(
        self,
        registry: SourceRegistry,
        /,
        *,
        syntax: MarkerSyntax = DEFAULT_SYNTAX,
        options: ExtractiveOptions = _DEFAULT_OPTIONS,
    ) -> None:
        try:
            from . import ranking, terms  # noqa: PLC0415 - their libraries are an extra
        except ImportError as error:
            raise OptionError(
                "answering offline wants an extra: pip install 'citestream[ask]'"
            ) from error
        self._ranking, self._terms = ranking.Ranking, terms
        self._registry = registry
        self._syntax = syntax
        self._options = options
        self._shown = PromptOptions(syntax=syntax, family=options.family)
        self._found: list[_Found] = []
        self._read = 0  # sources that ``_found`` is of
        self._ranked: dict[str, Ranking] = {}  # by language, of ``_found``

    def answer(
        self,
        question: str,
        /,
        *,
        message_id: str | None = None,
        timestamp: datetime | None = None,
    ) -> Iterator[SessionEvent]:
        """Give the events of an answer: message start, deltas, the whole message, session idle.

        The same ``message_id`` and ``timestamp`` give the same events; without them the message has
        an id of its own and the time of now. Raises LimitError for too long a question, OptionError
        where the syntax lacks the locators of a source.
        """
        if len(question) > self._options.max_question_chars:
            bound = self._options.max_question_chars
            raise LimitError(f"max_question_chars: at most {bound}, got {len(question)}")
        text = self._text(self._best(well_formed(question)))
        return self._events(text, message_id or str(uuid4()), timestamp)

    # -- finding

    def _best(self, question: str) -> list[tuple[_Found, list[Heading]]]:
        """Return the passages to show, best first, with the headings that the question matches."""
        self._update()
        language = self._terms.language_of(question)
        wanted = self._terms.question_terms(question, language=language)
        best: dict[str, tuple[_Found, list[Heading]]] = {}
        for index in self._rank(language).best(wanted):
            found = self._found[index]
            # Copies of the same text count once.
            best.setdefault(
                found.passage.text.casefold(),
                (found, self._telling(found.passage, set(wanted), language)),
            )
            if len(best) == self._options.top:
                break
        return list(best.values())

    def _update(self) -> None:
        """Read the sources that were registered since the last question."""
        if self._read == len(self._registry):
            return
        sources = self._registry.sources
        self._found += [
            _Found(source=source, passage=passage)
            for source in sources[self._read :]
            for passage in _citable(source)
        ]
        self._read = len(sources)
        self._ranked.clear()

    def _rank(self, language: str) -> "Ranking":
        if language not in self._ranked:
            read = partial(self._terms.text_terms, language=language)
            above = lru_cache(maxsize=64)(read)  # a heading stands above many passages
            self._ranked[language] = self._ranking(
                [
                    [
                        *read(found.passage.text),
                        *(t for h in found.passage.headings for t in above(h.text)),
                    ]
                    for found in self._found
                ]
            )
        return self._ranked[language]

    def _telling(self, passage: Passage, wanted: set[str], language: str) -> list[Heading]:
        """Return the headings that hold what the question asks for and nothing below them does."""
        telling: list[Heading] = []
        missing = wanted - set(self._terms.text_terms(passage.text, language=language))
        for heading in reversed(passage.headings):
            held = missing.intersection(self._terms.text_terms(heading.text, language=language))
            if held:
                telling.insert(0, heading)
                missing -= held
        return telling

    # -- writing

    def _text(self, best: Sequence[tuple[_Found, list[Heading]]]) -> str:
        items = []
        for found, headings in best:
            ranges = [(heading.start, heading.end) for heading in headings]
            markers = self._markers(found.source, [*ranges, *found.passage.ranges])
            if not markers:
                continue
            text = " – ".join([*(heading.text for heading in headings), found.passage.text])
            text = neutralise(_inert(text), syntax=self._syntax)
            if self._syntax.highlight:
                begin, end, _ = self._syntax.highlight
                text = f"{begin}{text}{end}"
            items.append(f"- {text} {markers}\n")
        if not items:
            return f"{_NOTHING}\n"
        return f"{_FOUND}\n\n{''.join(items)}"

    def _markers(self, source: RegisteredSource, ranges: Sequence[Range]) -> str:
        """Return the markers that cite ``ranges`` of ``source``, in its granularity."""
        ids, pairs = [source.id], []
        if source.granularity is Granularity.BLOCK:
            numbers = [n for one in ranges for n in _parts(source.document.blocks, one)]
            ids = [source.block_ids[number] for number in dict.fromkeys(numbers)]
        elif source.granularity is Granularity.PAGE:
            pages = [_parts(source.document.pages, one) for one in ranges]
            pairs = [(page[0] + 1, page[-1] + 1) for page in pages]
        elif source.granularity is Granularity.LINE:
            at = source.document.lines.number_at
            pairs = [(at(start), at(end - 1)) for start, end in ranges]
        if not pairs:
            return "".join(map(self._marker, ids))
        prefix = self._shown.prefix(source.granularity.value)
        locators = (self._locator(prefix, *pair) for pair in _joined(pairs))
        return "".join(self._marker(source.id, locator=locator) for locator in locators)

    def _marker(self, source_id: str, *, locator: str | None = None) -> str:
        if source_id not in self._registry:
            return ""  # the id means two sources: whoever read it could not tell which
        family, syntax = self._options.family, self._syntax
        return format_marker(source_id, locator=locator, family=family, syntax=syntax)

    def _locator(self, prefix: str, first: int, last: int) -> str | None:
        """Write a locator that is not the id of a source too, None where there is no such.

        A field that is registered is an id, even where it looks like a locator. Zeros before the
        number make another spelling of the same place.
        """
        for zeros in map("0".__mul__, range(_SPELLINGS)):
            locator = f"{prefix}{zeros}{first}"
            if last > first:
                locator = f"{locator}-{prefix}{last}"
            if locator not in self._registry:
                return locator
        return None

    def _events(
        self, text: str, message_id: str, timestamp: datetime | None
    ) -> Iterator[SessionEvent]:
        moment = datetime.now(UTC) if timestamp is None else timestamp
        numbers = count()
        parent: str | None = None

        def event(kind: SessionEventType, data: SessionEventData) -> SessionEvent:
            nonlocal parent
            made = SessionEvent(
                id=str(uuid5(_IDS, f"{message_id}:{next(numbers)}")),
                timestamp=moment,
                parent_id=parent,
                type=kind,
                data=data,
                ephemeral=kind is not SessionEventType.ASSISTANT_MESSAGE or None,
            )
            parent = made.id
            return made

        yield event(
            SessionEventType.ASSISTANT_MESSAGE_START,
            AssistantMessageStartData(message_id=message_id),
        )
        size = self._options.delta_chars
        for at in range(0, len(text), size):
            delta = AssistantMessageDeltaData(
                message_id=message_id, delta_content=text[at : at + size]
            )
            yield event(SessionEventType.ASSISTANT_MESSAGE_DELTA, delta)
        message = AssistantMessageData(content=text, message_id=message_id)
        yield event(SessionEventType.ASSISTANT_MESSAGE, message)
        yield event(SessionEventType.SESSION_IDLE, SessionIdleData())


def _inert(text: str) -> str:
    """Escape what would be an image, a footnote, a link definition or HTML of the answer's own."""
    return _LIVE.sub(lambda match: "\\" + match[0] if match["live"] else match[0], text)


def _citable(source: RegisteredSource) -> Iterator[Passage]:
    """Give the passages of ``source`` that its granularity can point at.

    Pages and blocks that the caller marked need not hold all of the content.
    """
    parts = None
    if source.granularity is Granularity.BLOCK:
        parts = source.document.blocks
    elif source.granularity is Granularity.PAGE:
        parts = source.document.pages
    for passage in passages(source.document.content):
        if parts is None:
            yield passage
        elif all(_parts(parts, one) for one in passage.ranges):
            headings = [h for h in passage.headings if _parts(parts, (h.start, h.end))]
            yield attrs.evolve(passage, headings=tuple(headings))


def _parts(parts: Sequence[Range], wanted: Range) -> range:
    """Return the indexes of the parts that hold some of the range ``wanted``."""
    start, end = wanted
    return range(
        bisect_right(parts, start, key=lambda part: part[1]),
        bisect_left(parts, end, key=lambda part: part[0]),
    )


def _joined(pairs: Iterable[Range]) -> list[Range]:
    """Join ranges of numbers, both ends inclusive, that meet or overlap; ordered."""
    joined: list[Range] = []
    for first, last in sorted(pairs):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined
