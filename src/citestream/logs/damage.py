"""Finding whole records in lines of a log that are damaged, and saying what is wrong with the rest.

In: the bytes of a line that is no event, and of those behind it for as long as a record may go on
there. Out: events, and where what was lost stood. Deliberately elsewhere: how an object is followed
through damage (``json_objects``), lines that are well (``reader``).

A record that raw newlines broke is joined. One that is glued to another which was cut off is found
where the other can go on no further. Of two readings, the one that saves a whole record is taken.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import attrs

from ..errors import DecodeError
from ..events import SessionEvent
from ..wire.text import read
from .decoding import decoded_in_part
from .json_objects import BEGINNING, STRING, ObjectScan

__all__ = ("DamageKind", "DamagedLines", "Found", "LogDamage")

DamageKind: TypeAlias = Literal[
    "cut", "foreign", "unreadable", "nul", "long", "field", "repaired", "repeated"
]
"""Part of a record that is ``cut`` off or broken; what is ``foreign``, so no record; a JSON object
that is ``unreadable`` as an event; ``nul`` bytes; a line too ``long``. Of an event that was given:
a ``field`` that was left out, bytes that were ``repaired``. Events that came before: ``repeated``.
"""


@attrs.frozen(kw_only=True)
class LogDamage:
    """What is wrong with one place of a log.

    ``line`` counts from 1, ``offset`` in bytes from 0. ``lost`` is how many bytes are in no event
    that was given; 0 for ``field`` and ``repeated``, where ``problem`` says what was left out.
    """

    kind: DamageKind
    line: int
    offset: int
    lost: int
    problem: str


@attrs.frozen(kw_only=True)
class Found:
    """An event, and where in the log it begins."""

    event: SessionEvent
    line: int
    offset: int


_Note: TypeAlias = tuple[DamageKind, int, str]
_CUT = "a record is cut off or broken"
_FOREIGN = "what stands here is no record"
_ESCAPED = "control characters in texts of a record, such as raw newlines, were escaped"
_REPLACED = "bytes of a record that are not UTF-8 became U+FFFD"

_SHOWN = re.compile(rb"[^ \t\r\n]")
_CONTROL = re.compile(rb"[\0-\x1f]")
_INSIDE = re.compile(rb"[ \t\r]*+[,\]}]")  # what follows a value that is inside of another
_BLANKS = b" \t\r"
_NEWLINE, _QUOTE, _BRACE = b'\n"{'


class DamagedLines:
    """The lines of one damage; the first is the line ``number`` or the rest of it from ``offset``.

    Lines are added as long as it is ``open``. Then, or when ``finish`` was called, it is done.
    """

    def __init__(self, number: int, offset: int, /) -> None:
        self._data = bytearray()
        self._offset = offset
        self._number = number
        self._counted = 0  # up to where newlines are in the number
        self._at = 0  # where to look for the next record
        self._whole = 0  # where the last one ended
        self._lost: tuple[int, DamageKind, str] | None = None  # from where on nothing was found
        self._scan: ObjectScan | None = None

    @property
    def open(self) -> bool:
        """Whether a record may go on in the next line."""
        return self._scan is not None

    @property
    def size(self) -> int:
        """How many bytes are in hand."""
        return len(self._data)

    def extend(self, line: bytes, /) -> Iterator[Found | LogDamage]:
        """Take a line, without its newline, and give what is certain by now."""
        if self._scan is not None:
            self._data += b"\n"
        self._data += line
        while scan := self._scan or self._next():
            self._scan = scan
            outcome = scan.run(self._data)
            if outcome == "open":
                self._forget_settled(scan)
                return
            self._scan = None
            yield from self._take_whole(scan) if outcome == "whole" else self._take_broken(scan)
        yield from self._give_up(len(self._data))

    def finish(self) -> Iterator[Found | LogDamage]:
        """Give what remains when no record goes on."""
        scan, self._scan = self._scan, None
        if scan is not None:
            yield from self._take_broken(scan)
            yield from self._give_up(len(self._data))

    # -- inside

    def _next(self) -> ObjectScan | None:
        """Return a scan of what may be the next record."""
        begin = self._behind_blanks(self._at)
        if begin == len(self._data):
            return None
        if self._data[begin] == _BRACE and self._at == self._whole:
            return ObjectScan(begin)
        self._lose(begin, "foreign", _FOREIGN)
        found = BEGINNING.search(self._data, begin)
        return ObjectScan(found.start()) if found else None

    def _take_whole(self, scan: ObjectScan) -> Iterator[Found | LogDamage]:
        """Take an object, unless it stands inside of what was cut off."""
        start, end = scan.start, scan.position
        first = self._is_first(start)
        if first or self._is_outside(end):
            event, notes = _read_record(bytes(self._data[start:end]))
            if event is not None or first:
                yield from self._settle(start, end, event, notes)
                return
        self._lose(start, "cut", _CUT)
        self._at = end

    def _take_broken(self, scan: ObjectScan) -> Iterator[Found | LogDamage]:
        """Look for the record that is glued to one that was cut off.

        Between two texts of the other it was read as a value, and has just ended. Inside of a text
        its first quotation mark ended that text, and nothing that follows fits. Elsewhere it does
        not fit itself.
        """
        self._lose(scan.start, "cut", _CUT)
        if scan.closed is not None and self._behind_blanks(scan.closed[1]) == scan.position:
            start, end = scan.closed
            event, notes = _read_record(bytes(self._data[start:end]))
            if event is not None and self._is_outside(end):
                yield from self._settle(start, end, event, notes)
                return
        self._at = max(scan.start + 1, self._brace_before(scan.position))

    def _settle(
        self, start: int, end: int, event: SessionEvent | None, notes: list[_Note]
    ) -> Iterator[Found | LogDamage]:
        """Give what stands from ``start`` to ``end``."""
        yield from self._give_up(start)
        line, offset = self._line(start), self._offset + start
        for kind, lost, problem in notes:
            yield LogDamage(kind=kind, line=line, offset=offset, lost=lost, problem=problem)
        if event is not None:
            yield Found(event=event, line=line, offset=offset)
        self._at = self._whole = end

    def _lose(self, start: int, kind: DamageKind, problem: str) -> None:
        if self._lost is None:
            self._lost = start, kind, problem

    def _give_up(self, end: int) -> Iterator[LogDamage]:
        """Report what was lost before ``end``."""
        if self._lost is not None:
            start, kind, problem = self._lost
            self._lost = None
            lost = len(self._data[start:end].rstrip(_BLANKS + b"\n"))
            line, offset = self._line(start), self._offset + start
            yield LogDamage(kind=kind, line=line, offset=offset, lost=lost, problem=problem)

    def _forget_settled(self, scan: ObjectScan) -> None:
        """Let go of what stands before all that is uncertain."""
        count = self._lost[0] if self._lost else scan.start
        if count:
            self._line(count)
            self._counted = self._whole = 0
            self._offset += count
            del self._data[:count]
            scan.move(count)
            self._lost = (0, *self._lost[1:]) if self._lost else None

    def _line(self, index: int) -> int:
        """Return the number of the line of ``index``, which never falls."""
        self._number += self._data.count(b"\n", self._counted, index)
        self._counted = index
        return self._number

    def _behind_blanks(self, index: int) -> int:
        shown = _SHOWN.search(self._data, index)
        return shown.start() if shown else len(self._data)

    def _is_first(self, index: int) -> bool:
        """Tell whether nothing but blanks is before ``index`` in its line, or since a record."""
        while index and self._data[index - 1] in _BLANKS:
            index -= 1
        return index in {0, self._whole} or self._data[index - 1] == _NEWLINE

    def _is_outside(self, end: int) -> bool:
        """Tell whether what ends at ``end`` is not a value inside of something."""
        return _INSIDE.match(self._data, end) is None

    def _brace_before(self, index: int) -> int:
        """Return where the brace is whose first key begins at ``index``, else ``index``."""
        at = index - 1
        if self._data[at] != _QUOTE:
            return index
        while self._data[at - 1] in _BLANKS:
            at -= 1
        return at - 1 if self._data[at - 1] == _BRACE else index


def _read_record(record: bytes) -> tuple[SessionEvent | None, list[_Note]]:
    """Read an object, as far as it goes, and say what was done to it."""
    notes: list[_Note] = []
    try:
        try:
            tree = read(record, _read_tree)
        except DecodeError:
            text, notes = _repaired(record)
            tree = read(text, _read_tree)
    except DecodeError as error:
        return None, [("unreadable", len(record), str(error))]
    event, problems = decoded_in_part(tree, fields=True)
    if event is None:
        return None, [("unreadable", len(record), str(problems[-1]))]
    if problems:
        others = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        notes.append(("field", 0, f"part of an event was left out: {problems[0]}{others}"))
    return event, notes


def _repaired(record: bytes) -> tuple[str, list[_Note]]:
    """Return an object as text that JSON allows, and what had to be changed for that."""
    notes: list[_Note] = []
    if _CONTROL.search(record):
        escaped = STRING.sub(_escape, record)
        if escaped != record:
            notes.append(("repaired", 0, _ESCAPED))
            record = escaped
    bad = len(record) - len(record.decode(errors="ignore").encode())
    if bad:
        notes.append(("repaired", bad, _REPLACED))
    return record.decode(errors="replace"), notes


def _read_tree(tree: Any, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    unread.append(tree)
    return tree


def _escape(text: re.Match[bytes]) -> bytes:
    return _CONTROL.sub(lambda found: b"\\u%04x" % found[0][0], text[0])
