"""Reading what an upstream sends: events as they are, or the mappings of their JSON.

In: an event or a mapping. Out: the event, or as much of it as can be read, and a warning about the
rest. Deliberately elsewhere: JSON text (``wire``).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import DecodeError, brief
from ..events import SessionEvent, SessionEventType, SessionWarningData
from ..model import CitableSource, Extra
from ..wire import decode_event
from ..wire.fields import record
from ..wire.tree import Trail, where

__all__ = ("UpstreamEvent", "decoded", "decoded_in_part", "decoded_leniently")

UpstreamEvent: TypeAlias = SessionEvent | Mapping[str, Any]
"""An event, or the JSON object of one."""

_SOURCE = record(CitableSource)
_SOURCES: Trail = (((None, "data"), "result"), "citableSources")
_KEYS = re.compile(r"\$((?:\.[A-Za-z_][A-Za-z0-9_]*)+)")
# Without the agent that speaks, what a sub-agent said would be the answer.
_SPARED = frozenset({"parentId", "ephemeral"})


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
        left = decoded_in_part(event, fields=False)[0] if isinstance(event, Mapping) else None
        return left, _warning(error, kept=left is not None)


def decoded_in_part(
    event: Mapping[str, Any], /, *, fields: bool
) -> tuple[SessionEvent | None, tuple[DecodeError, ...]]:
    """Return the event without what cannot be decoded of it, and what is wrong with that, in order.

    Left out are citations and citable sources, so that a message never costs its text, and one
    source never costs another; with ``fields`` also ``parentId``, ``ephemeral`` and whatever is
    optional in ``data``. Returns None for the event where anything else is wrong.
    """
    problems: list[DecodeError] = []
    left: Mapping[str, Any] | None = event
    while left is not None:
        try:
            return decode_event(left), tuple(problems)
        except DecodeError as error:
            left, more = _without_damage(left, error, fields=fields)
            problems += more
    return None, tuple(problems)


def _without_damage(
    event: Mapping[str, Any], error: DecodeError, *, fields: bool
) -> tuple[Mapping[str, Any] | None, list[DecodeError]]:
    """Leave out what ``error`` is about, None where that must not be; return the problems too."""
    data = event.get("data")
    cited = isinstance(data, Mapping) and "citations" in data
    # What is nested too deep is reported at the root: citations are what may be left out.
    if cited and (error.path == "$" or error.path.startswith("$.data.citations")):
        return _without(event, ("data", "citations")), [error]
    if error.path.startswith(f"{where(_SOURCES)}["):
        return _without_bad_sources(event)
    found = _KEYS.fullmatch(error.path) if fields else None
    keys = found[1].split(".")[1:] if found else []
    while len(keys) > 1 and _at(event, keys) is None:
        keys.pop()  # what is missing is required: its object goes
    spared = len(keys) > 1 if keys[:1] == ["data"] else bool(_SPARED.intersection(keys))
    return (_without(event, keys) if spared else None), [error]


def _at(tree: Any, keys: Sequence[str]) -> Any:  # noqa: ANN401 - a JSON value
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def _without(tree: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return ``tree`` without what is at ``keys``."""
    first, *others = keys
    left = {key: value for key, value in tree.items() if others or key != first}
    if others:
        left[first] = _without(tree[first], others)
    return left


def _without_bad_sources(event: Mapping[str, Any]) -> tuple[dict[str, Any], list[DecodeError]]:
    """Leave out every citable source that cannot be decoded, in one go: there may be many."""
    good, problems = [], []
    data, result = event["data"], event["data"]["result"]
    for number, source in enumerate(result["citableSources"]):
        try:
            _SOURCE.decode(source, (_SOURCES, number), [])
        except DecodeError as error:
            problems.append(error)
        else:
            good.append(source)
    result = {**result, "citableSources": good}
    return {**event, "data": {**data, "result": result}}, problems


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
