"""Offsets in text: UTF-16 code units on one side, Python code points on the other.

The wire counts UTF-16 code units (SPEC section 2), Python counts code points. All indexes here are
0-based; ranges are half-open. An index that falls inside a surrogate pair belongs to the pair's
start, so no conversion ever splits a character. Indexes beyond the text mean its end.

Strings read from JSON may hold surrogates as code points of their own: each counts one unit.
Nothing else in the package knows about surrogates.
"""

import re
import sys
from collections.abc import Iterable

from .errors import OptionError

__all__ = (
    "from_utf16",
    "from_utf16_many",
    "is_high_surrogate",
    "to_utf16",
    "to_utf16_many",
    "utf16_length",
    "utf16_slice",
    "well_formed",
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_SIZE_TELLS = sys.implementation.name == "cpython"
_CODEC = "utf-16-le"
_STEP = 1024  # code points encoded at once while looking for a UTF-16 index


def utf16_length(text: str, /) -> int:
    """Return the length of ``text`` in UTF-16 code units.

    >>> utf16_length("a📎")
    3
    """
    if _one_unit_each(text):
        return len(text)
    return len(text.encode(_CODEC, "surrogatepass")) >> 1


def _one_unit_each(text: str) -> bool:
    """Tell whether surely no character of ``text`` takes two units, without looking at any.

    CPython stores a text that has such a character in four bytes for every character.
    """
    return text.isascii() or (_SIZE_TELLS and text.__sizeof__() < 4 * len(text))


def _check(index: int) -> None:
    if index < 0:
        raise OptionError(f"an offset counts from the start: wanted 0 or more, got {index}")


def to_utf16(text: str, index: int, /) -> int:
    """Convert a code point index into ``text`` to UTF-16 code units.

    Raises OptionError for a negative index.

    >>> to_utf16("📎 memo", 1)
    2
    """
    _check(index)
    return utf16_length(text[:index])


def to_utf16_many(text: str, indexes: Iterable[int], /) -> list[int]:
    """Convert many code point indexes at once, in any order, in time linear in ``text``.

    >>> to_utf16_many("📎 memo", [2, 0, 2])
    [3, 0, 3]
    """
    wanted = list(indexes)
    if not wanted:
        return wanted
    _check(min(wanted))
    size = len(text)
    if _one_unit_each(text) or utf16_length(text) == size:
        return [index if index < size else size for index in wanted]  # noqa: FURB136 - no call
    units: dict[int, int] = {}
    position = total = 0
    for index in sorted(set(wanted)):
        total += utf16_length(text[position:index])
        position = index
        units[index] = total
    return [units[index] for index in wanted]


def from_utf16(text: str, index: int, /) -> int:
    """Convert a UTF-16 index into ``text`` to code points; inside a pair it means the pair's start.

    Raises OptionError for a negative index.

    >>> from_utf16("📎 memo", 3)
    2
    """
    return from_utf16_many(text, (index,))[0]


def from_utf16_many(text: str, indexes: Iterable[int], /) -> list[int]:
    """Convert many UTF-16 indexes at once, in any order, in time linear in ``text``.

    Raises OptionError for a negative index.

    >>> from_utf16_many("📎 memo", [3, 1, 0])
    [2, 0, 0]
    """
    wanted = list(indexes)
    if not wanted:
        return wanted
    _check(min(wanted))
    size = len(text)
    if _one_unit_each(text) or utf16_length(text) == size:
        return [index if index < size else size for index in wanted]  # noqa: FURB136 - no call
    points: dict[int, int] = {}
    position = units = 0
    for index in sorted(set(wanted)):
        position, units = _advance(text, position, units, index)
        points[index] = position
    return [points[index] for index in wanted]


def _advance(text: str, position: int, units: int, index: int) -> tuple[int, int]:
    """Walk from ``position`` (at ``units``) to the last code point that starts by ``index``."""
    size = len(text)
    while position < size:
        chunk = text[position : position + _STEP]
        length = utf16_length(chunk)
        if units + length > index:
            break
        position += len(chunk)
        units += length
    for character in text[position : position + _STEP]:
        width = 2 if character > "\uffff" else 1
        if units + width > index:
            break
        position += 1
        units += width
    return position, units


def utf16_slice(text: str, start: int, end: int, /) -> str:
    """Return what the UTF-16 range ``start`` to ``end`` of ``text`` covers; pairs stay whole.

    Raises OptionError for a negative index or a range that ends before it starts.

    >>> utf16_slice("📎 memo", 3, 7)
    'memo'
    """
    _check(start)
    if end < start:
        raise OptionError(f"a range ends at or after its start: got {start} to {end}")
    first, last = from_utf16_many(text, (start, end))
    return text[first:last]


def is_high_surrogate(text: str, /) -> bool:
    """Tell whether ``text`` ends in the first half of a surrogate pair."""
    return "\ud800" <= text[-1:] <= "\udbff"


def well_formed(text: str, /) -> str:
    r"""Join surrogate pairs held as two code points and replace lone surrogates by U+FFFD.

    The length in UTF-16 code units does not change.

    >>> well_formed("\ud83d\udcce and \ud83d")
    '📎 and \ufffd'
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode(_CODEC, "surrogatepass").decode(_CODEC, "replace")
