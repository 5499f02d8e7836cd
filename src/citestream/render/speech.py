"""An answer as it is read aloud: words only, without marks, markup and addresses.

In: content, citations. Out: one line for every paragraph, heading, list item and row of a table.
Items of ordered lists begin with their number. Code is left out, or said to be there; of an
address only the host is read.
"""

import re
from bisect import bisect_left
from itertools import groupby
from typing import TYPE_CHECKING

from ..model import Citations
from .labels import one_line
from .notes import notes, span_numbers
from .placement import normal, positions
from .structure import Leaf, Structure, read

if TYPE_CHECKING:
    from .parser import Token

__all__ = ("speech",)

_ADDRESS = re.compile(
    r"(?:(?:https?|s?ftps?|file|wss?|ssh|git)://|www\.|mailto:(?=[^\s<>@]{1,64}@))"
    r"(?:\[[0-9a-f:.]+\])?(?:[^\s<>]*[^\s<>.,;:!?)\]}'\"、。）」])?",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:[a-z]+://|mailto:)?(?:[^/@\s]*@)?(?:www\.)?(?:\[([0-9a-f:.]+)\]|([^/?#:,]*)).*",
    re.IGNORECASE | re.DOTALL,
)
_SPACES = re.compile(r"[ \t\r\n\f\v]+")
_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", "：", "।", "؟", "۔")


def speech(
    content: str,
    citations: Citations | None,
    /,
    *,
    attribution: bool = False,
    code: str = "",
) -> str:
    r"""Return what of ``content`` is read aloud.

    With ``attribution`` a paragraph is followed by the names of the sources that it cites, as
    ``According to Memo.`` ``code`` is said in the place of every block of code.

    Raises OptionError for a content that is no text.

    >>> speech("**Rents** [rose](https://a.example/x): `3 %`.\n\n- See https://b.example/y.", None)
    'Rents rose: 3 %.\nSee b.example.'
    """
    structure = read(normal(content), html=True)
    named = _named(content, citations, structure) if citations and attribution else {}
    items = _items(structure)
    lines = []
    rows = groupby(enumerate(structure.leaves), lambda pair: _line(pair[1]))
    for _, group in rows:
        leaves = list(group)
        said = ", ".join(filter(None, (_said(structure, leaf, code) for _, leaf in leaves)))
        if not said:
            continue
        around = leaves[0][1].path
        said = " ".join([*(items.pop(item) for item in around if item in items), said])
        names = dict.fromkeys(name for number, _ in leaves for name in named.get(number, ()))
        if names:
            end = "" if said.endswith(_ENDS) else "."
            said = f"{said}{end} According to {', '.join(names)}."
        lines.append(said)
    return "\n".join(lines)


def _items(structure: Structure) -> dict[int, str]:
    """Return the numbers of the items of ordered lists, by the tokens that open these."""
    found = {}
    following: list[int | None] = []  # the next number in each open list, None without numbers
    for index, token in enumerate(structure.tokens):
        if token.type == "ordered_list_open":
            following.append(int(token.attrs.get("start", 1)))
        elif token.type == "bullet_list_open":
            following.append(None)
        elif token.type in {"ordered_list_close", "bullet_list_close"}:
            following.pop()
        elif token.type == "list_item_open" and (number := following[-1]) is not None:
            found[index] = f"{number}."
            following[-1] = number + 1
    return found


def _line(leaf: Leaf) -> tuple[int, ...]:
    """Return what leaves of one line have in common: cells that stand in one row."""
    return (leaf.row,) if leaf.kind == "cell" else (-1, leaf.token)


def _said(structure: Structure, leaf: Leaf, code: str) -> str:
    if leaf.kind == "rule":
        return ""
    if leaf.kind == "solid":
        return "" if structure.tokens[leaf.token].type == "html_block" else code
    return _tidy(_words(structure.inline(leaf.content)[0]))


def _words(tokens: "list[Token]") -> str:
    pieces = []
    for token in tokens:
        if token.type == "image":
            pieces.append(_words(token.children or []))
        elif token.type in {"softbreak", "hardbreak"}:
            pieces.append(" ")
        elif token.type != "html_inline":
            pieces.append(token.content)
    return "".join(pieces)


def _tidy(text: str) -> str:
    text = _ADDRESS.sub(lambda match: _HOST.sub(r"\1\2", match[0]), text)
    return _SPACES.sub(" ", one_line(text)).strip()


def _named(content: str, citations: Citations, structure: Structure) -> dict[int, list[str]]:
    """Return the names of the sources that are cited in every leaf."""
    labels = {note.number: note.label for note in notes(citations)}
    starts = [leaf.start for leaf in structure.leaves]
    named: dict[int, list[str]] = {}
    ends = positions(content, [span.end_index for span in citations.spans])
    for end, numbers in zip(ends, span_numbers(citations), strict=True):
        leaf = max(0, bisect_left(starts, end) - 1)
        named.setdefault(leaf, []).extend(_tidy(labels[number]) for number in numbers)
    return named
