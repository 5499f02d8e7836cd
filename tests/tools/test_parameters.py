import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citestream.errors import OptionError
from citestream.tools.parameters import read_parameters

GIVEN = object()


class Given:
    """What the caller passes."""


class Order(Enum):
    NEWEST = "newest"
    BEST = "best"


@dataclass
class Place:
    """A place on earth."""

    name: str
    height: float = 0.0


@attrs.frozen
class Period:
    first: int
    last: int

    def __attrs_post_init__(self):
        if self.last < self.first:
            raise ValueError("last: wanted first or more")


class Arguments(TypedDict):
    n: int


def schema(function):
    return read_parameters(function, given=Given).schema


def bind(function, arguments):
    return read_parameters(function, given=Given).bind(arguments, given=GIVEN)


def search(
    query: Annotated[str, "Words to look for."],
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10,
    *,
    order: Order = Order.BEST,
    site: str | None = None,
): ...


def test_the_schema_stands_at_the_root():
    assert schema(search) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "order": {"$ref": "#/$defs/Order", "default": "best"},
            "site": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["query"],
        "additionalProperties": False,
        "$defs": {"Order": {"title": "Order", "enum": ["best", "newest"]}},
    }


def test_a_function_that_takes_nothing_has_an_empty_schema():
    def now(call: Given): ...

    assert schema(now) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert bind(now, {}) == {"call": GIVEN}


def test_what_types_refer_to_is_kept():
    def go(to: list[Place], arguments: Arguments): ...

    made = schema(go)
    assert made["properties"]["to"] == {"type": "array", "items": {"$ref": "#/$defs/Place"}}
    assert made["$defs"]["Place"]["description"] == "A place on earth."
    name = made["properties"]["arguments"]["$ref"].removeprefix("#/$defs/")
    assert made["$defs"][name]["properties"] == {"n": {"type": "integer"}}
    assert bind(go, {"to": [{"name": "Ulm"}], "arguments": {"n": 1}}) == {
        "to": [Place("Ulm")],
        "arguments": {"n": 1},
    }


def test_a_description_stands_beside_bounds():
    def take(n: Annotated[int, "How many.", msgspec.Meta(ge=1), object()]): ...

    assert schema(take)["properties"]["n"] == {
        "type": "integer",
        "minimum": 1,
        "description": "How many.",
    }


def test_the_call_is_passed_and_is_no_parameter():
    def look(query: str, call: Given, *, again: Given): ...

    assert list(schema(look)["properties"]) == ["query"]
    assert bind(look, {"query": "x"}) == {"query": "x", "call": GIVEN, "again": GIVEN}


def test_defaults_are_those_of_the_function():
    kept = [1]

    def take(a: list[int] = kept, b: float = math.inf, c: Place | None = None): ...

    bound = bind(take, {})
    assert bound == {"a": [1], "b": math.inf, "c": None}
    assert bound["a"] is kept
    assert schema(take)["properties"]["b"] == {"type": "number"}
    assert schema(take)["required"] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "Object missing required field `query`"),
        ({"query": 3}, "Expected `str`, got `int` - at `$.query`"),
        ({"query": None}, "Expected `str`, got `null` - at `$.query`"),
        ({"query": "x", "limit": 0}, "Expected `int` >= 1 - at `$.limit`"),
        ({"query": "x", "limit": 1.5}, "Expected `int`, got `float` - at `$.limit`"),
        ({"query": "x", "limit": "many"}, "Expected `int`, got `str` - at `$.limit`"),
        ({"query": "x", "order": "worst"}, "Invalid enum value 'worst' - at `$.order`"),
        ({"query": "x", "dry_run": True}, "Object contains unknown field `dry_run`"),
    ],
)
def test_arguments_that_do_not_fit_are_told_in_words(arguments, problem):
    assert bind(search, arguments) == problem


def test_arguments_may_be_any_mapping_and_numbers_may_be_strings():
    arguments = MappingProxyType({"query": "x", "limit": "5", "order": "newest"})
    bound = {"query": "x", "limit": 5, "order": Order.NEWEST, "site": None}
    assert bind(search, arguments) == bound
    assert bind(search, {"query": "5", "limit": 5.0, "order": "newest"}) == bound | {"query": "5"}

    def count(by: dict[int, bool]): ...

    assert bind(count, {"by": {"1": "true"}}) == {"by": {1: True}}


def test_a_class_may_refuse_its_values():
    def of(period: Period): ...

    assert bind(of, {"period": {"first": 1, "last": 2}}) == {"period": Period(1, 2)}
    problem = bind(of, {"period": {"first": 2, "last": 1}})
    assert problem == "last: wanted first or more - at `$.period`"


@pytest.mark.parametrize(
    "kind", [Any, bytes, list, Mapping[str, int], Sequence[str], Literal["a", "b"], int | str]
)
def test_types_of_json_are_taken(kind):
    def take(value): ...

    take.__annotations__["value"] = kind
    assert "value" in schema(take)["properties"]


@pytest.mark.parametrize(
    ("kind", "got"),
    [
        (object(), "is not supported"),
        (complex, "type <class 'complex'> is not supported"),
        (Iterable[int], "is not supported"),
        (str | bytes, "more than one str-like type"),
        (list["Nowhere"], "Nowhere"),  # noqa: F821 - that is the point
    ],
)
def test_types_without_words_in_json_are_misuse(kind, got):
    def take(value): ...

    take.__annotations__["value"] = kind
    with pytest.raises(OptionError, match=r"take(, parameter 'value')?: wanted a? ?type.*" + got):
        read_parameters(take, given=Given)


def test_a_dataclass_with_unknown_types_is_misuse():
    @dataclass
    class Part:
        whole: "Nowhere"  # noqa: F821 - that is the point

    def take(part: Part): ...

    with pytest.raises(OptionError, match=r"parameter 'part': wanted a type .* 'Nowhere' is not"):
        read_parameters(take, given=Given)


def test_parameters_that_cannot_be_named_are_misuse():
    def positional(a: int, /): ...
    def many(*values: int): ...
    def named(**values: int): ...
    def bare(a, b: int): ...

    for function, problem in (
        (positional, "'a': wanted one that can be named, got positional-only"),
        (many, "'values': wanted one that can be named, got one for any number of values"),
        (named, "'values': wanted one that can be named, got one for any number of keywords"),
        (bare, "'a': wanted a type hint, got none"),
    ):
        with pytest.raises(OptionError) as caught:
            read_parameters(function, given=Given)
        name = f"{test_parameters_that_cannot_be_named_are_misuse.__name__}.<locals>"
        assert str(caught.value) == f"{name}.{function.__name__}, parameter {problem}"


def test_hints_are_read_where_the_function_is_defined():
    def take(value: "Nowhere"): ...  # noqa: F821 - that is the point
    def fine(value: "Annotated[Place, 'Where.']"): ...

    with pytest.raises(OptionError, match=r"take: wanted type hints .* 'Nowhere' is not defined"):
        read_parameters(take, given=Given)
    assert bind(fine, {"value": {"name": "Ulm"}}) == {"value": Place("Ulm")}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["query", "limit", "order", "site", "x"]), JSON))
def test_whatever_a_model_writes_binds_or_is_told(arguments):
    bound = bind(search, arguments)
    if isinstance(bound, dict):
        assert set(bound) == {"query", "limit", "order", "site"}
        assert isinstance(bound["query"], str)
        assert 1 <= bound["limit"] <= 50
    else:
        assert bound
