"""An answer as Markdown with footnotes."""

import re

from ..model import Citations
from .notes import Note, marked_pieces, notes

__all__ = ("markdown",)

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!$&^])")


def markdown(content: str, citations: Citations | None, /, *, anchor_prefix: str = "") -> str:
    r"""Return ``content`` with a footnote for every source: ``[^1]`` behind what it supports.

    ``anchor_prefix`` goes before every footnote's number, so that several answers share a page.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(markdown(answer.content, answer.citations))
    Rents rose.[^1]
    <BLANKLINE>
    [^1]: turn0file0, L8
    """
    pieces = marked_pieces(content, citations)
    body = "".join(
        piece + "".join(f"[^{anchor_prefix}{number}]" for number in numbers)
        for piece, numbers in pieces
    )
    listed = [f"[^{anchor_prefix}{note.number}]: {_note(note)}" for note in notes(citations)]
    if not listed:
        return body
    return body.rstrip("\n") + "\n\n" + "\n".join(listed)


def _note(note: Note) -> str:
    label = _MARKUP.sub(r"\\\1", note.label)
    if note.url == note.label:
        label = f"<{note.url}>"
    elif note.url:
        label = f"[{label}](<{note.url}>)"
    return ", ".join([label, *(_MARKUP.sub(r"\\\1", place) for place in note.places)])
