"""Following one JSON object through bytes that may be damaged, to where it ends or cannot go on.

In: bytes that grow. Out: whether the object is whole, open or broken, and where. Strings may hold
raw newlines and other control characters, as damaged logs have them; no value is read. Linear time.
Deliberately elsewhere: what JSON means (``wire``), what to do about damage (``logs``).
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..wire.tree import MAX_DEPTH, TYPED_DEPTH

__all__ = ("BEGINNING", "STRING", "ObjectScan", "Outcome")

Outcome: TypeAlias = Literal["whole", "open", "broken"]
"""``whole``: the object ends at ``position``. ``open``: the bytes end before it does. ``broken``:
what stands at ``position`` cannot stand there."""

BEGINNING: re.Pattern[bytes] = re.compile(rb'\{[ \t\r\n]*+"[A-Za-z]')
"""How an object begins whose first key is a name."""

STRING: re.Pattern[bytes] = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""A string, with whatever bytes in it."""

_END_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(
    rb"([ \t\r\n]++)"
    rb'|"[^"\\]*+(?:\\.[^"\\]*+)*+("?)'
    rb"|(-?[0-9][0-9.eE+-]*+|true|false|null)"
    rb"|[\[\]{}:,]"
    rb"|(.)",
    re.DOTALL,
)
_BLANKS, _STRING, _SCALAR, _OTHER = 1, 2, 3, 4  # groups of a token; a bracket or such has none
_QUOTE, _OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY, _COLON, _COMMA = b'"{}[]:,'
_DEEPEST = MAX_DEPTH + TYPED_DEPTH  # deeper ones are not read anyway

_VALUES = (_QUOTE, _OPEN_OBJECT, _OPEN_ARRAY, _SCALAR)
_ALLOWED: Mapping[str, Mapping[int, str]] = {
    "first key": {_QUOTE: "colon", _CLOSE_OBJECT: ""},
    "key": {_QUOTE: "colon"},
    "colon": {_COLON: "value"},
    "value": dict.fromkeys(_VALUES, "after value"),
    "after value": {_COMMA: "key", _CLOSE_OBJECT: ""},
    "first item": {**dict.fromkeys(_VALUES, "after item"), _CLOSE_ARRAY: ""},
    "item": dict.fromkeys(_VALUES, "after item"),
    "after item": {_COMMA: "item", _CLOSE_ARRAY: ""},
}
"""What may stand in a place, and the place behind each. Behind a bracket that closes is the place
behind the value that it closes."""


class ObjectScan:
    """The scan of one object, from the brace at ``start``.

    ``position`` is how far it has come. ``closed`` is the start and the end of the object inside
    that ended last, None where none has.
    """

    def __init__(self, start: int, /) -> None:
        self.start: int = start
        self.position: int = start + 1
        self.closed: tuple[int, int] | None = None
        self._place = "first key"
        self._in_string = False
        self._around: list[tuple[int, str]] = [(start, "")]

    def run(self, data: bytearray, /) -> Outcome:
        """Go on to the end of the object or of ``data``. An open one goes on when there is more."""
        if self._in_string and not self._end_string(data):
            return "open"
        for token in _TOKEN.finditer(data, self.position):
            if token.lastindex == _BLANKS:
                continue
            self.position = token.start()
            scalar = token.lastindex == _SCALAR
            if token.lastindex == _OTHER or not self._step(
                _SCALAR if scalar else data[token.start()], token.end()
            ):
                return "broken"
            self.position = token.end()
            self._in_string = token.lastindex == _STRING and not token[_STRING]
            if not self._around:
                return "whole"
        self.position = len(data)
        return "open"

    def move(self, count: int, /) -> None:
        """Say that ``count`` bytes before the object were taken away."""
        self.start -= count
        self.position -= count
        self._around = [(start - count, place) for start, place in self._around]
        if self.closed is not None:
            self.closed = self.closed[0] - count, self.closed[1] - count

    # -- inside

    def _end_string(self, data: bytearray) -> bool:
        """Go on to the end of the string; tell whether it has one."""
        end = _END_OF_STRING.match(data, self.position)
        self.position = end.end() if end else len(data)
        self._in_string = end is None
        return not self._in_string

    def _step(self, kind: int, end: int) -> bool:
        """Take the token at ``position``; tell whether it may stand there."""
        place = _ALLOWED[self._place].get(kind)
        if place is None:
            return False
        if kind in {_OPEN_OBJECT, _OPEN_ARRAY}:
            if len(self._around) >= _DEEPEST:
                return False
            self._around.append((self.position, place))
            place = "first key" if kind == _OPEN_OBJECT else "first item"
        elif not place:
            start, place = self._around.pop()
            if kind == _CLOSE_OBJECT:
                self.closed = start, end
        self._place = place
        return True
