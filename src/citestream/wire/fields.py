"""The fields of a class as the wire has them, and what decodes and encodes by such a table.

A class says it all itself: its attrs fields give the wire's keys (in camelCase), what is required
(no default) and the kind of value (the annotation). ``record`` compiles that once, into a ``Kind``
like those of the scalars here, so kinds nest. An optional key that came as null stays in ``extra``,
for encoding to give it back.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import attrgetter, or_
from types import MappingProxyType, NoneType
from typing import Any, TypeAlias, get_args

import attrs

from ..errors import DecodeError, EncodeError
from ..model import NO_EXTRA, Extra
from .build import builder
from .columns import Many, arrays, passed, records, scalars
from .tree import Trail, copied, misfit, where

__all__ = (
    "ANYTHING",
    "FLAG",
    "MANY",
    "TEXT",
    "WHOLE",
    "Check",
    "Decode",
    "Encode",
    "Field",
    "Kind",
    "absent",
    "add_rest",
    "array",
    "check_range",
    "fields",
    "named",
    "record",
    "rest",
)

Decode: TypeAlias = Callable[[Any, Trail, list[Any]], Any]
"""Turns a JSON value at a trail into a typed one; collects in the list what no field reads."""

Encode: TypeAlias = Callable[[Any, Trail], Any]
"""Turns a typed value at a trail into a fresh JSON value."""

Check: TypeAlias = Callable[[Any, Trail], None]
"""Raises DecodeError where a JSON value at a trail, well-formed so far, breaks an invariant."""

MANY = 8
"""From how many items on an array is tried as columns: setting these up costs some items' time."""


@attrs.frozen(kw_only=True)
class Kind:
    """A kind of value. One of ``exact`` type passes either way as it is, without being called.

    ``many`` reads a column of them, where there is a faster way than one by one.
    """

    decode: Decode
    encode: Encode
    many: Many | None = None
    exact: type | None = None


@attrs.frozen(kw_only=True)
class Field:
    """A key of an object on the wire, and the attribute that holds its value."""

    wire: str
    name: str
    kind: Kind
    required: bool


