"""The envelope of an event as JSON: its keys, its time, and which kind its payload is.

The time is kept as the upstream wrote it, next to what it means. A time without a zone is UTC: the
wire is, and a clock of the reader's would be a guess.
"""

from datetime import UTC, datetime
from typing import Any, NoReturn

from ..errors import DecodeError, EncodeError
from ..events import SessionEvent, SessionEventType
from ..model import NO_EXTRA
from .build import blank, draft
from .fields import FLAG, TEXT, Decode, Encode, absent, add_rest, rest
from .payloads import PAYLOADS, RAW
from .tree import Trail, misfit

__all__ = ("decode_tree", "encode_tree")

_UNKNOWN = SessionEventType.UNKNOWN
_KINDS: dict[str, tuple[SessionEventType, Decode, bool]] = {
    kind.value: (kind, PAYLOADS.get(kind, RAW).decode, kind in PAYLOADS)
    for kind in SessionEventType
    if kind is not _UNKNOWN
}
_ENCODERS: dict[SessionEventType, Encode] = {kind: each.encode for kind, each in PAYLOADS.items()}
_parse_time = datetime.fromisoformat
_DATA: Trail = (None, "data")
_TIME: Trail = (None, "timestamp")
_KEYS = frozenset({"data", "id", "timestamp", "type", "parentId", "agentId", "ephemeral"})
_Draft = draft(SessionEvent)


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
        raise misfit(DecodeError, _TIME, "a time in ISO 8601 form", text) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    event: Any = blank(_Draft)
    if name in _KINDS:
        event.type, decode_data, typed = _KINDS[name]
        event.raw_type = None
        if typed and data is None:
            raise absent(tree, "data", None)
    else:
        event.type, decode_data, event.raw_type = _UNKNOWN, RAW.decode, name
    event.data = decode_data(data, _DATA, unread)
    event.id = identity
    event.timestamp = moment
    event.timestamp_text = text
    event.parent_id = parent
    event.agent_id = agent
    event.ephemeral = ephemeral
    # A known key that is null is not held by a field: it goes to the rest.
    absences = (data is None) + (parent is None) + (agent is None) + (ephemeral is None)
    usual = len(tree) + absences == len(_KEYS)
    event.extra = NO_EXTRA if usual else rest(tree, _KEYS, unread)
    event.__class__ = SessionEvent
    return event  # type: ignore[no-any-return] # it is one by now


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
    identity, parent, agent, ephemeral = event.id, event.parent_id, event.agent_id, event.ephemeral
    tree = {
        "id": identity if type(identity) is str else TEXT.encode(identity, (None, "id")),
        "timestamp": _encode_time(event),
        "type": _encode_type(event),
    }
    data = _ENCODERS.get(event.type, RAW.encode)(event.data, _DATA)
    if data is not None:
        tree["data"] = data
    if parent is not None:
        tree["parentId"] = TEXT.encode(parent, (None, "parentId"))
    if agent is not None:
        tree["agentId"] = TEXT.encode(agent, (None, "agentId"))
    if ephemeral is not None:
        tree["ephemeral"] = FLAG.encode(ephemeral, (None, "ephemeral"))
    if event.extra is not NO_EXTRA:
        add_rest(tree, event.extra, _KEYS, None)
    return tree


def _encode_time(event: SessionEvent) -> str:
    moment, text = event.timestamp, event.timestamp_text
    if type(moment) is not datetime or moment.tzinfo is None:
        raise misfit(EncodeError, _TIME, "a datetime with a time zone", moment)
    if text is None:
        return moment.isoformat()
    plain: str = TEXT.encode(text, _TIME)
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
