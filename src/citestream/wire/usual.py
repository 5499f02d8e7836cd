"""Long citations as they usually are, checked and written in plain loops.

A long answer has hundreds of spans, references and locations, nearly all of one shape. So the rules
that ``citations`` builds from its tables are written out here once more, for that shape alone. None
or False as an answer says only that the tables have to be asked: about what is wrong, to word the
error, or about what is rare (unknown keys, nulls, other locations), to keep it. Tests hold the two
against each other.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from types import NoneType
from typing import Any, TypeAlias

from ..model import (
    NO_EXTRA,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    CitationReference,
    CitationSource,
    CitationSpan,
)
from .fields import MANY
from .tree import MAX_INTEGER

__all__ = ("are_usual", "written_sources", "written_spans")

_Tree: TypeAlias = dict[str, Any]
_TEXT = {str}
_INTEGERS = {int}
_SCALARS = {str, int, bool, NoneType}
_ENDS: dict[str, tuple[str, str]] = {
    "char": ("startIndex", "endIndex"),
    "page": ("startPage", "endPage"),
    "block": ("startBlock", "endBlock"),
}


def are_usual(tree: Any, unread: list[Any], /) -> bool:  # noqa: ANN401 - a JSON value
    """Tell whether citations have many spans, all well-formed, each reference with a source.

    To check a span costs a fraction of what it costs to make one. What no field reads is collected
    in ``unread``. Of the sources, only the ids are looked at.
    """
    spans = tree.get("spans") if type(tree) is dict else None
    if type(spans) is not list or len(spans) < MANY:
        return False
    try:
        ids = {source["id"] for source in tree["sources"]}
        if len(ids) != len(tree["sources"]):
            return False
        references = _references_of(spans)
        locations = _locations_of(references, ids, unread)
        return locations is not None and _are_ranges(locations)
    except (KeyError, TypeError):
        # A key is missing, or is asked of what is no object: only objects have keys.
        return False


def _references_of(spans: list[_Tree]) -> list[_Tree] | None:
    found: list[_Tree] = []
    for span in spans:
        start, end, references = span["startIndex"], span["endIndex"], span["references"]
        if (
            type(start) is not int
            or type(end) is not int
            or not 0 <= start <= end
            or type(references) is not list
            or len(span) != 3  # noqa: PLR2004 - the keys above
        ):
            return None
        found += references
    return found


def _locations_of(
    references: list[_Tree] | None, ids: set[str], unread: list[Any]
) -> list[_Tree] | None:
    found: list[_Tree] = []
    for reference in references or ():
        if reference["sourceId"] not in ids:
            return None
        known = 1
        text = reference.get("citedText")
        if text is not None:
            if type(text) is not str:
                return None
            known += 1
        location = reference.get("location")
        if location is not None:
            found.append(location)
            known += 1
        metadata = reference.get("providerMetadata")
        if metadata is not None:
            unread.append(metadata)
            known += 1
        if known != len(reference):
            return None
    return None if references is None else found


def _are_ranges(locations: list[_Tree]) -> bool:
    for location in locations:
        low, high = _ENDS[location["type"]]
        start, end = location[low], location[high]
        if (
            type(start) is not int
            or type(end) is not int
            or not 0 <= start <= end
            or len(location) != 3  # noqa: PLR2004 - the two ends and the type
        ):
            return False
    return True


def written_spans(spans: Sequence[CitationSpan], /) -> list[_Tree] | None:
    """Return spans as fresh JSON values, or None where something about one is not as usual."""
    trees: list[_Tree] = []
    metadata: list[_Tree] = []
    for span in spans:
        if type(span) is not CitationSpan or span.extra is not NO_EXTRA:
            return None
        start, end, references = span.start_index, span.end_index, span.references
        if type(start) is not int or type(end) is not int or type(references) is not tuple:
            return None
        within = _written_references(references, metadata)
        if within is None:
            return None
        trees.append({"startIndex": start, "endIndex": end, "references": within})
    return trees if _are_flat(metadata) else None


def written_sources(sources: Sequence[CitationSource], /) -> list[_Tree] | None:
    """Return sources as fresh JSON values, or None where something about one is not as usual."""
    trees: list[_Tree] = []
    for each in sources:
        if type(each) is not CitationSource or each.extra is not NO_EXTRA:
            return None
        tree: _Tree = {"id": each.id, "provider": each.provider}
        if each.title is not None:
            tree["title"] = each.title
        if each.url is not None:
            tree["url"] = each.url
        if each.path is not None:
            tree["path"] = each.path
        if not _TEXT.issuperset(map(type, tree.values())):
            return None
        trees.append(tree)
    return trees


def _written_references(
    references: tuple[CitationReference, ...], unread: list[_Tree]
) -> list[_Tree] | None:
    trees: list[_Tree] = []
    for each in references:
        if type(each) is not CitationReference or each.extra is not NO_EXTRA:
            return None
        source, text, location = each.source_id, each.cited_text, each.location
        if type(source) is not str or (text is not None and type(text) is not str):
            return None
        tree: _Tree = {"sourceId": source}
        if text is not None:
            tree["citedText"] = text
        if location is not None:
            write = _WRITERS.get(type(location), _unwritten)
            tree["location"] = place = write(location)
            if place is None:
                return None
        metadata = each.provider_metadata
        if metadata is not None:
            if type(metadata) is not dict:
                return None
            unread.append(metadata)
            tree["providerMetadata"] = metadata.copy()
        trees.append(tree)
    return trees


def _written_char(value: CitationLocationChar) -> _Tree | None:
    start, end = value.start_index, value.end_index
    if type(start) is int and type(end) is int and value.extra is NO_EXTRA:
        return {"type": "char", "startIndex": start, "endIndex": end}
    return None


def _written_page(value: CitationLocationPage) -> _Tree | None:
    start, end = value.start_page, value.end_page
    if type(start) is int and type(end) is int and value.extra is NO_EXTRA:
        return {"type": "page", "startPage": start, "endPage": end}
    return None


def _written_block(value: CitationLocationBlock) -> _Tree | None:
    start, end = value.start_block, value.end_block
    if type(start) is int and type(end) is int and value.extra is NO_EXTRA:
        return {"type": "block", "startBlock": start, "endBlock": end}
    return None


def _unwritten(_value: object) -> None:
    return None


_WRITERS: dict[type[Any], Callable[[Any], _Tree | None]] = {
    CitationLocationChar: _written_char,
    CitationLocationPage: _written_page,
    CitationLocationBlock: _written_block,
}


def _are_flat(objects: list[_Tree]) -> bool:
    """Tell whether a copy of just its own level is surely all that each object needs."""
    values = [value for each in objects for value in each.values()]
    kinds = set(map(type, values))
    if not (kinds <= _SCALARS and _TEXT.issuperset(map(type, chain.from_iterable(objects)))):
        return False
    numbers = values if kinds == _INTEGERS else [each for each in values if type(each) is int]
    return min(numbers, default=0) >= -MAX_INTEGER and max(numbers, default=0) <= MAX_INTEGER
