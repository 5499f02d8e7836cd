"""The envelope that every session event travels in."""

from datetime import UTC, datetime
from random import getrandbits

import attrs

from ..model import NO_EXTRA, Extra
from .data import SessionEventData
from .types import SessionEventType

__all__ = ("SessionEvent",)

_VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


def _new_id() -> str:
    # A UUID of version 4 that nobody has to be unable to guess: every delta has one, and to ask the
    # system for random bytes costs more than all the rest of a delta.
    text = f"{getrandbits(124):031x}"
    return f"{text[:8]}-{text[8:12]}-4{text[12:15]}-{_VARIANT[text[15]]}{text[16:19]}-{text[19:]}"


def _now() -> datetime:
    return datetime.now(UTC)


@attrs.frozen(kw_only=True)
class SessionEvent:
    """One event of a session (SPEC section 3).

    ``type`` is the kind; ``data`` its payload. For a kind that is not in SessionEventType,
    ``type`` is UNKNOWN, ``raw_type`` the wire's name and ``data`` a RawSessionEventData. ``id`` is
    the wire's text (a UUID on every upstream we know). ``agent_id`` names the sub-agent that
    speaks, None the root agent. ``ephemeral`` events are not kept in the history of a session.

    ``timestamp_text`` keeps how the upstream wrote the time, so that encoding gives it back.
    """

    data: SessionEventData
    type: SessionEventType
    id: str = attrs.field(factory=_new_id)
    timestamp: datetime = attrs.field(factory=_now)
    parent_id: str | None = None
    agent_id: str | None = None
    ephemeral: bool | None = None
    raw_type: str | None = None
    timestamp_text: str | None = attrs.field(default=None, eq=False, repr=False)
    extra: Extra = attrs.field(default=NO_EXTRA, repr=False, hash=False)
