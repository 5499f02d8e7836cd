"""Where markers should not stand: in code, in emphasis, alone on a line.

In: a text that was read, and the markers in it that cite. Out: for each that stands badly, the kind
of issue and what to say. Such a marker cites all the same; the issue is for whoever writes prompts.

Code spans and emphasis are found by pairing runs of marks within a paragraph, in linear time; it is
a lint, so what CommonMark decides by finer rules may be missed.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ..claims import Region, regions
from ..markers import MarkedText, PlacedMarker

__all__ = ("misplaced",)

_RUN = re.compile(r"\\.|`+|\*+|_+|~~", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")
_MARKS = re.compile(r"[`*_~]")


def misplaced(
    text: str, read: MarkedText, markers: Sequence[PlacedMarker], /
) -> list[tuple[PlacedMarker, str, str]]:
    """Return (marker, kind, message) for each of ``markers`` that stands badly, in order.

    ``text`` is what was read as ``read``. Takes time linear in its length.
    """
    if not markers:
        return []
    found = [*_alone(text, read, markers)]
    if _MARKS.search(read.content):
        found += _marked(read.content, markers)
    found.sort(key=lambda item: item[0].marker.start)
    return found


def _alone(
    text: str, read: MarkedText, markers: Sequence[PlacedMarker]
) -> Iterator[tuple[PlacedMarker, str, str]]:
    ends = [match.start() for match in _LINE_END.finditer(text)]
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    runs = [run[0] for run in read.runs]
    words = [placed.marker.start for placed in read.markers if placed.marker.label]
    for placed in markers:
        line = bisect_right(starts, placed.marker.start) - 1
        begin = starts[line]
        end = ends[line] if line < len(ends) else len(text)
        word = bisect_right(words, begin - 1)
        if (word < len(words) and words[word] < end) or _shows(text, read, runs, begin, end):
            continue
        yield placed, "alone_on_line", "stands alone on a line"


def _shows(text: str, read: MarkedText, runs: list[int], begin: int, end: int) -> bool:
    """Tell whether anything visible of the text stands between ``begin`` and ``end``."""
    index = max(0, bisect_right(runs, begin) - 1)
    while index < len(runs) and runs[index] < end:
        first, last, _ = read.runs[index]
        if text[max(first, begin) : min(last, end)].strip():
            return True
        index += 1
    return False


def _marked(
    content: str, markers: Sequence[PlacedMarker]
) -> Iterator[tuple[PlacedMarker, str, str]]:
    found = regions(content)
    starts = [region.start for region in found]
    spans: tuple[int, list[tuple[int, int, str]]] = (-1, [])
    for placed in markers:
        index = bisect_right(starts, placed.position - 1) - 1
        if index < 0 or placed.position > found[index].end:
            continue
        region = found[index]
        if region.whole:
            yield placed, "in_code", "stands in code"
            continue
        if spans[0] != index:
            spans = (index, _spans(content, region))
        kind = next((k for s, e, k in spans[1] if s < placed.position <= e), None)
        if kind is not None:
            what = "code" if kind == "in_code" else "emphasis"
            yield placed, kind, f"stands in {what}"


def _spans(content: str, region: Region) -> list[tuple[int, int, str]]:
    """Return the insides of code spans and emphasis in ``region``, outermost first."""
    found: list[tuple[int, int, str]] = []
    opened: dict[str, int] = {}
    code = ""
    for match in _RUN.finditer(content, region.start, region.end):
        run = match[0]
        if run[0] == "\\":
            continue
        if run[0] == "`":
            if not code:
                code, opened[run] = run, match.end()
            elif run == code:
                found.append((opened.pop(run), match.start(), "in_code"))
                code = ""
        elif not code and run in opened:
            found.append((opened.pop(run), match.start(), "in_emphasis"))
        elif not code and match.end() < region.end and not content[match.end()].isspace():
            opened[run] = match.end()
    return found
