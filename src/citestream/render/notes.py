"""Numbers, labels and places of citations: what every renderer says about them.

In: content and citations. Out: which numbers stand where in the content, and one Note per source.
Titles, URLs and the rest come from strangers: what is said here is one line of visible characters,
and escaping it for the sink is the renderer's job.
"""

import re
import unicodedata
from collections.abc import Mapping

import attrs

from ..model import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
)
from ..offsets import from_utf16_many

__all__ = ("Note", "marked_pieces", "notes", "one_line", "safe_url")

_URL = re.compile(r"(?:https?://|mailto:)[^\s\"'<>\\^`{|}\x00-\x20\x7f-\xa0]+", re.IGNORECASE)
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@attrs.frozen(kw_only=True)
class Note:
    """A source as a list of sources shows it.

    ``label`` is its title, else its URL, path or id; ``url`` is set when it may be a link;
    ``places`` says where in the source the answer's claims are, each once, in order of citation.
    """

    number: int
    label: str
    url: str | None
    places: tuple[str, ...]


def one_line(text: str, /) -> str:
    """Return ``text`` as one line without control, formatting or private-use characters."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or _seen(c))
    return " ".join("".join(kept).split())


def _seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN


def safe_url(url: str | None, /) -> str | None:
    """Return ``url`` when it is http, https or mailto and holds no character that ends a link."""
    return url if url is not None and _URL.fullmatch(url) else None


def notes(citations: Citations | None, /) -> list[Note]:
    """Return a note for every source, numbered from 1 in the order of the sources."""
    if citations is None:
        return []
    places: dict[str, dict[str, None]] = {source.id: {} for source in citations.sources}
    ids: dict[str, str] = {}
    for span in citations.spans:
        for reference in span.references:
            place = _place(reference)
            if place:
                places[reference.source_id][place] = None
            name = _detail(reference, "citableSourceId")
            if name:
                ids.setdefault(reference.source_id, name)
    return [
        Note(
            number=number,
            label=_label(source, ids.get(source.id)),
            url=safe_url(source.url),
            places=tuple(places[source.id]),
        )
        for number, source in enumerate(citations.sources, 1)
    ]


def marked_pieces(
    content: str, citations: Citations | None, /
) -> list[tuple[str, tuple[int, ...]]]:
    """Cut ``content`` behind every span: pairs of a piece and the numbers that follow it.

    Joined, the pieces are the content. Each number comes once behind a piece.
    """
    if citations is None or not citations.spans:
        return [(content, ())]
    numbers = {source.id: number for number, source in enumerate(citations.sources, 1)}
    marks: dict[int, dict[int, None]] = {}
    ends = from_utf16_many(content, [span.end_index for span in citations.spans])
    for end, span in zip(ends, citations.spans, strict=True):
        for reference in span.references:
            marks.setdefault(end, {})[numbers[reference.source_id]] = None
    pieces = []
    begin = 0
    for end in sorted(marks):
        pieces.append((content[begin:end], tuple(marks[end])))
        begin = end
    pieces.append((content[begin:], ()))
    return pieces


def _label(source: CitationSource, name: str | None) -> str:
    for text in (source.title, source.url, source.path, name, source.id):
        label = one_line(text or "")
        if label:
            return label
    return "source"


def _detail(reference: CitationReference, key: str) -> str | None:
    metadata = reference.provider_metadata
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    return one_line(value) if isinstance(value, str) else None


def _place(reference: CitationReference) -> str | None:
    location = reference.location
    locator = _detail(reference, "locator")
    if locator:
        return locator
    if isinstance(location, CitationLocationPage):
        return _range("page", location.start_page, location.end_page)
    if isinstance(location, CitationLocationBlock):
        return _range(
            "block", location.start_block, max(location.start_block, location.end_block - 1)
        )
    if isinstance(location, CitationLocationChar):
        return f"characters {location.start_index}-{location.end_index}"
    return None


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"
