"""Citations as JSON: their tables, the class of each location, and what must hold together.

Ids that clash or lead nowhere are the upstream's errors here, each with its place in the wire.
"""

from typing import Any

from ..errors import DecodeError, EncodeError
from ..model import (
    CitationLocation,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationOther,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)
from .columns import unions
from .fields import Kind, array, record
from .tree import Trail, misfit

__all__ = ("CITATIONS", "LOCATION", "REFERENCE", "SOURCE", "SPAN")

_RANGES: dict[str, tuple[type[Any], str, str]] = {
    "char": (CitationLocationChar, "start_index", "end_index"),
    "page": (CitationLocationPage, "start_page", "end_page"),
    "block": (CitationLocationBlock, "start_block", "end_block"),
}
_LOCATIONS = {
    name: record(cls, tag=name, ordered=(start, end)) for name, (cls, start, end) in _RANGES.items()
}
_ENCODERS = {cls: _LOCATIONS[name].encode for name, (cls, _, _) in _RANGES.items()}
_OTHER = record(CitationLocationOther)


def _decode_location(tree: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    name = tree.get("type") if type(tree) is dict else None
    kind = _LOCATIONS.get(name, _OTHER) if type(name) is str else _OTHER
    return kind.decode(tree, trail, unread)


def _encode_location(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
    if type(value) is CitationLocationOther and value.type in _LOCATIONS:
        raise misfit(EncodeError, (trail, "type"), "a type without a class of its own", value.type)
    return _ENCODERS.get(type(value), _OTHER.encode)(value, trail)


def _check_sources(citations: Citations, trail: Trail) -> None:
    """Raise DecodeError unless ids differ and each reference has the id of a source."""
    known: set[str] = set()
    for index, source in enumerate(citations.sources):
        if source.id in known:
            double = (((trail, "sources"), index), "id")
            raise misfit(DecodeError, double, "an id that no other source has", source.id)
        known.add(source.id)
    if {each.source_id for span in citations.spans for each in span.references} <= known:
        return
    place, stray = next(
        (((((trail, "spans"), index), "references"), number), each.source_id)
        for index, span in enumerate(citations.spans)
        for number, each in enumerate(span.references)
        if each.source_id not in known
    )
    raise misfit(DecodeError, (place, "sourceId"), "the id of a source", stray)


LOCATION = Kind(
    decode=_decode_location,
    encode=_encode_location,
    many=unions({name: kind.many for name, kind in _LOCATIONS.items() if kind.many}),
)
SOURCE = record(CitationSource)
REFERENCE = record(CitationReference, {CitationLocation: LOCATION})
SPAN = record(
    CitationSpan,
    {tuple[CitationReference, ...]: array(REFERENCE)},
    ordered=("start_index", "end_index"),
)
CITATIONS = record(
    Citations,
    {tuple[CitationSource, ...]: array(SOURCE), tuple[CitationSpan, ...]: array(SPAN)},
    check=_check_sources,
)
