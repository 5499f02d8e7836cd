"""An answer as Markdown with footnotes."""

import re

from ..model import Citations
from .notes import Note, marked_pieces, notes, with_notes

__all__ = ("markdown",)

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!$&^])")
# A quotation is to be read as it stands in the source: a character that is markup only at the
# beginning of a line (headings) or in a line of its like (rules, table delimiters) stays elsewhere.
# Lists stay lists: the mark before every line keeps them inside the quotation.
_INLINE = re.compile(r"([\\`*_{}\[\]<>~$&^])")
_BLOCK = re.compile(r"\A(\s*)(#|[-=|:](?=[-=|:\s]*\Z))")


def markdown(
    content: str,
    citations: Citations | None,
    /,
    *,
    anchor_prefix: str = "",
    quotes: bool = False,
) -> str:
    r"""Return ``content`` with a footnote for every source: ``[^1]`` behind what it supports.

    ``anchor_prefix`` goes before every footnote's number, so that several answers share a page. It
    grows where the content has footnotes of its own that would be taken for these.
    With ``quotes`` there is a footnote for every place of which the source's text is known, and
    that text under it, as ``QUOTE_LENGTH`` allows.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(markdown(answer.content, answer.citations))
    Rents rose.[^1]
    <BLANKLINE>
    [^1]: turn0file0, L8
    """
    pieces = marked_pieces(content, citations, quotes=quotes)
    prefix = _free(anchor_prefix, content)
    body = "".join(
        piece + "".join(f"[^{prefix}{number}]" for number in numbers) for piece, numbers in pieces
    )
    listed = [
        "\n".join([f"[^{prefix}{note.number}]: {_note(note)}", *map(_quoted, note.quote)])
        for note in notes(citations, quoted_in=content if quotes else None)
    ]
    return with_notes(body, listed)


def _free(prefix: str, content: str) -> str:
    """Return ``prefix``, grown until no footnote of ``content`` begins with it."""
    while f"[^{prefix}" in content:
        prefix += "s"
    return prefix


def _note(note: Note) -> str:
    label = _MARKUP.sub(r"\\\1", note.label)
    if note.url == note.label:
        label = f"<{note.url}>"
    elif note.url:
        label = f"[{label}](<{note.url}>)"
    return ", ".join([label, *(_MARKUP.sub(r"\\\1", place) for place in note.places)])


def _quoted(line: str) -> str:
    """Return a line of a quotation inside a footnote, in which nothing is markup."""
    line = _INLINE.sub(r"\\\1", line)
    line = _BLOCK.sub(r"\1\\\2", line)
    return f"    > {line}".rstrip()
