"""An answer as plain text with numbered references."""

from ..model import Citations
from .characters import harmless
from .labels import free_prefix, isolated
from .notes import Note, notes, with_notes
from .placement import marked, normal, with_marks

__all__ = ("plain",)


def plain(content: str, citations: Citations | None, /, *, quotes: bool = False) -> str:
    r"""Return ``content`` with ``[1]`` behind what a source supports, and the list of sources.

    Where the content has such numbers of its own, these are ``[s1]``. With ``quotes`` every place
    of which the source's text is known has a number, and that text under it, as ``QUOTE_LENGTH``
    allows. Text is printed to terminals too: an escape is shown as ``␛``, and what else steers
    them is left out.

    Raises OptionError for a content that is no text.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(plain(answer.content, answer.citations))
    Rents rose. [1]
    <BLANKLINE>
    [1] turn0file0, L8
    """
    if citations is None or not citations.sources:
        return harmless(normal(content))
    text = marked(content, citations, quotes=quotes)
    prefix = free_prefix(harmless(text.text), before="[", prefix="", digits=True)
    body = with_marks(
        text,
        lambda mark, _: (
            " " * (not mark.gap and not mark.apart)
            + " ".join(f"[{prefix}{number}]" for number in mark.numbers)
        ),
        shown=harmless,
    )
    listed = [
        "\n".join([_line(note, prefix), *(f"    > {line}".rstrip() for line in note.quote)])
        for note in notes(citations, quoted_in=content if quotes else None)
    ]
    return with_notes(body, listed)


def _line(note: Note, prefix: str) -> str:
    urls = [note.url] if note.url and note.url != note.label else []
    places = map(isolated, note.places)
    return ", ".join([f"[{prefix}{note.number}] {isolated(note.label)}", *urls, *places])
