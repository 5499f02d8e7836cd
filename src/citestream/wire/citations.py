"""Citations as JSON: their tables, the class of each location, and what must hold together.

Ids that clash or lead nowhere are the upstream's errors here, each with its place in the wire.
"""

from collections.abc import Callable
from itertools import chain
from operator import itemgetter
from typing import Any, NoReturn

import attrs

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
from .build import defer_spans
from .columns import unions
from .fields import MANY, Kind, array, record
from .tree import Trail, misfit
from .usual import are_usual, written_sources, written_spans

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
_id_of = itemgetter("id")
_references_of = itemgetter("references")
_source_id_of = itemgetter("sourceId")


def _decode_location(tree: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    name = tree.get("type") if type(tree) is dict else None
    kind = _LOCATIONS.get(name, _OTHER) if type(name) is str else _OTHER
    return kind.decode(tree, trail, unread)


def _encode_location(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
    if type(value) is CitationLocationOther and value.type in _LOCATIONS:
        raise misfit(EncodeError, (trail, "type"), "a type without a class of its own", value.type)
    return _ENCODERS.get(type(value), _OTHER.encode)(value, trail)


def _quickly(
    kind: Kind, write: Callable[[tuple[Any, ...]], list[dict[str, Any]] | None], /
) -> Kind:
    """Return ``kind``, an array, with a quick way to encode a long one that is as usual."""

    def encode(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - checked here
        trees = write(value) if type(value) is tuple and len(value) >= MANY else None
        return kind.encode(value, trail) if trees is None else trees

    return attrs.evolve(kind, encode=encode)


def _check_sources(tree: dict[str, Any], trail: Trail) -> None:
    """Raise DecodeError unless ids differ and each reference has the id of a source."""
    known = set(map(_id_of, tree["sources"]))
    if len(known) != len(tree["sources"]):
        _explain_double(tree, trail)
    references = chain.from_iterable(map(_references_of, tree["spans"]))
    if not known.issuperset(map(_source_id_of, references)):
        _explain_stray(tree, known, trail)


def _explain_double(tree: dict[str, Any], trail: Trail) -> NoReturn:
    first: dict[str, int] = {}
    index, double = next(
        (index, each)
        for index, each in enumerate(map(_id_of, tree["sources"]))
        if first.setdefault(each, index) != index
    )
    place = (((trail, "sources"), index), "id")
    raise misfit(DecodeError, place, "an id that no other source has", double)


def _explain_stray(tree: dict[str, Any], known: set[str], trail: Trail) -> NoReturn:
    place, stray = next(
        (((((trail, "spans"), index), "references"), number), each["sourceId"])
        for index, span in enumerate(tree["spans"])
        for number, each in enumerate(span["references"])
        if each["sourceId"] not in known
    )
    raise misfit(DecodeError, (place, "sourceId"), "the id of a source", stray)


def _decode_citations(tree: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    """Decode citations. Many spans of the usual shape are checked now and made at first use."""
    if not are_usual(tree, unread):
        return _EAGER.decode(tree, trail, unread)
    # Of the rest, what is wrong has the error that it has when the spans are read as well.
    spans = tree["spans"]
    citations = _EAGER.decode({**tree, "spans": []}, trail, unread)
    defer_spans(citations, lambda: _SPANS.decode(spans, None, []))
    return citations


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
_SPANS = _quickly(array(SPAN), written_spans)
_SOURCES = _quickly(array(SOURCE), written_sources)
_EAGER = record(
    Citations,
    {tuple[CitationSource, ...]: _SOURCES, tuple[CitationSpan, ...]: _SPANS},
    check=_check_sources,
)
CITATIONS = attrs.evolve(_EAGER, decode=_decode_citations)
