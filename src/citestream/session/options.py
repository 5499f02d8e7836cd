"""The options of a session, as one frozen value."""

from typing import Any

import attrs

from ..errors import OptionError, brief
from ..resolver import CitationOptions

__all__ = ("SessionOptions",)


def _positive(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{attribute.name}: wanted an integer of 1 or more, got {brief(value)}")


@attrs.frozen(kw_only=True)
class SessionOptions:
    """How a session behaves.

    ``citations`` says how answers are read. ``buffer_size`` bounds the events that wait for a
    reader of ``Session.events()``: when that many wait, the session waits for the reader.

    Raises OptionError for a buffer that holds nothing.
    """

    citations: CitationOptions = attrs.field(factory=CitationOptions)
    buffer_size: int = attrs.field(default=1024, validator=_positive)
