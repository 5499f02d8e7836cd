"""Read many values of a kind at once, column by column, where all of them have the usual shape.

A long answer has hundreds of spans and references. Taken one by one, each costs dozens of steps of
the interpreter; taken as columns (all the start indexes, then all the end indexes), the
same checks run inside of C loops. The checks are those of ``fields``, asked once per
column. Whatever is unusual (an unknown key, a null, a wrong type) makes the answer None; then
``fields`` reads the values one by one, keeps what is to be kept, and words the errors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise, repeat
from operator import le
from types import NoneType
from typing import Any, TypeAlias

from ..model import NO_EXTRA
from .build import column_builder

__all__ = ("Column", "Many", "Plan", "arrays", "passed", "records", "scalars", "unions")

Column: TypeAlias = Sequence[Any]
Many: TypeAlias = Callable[[Column, list[Any]], Column | None]
"""Turns JSON values of one kind, at least one and none of them null, into typed ones, or gives up;
collects in the list what no field reads."""

Plan: TypeAlias = Sequence[tuple[str, "type | None", "Many | None", bool]]
"""Per field of a record: its key, the type that passes as it is, how others do, is it required."""

_DICT = {dict}
_LIST = {list}


def scalars(exact: type, /) -> Many:
    """Return what passes values of just one type."""
    wanted = {exact}

    def many(values: Column, _unread: list[Any]) -> Column | None:
        return values if set(map(type, values)) == wanted else None

    return many


def passed(values: Column, unread: list[Any], /) -> Column:
    """Pass values that no field reads."""
    unread.extend(values)
    return values


def arrays(many_items: Many, /) -> Many:
    """Return what makes tuples of arrays, reading the items of all of them at once."""

    def many(values: Column, unread: list[Any]) -> Column | None:
        if set(map(type, values)) != _LIST:
            return None
        items = list(chain.from_iterable(values))
        made = many_items(items, unread) if items else items
        if made is None:
            return None
        flat = tuple(made)
        return [flat[low:high] for low, high in pairwise(accumulate(map(len, values), initial=0))]

    return many


def records(cls: type[Any], plan: Plan, /, *, tagged: bool, bounds: tuple[int, int] | None) -> Many:
    """Return what makes a ``cls`` of each object. ``bounds`` are two fields that make a range."""
    build = column_builder(cls)

    def many(values: Column, unread: list[Any]) -> Column | None:
        if set(map(type, values)) != _DICT:
            return None
        count = len(values)
        held = count if tagged else 0
        columns: list[Column] = []
        for wire, exact, many_values, required in plan:
            raw = [value.get(wire) for value in values]
            column, present = _typed(raw, exact, many_values, unread)
            if column is None or (required and present != count):
                return None
            columns.append(column)
            held += present
        # Each object has at least the keys counted, so equal sums mean that none has any other.
        if held != sum(map(len, values)) or (
            bounds is not None and not _ranges(*map(columns.__getitem__, bounds))
        ):
            return None
        return build([*columns, repeat(NO_EXTRA)])

    return many


def _typed(
    raw: list[Any], exact: type | None, many: Many | None, unread: list[Any]
) -> tuple[Column | None, int]:
    """Turn a column that may hold nulls into a typed one; tell how many are not null."""
    kinds = set(map(type, raw))
    if kinds == {exact}:
        return raw, len(raw)
    present = [value for value in raw if value is not None] if NoneType in kinds else raw
    if not present:
        return raw, 0
    made = many(present, unread) if many is not None else None
    if made is None or present is raw:
        return made, len(raw)
    if made is present:
        return raw, len(present)
    each = iter(made)
    return [None if value is None else next(each) for value in raw], len(present)


def _ranges(starts: Column, ends: Column) -> bool:
    return min(starts) >= 0 and all(map(le, starts, ends))


def unions(many_by_tag: Mapping[str, Many], /) -> Many:
    """Return what reads objects whose ``type`` says which of ``many_by_tag`` they are for."""

    def many(values: Column, unread: list[Any]) -> Column | None:
        if set(map(type, values)) != _DICT:
            return None
        tags = [value.get("type") for value in values]
        if set(map(type, tags)) != {str}:
            return None
        kinds = set(tags)
        if len(kinds) == 1:
            only = many_by_tag.get(tags[0])
            return only(values, unread) if only else None
        made: dict[str, Iterator[Any]] = {}
        for tag in kinds:
            group = [value for value, its in zip(values, tags, strict=True) if its == tag]
            column = many_by_tag[tag](group, unread) if tag in many_by_tag else None
            if column is None:
                return None
            made[tag] = iter(column)
        return [next(made[tag]) for tag in tags]

    return many
