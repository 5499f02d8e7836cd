r"""Server-sent events: one frame for one event, whatever is in it.

In: the JSON text of an event (``wire`` makes it), its cursor and its type. Out: the lines of one
frame; in the other direction the cursor that a browser sends back as ``Last-Event-ID``.
Deliberately elsewhere: JSON (``wire``), HTTP (yours).
"""

import re

from ..errors import DecodeError, OptionError, brief

__all__ = ("frame", "parse_last_event_id")

_ID = re.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_EVENT = re.compile("[a-z0-9._-]{1,128}")
_UNSAFE = re.compile("[^\x20-\x7e]")


def frame(data: str, /, *, id: int | str | None = None, event: str | None = None) -> str:  # noqa: A002 - the field's name
    r"""Return the frame that carries the JSON text ``data``, with the blank line that ends it.

    The data are one line of ASCII: line ends, which JSON has between its tokens only, become
    blanks, and other characters become ``\u`` escapes, which JSON has in its strings only.
    ``id`` is the cursor that ``parse_last_event_id`` gives back; ``event`` is the type of the
    event, left out where it is not of the letters ``a-z0-9._-``: a browser then calls it message.

    Raises OptionError for an ``id`` that is not 1 to 128 letters, digits and ``._:-``.

    >>> frame('{"type":"x","data":{"text":"é\u2028"}}', id=7, event="x")
    'id: 7\nevent: x\ndata: {"type":"x","data":{"text":"\\u00e9\\u2028"}}\n\n'
    """
    lines = []
    if id is not None:
        if isinstance(id, bool) or not _ID.fullmatch(str(id)):
            raise OptionError(f"id: wanted 1 to 128 of A-Za-z0-9._:-, got {brief(id)}")
        lines.append(f"id: {id}\n")
    if event is not None and _EVENT.fullmatch(event):
        lines.append(f"event: {event}\n")
    lines.append(f"data: {_UNSAFE.sub(_escaped, data)}\n\n")
    return "".join(lines)


def parse_last_event_id(header: str | None, /) -> str | None:
    """Return the cursor in a ``Last-Event-ID`` header; None where there is none or it is empty.

    Raises DecodeError for what no ``id`` of a frame can be.
    """
    if not header:
        return None
    if not _ID.fullmatch(header):
        raise DecodeError(
            path="Last-Event-ID", expected="1 to 128 of A-Za-z0-9._:-", got=brief(header)
        )
    return header


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in "\n\r\t":
        return " "
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
