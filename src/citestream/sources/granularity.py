"""How finely a source may be cited: the four granularities, as an enum.

In: nothing. Out: ``Granularity``, which ``SourceRegistry.add`` takes and the prompts show.
Deliberately elsewhere: the units of locators (``markers.syntax``), for a source of any granularity
can be located by any unit that it has.
"""

from enum import Enum

__all__ = ("Granularity",)


class Granularity(Enum):
    """What of a source gets a name of its own when it is shown to a model."""

    DOCUMENT = "document"
    """The source as a whole: one id, no locators."""
    BLOCK = "block"
    """Paragraph-sized chunks, each with an id of its own."""
    LINE = "line"
    """One id, and a number before every line."""
    PAGE = "page"
    """One id, and a number before every page."""
