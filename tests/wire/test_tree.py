import enum
from types import MappingProxyType

import pytest
from hypothesis import given

from citestream.errors import DecodeError, EncodeError
from citestream.wire import decode_event, text
from citestream.wire.tree import MAX_DEPTH, copied, misfit, settle, where
from strategies import json_values


class Word(str):
    __slots__ = ()


class Color(enum.IntEnum):
    RED = 3


class Share(float):
    pass


def containers(value):
    if isinstance(value, dict | list):
        yield id(value)
        for child in value.values() if isinstance(value, dict) else value:
            yield from containers(child)


def test_a_path_is_written_in_wire_names():
    assert where(None) == "$"
    assert where(((((None, "data"), "spans"), 3), "endIndex")) == "$.data.spans[3].endIndex"
    assert where((None, "x-y")) == "$['x-y']"
    assert where((None, "é")) == r"$['\xe9']"


def test_a_path_stays_short():
    trail = None
    for index in range(400):
        trail = (trail, index)
    assert where(trail).startswith("$[0][1][2]")
    assert where(trail).endswith("[23]...")
    assert len(where((None, "k" * 5_000_000))) < 100


def test_an_error_is_of_the_kind_whose_fault_it_is():
    assert str(misfit(DecodeError, None, "a string", 5)) == "$: expected a string, got 5"
    assert type(misfit(EncodeError, None, "a string", 5)) is EncodeError


@given(json_values)
def test_a_copy_is_equal_and_shares_no_container(value):
    copy = copied(value, None, error=DecodeError)
    assert copy == value
    assert not set(containers(copy)) & set(containers(value))


def test_a_copy_is_of_plain_types():
    value = MappingProxyType({Word("a"): (Word("b"), Color.RED, Share(0.5), True, None)})
    copy = copied(value, None, error=DecodeError)
    assert copy == {"a": ["b", 3, 0.5, True, None]}
    assert [type(item) for item in copy["a"]] == [str, int, float, bool, type(None)]
    assert [type(key) for key in copy] == [str]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1}}, "$.x.a: expected a JSON value, got a value of type set"),
        ({"a": [object()]}, "$.x.a[0]: expected a JSON value, got a value of type object"),
        (b"text", "$.x: expected a JSON value, got b'text'"),
        ({"a": float("nan")}, "$.x.a: expected a JSON value, got nan"),
        ([float("inf")], "$.x[0]: expected a JSON value, got inf"),
        ([10**4300], "$.x[0]: expected a JSON value, got an integer of 14285 bits"),
        ({"a": {1: 2}}, "$.x.a: expected keys that are strings, got 1"),
        ({None: 2}, "$.x: expected keys that are strings, got None"),
    ],
)
def test_what_json_cannot_say_is_an_error(value, message):
    with pytest.raises(EncodeError) as caught:
        copied(value, (None, "x"), error=EncodeError)
    assert str(caught.value) == message


def test_the_largest_integer_is_copied():
    assert copied(10**4300 - 1, None, error=DecodeError) == 10**4300 - 1


def test_depth_is_bounded_for_copies():
    value = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert copied(value, None, error=DecodeError) == value
    with pytest.raises(DecodeError, match="at most 500 levels of nesting"):
        copied([value], None, error=DecodeError)


def test_depth_is_bounded_for_what_no_field_reads():
    value = 1
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    assert settle([value]) is True
    with pytest.raises(DecodeError, match="at most 500 levels of nesting"):
        settle([0, [value]])


@pytest.mark.parametrize(
    ("value", "exact"),
    [(1.5, True), (2.0**62, True), (2.0**63, False), (-(2.0**63), False), (2**80, True)],
)
def test_a_float_that_may_have_been_an_integer_is_noticed(value, exact):
    assert settle([value]) is exact
    assert settle([{"a": [{"b": value}, []]}]) is exact


def test_a_mapping_that_holds_itself_is_an_error():
    loop = {"id": "e", "timestamp": "2026-01-01T00:00:00Z", "type": "x.y"}
    loop["data"] = [loop, loop, {"a": loop}]
    with pytest.raises(DecodeError, match="levels of nesting"):
        decode_event(loop)


def test_a_mapping_200_000_levels_deep_is_an_error():
    for wrap in (lambda value: {"a": value}, lambda value: [value], lambda value: (value,)):
        deep = {}
        for _ in range(200_000):
            deep = wrap(deep)
        with pytest.raises(DecodeError, match="levels of nesting"):
            decode_event({"data": deep})


def test_a_few_containers_that_share_each_other_are_bounded(monkeypatch):
    monkeypatch.setattr(text, "MAX_VALUES", 1000)
    value = []
    for _ in range(40):
        value = [value, value]
    with pytest.raises(DecodeError, match="expected fewer values, got too many of them"):
        decode_event({"data": value})
