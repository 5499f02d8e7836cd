"""The words that a marker supports (SPEC section 4).

In: the content that a reader sees and where markers stood in it. Out: one range for each marker. A
marker follows what it supports, so the range is the sentence before it: from the start of that
sentence, or from the previous markers in it, to the last visible character before the marker,
within one paragraph, list item or table cell. Markers with only blanks between them share one
range.

Sentences are found by sentencex. Ranges are code points of the content, half-open.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from ..errors import OptionError, brief
from .regions import Region, regions
from .sentences import SENTENCE_WINDOW, split_sentences

__all__ = ("CLAIM_SPANS", "claim_spans")

CLAIM_SPANS = ("sentence", "paragraph", "point")
"""What a claim may cover: the sentence or the paragraph before a marker, or just its place."""

_EMPHASIS = "*_~"
_MAX_PAIRED = 4096  # code points; in a longer range a stray emphasis mark does no harm
_WHITE = " \t\r\n\u00a0\u3000"
_BEFORE = _WHITE + ">"  # what may stand before the first word, also in a quoted line
_TAIL = re.compile(r"[*_~\"')\]}»”’）】」』》]+(?=\s|\Z)\s*")  # belongs to the sentence before it
_LEADING = _WHITE + _EMPHASIS + ">,;:.!?)]}、。，．：；！？）】」』》"


def claim_spans(
    content: str, positions: Sequence[int], /, *, spans: str = "sentence"
) -> list[tuple[int, int]]:
    """Return the range of ``content`` that each of the markers at ``positions`` supports.

    ``positions`` are in order. A marker that nothing stands before supports an empty range. Takes
    time linear in ``content``. Raises OptionError for another ``spans`` than those of CLAIM_SPANS.

    >>> content = "Rents rose, per Dr. Lee. Wages fell."
    >>> [content[start:end] for start, end in claim_spans(content, [24, 36])]
    ['Rents rose, per Dr. Lee.', 'Wages fell.']
    """
    if spans not in CLAIM_SPANS:
        raise OptionError(f"spans: wanted one of {', '.join(CLAIM_SPANS)}, got {brief(spans)}")
    if spans == "point" or not positions:
        return [(position, position) for position in positions]
    return _Claims(content, by_sentence=spans == "sentence").find(positions)


class _Claims:
    def __init__(self, content: str, *, by_sentence: bool) -> None:
        self._content = content
        self._by_sentence = by_sentence
        self._regions = regions(content)
        self._starts = [region.start for region in self._regions]
        self._split_region: Region | None = None  # the last one that was split
        self._split_starts: list[int] = []

    def find(self, positions: Sequence[int]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        previous = -1
        for position in positions:
            if found and not self._content[previous:position].strip(" \t"):
                found.append(found[-1])
            else:
                found.append(self._claim(position, found[-1] if found else (0, 0)))
            previous = position
        return found

    def _claim(self, position: int, previous: tuple[int, int]) -> tuple[int, int]:
        """Return the range before ``position``; ``previous`` is that of the markers before."""
        index = bisect_right(self._starts, position - 1) - 1
        if index < 0:
            return position, position
        region = self._regions[index]
        start = region.start
        end = _back(self._content, start, min(position, region.end), _WHITE)
        if region.whole or self._by_sentence:
            start = self._sentence(region, end - 1)
            if start < previous[1]:
                start = self._behind(previous, end)
        start, end = _paired(self._content, _forth(self._content, start, end, _BEFORE), end)
        return _forth(self._content, start, end, _BEFORE), end

    def _sentence(self, region: Region, position: int) -> int:
        """Return where the sentence of ``region`` that holds ``position`` starts."""
        if region is not self._split_region:
            self._split_region, self._split_starts = region, self._split(region)
        starts = self._split_starts
        return starts[bisect_right(starts, position) - 1]

    def _split(self, region: Region) -> list[int]:
        """Return where the sentences of ``region`` start."""
        starts = [region.start]
        at = region.start
        ended = False  # the sentence before is complete
        while not region.whole and at < region.end:
            end = min(at + SENTENCE_WINDOW, region.end)
            sentences = split_sentences(self._content[at:end])
            goes_on = end < region.end and len(sentences) == 1
            if end < region.end and not goes_on:
                sentences.pop()
            for sentence in sentences:
                tail = _TAIL.match(sentence)
                start = at + tail.end() if tail else at
                if ended and start < at + len(sentence):
                    starts.append(start)
                at += len(sentence)
                ended = True
            ended = not goes_on
        return starts

    def _behind(self, previous: tuple[int, int], end: int) -> int:
        """Return where a claim starts that shares its sentence with the markers before it."""
        start = _forth(self._content, previous[1], end, _LEADING)
        return start if start < end else previous[0]


def _forth(content: str, start: int, end: int, characters: str) -> int:
    while start < end and content[start] in characters:
        start += 1
    return start


def _back(content: str, start: int, end: int, characters: str) -> int:
    while start < end and content[end - 1] in characters:
        end -= 1
    return end


def _paired(content: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the emphasis marks at either end that have no partner inside the range."""
    while start < end <= start + _MAX_PAIRED:
        text = content[start:end]
        opening = text[: len(text) - len(text.lstrip(_EMPHASIS))]
        closing = text[len(text.rstrip(_EMPHASIS)) :]
        if opening and text.count(opening) == (2 if opening == closing else 1):
            start += len(opening)
            end -= len(closing) if opening == closing else 0
        elif closing and text.count(closing) == 1:
            end -= len(closing)
        else:
            break
    return start, max(start, end)
