"""The passages of a source: sentences, list items, table rows, and the headings above them.

In: the content of a source, as Markdown or plain text. Out: ``Passage``, in order, each with the
ranges of the content that it was taken from (code points, 0-based, half-open). Sentences are found
by sentencex, the rest by ``claims.regions``. Deliberately elsewhere: which passages match
(``ranking``), how they are cited (``extractive``).

A line that ends well before the others of its paragraph, and not with a sentence, was ended by its
author, not by wrapping: it is a passage, or a heading where it opens the paragraph. A heading is a
passage only where nothing stands under it.
"""

import re
from collections.abc import Iterator
from itertools import chain, repeat

import attrs

from ..claims import SENTENCE_WINDOW, Region, regions, split_sentences

__all__ = ("LONGEST_HEADING", "LONGEST_PASSAGE", "Heading", "Passage", "passages")

LONGEST_PASSAGE = 400
"""Characters of a passage: a long sentence. What has no sentences is cut into such pieces."""

LONGEST_HEADING = 100
"""Characters of a heading, or of the name of a column: both stand above many passages."""

_SHORT = 60  # characters of a paragraph that may be a heading without a mark
_UNMARKED = 7  # the level of such a heading, below the six of Markdown
_BREAK = re.compile("\r\n?|\n")
_BLANK = re.compile(r"(?:\r\n?+|\n)[ \t>]*+[\r\n]")  # a line of nothing
_DELIMITERS = re.compile(r"[\r\n][ \t>|:]*+-[-|: \t]*+[\r\n]")
_ENDED = re.compile(r"[.!?:;,。！？：；、…][\"')\]»”’」』）]*\Z")
# What would open a block of its own at the beginning of a list item.
_MARKS = re.compile(r"\A(?:[-+*>=|]++\s++|#{1,6}\s++|(?:`{3,}+|~{3,}+)\s*+)++")
_CJK = "[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]"
_WRAPPED_CJK = re.compile(f"(?<={_CJK})[ \t]*+(?:\r\n?|\n)[ \t]*+(?={_CJK})")


@attrs.frozen(kw_only=True)
class Heading:
    """A heading, from ``start`` to ``end`` of the content. ``level`` 1 is the highest."""

    text: str
    level: int
    start: int
    end: int


@attrs.frozen(kw_only=True)
class Passage:
    """A statement of a source: ``text`` in one line, and the ``ranges`` that say it.

    A row of a table has two ranges, its own and that of the head of the table. ``headings`` are
    those that it stands under, the highest first.
    """

    text: str
    ranges: tuple[tuple[int, int], ...]
    headings: tuple[Heading, ...] = ()


def passages(content: str, /) -> Iterator[Passage]:
    r"""Give the passages of ``content``, in time linear in its length.

    >>> for passage in passages("# Meals\n\nUp to 40 EUR a day. Alcohol is\nnever paid for."):
    ...     print([heading.text for heading in passage.headings], passage.text, passage.ranges)
    ['Meals'] Up to 40 EUR a day. ((9, 28),)
    ['Meals'] Alcohol is never paid for. ((29, 55),)
    """
    return _Reader(content).read()