def _scalar(exact: type, expected: str) -> Kind:
    def decode(value: Any, trail: Trail, _unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
        if type(value) is not exact:
            raise misfit(DecodeError, trail, expected, value)
        return value

    def encode(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
        if type(value) is not exact:
            if isinstance(value, exact) and not isinstance(value, bool):
                return copied(value, trail, error=EncodeError)
            raise misfit(EncodeError, trail, expected, value)
        return value

    return Kind(decode=decode, encode=encode, many=scalars(exact), exact=exact)


def _pass_on(value: Any, _trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    unread.append(value)
    return value


def _copy(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
    return copied(value, trail, error=EncodeError)


TEXT = _scalar(str, "a string")
WHOLE = _scalar(int, "an integer")
FLAG = _scalar(bool, "true or false")
ANYTHING = Kind(decode=_pass_on, encode=_copy, many=passed)
"""The kind of a value that no field reads."""


def array(kind: Kind, /) -> Kind:
    """Return the kind of an array whose items are of ``kind``; here it is a tuple."""
    decode_item, encode_item, many_items = kind.decode, kind.encode, kind.many

    def decode(value: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
        if type(value) is not list:
            raise misfit(DecodeError, trail, "an array", value)
        if len(value) >= MANY and many_items is not None:
            made = many_items(value, unread)
            if made is not None:
                return tuple(made)
        return tuple(
            [decode_item(item, (trail, index), unread) for index, item in enumerate(value)]
        )

    def encode(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
        if not isinstance(value, tuple | list):
            raise misfit(EncodeError, trail, "an array", value)
        return [encode_item(item, (trail, index)) for index, item in enumerate(value)]

    return Kind(decode=decode, encode=encode, many=arrays(many_items) if many_items else None)


_KINDS: Mapping[object, Kind] = {
    str: TEXT,
    int: WHOLE,
    bool: FLAG,
    Any: ANYTHING,
    tuple[Any, ...]: array(ANYTHING),
}


def named(name: str, /) -> str:
    """Return the wire's key for an attribute.

    >>> named("parent_tool_call_id")
    'parentToolCallId'
    """
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def fields(cls: type[Any], kinds: Mapping[object, Kind], /) -> tuple[Field, ...]:
    """Return the fields of an attrs class but ``extra``; ``kinds`` are those beyond the scalars."""
    known = {**_KINDS, **kinds}
    return tuple(
        Field(
            wire=named(field.name),
            name=field.name,
            kind=known[_without_none(field.type)],
            required=field.default is attrs.NOTHING,
        )
        for field in attrs.fields(cls)
        if field.name != "extra"
    )


def _without_none(annotation: Any) -> Any:  # noqa: ANN401 - a type
    given = get_args(annotation)
    if NoneType not in given:
        return annotation
    return reduce(or_, [each for each in given if each is not NoneType])


def rest(tree: dict[str, Any], names: frozenset[str], unread: list[Any], /) -> Extra:
    """Return what of an object no field holds: unknown keys, and known ones that are null."""
    left = {key: value for key, value in tree.items() if key not in names or value is None}
    unread.append(left)
    return Extra(left)


def record(
    cls: type[Any],
    kinds: Mapping[object, Kind] = MappingProxyType({}),
    /,
    *,
    tag: str | None = None,
    ordered: tuple[str, str] | None = None,
    check: Check | None = None,
) -> Kind:
    """Return the kind of an object that ``cls`` stands for.

    ``kinds`` are those of its fields beyond the scalars. ``tag`` is the value of ``type`` on the
    wire where the class implies it. ``ordered`` names two attributes that make a range. ``check``
    sees each object whose fields have passed.
    """
    rows = fields(cls, kinds)
    return Kind(
        decode=_record_decoder(cls, rows, tag=tag, ordered=ordered, check=check),
        encode=_record_encoder(cls, rows, tag=tag),
        many=None if check else _record_many(cls, rows, tag=tag, ordered=ordered),
    )


def _record_many(
    cls: type[Any], rows: Sequence[Field], *, tag: str | None, ordered: tuple[str, str] | None
) -> Many:
    names = [row.name for row in rows]
    return records(
        cls,
        [(row.wire, row.kind.exact, row.kind.many, row.required) for row in rows],
        tagged=tag is not None,
        bounds=(names.index(ordered[0]), names.index(ordered[1])) if ordered else None,
    )


def _record_decoder(
    cls: type[Any],
    rows: Sequence[Field],
    *,
    tag: str | None,
    ordered: tuple[str, str] | None,
    check: Check | None,
) -> Decode:
    build = builder(cls)
    own = frozenset(row.wire for row in rows) | ({"type"} if tag else frozenset())
    plan = [(row.wire, row.kind.exact, row.kind.decode, row.required) for row in rows]
    bounds = tuple(map(named, ordered)) if ordered else None

    def decode(tree: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
        if type(tree) is not dict:
            raise misfit(DecodeError, trail, "an object", tree)
        values = []
        used = 1 if tag else 0
        for wire, exact, decode_field, required in plan:
            value = tree.get(wire)
            if value is None:
                if required:
                    raise absent(tree, wire, trail)
            else:
                used += 1
                if type(value) is not exact:
                    value = decode_field(value, (trail, wire), unread)
            values.append(value)
        values.append(NO_EXTRA if used == len(tree) else rest(tree, own, unread))
        if bounds:
            check_range(tree, bounds, trail)
        if check:
            check(tree, trail)
        return build(values)

    return decode


def absent(tree: dict[str, Any], wire: str, trail: Trail, /) -> DecodeError:
    """Make the error for a required key that is missing or null."""
    return DecodeError(
        path=where((trail, wire)),
        expected="a value, since this key is required",
        got="null" if wire in tree else "nothing",
    )


def check_range(tree: dict[str, Any], bounds: Sequence[str], trail: Trail, /) -> None:
    """Raise DecodeError where 0 <= start <= end does not hold for two keys that are integers."""
    low, high = bounds
    start, end = tree[low], tree[high]
    if start < 0:
        raise misfit(DecodeError, (trail, low), "an integer of 0 or more", start)
    if end < start:
        raise misfit(DecodeError, (trail, high), f"an integer of {low} or more", end)


def _record_encoder(cls: type[Any], rows: Sequence[Field], *, tag: str | None) -> Encode:
    plan = [(row.wire, row.kind.exact, row.kind.encode, row.required) for row in rows]
    items_of = attrgetter(*[row.name for row in rows], "extra")
    own = frozenset(row.wire for row in rows) | ({"type"} if tag else frozenset())

    def encode(value: Any, trail: Trail) -> dict[str, Any]:  # noqa: ANN401 - checked here
        if type(value) is not cls:
            raise misfit(EncodeError, trail, f"a value of type {cls.__name__}", value)
        tree: dict[str, Any] = {"type": tag} if tag else {}
        # The last item, extra, is beyond the plan.
        for (wire, exact, encode_field, required), item in zip(plan, items_of(value), strict=False):
            if type(item) is exact:
                tree[wire] = item
            elif item is not None or required:
                tree[wire] = encode_field(item, (trail, wire))
        if value.extra is not NO_EXTRA:
            add_rest(tree, value.extra, own, trail)
        return tree

    return encode


def add_rest(
    tree: dict[str, Any], extra: Mapping[str, Any], names: frozenset[str], trail: Trail, /
) -> None:
    """Add what no field holds to an encoded object. A known key may only say null there."""
    left = copied(extra, trail, error=EncodeError)
    if type(left) is not dict:
        raise misfit(EncodeError, trail, "an extra that is a mapping", extra)
    for key, value in left.items():
        if key not in names:
            tree[key] = value
        elif value is not None:
            raise misfit(EncodeError, (trail, key), "null, as this key has a field", value)
        else:
            tree.setdefault(key, None)
