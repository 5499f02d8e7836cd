"""Columns give what reading one by one gives, or give up."""

import copy

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citestream.errors import DecodeError
from citestream.model import NO_EXTRA, Extra
from citestream.wire import fields, usual
from citestream.wire.citations import CITATIONS, LOCATION, REFERENCE, SOURCE, SPAN
from citestream.wire.columns import arrays, passed, scalars
from strategies import json_values, wire_citations, wire_locations


@attrs.frozen(kw_only=True)
class Holder:
    value: object
    extra: Extra = NO_EXTRA


def double(value, _trail, _unread=()):
    return value * 2


def outcome(kind, value, least):
    with pytest.MonkeyPatch.context() as patch:
        for module in (fields, usual):
            patch.setattr(module, "MANY", least)
        try:
            return kind.decode(copy.deepcopy(value), None, []), None
        except DecodeError as error:
            return None, str(error)


@settings(max_examples=40)
@given(wire_citations)
def test_both_ways_read_the_same_citations(value):
    assert outcome(CITATIONS, value, 1) == outcome(CITATIONS, value, 10**9)


@settings(max_examples=40)
@given(wire_citations, st.data())
def test_both_ways_word_the_same_errors(value, data):
    node = value
    while node and isinstance(node, dict | list):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        parent, key = node, data.draw(st.sampled_from(keys))
        node = parent[key]
    parent[key] = data.draw(json_values)
    assert outcome(CITATIONS, value, 1) == outcome(CITATIONS, value, 10**9)


@given(st.lists(wire_locations, min_size=1))
def test_both_ways_read_the_same_locations(value):
    kind = fields.array(LOCATION)
    assert outcome(kind, value, 1) == outcome(kind, value, 10**9)


CHAR = {"type": "char", "startIndex": 1, "endIndex": 2}
PAGE = {"type": "page", "startPage": 1, "endPage": 2}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (SOURCE, [{"id": "a", "provider": "p"}, 5]),
        (SOURCE, [{"id": "a", "provider": "p", "more": 1}]),
        (SOURCE, [{"id": "a", "provider": "p", "title": None}]),
        (SOURCE, [{"id": "a", "provider": "p", "title": 7}]),
        (SOURCE, [{"id": "a"}, {"id": "b", "provider": "p"}]),
        (SOURCE, [{"provider": "p"}]),
        (REFERENCE, [{"sourceId": "a", "location": {"type": "other"}}]),
        (SPAN, [{"startIndex": 2, "endIndex": 1, "references": []}]),
        (SPAN, [{"startIndex": -1, "endIndex": 1, "references": []}]),
        (SPAN, [{"startIndex": True, "endIndex": 1, "references": []}]),
        (SPAN, [{"startIndex": 1, "endIndex": 1, "references": {}}]),
        (SPAN, [{"startIndex": 1, "endIndex": 1, "references": [{}]}]),
        (LOCATION, [CHAR, "char"]),
        (LOCATION, [CHAR, {"type": 5}]),
        (LOCATION, [CHAR, PAGE, {"type": "other"}]),
        (LOCATION, [{"type": "other"}]),
        (LOCATION, [CHAR, {"type": "page", "startPage": 2, "endPage": 1}]),
        (LOCATION, [{**CHAR, "more": None}]),
    ],
)
def test_the_unusual_is_left_to_others(kind, values):
    assert kind.many(values, []) is None


def test_columns_keep_their_order():
    made = LOCATION.many([CHAR, PAGE, CHAR], [])
    assert [each.type for each in made] == ["char", "page", "char"]
    references = [
        {"sourceId": "a", "citedText": "one", "providerMetadata": {"n": 1}},
        {"sourceId": "b", "location": CHAR},
        {"sourceId": "c", "citedText": "three", "location": PAGE},
    ]
    unread = []
    made = REFERENCE.many(references, unread)
    assert [each.cited_text for each in made] == ["one", None, "three"]
    assert [each.location and each.location.type for each in made] == [None, "char", "page"]
    assert [each.provider_metadata for each in made] == [{"n": 1}, None, None]
    assert unread == [{"n": 1}]


def test_arrays_are_cut_where_they_were():
    many = arrays(scalars(str))
    assert many([["a"], [], ["b", "c"]], []) == [("a",), (), ("b", "c")]
    assert many([[], []], []) == [(), ()]
    assert many([["a"], "b"], []) is None
    assert many([["a"], [1]], []) is None
    assert passed([1], []) == [1]


def test_a_record_with_a_check_of_its_own_is_never_read_as_a_column():
    assert CITATIONS.many is None
    assert fields.array(CITATIONS).many is None


def test_the_fields_of_many_records_may_lack_a_column_reader():
    kind = fields.record(Holder, {object: fields.Kind(decode=double, encode=double)})
    assert kind.many([{"value": 1}], []) is None
    decoded = fields.array(kind).decode([{"value": 1}] * 9, None, [])
    assert [each.value for each in decoded] == [2] * 9
