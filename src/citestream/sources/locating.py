"""From a place as a marker names it to a location in a document and the exact text there.

In: a document, a unit and two numbers. Out: ``Located``, or ``Unlocated`` with what is wrong.
Numbers come from a model: nothing raises, nothing is clamped, nothing is guessed.

=========  ==================================  ===================================
unit       ``start`` and ``end``               location
=========  ==================================  ===================================
``line``   1-based, ``end`` inclusive          ``char``: the lines, without the last line end
``page``   1-based, ``end`` inclusive          ``page``: 1-based, inclusive
``block``  1-based, ``end`` inclusive          ``block``: 0-based, end exclusive
``char``   0-based, ``end`` exclusive          ``char``
=========  ==================================  ===================================

A ``char`` location counts code points of the source text; the Copilot schema does not say which
unit it means. Deliberately elsewhere: ids (``registry``).
"""

from typing import Literal, TypeAlias

import attrs

from ..errors import brief
from ..model import (
    CitationLocation,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
)
from .documents import Range, SourceDocument

__all__ = ("Located", "Place", "ProblemKind", "Unlocated", "locate_in")

ProblemKind: TypeAlias = Literal["unknown_source", "out_of_range", "reversed_range"]
"""What may be wrong with a place. These are kinds of issues too."""


@attrs.frozen(kw_only=True)
class Place:
    """A part of a document: its location, its range of characters and its exact text."""

    location: CitationLocation
    start: int
    end: int
    text: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Located:
    """What a source id and a locator mean.

    ``key`` is the id of the whole source: two places with the same key are in the same source.
    ``cited_text`` is the exact text at ``location``, both None for a source as a whole. ``start``
    and ``end`` are its code points in the content of the source, 0-based, half-open.
    """

    source_id: str
    key: str
    title: str | None = attrs.field(default=None, repr=False)
    url: str | None = attrs.field(default=None, repr=False)
    path: str | None = None
    location: CitationLocation | None = None
    cited_text: str | None = attrs.field(default=None, repr=False)
    start: int | None = None
    end: int | None = None


@attrs.frozen(kw_only=True)
class Unlocated:
    """Why a source id or a locator means nothing. ``message`` says what there is instead.

    ``near`` holds registered ids that resemble an unknown one, at most three, best first.
    """

    source_id: str
    kind: ProblemKind
    message: str
    near: tuple[str, ...] = ()


def locate_in(
    document: SourceDocument, /, *, unit: str, start: int, end: int
) -> Place | tuple[ProblemKind, str]:
    r"""Return the place in ``document``, or the kind of problem and what the document has.

    >>> from .documents import from_text
    >>> locate_in(from_text("one\ntwo"), unit="line", start=2, end=2)
    Place(location=CitationLocationChar(start_index=4, end_index=7), start=4, end=7)
    >>> locate_in(from_text("one\ntwo"), unit="line", start=2, end=3)
    ('out_of_range', 'has 2 lines: there are no lines 2 to 3')
    """
    if unit not in _COUNTED:
        return "out_of_range", f"has no places of the kind {brief(unit)}"
    if end < start:
        return "reversed_range", _REVERSED.format(start=brief(start), end=brief(end))
    if unit == "char":
        return _characters(document, start, end)
    count = _count(document, unit)
    if not 1 <= start <= end <= count:
        return "out_of_range", _missing(unit, count, start, end)
    location: CitationLocation
    if unit == "line":
        first, last = document.lines.range(start, end)
        location = CitationLocationChar(start_index=first, end_index=last)
    elif unit == "page":
        first, last = _span(document.pages, start, end)
        location = CitationLocationPage(start_page=start, end_page=end)
    else:
        first, last = _span(document.blocks, start, end)
        location = CitationLocationBlock(start_block=start - 1, end_block=end)
    return Place(location=location, start=first, end=last, text=document.content[first:last])


_REVERSED = "cannot be cited from {start} to {end}: the range ends before it starts"
_COUNTED = {"line": "line", "page": "page", "block": "block", "char": "character"}


def _characters(document: SourceDocument, start: int, end: int) -> Place | tuple[ProblemKind, str]:
    count = len(document.content)
    if not 0 <= start < end <= count:
        return "out_of_range", _missing("char", count, start, end)
    location = CitationLocationChar(start_index=start, end_index=end)
    return Place(location=location, start=start, end=end, text=document.content[start:end])


def _count(document: SourceDocument, unit: str) -> int:
    if unit == "line":
        return len(document.lines)
    return len(document.pages if unit == "page" else document.blocks)


def _span(ranges: tuple[Range, ...], first: int, last: int) -> Range:
    return ranges[first - 1][0], ranges[last - 1][1]


def _missing(unit: str, count: int, start: int, end: int) -> str:
    noun = _COUNTED[unit]
    has = f"has {count or 'no'} {noun}{'' if count == 1 else 's'}"
    if start == end and unit != "char":
        return f"{has}: there is no {noun} {brief(start)}"
    return f"{has}: there are no {noun}s {brief(start)} to {brief(end)}"
