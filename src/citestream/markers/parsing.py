"""Reading the markers of a whole text: what a reader sees, and what was cited where.

This is what sessions use on the final message. It reads further than ``extraction``, which mirrors
OpenAI's published helper.
"""

from collections.abc import Container

from ..offsets import well_formed
from .grammar import NO_SOURCES, Grammar
from .marker import MarkedText
from .syntax import DEFAULT_SYNTAX, MarkerSyntax
from .tokenizer import Tokenizer
from .visible import VisibleText

__all__ = ("parse_markers",)


def parse_markers(
    text: str,
    /,
    *,
    syntax: MarkerSyntax = DEFAULT_SYNTAX,
    known: Container[str] = NO_SOURCES,
    other_families: str = "display",
) -> MarkedText:
    r"""Read all markers of ``text``; malformed ones are taken out too and say what is wrong.

    ``known`` holds the registered source ids: a field that looks like a locator but is one of them
    is an id. ``other_families`` is as for MarkerFilter. Lone surrogates become U+FFFD first. Raises
    nothing for what a text holds.

    >>> read = parse_markers("Rents rose. \ue200cite\ue202a\ue202L8-L13\ue201 Wages fell.")
    >>> read.content
    'Rents rose. Wages fell.'
    >>> [str(target.locator) for target in read.markers[0].marker.targets]
    ['L8-L13']
    """
    grammar = Grammar.of(syntax)
    tokens = Tokenizer(grammar, known=known)
    visible = VisibleText(grammar, other_families=other_families, record=True)
    pieces = visible.add(tokens.feed(well_formed(text)))
    pieces += visible.add(tokens.finish())
    pieces += visible.finish()
    return MarkedText(
        content="".join(pieces), markers=tuple(visible.markers), runs=tuple(visible.runs)
    )
