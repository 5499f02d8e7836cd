"""The options of a session, as one frozen value."""

from typing import Any

import attrs

from ..errors import OptionError, brief
from ..markers import DEFAULT_SYNTAX, LINES, PAGES
from ..resolver import CitationOptions

__all__ = ("CLIENT_OPTIONS", "SessionOptions")


def _positive(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{attribute.name}: wanted an integer of 1 or more, got {brief(value)}")


@attrs.frozen(kw_only=True)
class SessionOptions:
    """How a session behaves.

    ``citations`` says how answers are read. ``buffer_size`` bounds the events that wait for a
    reader of ``Session.events()``: when that many wait, the session waits for the reader.
    ``system_message`` is what a model is told before all else. ``max_tool_rounds`` bounds how often
    a model may ask for tools before it answers.

    Raises OptionError for bounds below 1.
    """

    citations: CitationOptions = attrs.field(factory=CitationOptions)
    buffer_size: int = attrs.field(default=1024, validator=_positive)
    system_message: str | None = attrs.field(default=None, repr=False)
    max_tool_rounds: int = attrs.field(default=50, validator=_positive)


CLIENT_OPTIONS = SessionOptions(
    citations=CitationOptions(syntax=attrs.evolve(DEFAULT_SYNTAX, locators=(LINES, PAGES)))
)
"""Those of the sessions of a client where none are given: attached PDFs are cited by page."""
