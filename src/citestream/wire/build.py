"""Make frozen values whose fields a decoder has already checked, at half the price of a call.

``setters(cls)`` gives, per attrs field in order, the ``__set__`` of its slot; ``blank(cls)`` gives
an instance whose slots are empty. A frozen class refuses ``setattr``, but its generated
``__init__`` writes the slots too: writing them directly, once, before anybody else has seen the
value, yields the very same value. What is skipped are validators, converters and defaults. So the
caller must have checked every invariant and must set every slot; that is why nothing outside this
package may use these two names, and why a test compares each class built both ways.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import attrs

__all__ = ("Setter", "blank", "builder", "setters")

_T = TypeVar("_T")
Setter: TypeAlias = Callable[[Any, Any], None]
"""Writes one slot of an instance: ``setter(instance, value)``."""

blank = object.__new__
"""Make an instance of the given class with empty slots."""


def setters(cls: type[Any], /) -> tuple[Setter, ...]:
    """Return what writes the slots of ``cls``, in the order of its attrs fields."""
    return tuple(vars(cls)[field.name].__set__ for field in attrs.fields(cls))


def builder(cls: type[_T], /) -> Callable[[Sequence[Any]], _T]:
    """Return a function that makes a ``cls`` from its field values, in the order of its fields."""
    writers = setters(cls)

    def build(values: Sequence[Any], /) -> _T:
        instance = blank(cls)
        for write, value in zip(writers, values, strict=True):
            write(instance, value)
        return instance

    return build
