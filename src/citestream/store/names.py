"""The arguments that every store takes, checked: ids of sessions, owners, holders, events, numbers.

In: what a caller gave. Out: nothing, or OptionError. Deliberately elsewhere: what an event must be
(``records``).
"""

import re
from collections.abc import Sequence
from math import inf

from ..errors import OptionError, brief
from .records import EventRecord

__all__ = (
    "check_events",
    "check_mode",
    "check_number",
    "check_people",
    "check_pieces",
    "check_seconds",
    "check_session_id",
    "check_text",
)

_SESSION_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_UNKEPT = re.compile("[\0\ud800-\udfff]")
_MODES = ("takeover", "wait", "fail")


def check_session_id(value: object, /) -> None:
    """Refuse what is not 1 to 128 of ``A-Z a-z 0-9 . _ : -``."""
    if not isinstance(value, str) or _SESSION_ID.fullmatch(value) is None:
        raise OptionError(
            f"session_id: wanted 1 to 128 letters, digits or any of '._:-', got {brief(value)}"
        )


def check_text(name: str, value: object, /) -> None:
    """Refuse what is no text, or holds a NUL or half a surrogate pair: databases lose those."""
    if not isinstance(value, str) or _UNKEPT.search(value) is not None:
        raise OptionError(f"{name}: wanted a text without NUL and surrogates, got {brief(value)}")


def check_people(owner: object, holder: object = "", /) -> None:
    """Refuse an owner that is neither None nor a text, and a holder that is no text."""
    if owner is not None:
        check_text("owner", owner)
    check_text("holder", holder)


def check_number(name: str, value: object, /) -> None:
    """Refuse what is not an integer of 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise OptionError(f"{name}: wanted an integer of 0 or more, got {brief(value)}")


def check_seconds(name: str, value: object, /) -> None:
    """Refuse what is not a number above 0."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < inf:
        raise OptionError(f"{name}: wanted a number of seconds above 0, got {brief(value)}")


def check_mode(value: object, /) -> None:
    """Refuse what is not a ResumeMode."""
    if value not in _MODES:
        raise OptionError(f"mode: wanted one of {', '.join(_MODES)}, got {brief(value)}")


def check_events(events: Sequence[EventRecord], /) -> None:
    """Refuse what is not an EventRecord."""
    for event in events:
        if not isinstance(event, EventRecord):
            raise OptionError(f"events: wanted EventRecord, got {brief(event)}")


def check_pieces(events: Sequence[EventRecord], /) -> None:
    """Refuse what is not a piece of a stream: the rest must be appended, to be sure of it."""
    check_events(events)
    for event in events:
        if event.stream is None:
            raise OptionError(f"events: wanted pieces of streams, got {brief(event.type)}")
