"""An answer as Markdown: with footnotes, with links, or with a numbered list of sources."""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from ..errors import OptionError, brief
from ..model import Citations
from .labels import anchor, free_prefix, isolated
from .notes import Note, notes, with_notes
from .placement import Mark, marked, required, with_marks

__all__ = ("MarkdownStyle", "markdown")

MarkdownStyle: TypeAlias = Literal["footnotes", "links", "list"]
"""How sources are shown: as footnotes, as links behind the words, or by number in a list."""

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!$&^@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# At the beginning of a line more is markup: bullets, numbers of lists, underlines.
_BEGINNING = re.compile(r"\A(?:([-+=])|([0-9]{1,9})([.)]))")
_PARENTHESES = re.compile("([()])")
_ENTITY = re.compile("&(?=#?[A-Za-z0-9]+;)")
# What parsers that know no footnotes take for the definition of a link, and what of it is harmless:
# the name of a file beside the page.
_DEFINITION = re.compile(r"""\S+(?:\s+(?:".*"|'.*'|\(.*\)))?""")
_WORD = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
# A quotation is to be read as it stands in the source: a character that is markup only at the
# beginning of a line (headings) or in a line of its like (rules, table delimiters) stays elsewhere.
# Lists stay lists: the mark before every line keeps them inside the quotation.
_INLINE = re.compile(r"([\\`*_{}\[\]<>~$&^]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
_BLOCK = re.compile(r"\A(\s*)(#|[-=|:](?=[-=|:\s]*\Z))")


def markdown(
    content: str,
    citations: Citations | None,
    /,
    *,
    style: MarkdownStyle = "footnotes",
    anchor_prefix: str = "",
    quotes: bool = False,
) -> str:
    r"""Return ``content`` with a mark behind what a source supports, and the sources below.

    ``footnotes`` are ``[^1]``; ``anchor_prefix`` goes before every number, so that several answers
    share a page, and grows where the content has footnotes of its own that would be taken for
    these. ``links`` are numbers that lead to the source's URL, where it has a safe one. A ``list``
    has plain numbers. Marks stand outside of code, links, HTML and emphasis, and the rest of the
    content is read as before. With ``quotes`` there is a number for every place of which the
    source's text is known, and that text under it, as ``QUOTE_LENGTH`` allows.

    Raises OptionError for another style, and for a content that is no text.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
    >>> print(markdown(answer.content, answer.citations))
    Rents rose.[^1]
    <BLANKLINE>
    [^1]: turn0file0, L8
    >>> print(markdown(answer.content, answer.citations, style="list"))
    Rents rose.[1]
    <BLANKLINE>
    Sources:
    <BLANKLINE>
    1. turn0file0, L8
    """
    if style not in {"footnotes", "links", "list"}:
        raise OptionError(f"style: wanted footnotes, links or list, got {brief(style)}")
    if citations is None or not citations.sources:
        return required(content)
    listed = notes(citations, quoted_in=required(content) if quotes else None)
    text = marked(content, citations, quotes=quotes, closed=True)
    if style == "footnotes":
        prefix = free_prefix(text.text, before="[^", prefix=anchor(anchor_prefix), digits=False)
        body = with_marks(text, _writer(lambda number: f"[^{prefix}{number}]"))
        return with_notes(body, [_footnote(note, prefix) for note in listed])
    prefix = free_prefix(text.text, before="[", prefix="", digits=True)
    urls = {note.number: note.url for note in listed if style == "links"}

    def mark(number: int) -> str:
        url = urls.get(number)
        # Without angles, which could end what the words before leave open.
        address = _PARENTHESES.sub(r"\\\1", _destination(url)) if url else ""
        link = f"({address})" if url else ""
        return f"[{prefix}{number}]{link}"

    body = with_marks(text, _writer(mark))
    return with_notes(body, [_item(note, prefix) for note in listed], title="Sources:")


def _writer(write: Callable[[int], str]) -> Callable[[Mark, str], str]:
    def written(mark: Mark, after: str) -> str:
        marks = "".join(map(write, mark.numbers))
        return f"{marks} " if after in {"(", "["} else marks

    return written


def _footnote(note: Note, prefix: str) -> str:
    text = _note(note)
    if _DEFINITION.fullmatch(text) and not note.url:
        text = text if text == note.label and _WORD.fullmatch(text) else f"the source {text}"
    return "\n".join([f"[^{prefix}{note.number}]: {text}", *_quoted(note, 4)])


def _item(note: Note, prefix: str) -> str:
    name = f"{prefix}{note.number}: " if prefix else ""
    return "\n".join(
        [f"{note.number}. {name}{_note(note)}", *_quoted(note, len(f"{note.number}. "))]
    )


def _note(note: Note) -> str:
    label = _escaped(note.label)
    places = "".join(f", {_escaped(place)}" for place in note.places)
    if not note.url:
        return f"{label}{places}"
    if note.url == note.label and not _ENTITY.search(note.label):
        return f"<{note.url}>{places}"
    link = f"[{label}](<{_destination(note.url)}>)"
    # With a blank in it the link is none of what a definition may lead to.
    if _DEFINITION.fullmatch(f"{link}{places}"):
        link = f"[{label}]( <{_destination(note.url)}>)"
    return f"{link}{places}"


def _destination(url: str) -> str:
    return _ENTITY.sub("&amp;", url)


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\1", isolated(text))
    return _BEGINNING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)


def _quoted(note: Note, indent: int) -> list[str]:
    """Return the lines of a quotation inside a note, in which nothing is markup."""
    lines = (_BLOCK.sub(r"\1\\\2", _INLINE.sub(r"\\\1", line)) for line in note.quote)
    return [f"{' ' * indent}> {line}".rstrip() for line in lines]