class _Reader:
    def __init__(self, content: str) -> None:
        self._content = content
        self._headings: list[Heading] = []
        self._bare = False  # nothing stands under the last heading yet
        self._head: list[Region] = []  # the cells of the head of the table that is open
        self._names: list[str] = []  # what is in them

    def read(self) -> Iterator[Passage]:
        lines = list(self._lines())
        begins = [*(cells[0].start for cells in lines[1:]), len(self._content)]
        end = 0
        for cells, following in zip(lines, begins, strict=False):
            first, last = cells[0], cells[-1]
            if _BLANK.search(self._content, end, first.start):
                self._head = []
            prefix = self._prefix(end, first.start)
            end = last.end
            if prefix.startswith("#"):
                self._head = []
                yield from self._heading(first, level=prefix.count("#"))
            elif len(cells) > 1 or "|" in prefix:
                head = _DELIMITERS.search(self._content, end, following)
                yield from self._row(cells, is_head=head is not None)
            else:
                self._head = []
                yield from self._statements(first, is_item=bool(prefix))
        if self._bare:
            yield self._bare_heading()

    def _lines(self) -> Iterator[list[Region]]:
        """Give the regions, those together that begin in one line: the cells of a row."""
        cells: list[Region] = []
        for region in regions(self._content):
            if cells and _BREAK.search(self._content, cells[-1].end, region.start):
                yield cells
                cells = []
            cells.append(region)
        if cells:
            yield cells

    def _prefix(self, start: int, end: int) -> str:
        """Return the marks before a region in its line, without those of a quotation."""
        return _BREAK.split(self._content[start:end])[-1].strip(" \t>")

    # -- headings

    def _heading(self, region: Region, *, level: int) -> Iterator[Passage]:
        if self._bare and self._headings[-1].level >= level:
            yield self._bare_heading()
        while self._headings and self._headings[-1].level >= level:
            self._headings.pop()
        line = self._content[region.start : region.end].rstrip()
        text = _shortened(_one_line(line), LONGEST_HEADING)
        end = region.start + len(line)
        self._headings.append(Heading(text=text, level=level, start=region.start, end=end))
        self._bare = True

    def _bare_heading(self) -> Passage:
        heading = self._headings[-1]
        above = tuple(self._headings[:-1])
        return Passage(text=heading.text, ranges=((heading.start, heading.end),), headings=above)

    def _passage(self, text: str, *ranges: tuple[int, int]) -> Iterator[Passage]:
        text = _MARKS.sub("", text)
        if text:
            self._bare = False
            yield Passage(text=text, ranges=ranges, headings=tuple(self._headings))

    # -- tables

    def _row(self, cells: list[Region], *, is_head: bool) -> Iterator[Passage]:
        texts = [_one_line(self._content[cell.start : cell.end]) for cell in cells]
        if is_head:
            self._head = cells
            self._names = [_shortened(text, LONGEST_HEADING) for text in texts]
            return
        ranges = [(cells[0].start, cells[-1].end)]
        if self._head:
            names = chain(self._names, repeat(""))
            texts = [
                f"{name}: {text}" if name else text
                for name, text in zip(names, texts, strict=False)
            ]
            ranges.insert(0, (self._head[0].start, self._head[-1].end))
        yield from self._passage(_shortened("; ".join(texts), LONGEST_PASSAGE), *ranges)

    # -- prose

    def _statements(self, region: Region, *, is_item: bool) -> Iterator[Passage]:
        if region.whole:
            text = _one_line(self._content[region.start : region.end])
            text = _shortened(text, LONGEST_PASSAGE)
            yield from self._passage(text, (region.start, region.end))
            return
        parts = list(self._parts(region))
        if not is_item and self._is_heading(parts):
            yield from self._heading(parts.pop(0), level=_UNMARKED)
        for part in parts:
            for start, end in _sentences(self._content, part.start, part.end):
                yield from self._passage(_one_line(self._content[start:end]), (start, end))

    def _parts(self, region: Region) -> Iterator[Region]:
        """Cut a paragraph behind the lines that its author ended."""
        start = region.start
        text = self._content[start : region.end]
        lines = [(match.start(), match.end()) for match in _BREAK.finditer(text)]
        begins = [0, *(end for _, end in lines)]
        ends = [*(begin for begin, _ in lines), len(text)]
        longest = max(end - begin for begin, end in zip(begins, ends, strict=True))
        first = 0
        for begin, end in zip(begins, ends, strict=True):
            ended = 2 * (end - begin) < longest and not _ENDED.search(text[begin:end].rstrip())
            if ended or end == len(text):
                yield Region(start=start + first, end=start + end)
                first = end

    def _is_heading(self, parts: list[Region]) -> bool:
        text = self._content[parts[0].start : parts[0].end].strip()
        return len(text) <= _SHORT and not _BREAK.search(text) and not _ENDED.search(text)


def _sentences(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Give the ranges of the sentences in a range, without the blanks around them."""
    while start < end:
        stop = min(start + SENTENCE_WINDOW, end)
        sentences = split_sentences(content[start:stop])
        if stop < end and len(sentences) > 1:
            sentences.pop()  # it may go on behind the window
        elif stop < end:
            blank = content.rfind(" ", start + LONGEST_PASSAGE, stop)
            sentences = [content[start : blank if blank >= 0 else stop]]
        for sentence in sentences:
            yield from _pieces(content, start, start + len(sentence))
            start += len(sentence)


def _pieces(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Give a sentence, or pieces of one that is too long, without the blanks around them."""
    while True:
        text = content[start:end]
        start += len(text) - len(text.lstrip())
        end -= len(text) - len(text.rstrip())
        if start >= end:
            return
        if end - start <= LONGEST_PASSAGE:
            yield start, end
            return
        cut = content.rfind(" ", start + LONGEST_PASSAGE // 2, start + LONGEST_PASSAGE)
        cut = cut if cut >= 0 else start + LONGEST_PASSAGE
        yield start, cut
        start = cut


def _one_line(text: str) -> str:
    return " ".join(_WRAPPED_CJK.sub("", text).split())


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
