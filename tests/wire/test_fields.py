from enum import StrEnum
from typing import Any

import attrs
import pytest

from citestream.errors import DecodeError, EncodeError
from citestream.model import NO_EXTRA, CitableSource, Extra
from citestream.wire.fields import FLAG, TEXT, WHOLE, array, fields, named, record


@attrs.frozen(kw_only=True)
class Sample:
    some_text: str
    a_number: int | None = None
    is_so: bool | None = None
    any_thing: Any = None
    many_things: tuple[Any, ...] | None = None
    extra: Extra = NO_EXTRA


class Provider(StrEnum):
    OPENAI = "openai"


SAMPLE = record(Sample)
FULL = {"someText": "a", "aNumber": 1, "isSo": True, "anyThing": {"b": [1]}, "manyThings": [1, []]}


def decode(tree, kind=SAMPLE):
    return kind.decode(tree, None, [])


def test_the_class_says_what_the_wire_has():
    rows = fields(Sample, {})
    assert [row.wire for row in rows] == ["someText", "aNumber", "isSo", "anyThing", "manyThings"]
    assert [row.name for row in rows if row.required] == ["some_text"]
    assert [row.kind for row in rows[:3]] == [TEXT, WHOLE, FLAG]
    assert named("id") == "id"


def test_all_fields_are_read_and_written():
    sample = decode(FULL)
    assert sample == Sample(
        some_text="a", a_number=1, is_so=True, any_thing={"b": [1]}, many_things=(1, [])
    )
    assert sample.extra is NO_EXTRA
    assert SAMPLE.encode(sample, None) == FULL


def test_what_no_field_reads_is_collected():
    unread = []
    SAMPLE.decode(FULL | {"new": [7]}, None, unread)
    assert unread == [{"b": [1]}, 1, [], {"new": [7]}]


def test_unknown_keys_and_nulls_are_kept_beside_the_fields():
    tree = {"someText": "a", "aNumber": None, "new": None, "newer": [1]}
    sample = decode(tree)
    assert sample.a_number is None
    assert dict(sample.extra) == {"aNumber": None, "new": None, "newer": [1]}
    assert SAMPLE.encode(sample, None) == tree


def test_a_changed_field_shows_when_encoded():
    sample = decode({"someText": "a", "aNumber": None, "isSo": True})
    assert SAMPLE.encode(attrs.evolve(sample, a_number=5, is_so=None), None) == {
        "someText": "a",
        "aNumber": 5,
    }
    assert SAMPLE.encode(attrs.evolve(sample, some_text="b", extra=NO_EXTRA), None) == {
        "someText": "b",
        "isSo": True,
    }


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([], "$: expected an object, got an array of 0"),
        ({}, "$.someText: expected a value, since this key is required, got nothing"),
        (
            {"someText": None},
            "$.someText: expected a value, since this key is required, got null",
        ),
        ({"someText": 5}, "$.someText: expected a string, got 5"),
        ({"someText": "a", "aNumber": 2.0}, "$.aNumber: expected an integer, got 2.0"),
        ({"someText": "a", "aNumber": True}, "$.aNumber: expected an integer, got True"),
        ({"someText": "a", "aNumber": "1"}, "$.aNumber: expected an integer, got '1'"),
        ({"someText": "a", "isSo": 1}, "$.isSo: expected true or false, got 1"),
        ({"someText": "a", "manyThings": "ab"}, "$.manyThings: expected an array, got 'ab'"),
        (
            {"someText": "a", "manyThings": {}},
            "$.manyThings: expected an array, got an object with 0 keys",
        ),
    ],
)
def test_errors_when_decoding(tree, message):
    with pytest.raises(DecodeError) as caught:
        decode(tree)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"some_text": 5}, "$.someText: expected a string, got 5"),
        ({"some_text": None}, "$.someText: expected a string, got None"),
        ({"a_number": True}, "$.aNumber: expected an integer, got True"),
        ({"a_number": 2.0}, "$.aNumber: expected an integer, got 2.0"),
        ({"is_so": 1}, "$.isSo: expected true or false, got 1"),
        ({"many_things": {}}, "$.manyThings: expected an array, got an object with 0 keys"),
        ({"any_thing": {1}}, "$.anyThing: expected a JSON value, got a value of type set"),
        (
            {"any_thing": {"a": [0, b""]}},
            "$.anyThing.a[1]: expected a JSON value, got b''",
        ),
        (
            {"many_things": ({1: 2},)},
            "$.manyThings[0]: expected keys that are strings, got 1",
        ),
        (
            {"extra": Extra({"someText": "c"})},
            "$.someText: expected null, as this key has a field, got 'c'",
        ),
        ({"extra": Extra({"new": {1}})}, "$.new: expected a JSON value, got a value of type set"),
        ({"extra": 5}, "$: expected an extra that is a mapping, got 5"),
    ],
)
def test_errors_when_encoding(changes, message):
    with pytest.raises(EncodeError) as caught:
        SAMPLE.encode(attrs.evolve(Sample(some_text="a"), **changes), None)
    assert str(caught.value) == message


def test_encoding_wants_the_class_itself():
    with pytest.raises(EncodeError, match=r"^\$: expected a value of type Sample, got 'x'$"):
        SAMPLE.encode("x", None)


def test_what_derives_from_a_plain_type_is_written_plainly():
    written = SAMPLE.encode(Sample(some_text=Provider.OPENAI, many_things=[Provider.OPENAI]), None)
    assert written == {"someText": "openai", "manyThings": ["openai"]}
    assert type(written["someText"]) is str
    assert type(written["manyThings"][0]) is str


def test_arrays_name_the_item_that_is_wrong():
    kind = array(record(CitableSource))
    good = {"id": "a", "content": "b"}
    with pytest.raises(DecodeError) as caught:
        kind.decode([good] * 11 + [{"id": "a", "content": 5}], (None, "x"), [])
    assert caught.value.path == "$.x[11].content"
    assert kind.decode([good] * 12, None, []) == (CitableSource(id="a", content="b"),) * 12
    with pytest.raises(EncodeError) as refused:
        kind.encode((CitableSource(id="a", content="b"), 5), (None, "x"))
    assert refused.value.path == "$.x[1]"
