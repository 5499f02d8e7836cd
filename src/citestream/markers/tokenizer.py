"""The one place that decides where a marker begins and ends: text in, tokens out, cut anywhere.

``Tokenizer.feed(text)`` returns what is decided; ``finish()`` decides the rest. Joined, the tokens
are the whole text, and they do not depend on how it was cut. What may still become a marker is
held, at most ``max_length`` code points (SPEC section 4):

- START, a family of the syntax and DELIM or STOP begin a marker; anything else is text.
- The marker ends with STOP. A second START ends it too, and so does the end of the text; of such
  a marker only what is surely no prose belongs to it.
- A START that gets neither within ``max_length`` code points is text.

Deliberately elsewhere: what a marker means (``grammar``), which blanks go with it (``visible``).
"""

from collections.abc import Container
from enum import Enum
from typing import TypeAlias

import attrs

from ..errors import StateError
from ..offsets import is_high_surrogate, well_formed
from .grammar import NO_SOURCES, Grammar
from .marker import MarkerProblem, ParsedMarker
from .syntax import FamilyKind

__all__ = ("HighlightMark", "PlainText", "Token", "Tokenizer")


class HighlightMark(Enum):
    """One of the three characters that always leave the text."""

    OPEN = "open"
    CLOSE = "close"
    PLACEHOLDER = "placeholder"


@attrs.frozen(kw_only=True)
class PlainText:
    """Text that is no marker; ``start`` counts code points of the whole text."""

    text: str
    start: int


Token: TypeAlias = PlainText | ParsedMarker | HighlightMark


