"""The options of a session, as one frozen value."""

import attrs

from ..markers import DEFAULT_SYNTAX, LINES, PAGES
from ..resolver import CitationOptions
from ..validators import positive

__all__ = ("CLIENT_OPTIONS", "SessionOptions")


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
    buffer_size: int = attrs.field(default=1024, validator=positive)
    system_message: str | None = attrs.field(default=None, repr=False)
    max_tool_rounds: int = attrs.field(default=50, validator=positive)


CLIENT_OPTIONS = SessionOptions(
    citations=CitationOptions(syntax=attrs.evolve(DEFAULT_SYNTAX, locators=(LINES, PAGES)))
)
"""Those of the sessions of a client where none are given: attached PDFs are cited by page."""
