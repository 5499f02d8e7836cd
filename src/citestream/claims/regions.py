"""Where prose stands in Markdown: paragraphs, list items, headings, table cells, code lines.

In: the content that a reader sees. Out: regions, ordered, that do not overlap: the ranges that a
claim stays within. Bullets, numbers, quote marks, heading marks, pipes and fences belong to none.

This reads lines, not the whole of CommonMark: it answers only where a statement surely ends. A hard
line break ends one. Rendering uses a real parser.
"""

import re

import attrs

__all__ = ("Region", "regions")

_QUOTE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(`{3,}+(?!.*`)|~{3,}+)[ \t]*(.*)")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]+|$)")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+]|0*1[.)]|(?P<later>[0-9]{1,9}[.)]))(?:[ \t]+(?:\[[ xX]\](?:[ \t]+|$))?|$)"
)
# Possessive: lines of nothing but blanks and dashes must not cost more than their length.
_BREAK = re.compile(r"[ \t]*+(?:=++|-++|([-*_])[ \t]*+(?:\1[ \t]*+){2,}+)[ \t]*+$")
_DELIMITERS = re.compile(
    r"[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\|)*+(?:[ \t]*+:?+-++:?+[ \t]*+)?+$"
)
_CELL = re.compile(r"(?:[^|\\]|\\.)+", re.DOTALL)
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")


@attrs.frozen(kw_only=True)
class Region:
    """A range of the content, half-open, in code points, without white space around it.

    ``whole`` says that the region is one statement, such as a line of code.
    """

    start: int
    end: int
    whole: bool = False


def regions(content: str, /) -> list[Region]:
    r"""Return the regions of ``content``, in time linear in its length.

    >>> [content[r.start:r.end] for content in ["- Rents\n- Wages\n\n| a | b |"]
    ...  for r in regions(content)]
    ['Rents', 'Wages', 'a', 'b']
    """
    return _Reader(content).read()


class _Reader:
    def __init__(self, content: str) -> None:
        self._content = content
        self._found: list[Region] = []
        self._begin = -1  # of the paragraph or list item that is open
        self._end = -1
        self._fence = ""
        self._item = False  # whether it is an item
        self._table = False

    def read(self) -> list[Region]:
        lines = [match.span(1) for match in _LINE.finditer(self._content)]
        for index, (start, end) in enumerate(lines):
            following = lines[index + 1] if index + 1 < len(lines) else None
            self._line(start, end, following)
        self._close()
        return self._found

    def _line(self, start: int, end: int, following: tuple[int, int] | None) -> None:
        content = self._content
        quote = _QUOTE.match(content, start, end)
        text = quote.end() if quote else start
        if self._in_code(text, end):
            return
        if not content[text:end].strip():
            self._close()
            self._table = False
        elif self._is_row(text, end, following):
            self._close()
            self._row(text, end)
        elif heading := _HEADING.match(content, text, end):
            self._close()
            self._add(heading.end(), self._without_closing(heading.end(), end))
        elif _BREAK.match(content, text, end):
            self._close()
        else:
            self._prose(text, end)

    def _in_code(self, text: int, end: int) -> bool:
        fence = _FENCE.match(self._content, text, end)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not fence[2]:
                self._fence = ""
            else:
                self._add(text, end, whole=True)
            return True
        if fence:
            self._close()
            self._table = False
            self._fence = fence[1]
        return bool(fence)

    def _is_row(self, text: int, end: int, following: tuple[int, int] | None) -> bool:
        line = self._content[text:end]
        if "|" not in line:
            self._table = False
        elif not self._table:
            self._table = line.lstrip().startswith("|") or (
                following is not None and self._delimits(*following)
            )
        return self._table

    def _delimits(self, start: int, end: int) -> bool:
        quote = _QUOTE.match(self._content, start, end)
        line = self._content[quote.end() if quote else start : end]
        return "|" in line and "-" in line and _DELIMITERS.match(line) is not None

    def _row(self, text: int, end: int) -> None:
        if not self._delimits(text, end):
            for cell in _CELL.finditer(self._content, text, end):
                self._add(*cell.span())

    def _prose(self, text: int, end: int) -> None:
        item = _ITEM.match(self._content, text, end)
        if item and item["later"] and self._begin >= 0 and not self._item:
            item = None  # a year at the start of a line, say, ends no paragraph
        if item:
            self._close()
            text = item.end()
        if self._begin < 0:
            self._begin = text
            self._item = item is not None
        self._end = end
        if self._content.endswith(("  ", "\\"), text, end):
            self._close()

    def _without_closing(self, start: int, end: int) -> int:
        text = self._content[start:end].rstrip()
        bare = text.rstrip("#")
        return start + len(text if bare.strip() and not bare[-1].isspace() else bare)

    def _close(self) -> None:
        """End the paragraph or list item that is open."""
        if self._begin >= 0:
            self._add(self._begin, self._end)
        self._begin = -1

    def _add(self, start: int, end: int, *, whole: bool = False) -> None:
        text = self._content[start:end]
        start += len(text) - len(text.lstrip())
        end -= len(text) - len(text.rstrip())
        if start < end:
            self._found.append(Region(start=start, end=end, whole=whole))
