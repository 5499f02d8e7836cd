"""Checks that options of several rooms share, as attrs validators.

Deliberately elsewhere: whatever one room alone asks of its values.
"""

from typing import Any

import attrs

from .errors import OptionError, brief

__all__ = ("positive",)


def positive(_instance: object, attribute: "attrs.Attribute[Any]", value: object, /) -> None:
    """Raise OptionError for what is not an integer of 1 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{attribute.name}: wanted an integer of 1 or more, got {brief(value)}")
