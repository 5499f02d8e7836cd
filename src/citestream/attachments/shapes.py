"""The mappings that say what is attached to a message, checked: the shapes of the Copilot SDK.

In: mappings of the application. Out: ``Attached``, or an OptionError that names the index and the
key, what was wanted and what came. Deliberately elsewhere: paths (``files``), reading
what is attached (``documents``).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from ..errors import OptionError, brief

__all__ = ("Attached", "read_shapes")


@attrs.frozen(kw_only=True)
class Attached:
    """One attachment. ``type`` says which of the fields it has; ``index`` counts from 0.

    ``lines`` is what of the file is meant, counted from 1, the last line inclusive. ``given`` is
    the mapping itself.
    """

    index: int
    type: str
    given: Mapping[str, Any] = attrs.field(repr=False, hash=False)
    path: str = ""
    display_name: str | None = None
    lines: tuple[int, int] | None = None
    text: str | None = attrs.field(default=None, repr=False)
    data: str = attrs.field(default="", repr=False)
    mime_type: str = ""

    def where(self, key: str, /) -> str:
        """Name a key of this attachment in a message."""
        return f"attachments[{self.index}].{key}"


def read_shapes(attachments: Iterable[Mapping[str, Any]], /) -> list[Attached]:
    """Check all ``attachments`` and return them in order. Raises OptionError."""
    if isinstance(attachments, str | bytes | Mapping) or not isinstance(attachments, Iterable):
        raise _wrong("attachments", "a list of mappings", attachments)
    return [_read(given, index) for index, given in enumerate(attachments)]


def _read(given: object, index: int) -> Attached:
    where = f"attachments[{index}]"
    if not isinstance(given, Mapping):
        raise _wrong(where, "a mapping", given)
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise _wrong(f"{where}.type", f"one of {', '.join(_SHAPES)}", kind)
    fields, required = _SHAPES[kind]
    for key in given:
        if key != "type" and key not in fields:
            known = ", ".join(fields)
            raise _wrong(f"{where}, a {kind}", f"the keys {known} beside type", key)
    values: dict[str, Any] = {}
    for key, (name, read) in fields.items():
        if key in required or given.get(key) is not None:
            values[name] = read(given.get(key), f"{where}.{key}")
    return Attached(index=index, type=kind, given=given, **values)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(where, "a string with something in it", value)
    return value


def _line_range(value: object, where: str) -> tuple[int, int]:
    start, end = (_number(value, key, where, least=1) for key in ("start", "end"))
    return _ordered(start, end, where)


def _selection(value: object, where: str) -> tuple[int, int]:
    """Return the lines of a selection, which counts lines and characters from 0."""
    if not isinstance(value, Mapping):
        raise _wrong(where, "a mapping", value)
    first, _ = _position(value.get("start"), f"{where}.start")
    last, character = _position(value.get("end"), f"{where}.end")
    # An editor that selects whole lines ends the selection before the first character of the next.
    before = character == 0 and last > first
    return _ordered(first + 1, last if before else last + 1, where)


def _position(value: object, where: str) -> tuple[int, int]:
    return _number(value, "line", where, least=0), _number(value, "character", where, least=0)


def _ordered(start: int, end: int, where: str) -> tuple[int, int]:
    if end < start:
        raise _wrong(where, "an end that is not before the start", f"{start} to {end}")
    return start, end


def _number(value: object, key: str, where: str, *, least: int) -> int:
    if not isinstance(value, Mapping):
        raise _wrong(where, "a mapping", value)
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise _wrong(f"{where}.{key}", f"an integer of {least} or more", number)
    return number


def _wrong(where: str, wanted: str, got: object) -> OptionError:
    return OptionError(f"{where}: wanted {wanted}, got {brief(got)}")


_Field: TypeAlias = tuple[str, Callable[[object, str], Any]]  # its name here, and what reads it
_NAME: dict[str, _Field] = {"displayName": ("display_name", _text)}
_SHAPES: dict[
    str, tuple[dict[str, _Field], tuple[str, ...]]
] = {  # with the keys that must be there
    "file": (
        {"path": ("path", _text), **_NAME, "lineRange": ("lines", _line_range)},
        ("path",),
    ),
    "directory": ({"path": ("path", _text), **_NAME}, ("path",)),
    "selection": (
        {
            "filePath": ("path", _text),
            **_NAME,
            "selection": ("lines", _selection),
            "text": ("text", _text),
        },
        ("filePath",),
    ),
    "blob": (
        {"data": ("data", _text), "mimeType": ("mime_type", _text), **_NAME},
        ("data", "mimeType"),
    ),
}
