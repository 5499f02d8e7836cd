"""Hypothesis strategies that several test files share."""

from datetime import datetime
from typing import Any

import attrs
from hypothesis import strategies as st

from citestream.events import SessionEventType, ToolExecutionCompleteResult
from citestream.model import CitableSource, Citations
from citestream.wire import decode_event
from citestream.wire.fields import named
from citestream.wire.payloads import CLASSES

__all__ = (
    "events",
    "json_objects",
    "json_values",
    "texts",
    "wire_citations",
    "wire_events",
    "wire_locations",
)

# Any code point, lone surrogates too: JSON can say them.
texts = st.text(st.characters(exclude_categories=()), max_size=12)
_keys = st.text("abcdefgh", min_size=1, max_size=6)
_integers = st.integers(-(2**70), 2**70)
_scalars = (
    st.none() | st.booleans() | _integers | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

_indexes = st.integers(0, 10_000)


def _objects(required, optional):
    """Objects with keys of their own, keys nobody knows, and nulls for some optional keys."""
    nullable = {key: st.none() | value for key, value in optional.items()}
    return st.builds(
        lambda known, unknown: unknown | known,
        st.fixed_dictionaries(required, optional=nullable),
        # Most values have nothing unknown: that is the shape which takes the fast ways.
        st.just({})
        | st.just({})
        | st.dictionaries(_keys.map("x-{}".format), json_values, max_size=2),
    )


def _ranges(tag, start, end):
    return st.tuples(_indexes, _indexes).flatmap(
        lambda pair: _objects(
            {"type": st.just(tag), start: st.just(min(pair)), end: st.just(max(pair))}, {}
        )
    )


wire_locations = (
    _ranges("char", "startIndex", "endIndex")
    | _ranges("page", "startPage", "endPage")
    | _ranges("block", "startBlock", "endBlock")
    | _objects({"type": _keys.map("x-{}".format)}, {})
)


def _sources(ids):
    texts_or_null = dict.fromkeys(("title", "url", "path"), texts)
    providers = st.sampled_from(["anthropic", "openai", "client"]) | texts
    return st.tuples(
        *(_objects({"id": st.just(each), "provider": providers}, texts_or_null) for each in ids)
    ).map(list)


@st.composite
def _wire_citations(draw):
    ids = draw(st.lists(texts, max_size=12, unique=True))
    references = st.just([])
    if ids:
        reference = _objects(
            {"sourceId": st.sampled_from(ids)},
            {"citedText": texts, "location": wire_locations, "providerMetadata": json_values},
        )
        references = st.lists(reference, max_size=3)
    spans = st.tuples(_indexes, _indexes, references).map(
        lambda drawn: {
            "startIndex": min(drawn[:2]),
            "endIndex": max(drawn[:2]),
            "references": drawn[2],
        }
    )
    return draw(_objects({"sources": _sources(ids), "spans": st.lists(spans, max_size=12)}, {}))


wire_citations = _wire_citations()


def _record(cls):
    rows = [field for field in attrs.fields(cls) if field.name != "extra"]
    required = {named(f.name): _by_type(f.type) for f in rows if f.default is attrs.NOTHING}
    optional = {named(f.name): _by_type(f.type) for f in rows if f.default is not attrs.NOTHING}
    return _objects(required, optional)


def _by_type(kind):
    return next(strategy for known, strategy in _TYPES if kind in {known, known | None})


_TYPES = [
    (str, texts),
    (int, _integers),
    (bool, st.booleans()),
    (tuple[Any, ...], st.lists(json_values, max_size=3)),
    (Citations, wire_citations),
    (tuple[CitableSource, ...], st.deferred(lambda: st.lists(_record(CitableSource), max_size=10))),
    (ToolExecutionCompleteResult, st.deferred(lambda: _record(ToolExecutionCompleteResult))),
    (Any, json_values),
]

_times = st.datetimes(timezones=st.none() | st.timezones()).map(datetime.isoformat)


def _envelope(name, data):
    return st.builds(
        lambda envelope, data: envelope | data,
        _objects(
            {"type": st.just(name), "id": texts, "timestamp": _times},
            {"parentId": texts, "agentId": texts, "ephemeral": st.booleans()},
        ),
        data,
    )


def _payload(kind):
    if kind in CLASSES:
        return st.fixed_dictionaries({"data": _record(CLASSES[kind])})
    return st.fixed_dictionaries({}, optional={"data": json_values})


# As the wire has them: each typed kind, a few kinds without a class, and kinds nobody knows.
wire_events = st.one_of(
    *(
        _envelope(kind.value, _payload(kind))
        for kind in [*CLASSES, SessionEventType.SESSION_INFO, SessionEventType.ASSISTANT_IDLE]
    ),
    _envelope("unknown", _payload(None)),
    _keys.map("x.{}".format).flatmap(lambda name: _envelope(name, _payload(None))),
)
events = wire_events.map(decode_event)
