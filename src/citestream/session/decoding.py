"""Reading what an upstream sends: events as they are, or the mappings of their JSON.

In: an event or a mapping. Out: the event, or as much of it as can be read, and a warning about the
rest. Deliberately elsewhere: JSON text (``wire``).
"""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from ..errors import DecodeError, brief
from ..events import SessionEvent, SessionEventType, SessionWarningData
from ..model import Extra
from ..wire import decode_event

__all__ = ("UpstreamEvent", "decoded", "decoded_leniently")

UpstreamEvent: TypeAlias = SessionEvent | Mapping[str, Any]
"""An event, or the JSON object of one."""

_CITABLE = re.compile(r"\$\.data\.result\.citableSources\[([0-9]+)\]")


def decoded(event: UpstreamEvent, /) -> SessionEvent:
    """Return the event that ``event`` is or stands for. Raises DecodeError."""
    if isinstance(event, SessionEvent):
        return event
    if isinstance(event, Mapping):
        return decode_event(event)
    raise DecodeError(path="$", expected="an event or a mapping", got=brief(event))


def decoded_leniently(
    event: UpstreamEvent, /, *, skip: bool
) -> tuple[SessionEvent | None, SessionEvent | None]:
    """Return the event, or what of it can be decoded, and a warning about what cannot.

    Without ``skip`` it raises the DecodeError instead.
    """
    try:
        return decoded(event), None
    except DecodeError as error:
        if not skip:
            raise
        left = _without_damage(event, error)
        return left, _warning(error, kept=left is not None)


def _without_damage(event: UpstreamEvent, error: DecodeError) -> SessionEvent | None:
    """Decode an event again without what cannot be decoded of its citations or citable sources.

    So a message never costs its text, and one source never costs another.
    """
    problem = error
    while isinstance(event, Mapping):
        smaller = _without(event, problem.path)
        if smaller is None:
            return None
        try:
            return decode_event(smaller)
        except DecodeError as another:
            event, problem = smaller, another
    return None


def _without(event: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    """Leave out of ``event`` the citations or the citable source that ``path`` leads into."""
    data = event.get("data")
    data = dict(data) if isinstance(data, Mapping) else {}
    # What is nested too deep is reported at the root: citations are what may be left out.
    if path.startswith("$.data.citations") or (path == "$" and "citations" in data):
        del data["citations"]
    elif damaged := _CITABLE.match(path):
        sources = list(data["result"]["citableSources"])
        del sources[int(damaged[1])]
        data["result"] = {**data["result"], "citableSources": sources}
    else:
        return None
    return {**event, "data": data}


def _warning(error: DecodeError, *, kept: bool) -> SessionEvent:
    details = {"path": error.path, "expected": error.expected, "got": error.got}
    return SessionEvent(
        ephemeral=True,
        type=SessionEventType.SESSION_WARNING,
        data=SessionWarningData(
            message=f"{'part of an event' if kept else 'an event'} was skipped: {error}",
            warning_type="decode_error",
            extra=Extra(details),
        ),
    )
