"""What stores say when they refuse: one wording for all of them.

In: what is known of the session. Out: the exception to raise. Times are seconds since 1970.
"""

from datetime import UTC, datetime

from ..errors import (
    SessionExistsError,
    SessionFenced,
    SessionInUseError,
    SessionNotFoundError,
    StateError,
    brief,
)

__all__ = ("closed", "exists", "fenced", "in_use", "not_found")


def closed(call: str, /) -> StateError:
    """Refuse a call outside of ``async with``."""
    return StateError(f"{call}: the store is not open; use it inside of 'async with store'")


def not_found(session_id: str, /) -> SessionNotFoundError:
    """Refuse a session that is not there, or not the caller's."""
    return SessionNotFoundError(f"session {brief(session_id)}: not found")


def exists(session_id: str, /) -> SessionExistsError:
    """Refuse to make a session whose id is taken."""
    return SessionExistsError(f"session {brief(session_id)}: there is one of this id already")


def in_use(session_id: str, /, *, holder: str, since: float, expires: float) -> SessionInUseError:
    """Refuse to acquire a session that someone else holds."""
    return SessionInUseError(
        f"session {brief(session_id)}: {_holder(holder)} holds it since {_time(since)} and until "
        f"{_time(expires)}; mode='takeover' would fence them off"
    )


def fenced(
    session_id: str, /, *, epoch: int, holder: str, current: int, since: float
) -> SessionFenced:
    """Refuse a writer of ``epoch``, since ``holder`` took the session over with ``current``."""
    return SessionFenced(
        f"session {brief(session_id)}: {_holder(holder)} took it over at {_time(since)} "
        f"(epoch {current}); this writer's epoch {epoch} is over"
    )


def _holder(holder: str) -> str:
    return brief(holder) if holder else "someone else"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
