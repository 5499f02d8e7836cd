"""An answer as plain text with numbered references."""

from ..model import Citations
from .notes import marked_pieces, notes

__all__ = ("plain",)


def plain(content: str, citations: Citations | None, /) -> str:
    r"""Return ``content`` with ``[1]`` behind what a source supports, and the list of sources.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(plain(answer.content, answer.citations))
    Rents rose. [1]
    <BLANKLINE>
    [1] turn0file0, L8
    """
    pieces = marked_pieces(content, citations)
    body = "".join(
        piece + "".join(f" [{number}]" for number in numbers) for piece, numbers in pieces
    )
    listed = [
        ", ".join(
            [
                f"[{note.number}] {note.label}",
                *([note.url] if note.url and note.url != note.label else []),
                *note.places,
            ]
        )
        for note in notes(citations)
    ]
    if not listed:
        return body
    return body.rstrip("\n") + "\n\n" + "\n".join(listed)
