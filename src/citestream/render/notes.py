"""Numbers, labels and places of citations: what every renderer says about them.

In: content and citations. Out: which numbers stand where in the content, and one Note per source.
Titles, URLs and the rest come from strangers: what is said here is one line of visible characters,
and escaping it for the sink is the renderer's job.
Deliberately elsewhere: where in the content the numbers stand (``placement``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from ..model import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)
from .labels import one_line
from .quotes import quote_lines
from .urls import safe_url, shown_url

__all__ = ("Note", "notes", "span_numbers", "with_notes")

_LINES = re.compile("L([0-9]+)(?:[-\u2013]L?([0-9]+))?", re.IGNORECASE)
_REDUCED = re.compile(r"\.(?:html?|xhtml|pdf)\Z", re.IGNORECASE)

_Key: TypeAlias = tuple[str, str | None, str | None]
"""What a note is for: a source, and where it is quoted the place and its text."""


@attrs.frozen(kw_only=True)
class Note:
    """A source as a list of sources shows it, or one place in it that is quoted.

    ``label`` is its title, else its URL, path or id; ``url`` is set when it may be a link;
    ``places`` says where in the source the answer's claims are, each once, in order of citation.
    ``quote`` holds the lines of the source that are shown under a note of one place.
    """

    number: int
    label: str
    url: str | None
    places: tuple[str, ...]
    quote: tuple[str, ...] = ()


def notes(citations: Citations | None, /, *, quoted_in: str | None = None) -> list[Note]:
    """Return a note for every source, numbered from 1 in the order of the sources.

    With the content that cites them as ``quoted_in``, there is a note for every place of which the
    source's text is known, with that text, and the numbers follow the content.
    """
    if citations is None:
        return []
    sources = {source.id: source for source in citations.sources}
    places: dict[_Key, dict[str, None]] = {
        key: {} for key in _numbers(citations, quotes=quoted_in is not None)
    }
    quotes: dict[_Key, tuple[str, ...]] = {}
    ids: dict[str, str] = {}
    for span, reference in _references(citations):
        source = sources[reference.source_id]
        key = _key(source, reference, quotes=quoted_in is not None)
        place = _place(source, reference)
        if place:
            places[key][place] = None
        if key[2] is not None and key not in quotes:
            quotes[key] = quote_lines(key[2], claim=span.slice(quoted_in or ""))
        name = _detail(reference, "citableSourceId")
        if name:
            ids.setdefault(source.id, name)
    return [
        Note(
            number=number,
            label=_label(sources[key[0]], ids.get(key[0])),
            url=safe_url(sources[key[0]].url),
            places=tuple(found),
            quote=quotes.get(key, ()),
        )
        for number, (key, found) in enumerate(places.items(), 1)
    ]


def span_numbers(citations: Citations, /, *, quotes: bool = False) -> list[tuple[int, ...]]:
    """Return for every span the numbers of its notes, each once, as ``notes`` numbers them."""
    sources = {source.id: source for source in citations.sources}
    numbers = _numbers(citations, quotes=quotes)
    return [
        tuple(
            dict.fromkeys(
                numbers[_key(sources[reference.source_id], reference, quotes=quotes)]
                for reference in span.references
            )
        )
        for span in citations.spans
    ]


def with_notes(body: str, listed: Sequence[str], /, *, title: str = "") -> str:
    """Return ``body`` with what is ``listed`` under it, and unchanged where nothing is."""
    if not listed:
        return body
    # A blank line behind a quotation, or the next note would be read as its last line.
    between = "\n\n" if any("\n" in note for note in listed) else "\n"
    return "\n\n".join([body.rstrip("\n"), *filter(None, [title]), between.join(listed)])


def _references(citations: Citations) -> Iterator[tuple[CitationSpan, CitationReference]]:
    return ((span, reference) for span in citations.spans for reference in span.references)


def _numbers(citations: Citations, *, quotes: bool) -> dict[_Key, int]:
    """Return the numbers of the notes, in their order, by what they are for."""
    sources = {source.id: source for source in citations.sources}
    keys: dict[_Key, None] = {}
    if quotes and any(reference.cited_text for _, reference in _references(citations)):
        for _, reference in _references(citations):
            keys[_key(sources[reference.source_id], reference, quotes=True)] = None
    noted = {source_id for source_id, _, _ in keys}
    keys.update({(source_id, None, None): None for source_id in sources if source_id not in noted})
    return {key: number for number, key in enumerate(keys, 1)}


def _key(source: CitationSource, reference: CitationReference, *, quotes: bool) -> _Key:
    if quotes and reference.cited_text:
        return source.id, _place(source, reference), reference.cited_text
    return source.id, None, None


def _label(source: CitationSource, name: str | None) -> str:
    url = shown_url(source.url or "") or source.url
    for text in (source.title, url, source.path, name, source.id):
        label = one_line(text or "")
        if label:
            return label
    return "source"


def _detail(reference: CitationReference, key: str) -> str | None:
    metadata = reference.provider_metadata
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    return one_line(value) if isinstance(value, str) else None


def _place(source: CitationSource, reference: CitationReference) -> str | None:
    location = reference.location
    locator = _detail(reference, "locator")
    client = source.provider == "client"
    if isinstance(location, CitationLocationPage):
        return _range("page", location.start_page, location.end_page)
    if isinstance(location, CitationLocationChar) and client and locator:
        lines = _LINES.fullmatch(locator)
        if lines is not None:
            place = _range("line", int(lines[1]), int(lines[2] or lines[1]))
            # Nobody can look up in the file a line of what was read out of it.
            reduced = _REDUCED.search(source.path or source.title or "")
            return f"{place} of its text" if reduced else place
    if locator:
        return locator
    if isinstance(location, CitationLocationBlock):
        # Vendors number blocks from 0, prompts those of registered sources from 1.
        base = int(client and _detail(reference, "citableSourceId") is not None)
        first, last = location.start_block + base, location.end_block - 1 + base
        return _range("block", first, max(first, last))
    if isinstance(location, CitationLocationChar):
        return f"characters {location.start_index}-{location.end_index}"
    return None


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"
