"""How much a registry and the readers of files take in: one frozen value of named bounds.

In: numbers. Out: ``Limits``; whoever reaches one raises LimitError with its name, its value and
what came. Deliberately elsewhere: the bounds of markers (``markers.MarkerSyntax``).
"""

import attrs

from ..errors import LimitError
from ..validators import positive

__all__ = ("DEFAULT_LIMITS", "Limits")


def _bound(default: int) -> int:
    return attrs.field(default=default, validator=positive)


@attrs.frozen(kw_only=True)
class Limits:
    """The bounds of what may be cited, every one inclusive. Characters are code points.

    Raises OptionError for a bound that is not an integer of 1 or more.

    >>> Limits(max_sources=2).check("max_sources", 3)
    Traceback (most recent call last):
    ...
    citestream.errors.LimitError: max_sources: at most 2, got 3
    """

    max_source_chars: int = _bound(4 * 1024 * 1024)
    """Characters of one source. No model reads more: 4 Mi characters are about a million tokens."""
    max_sources: int = _bound(20_000)
    """Sources of one registry: 100 tool calls of 200 results. Stops a tool that never ends."""
    max_total_chars: int = _bound(128 * 1024 * 1024)
    """Characters of all sources together, their titles, urls and paths included: it is memory."""
    max_file_bytes: int = _bound(32 * 1024 * 1024)
    """Bytes of one file, checked before all of it is read. Model services stop at 32 MB too."""
    max_pages: int = _bound(5_000)
    """Pages of one source. A page costs time however little text it gives."""
    max_blocks: int = _bound(100_000)
    """Blocks that the caller marks in one source."""

    def check(self, name: str, value: int, /) -> None:
        """Raise LimitError when ``value`` exceeds the bound called ``name``."""
        bound: int = getattr(self, name)
        if value > bound:
            raise LimitError(f"{name}: at most {bound}, got {value}")


DEFAULT_LIMITS = Limits()
"""The bounds that apply where the caller names none."""