class Tokenizer:
    """Splits a text that comes in pieces into plain text, markers and highlight marks.

    ``known`` holds the registered source ids; it is asked when a marker is complete. Surrogate
    halves that meet are joined, lone ones become U+FFFD.
    """

    def __init__(self, grammar: Grammar, /, *, known: Container[str] = NO_SOURCES) -> None:
        self._grammar = grammar
        self._known = known
        self._marks = dict(zip(grammar.syntax.highlight or (), HighlightMark, strict=False))
        self._held: list[str] = []  # begins at a START (or at part of one), nothing decided yet
        self._held_size = 0
        self._half = ""  # a high surrogate that waits for its other half
        self._position = 0  # of what comes after everything that was given out
        self._in_body = False
        self._finished = False
        syntax = grammar.syntax
        self._single = len(syntax.start) == 1 == len(syntax.stop)

    @property
    def holds(self) -> bool:
        """Whether anything was fed that is not decided yet."""
        return bool(self._held or self._half)

    def passes(self, text: str, /) -> int:
        """Note that ``text`` is plain and goes past here, while nothing is held.

        Returns where it stands in the whole text.
        """
        at = self._position
        self._position += len(text)
        return at

    def feed(self, text: str, /) -> list[Token]:
        """Take the next piece of the text and return what it decides.

        Raises StateError after ``finish``.
        """
        if self._finished:
            raise StateError("feed: the text is finished")
        text = self._half + text
        self._half = ""
        if is_high_surrogate(text):
            self._half = text[-1]
            text = text[:-1]
        if not text:
            return []
        return self._take(well_formed(text), last=False)

    def finish(self) -> list[Token]:
        """Say that the text ends here and return the rest.

        Raises StateError when called twice.
        """
        if self._finished:
            raise StateError("finish: the text is finished already")
        self._finished = True
        text = well_formed(self._half)
        self._half = ""
        return self._take(text, last=True)

    def _take(self, text: str, *, last: bool) -> list[Token]:
        if self._held:
            self._held.append(text)
            self._held_size += len(text)
            if not last and self._cannot_decide(text):
                return []
            text = "".join(self._held)
            self._held.clear()
            self._in_body = False
        tokens: list[Token] = []
        rest = self._scan(text, tokens, last=last)
        self._position += rest
        if rest < len(text):
            self._held.append(text[rest:])
            self._held_size = len(text) - rest
        return tokens

    def _cannot_decide(self, text: str) -> bool:
        """Tell whether the held marker surely goes on, without looking at all of it again."""
        syntax = self._grammar.syntax
        return (
            self._in_body
            and self._single
            and self._held_size < syntax.max_length
            and syntax.stop not in text
            and syntax.start not in text
        )

    def _scan(self, text: str, tokens: list[Token], *, last: bool) -> int:
        """Add the tokens of ``text`` and return how much of it they cover."""
        search = self._grammar.special.search
        begin = position = 0  # where the plain text that is being collected begins; where to look
        while (match := search(text, position)) is not None:
            at = match.start()
            mark = self._marks.get(match[0])
            if mark is not None:
                self._plain(text, begin, at, tokens)
                tokens.append(mark)
                begin = position = at + 1
                continue
            marker = self._marker(text, at, last=last)
            if marker is None:
                self._plain(text, begin, at, tokens)
                return at
            if marker.raw:
                self._plain(text, begin, at, tokens)
                tokens.append(marker)
                begin = position = at + len(marker.raw)
            else:
                position = at + 1  # a START may begin inside this one
        end = len(text) if last else len(text) - self._partial_start(text, begin)
        self._plain(text, begin, end, tokens)
        return end

    def _plain(self, text: str, begin: int, end: int, tokens: list[Token]) -> None:
        if begin < end:
            tokens.append(PlainText(text=text[begin:end], start=self._position + begin))

    def _partial_start(self, text: str, begin: int) -> int:
        """Return how many characters at the end of ``text`` may be the beginning of a START."""
        start = self._grammar.syntax.start
        for size in range(min(len(start) - 1, len(text) - begin), 0, -1):
            if text.endswith(start[:size]):
                return size
        return 0

    def _marker(self, text: str, at: int, *, last: bool) -> ParsedMarker | None:
        """Read the marker whose START is at ``at``: None while undecided, an empty one for text."""
        grammar, syntax = self._grammar, self._grammar.syntax
        after = at + len(syntax.start)
        head = grammar.head.match(text, after)
        if head is None:
            return self._family(text, at, after, last=last)
        family = head[1]
        limit = at + syntax.max_length
        inner = text.find(syntax.start, head.end(), limit)
        stop = text.find(syntax.stop, head.end(), limit if inner < 0 else inner)
        if stop >= 0:
            raw = text[at : stop + len(syntax.stop)]
            return self._read(raw, family, at, closed=True)
        if inner >= 0:
            return self._read(grammar.cut(text[at:inner], family), family, at, closed=False)
        if len(text) >= limit:
            return _TEXT
        if not last:
            self._in_body = True
            return None
        return self._truncated(grammar.cut(text[at:], family), family, at)

    def _family(self, text: str, at: int, after: int, *, last: bool) -> ParsedMarker | None:
        """Decide about a START that no whole family follows."""
        rest = text[after : after + self._grammar.longest_opening]
        if rest not in self._grammar.cut_openings:
            return _TEXT
        return self._truncated(text[at:], "", at) if last else None

    def _read(self, raw: str, family: str, at: int, *, closed: bool) -> ParsedMarker:
        return self._grammar.read(
            raw, family=family, start=self._position + at, closed=closed, known=self._known
        )

    def _truncated(self, raw: str, family: str, at: int) -> ParsedMarker:
        """Read a marker that the end of the text cuts off. It cites nothing: its id may be cut."""
        kind = self._grammar.kinds.get(family, FamilyKind.CITING)
        start = self._position + at
        problem = MarkerProblem(
            kind="truncated_marker", message="is cut off by the end of the text"
        )
        label = ""
        ended = kind is FamilyKind.NAMED or raw.count(self._grammar.syntax.delimiter) > 1
        if kind.bears_prose and ended:
            label = self._read(raw, family, at, closed=False).label
        return ParsedMarker(
            raw=raw,
            family=family,
            kind=kind,
            start=start,
            end=start + len(raw),
            label=label,
            problems=(problem,),
        )


_TEXT = ParsedMarker(raw="", family="", kind=FamilyKind.WIDGET, start=0, end=0)
"""Stands for a START that begins no marker."""
