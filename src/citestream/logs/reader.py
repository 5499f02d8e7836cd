"""Reading the log of a session: one JSON event a line, live or kept by the Copilot CLI, any damage.

In: bytes, in pieces of any size. Out: every whole event, in order, and a report of everything else:
nothing is left out in silence. What comes out does not depend on the pieces. Linear time; memory
for the longest line, and some bytes for each event, to know it again. Deliberately elsewhere: files
(``cli``), what stands in lines that are damaged (``damage``), keeping a log (``session``).
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from ..errors import DecodeError, OptionError, StateError, brief
from ..events import SessionEvent
from ..wire import decode_event
from .damage import DamagedLines, DamageKind, Found, LogDamage

__all__ = ("MAX_LINE", "LogDamage", "LogItem", "LogReader")

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that is read; the largest event seen in a log is below 1 MB."""

LogItem: TypeAlias = SessionEvent | LogDamage

_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r"
_ENDS = re.compile(rb"\n|\0++")


class LogReader:
    r"""Takes a log in pieces. A line ends with a newline, and records also end at NULs.

    ``max_line`` is the length in bytes beyond which a line, or a record that raw newlines broke
    over many, is given up and reported.

    An event that came before, with the same id and the same in all that has a field, is dropped;
    ``finish`` reports how many were. Events of one id that differ there are all given.

    >>> reader = LogReader()
    >>> [damage.problem for damage in reader.feed(b'{"id":"e1","timesta\0\0\0\n')]
    ['a record is cut off or broken', 'NUL bytes']
    """

    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        if max_line < 1:
            raise OptionError(f"max_line: wanted an integer of 1 or more, got {brief(max_line)}")
        self._max_line = max_line
        self._items: list[LogItem] = []
        self._offset = 0  # of what comes next
        self._number = 1
        self._start = 0  # of the text in hand: a line, or what follows NULs in it
        self._text = bytearray()
        self._skipped = 0  # bytes of a text that is too long to be held
        self._nuls = 0
        self._damaged: DamagedLines | None = None
        self._seen: set[int] = set()
        self._repeated: tuple[int, Found] | None = None  # how many, and the first
        self._finished = False

    def feed(self, piece: bytes, /) -> list[LogItem]:
        """Take the next bytes and return what they complete. Raises StateError after ``finish``."""
        if self._finished:
            raise StateError("feed: the log was finished")
        at = 0
        for end in _ENDS.finditer(piece):
            self._take(piece[at : end.start()])
            at = end.end()
            if end[0] == b"\n":
                self._end_line()
            else:
                self._take_nuls(at - end.start())
        self._take(piece[at:])
        return self._given()

    def finish(self) -> list[LogItem]:
        """Say that the log ends here and return what was held back. Does nothing the next time."""
        if not self._finished:
            self._finished = True
            self._end_line()
            self._end_damage()
            if self._repeated is not None:
                count, first = self._repeated
                events = (
                    "event that came before was" if count == 1 else "events that came before were"
                )
                self._report("repeated", first.line, first.offset, 0, f"{count} {events} dropped")
        return self._given()

    # -- inside

    def _given(self) -> list[LogItem]:
        items, self._items = self._items, []
        return items

    def _take(self, text: bytes) -> None:
        """Take part of a line."""
        if not text:
            return
        self._end_nuls()
        self._offset += len(text)
        size = self._skipped or len(self._text)
        if size + len(text) > self._max_line:
            self._skipped = size + len(text)
            self._text.clear()
        else:
            self._text += text

    def _take_nuls(self, count: int) -> None:
        if not self._nuls:
            self._end_text()
            self._end_damage()
            self._start = self._offset
        self._nuls += count
        self._offset += count

    def _end_nuls(self) -> None:
        if self._nuls:
            self._report("nul", self._number, self._start, self._nuls, "NUL bytes")
            self._nuls = 0
            self._start = self._offset

    def _end_line(self) -> None:
        if self._nuls:
            self._end_nuls()
        else:
            self._end_text()
        self._offset += 1
        self._start = self._offset
        self._number += 1

    def _end_text(self) -> None:
        line, skipped = bytes(self._text), self._skipped
        self._text.clear()
        self._skipped = 0
        if line.startswith(_MARK):
            line = b"   " + line[len(_MARK) :]
        event = _event(line)
        if skipped or event is not None:
            self._end_damage()
        if skipped:
            problem = f"a line of {skipped} bytes is longer than {self._max_line}"
            self._report("long", self._number, self._start, skipped, problem)
        elif event is not None:
            self._give(Found(event=event, line=self._number, offset=self._start))
        elif self._damaged is not None or line.strip(_BLANKS):
            self._add_damage(line)

    def _add_damage(self, line: bytes) -> None:
        if self._damaged is not None and self._damaged.size + len(line) >= self._max_line:
            self._end_damage()
        if self._damaged is None:
            self._damaged = DamagedLines(self._number, self._start)
        self._put(self._damaged.extend(line))
        if not self._damaged.open:
            self._damaged = None

    def _end_damage(self) -> None:
        if self._damaged is not None:
            self._put(self._damaged.finish())
            self._damaged = None

    def _put(self, found: Iterable[Found | LogDamage]) -> None:
        for one in found:
            if isinstance(one, Found):
                self._give(one)
            else:
                self._items.append(one)

    def _give(self, found: Found) -> None:
        mark = hash(found.event)  # with its id, and all that its fields hold
        if mark in self._seen:
            count, first = self._repeated or (0, found)
            self._repeated = count + 1, first
        else:
            self._seen.add(mark)
            self._items.append(found.event)

    def _report(self, kind: DamageKind, line: int, offset: int, lost: int, problem: str) -> None:
        self._items.append(
            LogDamage(kind=kind, line=line, offset=offset, lost=lost, problem=problem)
        )


def _event(line: bytes) -> SessionEvent | None:
    shown = line.strip(_BLANKS)
    if shown.startswith(b"{") and shown.endswith(b"}"):
        try:
            return decode_event(shown)
        except DecodeError:
            ...  # it is looked at more closely
    return None
