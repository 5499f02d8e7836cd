"""What a store keeps, and what it says of sessions: frozen values, as small as they can be.

The body of an event is JSON text in ASCII; a store never looks into it. Deliberately elsewhere:
what events mean (``wire``, ``session``).
"""

from typing import Any, Literal, TypeAlias

import attrs

from ..errors import OptionError, brief

__all__ = ("EventRecord", "Lease", "ResumeMode", "SessionRecord", "StoredEvent")

ResumeMode: TypeAlias = Literal["takeover", "wait", "fail"]
"""What to do about a session that someone else holds: fence them off, wait until they release it
or their lease expires, or raise SessionInUseError."""


def _text(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, str) or not value:
        raise OptionError(f"{attribute.name}: wanted a text, got {brief(value)}")


def _json(_instance: object, _attribute: object, value: Any) -> None:  # noqa: ANN401 - checked here
    if not isinstance(value, str) or not value.isascii():
        raise OptionError(f"body: wanted JSON in ASCII, got {brief(value)}")


def _stream(_instance: object, _attribute: object, value: Any) -> None:  # noqa: ANN401 - as above
    if value is not None and (not isinstance(value, str) or not value):
        raise OptionError(f"stream: wanted a text or None, got {brief(value)}")


def _ends(instance: "EventRecord", _attribute: object, value: Any) -> None:  # noqa: ANN401 - as above
    if value == ():
        return
    if not isinstance(value, tuple) or not all(isinstance(name, str) and name for name in value):
        raise OptionError(f"ends: wanted a tuple of texts, got {brief(value)}")
    if instance.stream is not None:
        raise OptionError(
            f"ends: what ends streams stays, but this is a piece of {brief(instance.stream)}"
        )


def _name() -> Any:  # noqa: ANN401 - an attrs field
    return attrs.field(validator=_text)


@attrs.frozen(kw_only=True)
class EventRecord:
    """An event to be kept.

    ``event_id`` makes a repeated append harmless: what is there already stays as it is.
    ``stream`` names what the event is a piece of, such as the deltas of one message; None is an
    event that stays. ``ends`` names the streams that it completes: their pieces are dropped in the
    transaction that keeps it. Only an event that stays may end streams.
    """

    event_id: str = _name()
    type: str = _name()
    body: str = attrs.field(validator=_json, repr=False)
    stream: str | None = attrs.field(default=None, validator=_stream)
    ends: tuple[str, ...] = attrs.field(default=(), validator=_ends)


@attrs.frozen(kw_only=True)
class StoredEvent:
    """An event as it was kept. ``seq`` counts the events of its session from 1.

    Where pieces were dropped, numbers are missing. ``epoch`` is that of whoever wrote it.
    """

    seq: int
    epoch: int
    event_id: str
    type: str
    body: str = attrs.field(repr=False)
    stream: str | None = None


@attrs.frozen(kw_only=True)
class Lease:
    """The right to write to one session, until someone else takes it: ``epoch`` then rises.

    ``key`` is the store's own name of the session: one that is deleted and made anew has another.
    """

    session_id: str
    epoch: int
    key: int = attrs.field(default=0, repr=False)


@attrs.frozen(kw_only=True)
class SessionRecord:
    """What a store knows of a session. Times are seconds since 1970.

    ``last_seq`` is the number of the last event, 0 for none. ``holder`` says who holds the lease,
    None where it was released or has expired. ``opening`` is the body of the first
    ``user.message``.
    """

    session_id: str
    owner: str | None
    epoch: int
    last_seq: int
    created_at: float
    updated_at: float
    holder: str | None = None
    opening: str | None = attrs.field(default=None, repr=False)
