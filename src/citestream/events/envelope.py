"""The envelope that every session event travels in."""

from datetime import UTC, datetime
from uuid import uuid4

import attrs

from ..model import NO_EXTRA, Extra
from .data import SessionEventData
from .types import SessionEventType

__all__ = ("SessionEvent",)


def _new_id() -> str:
    return str(uuid4())


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
