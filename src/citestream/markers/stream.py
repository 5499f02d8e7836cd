"""The filter that hides markers while text streams.

Deltas in, visible text out: joined, what ``MarkerFilter`` gives out is the content that
``parse_markers`` gives for the whole text, for every way of cutting it. It keeps nothing of what it
gave out, and withholds only what may yet become a marker or go together with one.
"""

from ..errors import StateError
from .grammar import Grammar
from .syntax import DEFAULT_SYNTAX, MarkerSyntax
from .tokenizer import Tokenizer
from .visible import VisibleText

__all__ = ("MarkerFilter",)


class MarkerFilter:
    r"""Hides the markers of one text that comes in deltas.

    ``other_families`` says what becomes of markers that cite nothing: ``display`` (their words
    stay), ``strip`` or ``keep``. Raises OptionError for anything else.

    >>> hide = MarkerFilter()
    >>> hide.feed("Rents rose. \ue200ci"), hide.feed("te\ue202a\ue201 Wages"), hide.finish()
    (['Rents rose.'], [' ', 'Wages'], [])
    """

    def __init__(
        self, *, syntax: MarkerSyntax = DEFAULT_SYNTAX, other_families: str = "display"
    ) -> None:
        grammar = Grammar.of(syntax)
        self._tokens = Tokenizer(grammar)
        self._visible = VisibleText(grammar, other_families=other_families)
        self._special = grammar.special.search
        self._ascii_passes = not any(mark.isascii() for mark in syntax.highlight or ())
        self._first = syntax.start[0]
        self._finished = False

    def feed(self, delta: str, /) -> list[str]:
        """Take the next delta and return the text that is now sure to be visible.

        Raises StateError after ``finish``.
        """
        tokens, visible = self._tokens, self._visible
        if (
            delta
            and self._first not in delta
            and not tokens.holds
            and not self._finished
            and ((self._ascii_passes and delta.isascii()) or not self._special(delta))
        ):
            at = tokens.passes(delta)
            if visible.idle and delta[-1] not in " \t":
                visible.passes(delta)
                return [delta]
            return visible.add_text(delta, at)
        return visible.add(tokens.feed(delta))

    def finish(self) -> list[str]:
        """Say that the text ends here and return what is still visible.

        Raises StateError when called twice.
        """
        if self._finished:
            raise StateError("finish: the text is finished already")
        self._finished = True
        return [*self._visible.add(self._tokens.finish()), *self._visible.finish()]
