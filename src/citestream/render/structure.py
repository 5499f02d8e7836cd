"""The blocks of a Markdown content and where each stands in it, as CommonMark reads it.

In: a content whose lines end in line feeds. Out: its leaves in order: paragraphs, headings and
cells, whose characters can be found in the content, and what holds no prose (code, HTML, rules).
Offsets count code points of the content.
Deliberately elsewhere: what stands inside a leaf (``runs``), where a mark goes (``placement``).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from .runs import ranges

if TYPE_CHECKING:
    from .parser import Token

__all__ = ("Inline", "Leaf", "Structure", "read", "read_text")

Inline: TypeAlias = "tuple[list[Token], list[tuple[int, int]] | None]"
"""Inline tokens and their ranges in the content of their leaf, None where these were not found."""

_CONTAINERS = ("blockquote", "list_item")
_PROSE = {"paragraph_open": "paragraph", "heading_open": "heading"}
_SOLID = ("fence", "code_block", "html_block")
_CELL = re.compile(r"(?:[^|\\]++|\\\|?+)*+")
_FENCE = re.compile(r" {0,3}(`+|~+)[ \t]*")
_BLANKS = " \t\n\v\f\r"  # what the parser trims
_ENDLESS = (  # HTML that only its own end ends
    (re.compile(r"<(script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE), ""),
    (re.compile("<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile("<![A-Za-z]"), ">"),
)
_TAGS = re.compile(r"</(script|pre|style|textarea)>", re.IGNORECASE)


@attrs.frozen(kw_only=True, eq=False)
class Leaf:
    """A block that holds no other: ``kind`` is paragraph, heading, cell, solid or rule.

    ``start`` and ``end`` are its range in the content. ``content`` is what the parser reads of it;
    its stretch from ``inner[i]`` on is that of the content from ``outer[i]`` on, ``lengths[i]``
    characters long. A leaf without stretches could not be found in the content.
    ``path`` names the quotes and list items around it; ``top`` counts the outermost blocks; cells
    of one row have the same ``row``.
    """

    kind: str
    start: int
    end: int
    path: tuple[int, ...]
    top: int
    token: int
    row: int = -1
    content: str = ""
    inner: tuple[int, ...] = ()
    outer: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()

    def to_inner(self, position: int, /) -> int:
        """Return the offset in ``self.content`` of a position of the content, or the nearest."""
        index = max(0, bisect_right(self.outer, position) - 1)
        beyond = max(0, position - self.outer[index])
        return self.inner[index] + min(beyond, self.lengths[index])

    def behind(self, offset: int, /) -> int:
        """Return the position in the content behind what ends at ``offset``, which is above 0."""
        index = bisect_left(self.inner, offset) - 1
        return self.outer[index] + min(offset - self.inner[index], self.lengths[index])


@attrs.frozen(kw_only=True, eq=False)
class Structure:
    """A content, its tokens and leaves, and the ends of its outermost blocks.

    ``inline`` gives the tokens of the content of a leaf and their ranges, if these were found.
    ``closing`` is what ends the code or HTML that the content leaves open at its end.
    """

    text: str
    tokens: "list[Token]"
    inline: "Callable[[str], Inline]"
    leaves: list[Leaf]
    tops: list[int]
    closing: str = ""


def read(text: str, /, *, html: bool) -> Structure:
    """Read the blocks of ``text``. With ``html`` raw HTML is HTML, else it is text."""
    from .parser import (  # noqa: PLC0415 - who renders nothing does not pay for it
        block_tokens,
        inline_tokens,
    )

    environment: dict[str, Any] = {}
    tokens = block_tokens(text, environment, html=html)
    lines = _Lines(text)
    leaves: list[Leaf] = []
    tops: list[int] = []
    path: list[int] = []
    row = -1
    cells: Iterator[tuple[int, int]] = iter(())
    for index, token in enumerate(tokens):
        kind = token.type
        if token.level == 0 and token.nesting >= 0 and token.map:
            tops.append(lines.start(token.map[1]))
        if kind.startswith(_CONTAINERS):
            if token.nesting > 0:
                path.append(index)
            else:
                path.pop()
        elif kind == "tr_open" and token.map:
            row = index
            cells = _cells(text, token.meta["at"], lines.end(token.map[0]))
        elif token.map and (kind == "inline" or kind in _SOLID or kind == "hr"):
            around = {"path": tuple(path), "top": len(tops) - 1, "token": index}
            if kind != "inline":
                leaf = _solid(token, lines, around)
            elif (before := tokens[index - 1].type) in _PROSE:
                leaf = _prose(token, lines, tokens[index - 1].markup, _PROSE[before], around)
            else:
                leaf = _cell(token, text, next(cells, (0, 0)), around | {"row": row})
            leaves.append(leaf)
    closing = _closing(tokens[-1], lines) if tokens else ""
    if closing:
        tops[-1] = len(text)  # a last line of blanks is none for the parser
        closing = closing if text.endswith("\n") else f"\n{closing}"
    return Structure(
        text=text,
        tokens=tokens,
        inline=cache(
            lambda content: _located(inline_tokens(content, environment, html=html), content)
        ),
        leaves=leaves,
        tops=tops,
        closing=closing,
    )


def read_text(text: str, /) -> Structure:
    """Return the structure of ``text`` in which nothing is markup: one leaf, lines that break."""
    from .parser import Token  # noqa: PLC0415 - as above

    inline = Token("inline", "", 0, content=text)
    tokens = [Token("paragraph_open", "p", 1), inline, Token("paragraph_close", "p", -1)]

    def lines(content: str) -> Inline:
        made = []
        position = 0
        for line in content.split("\n"):
            if position:
                at = (position - 1, position)
                made.append(Token("hardbreak", "br", 0, meta={"at": at}))
            if line:
                made.append(Token("text", "", 0, content=line))
            position += len(line) + 1
        return _located(made, content)

    leaf = Leaf(
        kind="paragraph",
        start=0,
        end=len(text),
        path=(),
        top=0,
        token=1,
        content=text,
        inner=(0,),
        outer=(0,),
        lengths=(len(text),),
    )
    return Structure(text=text, tokens=tokens, inline=lines, leaves=[leaf], tops=[len(text)])


def _located(tokens: "list[Token]", content: str) -> Inline:
    return tokens, ranges(tokens, content)


class _Lines:
    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        end = text.find("\n")
        while end >= 0:
            self._starts.append(end + 1)
            end = text.find("\n", end + 1)

    def start(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def end(self, line: int) -> int:
        return self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self.text)


def _prose(token: "Token", lines: _Lines, markup: str, kind: str, around: dict[str, Any]) -> Leaf:
    """Find what the parser read of a paragraph or heading, line by line.

    It leaves out what stands before the words of a line, and blanks behind the last.
    """
    text = lines.text
    first, last = token.map or (0, 0)
    atx = markup.startswith("#")
    inner: list[int] = []
    outer: list[int] = []
    lengths: list[int] = []
    offset = 0
    for number, line in enumerate(token.content.split("\n"), first):
        words = line.lstrip(" \t")
        start, end = lines.start(number), lines.end(number)
        if atx:
            # Nothing before a heading's marks can hold such a mark.
            at = text.find(words, text.index("#", start) + len(markup), end)
        else:
            at = text.rfind(words, start, end)
        inner.append(offset + len(line) - len(words))
        outer.append(at)
        lengths.append(len(words))
        offset += len(line) + 1
    if not token.content or min(outer) < 0:
        begin, end = lines.start(first), lines.end(last - 1)
        return Leaf(kind=kind, start=begin, end=end, content=token.content, **around)
    return Leaf(
        kind=kind,
        start=outer[0],
        end=outer[-1] + lengths[-1],
        content=token.content,
        inner=tuple(inner),
        outer=tuple(outer),
        lengths=tuple(lengths),
        **around,
    )


def _solid(token: "Token", lines: _Lines, around: dict[str, Any]) -> Leaf:
    """Find what the parser read of a block of code, line by line."""
    first, last = token.map or (0, 0)
    kind = "rule" if token.type == "hr" else "solid"
    inner: list[int] = []
    outer: list[int] = []
    lengths: list[int] = []
    offset = 0
    code = token.content.split("\n") if token.type in {"fence", "code_block"} else [""]
    if not code[-1]:
        code.pop()  # the last line ends in a line feed too
    for number, line in enumerate(code, first + (token.type == "fence")):
        at = lines.end(number) - len(line)
        if not lines.text.startswith(line, at):  # as where a tab is cut into blanks
            inner = []
            break
        inner.append(offset)
        outer.append(at)
        lengths.append(len(line))
        offset += len(line) + 1
    return Leaf(
        kind=kind,
        start=lines.start(first),
        end=lines.start(last),
        content=token.content,
        inner=tuple(inner),
        outer=tuple(outer) if inner else (),
        lengths=tuple(lengths),
        **around,
    )


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the cells of a row, without the blanks around them."""
    end = start + len(text[start:end].rstrip(_BLANKS))
    if text.startswith("|", start):
        start += 1
    while start <= end:
        cell = _CELL.match(text, start, end)
        stop = cell.end() if cell else end
        words = text[start:stop]
        begin = start + len(words) - len(words.lstrip(_BLANKS))
        yield begin, max(begin, start + len(words.rstrip(_BLANKS)))
        start = stop + 1


