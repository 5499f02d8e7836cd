"""Reading what a vendor sent: its SDK's objects and plain dicts look the same from here.

Nothing a vendor sends raises: a field that is absent, null or of another type reads as absent.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

__all__ = ("field", "items", "number", "text")


def _of_mapping(value: Any, name: str) -> Any:  # noqa: ANN401 - whatever the vendor sent
    return value.get(name)


def _of_model(value: Any, name: str) -> Any:  # noqa: ANN401 - whatever the vendor sent
    # A model spends ten times as long on saying that it lacks a field.
    found = value.__dict__.get(name)
    extra = value.__pydantic_extra__ if found is None else None
    return extra.get(name) if extra else found


def _of_object(value: Any, name: str) -> Any:  # noqa: ANN401 - whatever the vendor sent
    return getattr(value, name, None)


def _reader_of(kind: type) -> Callable[[Any, str], Any]:
    if issubclass(kind, Mapping):
        return _of_mapping
    return _of_model if hasattr(kind, "__pydantic_extra__") else _of_object


# Asking an abstract class costs more than all the rest of reading a field.
_reader: Callable[[type], Callable[[Any, str], Any]] = lru_cache(maxsize=256)(_reader_of)


def field(value: Any, name: str, /) -> Any:  # noqa: ANN401 - whatever the vendor sent
    """Return the field ``name`` of an object or mapping, None where there is none."""
    if type(value) is dict:
        return value.get(name)
    return _reader(type(value))(value, name)


def text(value: object, name: str, /) -> str | None:
    """Return the field ``name`` if it is a string that is not empty."""
    found = field(value, name)
    return found if isinstance(found, str) and found else None


def number(value: object, name: str, /) -> int | None:
    """Return the field ``name`` if it is an integer of 0 or more."""
    found = field(value, name)
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    return None


def items(value: object, name: str, /) -> list[Any]:
    """Return the items of the field ``name``, none where it is no list."""
    found = field(value, name)
    return list(found) if isinstance(found, list | tuple) else []
