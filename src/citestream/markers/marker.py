"""The values that reading a text gives: markers, what they cite, and what is wrong with them.

Positions are code points. ``start`` and ``end`` count in the text that was read; ``position`` and
``claim`` count in the content that a reader sees.
"""

import attrs

from .syntax import FamilyKind, Locator

__all__ = ("MarkedText", "MarkerProblem", "MarkerTarget", "ParsedMarker", "PlacedMarker")


@attrs.frozen(kw_only=True)
class MarkerTarget:
    """One source that a marker cites, and where in it."""

    source_id: str
    locator: Locator | None = None


@attrs.frozen(kw_only=True)
class MarkerProblem:
    """Something wrong with a marker. ``kind`` is that of the issue it becomes."""

    kind: str
    message: str


@attrs.frozen(kw_only=True)
class ParsedMarker:
    """A marker as it stands in a text, from ``start`` up to ``end``.

    ``targets`` is empty for families that cite nothing and for markers that cannot be used;
    ``label`` is the part of the marker that belongs to the sentence.
    """

    raw: str
    family: str
    kind: FamilyKind
    start: int
    end: int
    targets: tuple[MarkerTarget, ...] = ()
    label: str = ""
    problems: tuple[MarkerProblem, ...] = ()


@attrs.frozen(kw_only=True)
class PlacedMarker:
    """A marker and where it stood in the content that a reader sees.

    ``claim`` is the range that the text itself marks as supported (U+E203 to U+E204), if it does.
    """

    marker: ParsedMarker
    position: int
    claim: tuple[int, int] | None = None


@attrs.frozen(kw_only=True)
class MarkedText:
    """A text read whole: ``content`` is what a reader sees, ``markers`` what was taken out.

    ``runs`` lists what of the text is in the content: (start in the text, end in the text, start in
    the content), ordered, for text that passed unchanged.
    """

    content: str
    markers: tuple[PlacedMarker, ...]
    runs: tuple[tuple[int, int, int], ...] = attrs.field(repr=False)
