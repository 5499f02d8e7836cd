"""Writing what strangers wrote to a terminal or a pipe, and showing how far a long log is."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

__all__ = ("bar", "complain", "decorated", "printable", "write")

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]")
_LONG = 1_000_000  # bytes; a shorter log is read before a bar could be seen


def printable(text: str, /) -> str:
    """Return ``text`` without what steers a terminal: such characters become U+FFFD, CRLF LF.

    What keeps the direction of a name to itself (U+2068, U+2069) stays.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def write(text: str, /) -> None:
    """Write ``text`` to stdout as UTF-8 whatever the locale."""
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def decorated() -> bool:
    """Tell whether stdout takes colours and links: a terminal that was not told otherwise."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def complain(text: str, /) -> None:
    """Write one line to stderr."""
    line = printable(text).replace("\n", " ")
    sys.stderr.write(line.encode("ascii", "backslashreplace").decode("ascii") + "\n")


@contextmanager
def bar(size: int | None, /) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar over ``size`` bytes on stderr when it is a terminal and the log is long.

    Yields what to tell the bytes that were read, None where no bar is shown.
    """
    if size is None or size < _LONG or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda count: progress.advance(task, count)
