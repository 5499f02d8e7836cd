"""An answer for a terminal, and the deltas of one: nothing in them can steer it.

In: content and citations, or pieces of text as they come. Out: text, line feeds and tabs, and where
asked for this module's own escape sequences: colours (SGR) and links (OSC 8). Escape characters of
others are shown as ``␛``; other controls are left out.
"""

from ..model import Citations
from ..offsets import is_high_surrogate
from .characters import harmless
from .labels import free_prefix, isolated
from .notes import Note, notes, with_notes
from .placement import Mark, marked, required, with_marks

__all__ = ("TerminalFilter", "terminal")

_NUMBER = "\x1b[36m"
_DIM = "\x1b[2m"
_RESET = "\x1b[0m"


def terminal(
    content: str,
    citations: Citations | None,
    /,
    *,
    color: bool = True,
    links: bool = True,
    quotes: bool = False,
) -> str:
    r"""Return ``content`` as ``plain`` does, with colours and links.

    With ``color`` numbers stand out from the text; with ``links`` numbers and names lead to the
    source's URL, where it has a safe one. Without both it reads as ``plain`` does. Nobody knows
    here what the output is: whoever writes to a pipe or a file, or is told ``NO_COLOR``, turns
    both off.

    Raises OptionError for a content that is no text.

    >>> terminal("Rents\x1b[2J rose.\a", None)
    'Rents␛[2J rose.'
    """
    if citations is None or not citations.sources:
        return harmless(required(content))
    listed = notes(citations, quoted_in=required(content) if quotes else None)
    text = marked(content, citations, quotes=quotes)
    prefix = free_prefix(harmless(text.text), before="[", prefix="", digits=True)
    urls = {note.number: note.url for note in listed if links}

    def paint(sequence: str, words: str) -> str:
        return f"{sequence}{words}{_RESET}" if color else words

    def number(value: int) -> str:
        return _link(paint(_NUMBER, f"[{prefix}{value}]"), urls.get(value))

    def mark(spot: Mark, _: str) -> str:
        blank = "" if spot.gap or spot.apart else " "
        return blank + " ".join(map(number, spot.numbers))

    def line(note: Note) -> str:
        url = note.url if links else None
        label = _link(isolated(note.label), url)
        shown = [note.url] if note.url and not url and note.url != note.label else []
        places = "".join(f", {place}" for place in [*shown, *map(isolated, note.places)])
        quote = [paint(_DIM, f"    > {words}".rstrip()) for words in note.quote]
        return "\n".join([f"{number(note.number)} {label}{places}", *quote])

    body = with_marks(text, mark, shown=harmless)
    return with_notes(body, [line(note) for note in listed])


class TerminalFilter:
    r"""Makes the deltas of one stream safe for a terminal, however they are cut.

    >>> safe = TerminalFilter()
    >>> [piece for delta in ("a\x1b", "[2Jb\r\n") for piece in safe.feed(delta)] + safe.finish()
    ['a␛', '[2Jb\n']
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, delta: str, /) -> list[str]:
        """Return what of ``delta`` can be shown now: no or one piece, never an empty one."""
        text = self._held + delta
        # Half a character waits for the other half.
        self._held = text[-1:] if is_high_surrogate(text) else ""
        return _pieces(text[: len(text) - len(self._held)])

    def finish(self) -> list[str]:
        """Return what was held back."""
        held, self._held = self._held, ""
        return _pieces(held)


def _pieces(text: str) -> list[str]:
    shown = harmless(text)
    return [shown] if shown else []


def _link(text: str, url: str | None) -> str:
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url else text
