"""JSON values held as Python objects: where in them one is, how deep they are, and copies of them.

In: what a caller or a parser handed over. Out: plain dicts, lists and scalars that nobody else
holds, or an error that names the place. Nothing here recurses, so no nesting can exhaust the stack.
"""

import math
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeAlias

from ..errors import DecodeError, EncodeError, brief

__all__ = (
    "MAX_DEPTH",
    "MAX_INTEGER",
    "MAX_VALUES",
    "TYPED_DEPTH",
    "Fault",
    "Trail",
    "copied",
    "misfit",
    "settle",
    "where",
)

Trail: TypeAlias = "tuple[Trail, str | int] | None"
"""The way from the root to a value: (the way to its parent, its key or index); None is the root."""

Fault: TypeAlias = type[DecodeError] | type[EncodeError]
"""Whose fault a bad value is: the upstream's when decoding, the caller's when encoding."""

MAX_DEPTH = 500
"""How deep a value that no field reads may nest: half of Python's default recursion limit, so that
whatever was decoded can be written, compared and shown by code that does recurse."""

TYPED_DEPTH = 16
"""More levels than the fields of any event make by themselves."""

MAX_VALUES = 10_000_000
"""How many values a caller's mapping may hold: a few containers that share each other (YAML aliases
make such) stand for any number of values once they are copied."""

MAX_INTEGER = 10**4300 - 1
"""The largest integer: the interpreter neither reads nor writes those of more digits."""

_MAX_SEGMENTS = 24  # of a path in a message: room for every typed field
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_EXACT = 2.0**63
_PLAIN = frozenset({str, bool, NoneType})
_CONTAINERS = (dict, list, tuple, Mapping)
_Task: TypeAlias = tuple[Any, Any, Trail, int]  # a container, its copy, where it is, its depth


def where(trail: Trail, /) -> str:
    """Write a trail as a path in wire names.

    >>> where((((None, "spans"), 3), "endIndex"))
    '$.spans[3].endIndex'
    """
    keys: list[str | int] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    keys.reverse()
    shown = ["$", *map(_segment, keys[:_MAX_SEGMENTS])]
    if len(keys) > _MAX_SEGMENTS:
        shown.append("...")
    return "".join(shown)


def _segment(key: str | int) -> str:
    if isinstance(key, str):
        return f".{key}" if _NAME.fullmatch(key) else f"[{brief(key)}]"
    return f"[{key}]"


def misfit(error: Fault, trail: Trail, expected: str, got: object, /) -> DecodeError | EncodeError:
    """Make the error for a value that is not what was expected at ``trail``."""
    return error(path=where(trail), expected=expected, got=brief(got))


def settle(unread: list[Any], /) -> bool:
    """Check values that no field reads; tell whether each number among them is surely exact.

    Raises DecodeError where one nests more than MAX_DEPTH levels. A float from 2**63 on may have
    been an integer: there is a parser that rounds those that fit no machine word.
    """
    exact = True
    level = unread
    for _ in range(MAX_DEPTH + 1):
        kinds = set(map(type, level))
        if float in kinds and exact:
            exact = all(-_EXACT < value < _EXACT for value in level if type(value) is float)
        if dict not in kinds and list not in kinds:
            return exact
        below = [value for node in level if type(node) is dict for value in node.values()]
        if list in kinds:
            below += [value for node in level if type(node) is list for value in node]
        level = below
    raise _too_deep(DecodeError, None, MAX_DEPTH)


def copied(
    value: object,
    trail: Trail,
    /,
    *,
    error: Fault,
    levels: int = MAX_DEPTH,
    values: float = math.inf,
) -> Any:  # noqa: ANN401 - a JSON value
    """Return ``value`` as fresh dicts, lists and plain scalars, shared with nobody.

    Mappings become dicts, tuples lists, and subclasses of str, int and float what they derive from.
    Raises ``error`` for what JSON cannot say, and beyond so many ``levels`` or ``values``.
    """
    todo: list[_Task] = []
    top = _copied_node(value, trail, error, todo, 1)
    while todo:
        # The last one first: so a mapping that holds itself reaches the limit at once.
        source, target, place, depth = todo.pop()
        values -= len(source)
        if depth > levels:
            raise _too_deep(error, trail, levels)
        if values < 0:
            raise error(path=where(trail), expected="fewer values", got="too many of them")
        if isinstance(target, list):
            for index, item in enumerate(source):
                target.append(_copied_node(item, (place, index), error, todo, depth + 1))
            continue
        for key, item in source.items():
            if not isinstance(key, str):
                raise misfit(error, place, "keys that are strings", key)
            plain = str.__str__(key)
            target[plain] = _copied_node(item, (place, plain), error, todo, depth + 1)
    return top


def _copied_node(value: Any, trail: Trail, error: Fault, todo: list[_Task], depth: int) -> Any:  # noqa: ANN401 - a JSON value
    """Copy a scalar; for a container return an empty one and note what is to be copied into it."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict or kind is list or isinstance(value, _CONTAINERS):
        target: Any = [] if kind is list or isinstance(value, list | tuple) else {}
        todo.append((value, target, trail, depth))
        return target
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and -MAX_INTEGER <= value <= MAX_INTEGER:
        return int.__index__(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    raise misfit(error, trail, "a JSON value", value)


def _too_deep(error: Fault, trail: Trail, levels: int) -> DecodeError | EncodeError:
    return error(
        path=where(trail), expected=f"at most {levels} levels of nesting", got="more of them"
    )
