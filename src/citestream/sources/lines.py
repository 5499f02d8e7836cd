r"""Where the lines of a text begin and end: one rule for what is shown and for what is cited.

In: a text. Out: ``LineTable``, ranges of characters by line number and back.

The rule: LF, CRLF and CR end a line and nothing else does (not U+2028, U+0085, VT or FF, which
``str.splitlines`` would take). A final line end opens no further line, so an empty text has no line
and ``"a\n"`` has one. Line numbers are 1-based; ranges are code points, 0-based and half-open, and
leave out the end of their last line.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, count
from operator import add

from ..errors import OptionError

__all__ = ("LineTable",)

_LINE_END = re.compile("\r\n?|\n")


class LineTable:
    r"""The lines of ``text``. Making one takes time linear in the text, a look-up does not.

    >>> table = LineTable("one\r\ntwo\n\nfour")
    >>> len(table), table.range(1, 2), table.number_at(9)
    (4, (0, 8), 3)
    """

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str, /) -> None:
        self._text = text
        # 8 bytes a line: a source of 4 Mi characters may hold as many lines.
        self._starts = array("q", (0,))
        if "\r" in text:
            self._starts.extend(match.end() for match in _LINE_END.finditer(text))
        else:
            # The same for texts without CR, a line of which costs a fifth of a match.
            ends = accumulate(map(len, text.split("\n")[:-1]))
            self._starts.extend(map(add, ends, count(1)))
        if self._starts[-1] == len(text):
            self._starts.pop()

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return (self.range(number, number) for number in range(1, len(self) + 1))

    def range(self, first: int, last: int, /) -> tuple[int, int]:
        """Return the range of the lines ``first`` to ``last``, both 1-based and inclusive.

        Raises OptionError for lines that are not there and for a reversed range.
        """
        if not 1 <= first <= last <= len(self):
            raise OptionError(f"wanted lines between 1 and {len(self)}, got {first} to {last}")
        text = self._text
        end = self._starts[last] if last < len(self) else len(text)
        if text.endswith("\n", 0, end):
            end -= 1
            if text.endswith("\r", 0, end):
                end -= 1
        elif text.endswith("\r", 0, end):
            end -= 1
        return self._starts[first - 1], end

    def number_at(self, index: int, /) -> int:
        """Return the number of the line that holds the character at ``index``, by bisection.

        A line end belongs to the line that it ends; an index beyond the text means its last line.
        Raises OptionError for a negative index and for a text without lines.
        """
        if index < 0 or not self._starts:
            raise OptionError(f"wanted an index into a text with lines, got {index}")
        return bisect_right(self._starts, index)
