"""The documents that a chat cites: their lines for the page, and where in them a citation is.

In: registered sources and the citations of an answer. Out: JSON-ready values. Lines are numbered
from 1; columns count UTF-16 code units from 0, as the strings of a browser do. Deliberately
elsewhere: what the numbers in an answer look like (``citestream.render``).
"""

from collections.abc import Mapping
from typing import Any

import attrs

from citestream import (
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    SourceRegistry,
    render,
)
from citestream.model import CitationLocationBlock, CitationLocationChar, CitationLocationPage
from citestream.offsets import utf16_length
from citestream.render.notes import span_numbers
from citestream.sources import Granularity, RegisteredSource, SourceDocument

__all__ = ("granularity_of", "places", "registered_id", "shown", "titled")


def granularity_of(document: SourceDocument, /) -> Granularity:
    """Cite by page what has pages, by block what has marked blocks, and all else by line."""
    if document.pages:
        return Granularity.PAGE
    return Granularity.BLOCK if document.marked_blocks else Granularity.LINE


def titled(document: SourceDocument, /) -> dict[str, Any]:
    """Return what a list of documents shows of one, named as ``render`` names it."""
    named = CitationSource(
        id="document", provider="", title=document.title, url=document.url, path=document.path
    )
    (note,) = render.notes(Citations(sources=(named,), spans=()))
    return {
        "title": note.label,
        "lines": len(document.lines),
        "pages": len(document.pages),
    }


def shown(document: SourceDocument, /) -> dict[str, Any]:
    """Return a whole document, line by line. ``starts`` are the lines on which pages begin."""
    return {
        **titled(document),
        "url": render.safe_url(document.url),
        "text": [document.content[start:end] for start, end in document.lines],
        "starts": [document.lines.number_at(start) for start, _ in document.pages],
    }


def places(citations: Citations, registry: SourceRegistry, /) -> dict[str, dict[str, Any]]:
    """Return by number, as ``render.html(..., quotes=True)`` numbers, what stands behind it.

    ``source`` is an id of ``registry``, None for what is not registered there. ``places`` are
    ranges of its lines, both ends inclusive, with the first column of the first line and the end
    column of the last; none where the source is cited as a whole.
    """
    references = [reference for span in citations.spans for reference in span.references]
    # A span for each reference gives each its own number, in the same order.
    apart = [CitationSpan(start_index=0, end_index=0, references=(one,)) for one in references]
    numbers = span_numbers(attrs.evolve(citations, spans=apart), quotes=True)
    found: dict[str, dict[str, Any]] = {}
    for reference, (number,) in zip(references, numbers, strict=True):
        source = _source(reference, registry)
        entry = found.setdefault(str(number), {"source": source and source.id, "places": []})
        place = _place(reference, source) if source else None
        if place is not None and place not in entry["places"]:
            entry["places"].append(place)
    return found


def registered_id(reference: CitationReference, /) -> str | None:
    """Return by which id of the session's registry something was cited, None for by none."""
    metadata = reference.provider_metadata
    name = metadata.get("citableSourceId") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else None


def _source(reference: CitationReference, registry: SourceRegistry) -> RegisteredSource | None:
    name = registered_id(reference)
    return None if name is None else registry.get(name)


def _place(reference: CitationReference, source: RegisteredSource) -> dict[str, int] | None:
    found = _range(reference, source.document)
    if found is None:
        return None
    content, lines = source.document.content, source.document.lines
    start, end = found
    # What ends a paragraph or a page is no line that anybody cites.
    end = start + len(content[start:end].rstrip())
    if end <= start:
        return None
    first, last = lines.number_at(start), lines.number_at(end - 1)
    return {
        "first": first,
        "last": last,
        "from": utf16_length(content[lines.range(first, first)[0] : start]),
        "to": utf16_length(content[lines.range(last, last)[0] : end]),
    }


def _range(reference: CitationReference, document: SourceDocument) -> tuple[int, int] | None:
    """Return the code points of the document that a reference means, None for none or all."""
    location = reference.location
    start = end = 0
    if isinstance(location, CitationLocationChar):
        start, end = location.start_index, min(location.end_index, len(document.content))
    elif isinstance(location, CitationLocationPage):
        pages = document.pages[max(location.start_page, 1) - 1 : location.end_page]
        start, end = (pages[0][0], pages[-1][1]) if pages else (0, 0)
    elif isinstance(location, CitationLocationBlock):
        blocks = document.blocks[location.start_block : location.end_block]
        start, end = (blocks[0][0], blocks[-1][1]) if blocks else (0, 0)
    return (start, end) if start < end else None
