"""Cutting a text into blocks the size of a paragraph, each a range of characters.

In: a text. Out: ranges of code points, 0-based, half-open, in order, apart from each other. What
lies outside all of them is white space, so nothing that can be cited is lost.

A block is a paragraph (lines up to a blank one). One shorter than ``SHORT`` characters, such as a
heading, goes with the paragraph behind it; one longer than ``LONGEST`` is cut at the end of a line
or sentence, else at a blank. Deliberately elsewhere: blocks that the caller marked (``documents``).
"""

import re
from collections.abc import Iterator

__all__ = ("LONGEST", "SHORT", "chunk_ranges")

SHORT = 40
"""Characters below which a paragraph is taken for a heading. It bounds the number of blocks too."""
LONGEST = 2000
"""Characters of the longest block: about a printed page, more than a reader would check."""

_HEADINGS = 4 * SHORT  # characters of headings, one behind the other, that stay together
_CUTS = ("\n", "\r", "。", ". ", " ")
# Blank lines between two others; the lines are those of ``lines``. The patterns read a character
# once: nothing is given back to be tried anew.
_GAP = re.compile(r"(?:\r\n?+|\n)(?:[^\S\r\n]*+(?:\r\n?+|\n))++")
_GAP_LF = re.compile(r"\n(?:[^\S\n]*+\n)++")  # the same, many times faster, for texts without CR


def chunk_ranges(text: str, /) -> list[tuple[int, int]]:
    r"""Return the ranges of the blocks of ``text``, in time linear in it.

    >>> text = "# Meals\n\nUp to 40 EUR a day, against the receipt.\n\nAlcohol is never paid for."
    >>> [text[start:end] for start, end in chunk_ranges(text)]
    ['# Meals\n\nUp to 40 EUR a day, against the receipt.', 'Alcohol is never paid for.']
    """
    ranges: list[tuple[int, int]] = []
    begin = 0
    heads = False  # the last paragraph may be a heading
    for start, end in _paragraphs(text):
        if heads:
            ranges[-1] = (begin, end)
        else:
            ranges.append((start, end))
            begin = start
        heads = end - start < SHORT and end - begin < _HEADINGS
    if any(end - start > LONGEST for start, end in ranges):
        return [part for start, end in ranges for part in _cut(text, start, end)]
    return ranges


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Give the ranges of lines up to a blank one, without the blanks at their end."""
    visible = len(text) - len(text.lstrip())
    start = max(text.rfind("\n", 0, visible), text.rfind("\r", 0, visible)) + 1
    last = len(text.rstrip())
    for gap in (_GAP if "\r" in text else _GAP_LF).finditer(text, start, last):
        end = gap.start()
        while text[end - 1].isspace():
            end -= 1
        yield start, end
        start = gap.end()
    if start < last:
        yield start, last


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a range into ranges of at most ``LONGEST`` characters that begin and end in no blank."""
    while end - start > LONGEST:
        at = _cut_at(text, start)
        finish = start + len(text[start:at].rstrip())
        if finish > start:
            yield start, finish
        # Only behind a cut: the indentation of the first line belongs to the block. It stops before
        # the end, for a paragraph ends in no blank.
        while text[at].isspace():
            at += 1
        start = at
    yield start, end


def _cut_at(text: str, start: int) -> int:
    for mark in _CUTS:
        at = text.rfind(mark, start + LONGEST // 2, start + LONGEST)
        if at >= 0:
            return at + len(mark)
    return start + LONGEST
