"""Citation markers in text: what they look like, where they are, how they are hidden.

======================  =====================================================================
``syntax``              what a marker looks like, as data; writing one
``grammar``             how the inside of a marker is read
``tokenizer``           where markers begin and end, in a text that comes in pieces
``visible``             which blanks and lines go together with a marker
``stream``, ``parsing`` hiding markers in deltas; reading the markers of a whole text
``extraction``          the pair compatible with OpenAI's published helper
======================  =====================================================================

What is cited becomes ``Citations`` in ``citestream.resolver``; the words a marker supports are
found in ``citestream.claims``.
"""

from .extraction import Marker, extract_citations, strip_citations
from .marker import MarkedText, MarkerProblem, MarkerTarget, ParsedMarker, PlacedMarker
from .parsing import parse_markers
from .stream import MarkerFilter
from .syntax import (
    BLOCKS,
    CHARACTERS,
    DEFAULT_SYNTAX,
    FAMILIES,
    LINES,
    PAGES,
    Family,
    FamilyKind,
    Locator,
    LocatorPattern,
    MarkerSyntax,
    format_marker,
)
from .visible import OTHER_FAMILIES

__all__ = (
    "BLOCKS",
    "CHARACTERS",
    "DEFAULT_SYNTAX",
    "FAMILIES",
    "LINES",
    "OTHER_FAMILIES",
    "PAGES",
    "Family",
    "FamilyKind",
    "Locator",
    "LocatorPattern",
    "MarkedText",
    "Marker",
    "MarkerFilter",
    "MarkerProblem",
    "MarkerSyntax",
    "MarkerTarget",
    "ParsedMarker",
    "PlacedMarker",
    "extract_citations",
    "format_marker",
    "parse_markers",
    "strip_citations",
)
