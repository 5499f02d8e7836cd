"""An answer as plain text with numbered references."""

from ..model import Citations
from .notes import Note, marked_pieces, notes, with_notes

__all__ = ("plain",)


def plain(content: str, citations: Citations | None, /, *, quotes: bool = False) -> str:
    r"""Return ``content`` with ``[1]`` behind what a source supports, and the list of sources.

    With ``quotes`` every place of which the source's text is known has a number, and that text
    under it, as ``QUOTE_LENGTH`` allows.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(plain(answer.content, answer.citations))
    Rents rose. [1]
    <BLANKLINE>
    [1] turn0file0, L8
    """
    pieces = marked_pieces(content, citations, quotes=quotes)
    body = "".join(
        piece + "".join(f" [{number}]" for number in numbers) for piece, numbers in pieces
    )
    listed = [
        "\n".join([_line(note), *(f"    > {line}".rstrip() for line in note.quote)])
        for note in notes(citations, quoted_in=content if quotes else None)
    ]
    return with_notes(body, listed)


def _line(note: Note) -> str:
    urls = [note.url] if note.url and note.url != note.label else []
    return ", ".join([f"[{note.number}] {note.label}", *urls, *note.places])