def _cell(token: "Token", text: str, place: tuple[int, int], around: dict[str, Any]) -> Leaf:
    r"""Find what the parser read of a cell, in which ``\|`` is a pipe."""
    start, end = place
    pieces = text[start:end].split("\\|")
    inner, outer, lengths = [], [], []
    offset, position = 0, start
    for number, piece in enumerate(pieces):
        size = len(piece) + (number > 0)  # with the pipe before it
        inner.append(offset)
        outer.append(position)
        lengths.append(size)
        offset += size
        position += size + 1
    if not token.content or "|".join(pieces) != token.content:
        return Leaf(kind="cell", start=start, end=end, content=token.content, **around)
    return Leaf(
        kind="cell",
        start=start,
        end=end,
        content=token.content,
        inner=tuple(inner),
        outer=tuple(outer),
        lengths=tuple(lengths),
        **around,
    )


def _closing(token: "Token", lines: _Lines) -> str:
    """Return what ends the last block where it would take in all that follows."""
    if token.level or not token.map:
        return ""
    first, last = token.map
    if token.type == "fence":
        line = _FENCE.fullmatch(lines.text, lines.start(last - 1), lines.end(last - 1))
        closed = last - 1 > first and line is not None and line[1].startswith(token.markup)
        return "" if closed else token.markup
    html = token.content.lstrip() if token.type == "html_block" else ""
    for opening, ending in _ENDLESS:
        begin = opening.match(html)
        if begin and not ending:
            return "" if _TAGS.search(html) else f"</{begin[1]}>"
        if begin:
            return "" if ending in html[begin.end() :] else ending
    return ""
