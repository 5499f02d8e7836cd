"""Reading event logs: one JSON event a line, live or persisted, whole or damaged.

In: a binary file. Out: events, and a report for every line that is none. A damaged line never hides
another, and no line is read beyond ``MAX_LINE`` bytes.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from ..errors import CitestreamError
from ..events import SessionEvent
from ..wire import decode_event

__all__ = ("MAX_LINE", "read_log")

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that is read; the largest event seen in a log is below 1 MB."""


def read_log(
    file: BinaryIO,
    /,
    *,
    damaged: Callable[[int, str], None],
    progress: Callable[[int], None] | None = None,
) -> Iterator[SessionEvent]:
    """Yield the events of ``file``, in order.

    ``damaged`` is told the number (from 1) of each line that is no event, and what is wrong with
    it; ``progress`` how many bytes each line took. Empty lines are no events and nothing is wrong.
    """
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        size = len(line)
        if size == MAX_LINE and not line.endswith(b"\n"):
            size += _skip_line(file)
            damaged(number, f"a line of {size} bytes is longer than {MAX_LINE}")
        elif line.strip():
            try:
                yield decode_event(line)
            except CitestreamError as error:
                damaged(number, str(error))
        if progress is not None:
            progress(size)


def _skip_line(file: BinaryIO) -> int:
    """Read to the end of the line and return how many bytes that took."""
    size = 0
    while line := file.readline(MAX_LINE):
        size += len(line)
        if line.endswith(b"\n"):
            break
    return size
