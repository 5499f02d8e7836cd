"""Where the marks of citations go in a content, so that they change nothing but what they add.

In: content, citations. Out: the content with line feeds, and marks in order: behind what a span
covers, moved out of code, links, HTML and emphasis to the place behind it. The mark of a span that
ends in a block of code stands behind the paragraph before it, else on a line of its own below.
Deliberately elsewhere: what a mark looks like (the renderers), what is cited (``notes``).
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import attrs

from ..errors import OptionError, brief
from ..model import Citations
from ..offsets import from_utf16_many, well_formed
from .notes import span_numbers
from .runs import Places, places
from .structure import Leaf, Structure, read

if TYPE_CHECKING:
    from .parser import Token

__all__ = ("Mark", "Marked", "marked", "normal", "positions", "required", "whole", "with_marks")

_GLUE = "!]\\^"  # a mark right behind them would be read together with them
_DELIMITERS = frozenset("*_~`")
_JOINED = frozenset(
    "\u200c\u200d\ufe0e\ufe0f\u20e3\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"[^\S\n]{4096}|[^\S\n]*(?:\n|\Z)")  # so many blanks are as good as one
_MAIL = re.compile(r"(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]++@[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)++")
_NEAR = 64  # characters that a mark may move by to stand right behind a word
_ROOM = 16  # characters of a bullet or number, or of a run of marks of emphasis
_REACH = 4096  # characters of a line in which an address is looked for
_DEFINITION = re.compile(r"(\[[^\[\]]*\]:)\s*")
_BULLET = re.compile(r"(?:\A|\n)[ \t]*(?:[-+*]|[0-9]{1,9}[.)])\Z")
_SIGNS = {"": "[\ufdd0]", " ": "[\ufdd1]"}  # stand for marks that are tried out


@attrs.frozen(kw_only=True)
class Mark:
    """The numbers that stand at ``offset`` of the text, behind the characters of ``gap``.

    With ``apart`` they are a paragraph of their own, behind the outermost block ``top``. Else they
    stand in the leaf ``leaf``, at ``inner`` of its content.
    """

    offset: int
    numbers: tuple[int, ...]
    gap: str = ""
    apart: bool = False
    top: int = 0
    leaf: int = 0
    inner: int = 0


@attrs.frozen(kw_only=True, eq=False)
class Marked:
    """A content, with what ends what it leaves open, and its marks in order."""

    text: str
    structure: Structure
    marks: tuple[Mark, ...]


def normal(content: str, /) -> str:
    """Return ``content`` with line feeds and nothing that a file of text cannot hold.

    Raises OptionError for what is no text.
    """
    text = well_formed(required(content)).replace("\0", "\ufffd")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def required(content: object, /) -> str:
    """Return ``content``; raise OptionError for what is no text."""
    if not isinstance(content, str):
        raise OptionError(f"content: wanted a string, got {brief(content)}")
    return content


def positions(content: str, offsets: Iterable[int], /) -> list[int]:
    """Return where UTF-16 offsets of ``content`` are in ``normal(content)``, in code points."""
    text = well_formed(content)
    found = from_utf16_many(text, offsets)
    if "\r\n" not in text:
        return found
    ends = [match.end() - 1 for match in re.finditer("\r\n", text)]
    return [point - bisect_left(ends, point) for point in found]


def marked(
    content: str,
    citations: Citations,
    /,
    *,
    quotes: bool = False,
    closed: bool = False,
    structure: Structure | None = None,
) -> Marked:
    """Return where the marks of ``citations`` go; the numbers are those of ``notes``.

    ``closed`` ends the code or HTML that the content leaves open, so that more can follow.
    ``structure`` is that of ``normal(content)``, else the content is Markdown with raw HTML.
    """
    structure = structure or read(normal(content), html=True)
    closing = structure.closing if closed else ""
    ends = positions(content, [span.end_index for span in citations.spans])
    spans = zip(ends, span_numbers(citations, quotes=quotes), strict=True)
    placing = _Placing(structure, len(closing))
    ordered = sorted(spans, key=itemgetter(0))
    wanted = [placing.place(end, numbers) for end, numbers in ordered if numbers]
    marks = placing.tried(sorted(wanted, key=_spot))
    return Marked(
        text=structure.text + closing,
        structure=structure,
        marks=tuple(_merged(list(group)) for _, group in groupby(marks, _spot)),
    )


def with_marks(
    text: Marked, write: Callable[[Mark, str], str], /, *, shown: Callable[[str], str] = str
) -> str:
    """Return the text with what ``write`` makes of a mark and of the character behind it.

    ``shown`` makes of the pieces between the marks what is shown of them.
    """
    pieces = []
    begin = 0
    for mark in text.marks:
        piece = text.text[begin : mark.offset]
        after = text.text[mark.offset : mark.offset + 1]
        begin = mark.offset
        pieces.append(shown(piece))
        if mark.apart:
            before = text.text[max(0, begin - 2) : begin]
            missing = 2 - len(before) + len(before.rstrip("\n")) if begin else 0
            pieces += ["\n" * missing, write(mark, "\n"), "\n" * (2 - after.count("\n"))]
            if not after:
                pieces.pop()
        else:
            pieces.append(mark.gap + write(mark, after))
    pieces.append(shown(text.text[begin:]))
    return "".join(pieces)


def _spot(mark: Mark) -> tuple[int, bool]:
    return mark.offset, mark.apart


def _merged(marks: list[Mark]) -> Mark:
    if len(marks) == 1:
        return marks[0]
    numbers = dict.fromkeys(number for mark in marks for number in mark.numbers)
    return attrs.evolve(marks[0], numbers=tuple(numbers), gap=max(mark.gap for mark in marks))


class _Placing:
    def __init__(self, structure: Structure, closing: int) -> None:
        self._structure = structure
        self._closing = closing  # characters behind the text
        self._starts = [leaf.start for leaf in structure.leaves]
        kinds = [leaf.kind for leaf in structure.leaves]
        self._blocks = _last(kinds, besides={"rule"})  # at or before each leaf
        self._words = _last(kinds, besides={"rule", "solid"})
        self._known: dict[int, Places | None] = {}
        self._definitions: dict[int, range] = {}  # where a mark would be what a link leads to
        self._bracketed: set[int] = set()  # leaves with what is nearly a link

    def place(self, end: int, numbers: tuple[int, ...]) -> Mark:
        """Return the mark for a span that ends at ``end`` of the text."""
        leaves = self._structure.leaves
        index = bisect_left(self._starts, end) - 1
        index = self._blocks[index] if index >= 0 else -1
        if index < 0:
            return self._apart(leaves[0].top if leaves else None, numbers)
        top = leaves[index].top
        if leaves[index].kind == "solid":
            index = self._lead(index)
        mark = self._inside(index, end, numbers) if index >= 0 else None
        return mark or self._apart(top, numbers)

    def tried(self, marks: list[Mark]) -> list[Mark]:
        """Move marks to the end of their leaf where they would change what stands there."""
        kept = []
        for leaf, group in groupby(marks, lambda mark: -1 if mark.apart else mark.leaf):
            here = list(group)
            if leaf >= 0 and any(map(self._at_risk, here)) and self._changes(here):
                here = list(map(self._at_end, here))
            kept += here
        return sorted(kept, key=_spot)

    def _apart(self, top: int | None, numbers: tuple[int, ...]) -> Mark:
        size = len(self._structure.text)
        offset = size if top is None else self._structure.tops[top]
        if offset == size:
            offset += self._closing
        return Mark(offset=offset, numbers=numbers, apart=True, top=top or 0)

    def _lead(self, index: int) -> int:
        """Return the paragraph that leads to the code at ``index``, -1 where there is none."""
        around = self._structure.leaves[index].path
        words = self._words[index]
        before = self._structure.leaves[words] if words >= 0 else None
        if before and before.kind == "paragraph" and around[: len(before.path)] == before.path:
            return words
        return -1

    def _inside(self, index: int, end: int, numbers: tuple[int, ...]) -> Mark | None:
        leaf = self._structure.leaves[index]
        allowed = self._places(index) if leaf.outer else None
        wanted = max(1, leaf.to_inner(min(end, leaf.end))) if leaf.outer else 0
        found = allowed.nearest(wanted) if allowed else None
        if allowed is None or found is None:
            return None
        found, gap = _settled(leaf, allowed, found)
        if found in self._definitions[index] or _ends_row(leaf, found):
            return None
        offset = leaf.behind(found)
        mark = Mark(offset=offset, numbers=numbers, gap=gap, leaf=index, inner=found)
        return self._at_end(mark) if _begins_item(leaf, found) else mark

    def _places(self, index: int) -> Places | None:
        if index not in self._known:
            content = self._structure.leaves[index].content
            tokens, found = self._structure.inline(content)
            defined = _DEFINITION.match(content)
            self._definitions[index] = range(
                *((defined.end(1), defined.end() + 1) if defined else (0,))
            )
            self._known[index] = None if found is None else places(tokens, found)
            if any(token.type == "text" and "]" in token.content for token in tokens):
                self._bracketed.add(index)
        return self._known[index]

    def _at_risk(self, mark: Mark) -> bool:
        content = self._structure.leaves[mark.leaf].content
        before, after = content[mark.inner - 1], content[mark.inner : mark.inner + 1]
        if mark.leaf in self._bracketed or after in _DELIMITERS:
            return True
        if before not in _DELIMITERS or before == "`":
            return False
        # Behind a word and before a blank it closes; before a mark it still does nothing else.
        word = content[max(0, mark.inner - _ROOM) : mark.inner].rstrip(before)[-1:]
        return not word.isalnum() or not (after.isspace() or not after)

    def _changes(self, marks: list[Mark]) -> bool:
        content = self._structure.leaves[marks[0].leaf].content
        pieces = []
        begin = 0
        for inner, group in groupby(marks, lambda mark: mark.inner):
            gap = max(mark.gap for mark in group)
            pieces += [content[begin:inner], gap, _SIGNS[gap]]
            begin = inner
        pieces.append(content[begin:])
        before, _ = self._structure.inline(content)
        after, _ = self._structure.inline("".join(pieces))
        return _said(before) != _said(after)

    def _at_end(self, mark: Mark) -> Mark:
        leaf = self._structure.leaves[mark.leaf]
        end = len(leaf.content)
        if _ends_row(leaf, end):
            return self._apart(leaf.top, mark.numbers)
        # A blank would make a list of a line that holds nothing but its bullet or number.
        gap = "" if _begins_item(leaf, end) else " "
        return attrs.evolve(mark, offset=leaf.behind(end), inner=end, gap=gap)


def _last(kinds: list[str], *, besides: set[str]) -> list[int]:
    """Return for every index the last one up to it whose kind is another; -1 without any."""
    seen = accumulate(
        enumerate(kinds), lambda last, item: last if item[1] in besides else item[0], initial=-1
    )
    return list(seen)[1:]


def _begins_item(leaf: Leaf, offset: int) -> bool:
    """Tell whether nothing but what looks like a bullet or number stands before in the line."""
    return _BULLET.search(leaf.content, max(0, offset - _ROOM), offset) is not None


def _ends_row(leaf: Leaf, offset: int) -> bool:
    """Tell whether a mark at ``offset`` might make a row of a table of what is none."""
    return leaf.kind == "paragraph" and leaf.content[offset - 1] == "|"


def _settled(leaf: Leaf, allowed: Places, found: int) -> tuple[int, str]:
    """Return where near the place ``found`` a mark reads well, and what parts it from the words."""
    content = leaf.content
    low, high = allowed.stretch(found)
    # Behind the last pipe of a line it might make a cell more, and so a table.
    behind = "|" if leaf.kind == "paragraph" and _LINE_END.match(content, found) else ""
    first = max(low, found - _NEAR)
    while found > first and (content[found - 1].isspace() or content[found - 1] == behind):
        found -= 1
    last = min(high, found + _NEAR)
    while found < last and _joined(content[found - 1], content[found]):
        found += 1
    space = _SPACE.search(content, found, found + _REACH)
    end = space.start() if space else min(len(content), found + _REACH)
    word = content[max(low - 1, found - _REACH) : end]
    # What stands before the last blank ahead of the place is another word.
    start = len(word) - (end - found)
    word = word[max(word.rfind(blank, 0, start) for blank in " \t\n\u3000") + 1 :]
    if "://" in word or "www." in word:
        found = allowed.nearest(end) or found
        return found, " "
    for mail in _MAIL.finditer(word) if "@" in word else ():
        if mail.start() < start < mail.end():
            found = allowed.nearest(end - len(word) + mail.end()) or found
    return found, " " if content[found - 1] in _GLUE else ""


def whole(text: str, start: int, end: int, /) -> tuple[int, int]:
    """Return a range of ``text``, not empty, with the rest of what it begins and ends in."""
    first, last = max(0, start - _NEAR), min(len(text), end + _NEAR)
    while start > first and _joined(text[start - 1], text[start]):
        start -= 1
    while end < last and _joined(text[end - 1], text[end]):
        end += 1
    return start, end


def _joined(before: str, after: str) -> bool:
    """Tell whether two characters are one for the eye."""
    return before == "\u200d" or after in _JOINED or unicodedata.combining(after) > 0


def _said(tokens: "list[Token]") -> list[tuple[str, str, str]]:
    """Return what tokens say, without the signs of marks."""
    said: list[tuple[str, str, str]] = []
    for text, group in groupby(tokens, lambda token: token.type.startswith("text")):
        if text:
            said.append(("text", "", "".join(token.content for token in group)))
        else:
            said += ((token.type, token.markup, token.content) for token in group)
    return [
        (kind, markup, content.replace(" " + _SIGNS[" "], "").replace(_SIGNS[""], ""))
        for kind, markup, content in said
    ]
