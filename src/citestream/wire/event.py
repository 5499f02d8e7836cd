"""The envelope of an event as JSON: its keys, its time, and which kind its payload is.

The time is kept as the upstream wrote it, next to what it means. A time without a zone is UTC: the
wire is, and a clock of the reader's would be a guess.
"""

from datetime import UTC, datetime
from typing import Any, NoReturn

from ..errors import DecodeError, EncodeError
from ..events import SessionEvent, SessionEventType
from ..model import NO_EXTRA
from .build import blank, setters
from .fields import FLAG, TEXT, Decode, Kind, absent, add_rest, rest
from .payloads import PAYLOADS, RAW
from .tree import Trail, misfit

__all__ = ("decode_tree", "encode_tree")

_UNKNOWN = SessionEventType.UNKNOWN
_KINDS: dict[str, tuple[SessionEventType, Decode, bool]] = {
    kind.value: (kind, PAYLOADS.get(kind, RAW).decode, kind in PAYLOADS)
    for kind in SessionEventType
    if kind is not _UNKNOWN
}
_parse_time = datetime.fromisoformat
_DATA: Trail = (None, "data")
_OPTIONAL: tuple[tuple[str, str, Kind], ...] = (
    ("parentId", "parent_id", TEXT),
    ("agentId", "agent_id", TEXT),
    ("ephemeral", "ephemeral", FLAG),
)
_KEYS = frozenset({"data", "id", "timestamp", "type", "parentId", "agentId", "ephemeral"})
(
    _set_data,
    _set_type,
    _set_id,
    _set_timestamp,
    _set_parent,
    _set_agent,
    _set_ephemeral,
    _set_raw_type,
    _set_text,
    _set_extra,
) = setters(SessionEvent)


def decode_tree(tree: Any, unread: list[Any], /) -> SessionEvent:  # noqa: ANN401 - a JSON value
    """Decode an event from a JSON value that nobody else holds."""
    if type(tree) is not dict:
        raise misfit(DecodeError, None, "an object", tree)
    get = tree.get
    try:
        identity, text, name = tree["id"], tree["timestamp"], tree["type"]
    except KeyError:
        _explain(tree)
    data, parent, agent, ephemeral = get("data"), get("parentId"), get("agentId"), get("ephemeral")
    if (
        type(identity) is not str
        or type(text) is not str
        or type(name) is not str
        or (parent is not None and type(parent) is not str)
        or (agent is not None and type(agent) is not str)
        or (ephemeral is not None and type(ephemeral) is not bool)
    ):
        _explain(tree)
    try:
        moment = _parse_time(text)
    except ValueError:
        raise misfit(DecodeError, (None, "timestamp"), "a time in ISO 8601 form", text) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    event = blank(SessionEvent)
    if name in _KINDS:
        kind, decode_data, typed = _KINDS[name]
        if typed and data is None:
            raise absent(tree, "data", None)
        _set_raw_type(event, None)
    else:
        kind, decode_data = _UNKNOWN, RAW.decode
        _set_raw_type(event, name)
    _set_data(event, decode_data(data, _DATA, unread))
    _set_type(event, kind)
    _set_id(event, identity)
    _set_timestamp(event, moment)
    _set_parent(event, parent)
    _set_agent(event, agent)
    _set_ephemeral(event, ephemeral)
    _set_text(event, text)
    # A known key that is null is not held by a field: it goes to the rest.
    absences = (data is None) + (parent is None) + (agent is None) + (ephemeral is None)
    usual = len(tree) + absences == len(_KEYS)
    _set_extra(event, NO_EXTRA if usual else rest(tree, _KEYS, unread))
    return event


def _explain(tree: dict[str, Any]) -> NoReturn:
    """Raise the error for an envelope in which some key has a value of the wrong type."""
    for wire in ("id", "timestamp", "type"):
        if tree.get(wire) is None:
            raise absent(tree, wire, None)
    for wire in ("id", "timestamp", "type", "parentId", "agentId"):
        if tree.get(wire) is not None:
            TEXT.decode(tree[wire], (None, wire), [])
    # No other key is left to be wrong.
    raise misfit(DecodeError, (None, "ephemeral"), "true or false", tree["ephemeral"])


def encode_tree(event: SessionEvent, /) -> dict[str, Any]:
    """Encode an event as fresh JSON values. Raises EncodeError."""
    if type(event) is not SessionEvent:
        raise misfit(EncodeError, None, "a SessionEvent", event)
    tree = {
        "id": TEXT.encode(event.id, (None, "id")),
        "timestamp": _encode_time(event),
        "type": _encode_type(event),
    }
    payload = PAYLOADS.get(event.type, RAW)
    data = payload.encode(event.data, _DATA)
    if data is not None:
        tree["data"] = data
    for wire, name, kind in _OPTIONAL:
        value = getattr(event, name)
        if value is not None:
            tree[wire] = kind.encode(value, (None, wire))
    if event.extra is not NO_EXTRA:
        add_rest(tree, event.extra, _KEYS, None)
    return tree


def _encode_time(event: SessionEvent) -> str:
    moment, text, place = event.timestamp, event.timestamp_text, (None, "timestamp")
    if type(moment) is not datetime or moment.tzinfo is None:
        raise misfit(EncodeError, place, "a datetime with a time zone", moment)
    if text is None:
        return moment.isoformat()
    plain: str = TEXT.encode(text, place)
    return plain if _denotes(plain, moment) else moment.isoformat()


def _denotes(text: str, moment: datetime) -> bool:
    try:
        told = _parse_time(text)
    except ValueError:
        return False
    return (told if told.tzinfo is not None else told.replace(tzinfo=UTC)) == moment


def _encode_type(event: SessionEvent) -> str:
    place: Trail = (None, "type")
    kind, name = event.type, event.raw_type
    if not isinstance(kind, SessionEventType):
        raise misfit(EncodeError, place, "a SessionEventType", kind)
    if kind is not _UNKNOWN:
        if name is not None:
            raise misfit(EncodeError, place, "no raw_type, as this type is known", name)
        return str(kind.value)
    plain: str = TEXT.encode(name, place)
    if plain in _KINDS:
        raise misfit(EncodeError, place, "a raw_type that is not known", name)
    return plain
