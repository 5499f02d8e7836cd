"""Where ranges of a text with markers stand in the content without them. Code points throughout."""

from bisect import bisect_right
from collections.abc import Sequence

from ..markers import MarkedText

__all__ = ("visible_ranges",)


def visible_ranges(read: MarkedText, ranges: Sequence[tuple[int, int]], /) -> list[tuple[int, int]]:
    """Move ``ranges`` of the text to the content; what was taken out has no width there."""
    starts = [run[0] for run in read.runs]
    moved = []
    for start, end in ranges:
        first = _visible(read, starts, start)
        moved.append((first, max(first, _visible(read, starts, end))))
    return moved


def _visible(read: MarkedText, starts: list[int], index: int) -> int:
    """Return where the character at ``index`` stands, or the next one that is visible."""
    run = bisect_right(starts, index) - 1
    if run < 0:
        return 0
    begin, end, place = read.runs[run]
    if index < end:
        return place + index - begin
    following = run + 1
    if index > end and following < len(read.runs):
        return read.runs[following][2]
    return place + end - begin
