"""Make frozen values whose fields a decoder has already checked, at a fraction of a call's price.

A frozen class refuses ``setattr``, so its generated ``__init__`` writes each slot by a call.
``draft(cls)`` is the same class without that refusal: the interpreter writes its slots directly,
and once all of them are written, ``instance.__class__ = cls`` makes the very value that a call of
``cls`` makes. What is skipped are validators, converters and defaults. So the caller must have
checked every invariant, must set every slot, and must be the only one who has seen the value; that
is why nothing outside this package may use these names, and why a test compares each class built
both ways.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import attrs

from ..model import Citations, CitationSpan

__all__ = ("blank", "builder", "column_builder", "defer_spans", "draft")

_T = TypeVar("_T")

blank: Callable[[type[_T]], _T] = object.__new__
"""Make an instance of the given class with empty slots."""


def draft(cls: type[Any], /) -> type[Any]:
    """Return a writable twin of ``cls``, called with all field values in the order of its fields.

    It adds no slots, so that its instances may become those of ``cls``.
    """
    # Both, as one C slot serves them: else each write would go through a call in Python.
    plain = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    twin = type(f"{cls.__name__}Draft", (cls,), {"__slots__": (), **plain})
    fields = {field.name: attrs.field() for field in attrs.fields(cls)}
    return attrs.define(twin, these=fields, slots=False, kw_only=False, eq=False, repr=False)


def builder(cls: type[_T], /) -> Callable[[Sequence[Any]], _T]:
    """Return a function that makes a ``cls`` from its field values, in the order of its fields."""
    twin = draft(cls)

    def build(values: Sequence[Any], /) -> _T:
        made: Any = twin(*values)
        made.__class__ = cls
        return made  # type: ignore[no-any-return] # it is a cls by now

    return build


def column_builder(cls: type[_T], /) -> Callable[[Iterable[Iterable[Any]]], list[_T]]:
    """Return a function that makes many ``cls`` from a column of values per field, in order."""
    twin = draft(cls)

    def build(columns: Iterable[Iterable[Any]], /) -> list[_T]:
        made: list[Any] = list(map(twin, *columns))
        for each in made:
            each.__class__ = cls
        return made

    return build


def defer_spans(citations: Citations, make: Callable[[], Iterable[CitationSpan]], /) -> None:
    """Leave the spans of ``citations``, which nobody else has seen, to be made at first use.

    ``make`` cannot fail, gives equal values each time, and may be called by several threads.
    """
    object.__delattr__(citations, "spans")
    object.__setattr__(citations, "_pending", make)
