"""Finding the range of a text that a vendor means, whatever it counts in.

In: a text and ranges in code points, UTF-16 units or UTF-8 bytes, with what should stand there.
Out: ranges in code points. A range that cannot be right is None, never clamped: vendors count
otherwise than they say (off by an emoji, off by two bytes in lists), so where they also tell the
words, the words decide.
"""

from bisect import bisect_left
from itertools import accumulate

import attrs

from ..events import OffsetUnit, TextRange

__all__ = ("FoundRange", "RangeFinder")

_NEAR = 8  # code points between where a vendor says its words stand and where they do


@attrs.frozen(kw_only=True)
class FoundRange:
    """A range in code points, half-open; ``repaired`` when it is not where the vendor said."""

    start: int
    end: int
    repaired: bool


class RangeFinder:
    """Finds ranges in one text. What a unit needs is computed once per text, in linear time."""

    def __init__(self, text: str, /) -> None:
        self._text = text
        self._starts: dict[OffsetUnit, list[int]] = {}

    def find(self, wanted: TextRange, /) -> FoundRange | None:
        """Return the range that ``wanted`` means, None where no unit makes sense of it."""
        place = self._place(wanted, wanted.unit)
        if place is not None and self._fits(wanted, place):
            return FoundRange(start=place[0], end=place[1], repaired=False)
        if wanted.expected is None and wanted.holds is None:
            return None
        for unit in OffsetUnit:
            other = self._place(wanted, unit)
            if other is not None and self._fits(wanted, other):
                return FoundRange(start=other[0], end=other[1], repaired=True)
        return self._nearest(wanted, place)

    def _place(self, wanted: TextRange, unit: OffsetUnit) -> tuple[int, int] | None:
        start, end = self._point(wanted.start, unit), self._point(wanted.end, unit)
        if start is None or end is None or end < start:
            return None
        return start, end

    def _point(self, index: int, unit: OffsetUnit) -> int | None:
        """Return the code point that starts at ``index``, None for none."""
        if unit is OffsetUnit.CODE_POINT or self._text.isascii():
            return index if 0 <= index <= len(self._text) else None
        starts = self._starts.get(unit)
        if starts is None:
            width = _utf8 if unit is OffsetUnit.UTF8 else _utf16
            starts = self._starts[unit] = list(accumulate(map(width, self._text), initial=0))
        point = bisect_left(starts, index)
        return point if point < len(starts) and starts[point] == index else None

    def _fits(self, wanted: TextRange, place: tuple[int, int]) -> bool:
        words = self._text[place[0] : place[1]]
        if wanted.expected is not None and words != wanted.expected:
            return False
        return wanted.holds is None or wanted.holds in words

    def _nearest(self, wanted: TextRange, place: tuple[int, int] | None) -> FoundRange | None:
        """Look for the expected words where they are unique, or close to the place given."""
        words = wanted.expected
        if not words:
            return None
        first = self._text.find(words)
        if first < 0:
            return None
        if self._text.find(words, first + 1) >= 0:
            if place is None:
                return None
            low = max(0, place[0] - _NEAR)
            first = self._text.find(words, low, place[0] + _NEAR + len(words))
            if first < 0:
                return None
        return FoundRange(start=first, end=first + len(words), repaired=True)


def _utf8(character: str) -> int:
    return len(character.encode(errors="surrogatepass"))


def _utf16(character: str) -> int:
    return 2 if character > "\uffff" else 1
