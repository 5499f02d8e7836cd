"""What is read from the database: events, sessions, and how far sessions have come.

Each function takes a connection that is in no transaction, and sees one state of the database.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from .. import refusals
from ..records import SessionRecord, StoredEvent
from .schema import LAST_PLACE, NUMBERS, place_of, read_text

__all__ = ("get_session", "last_event", "last_event_of", "list_sessions", "read_events")

_DESCRIBE = f"""
    SELECT id, owner, epoch, {LAST_PLACE}, created_at, updated_at, holder, expires,
      (SELECT body FROM event WHERE place = opening)
    FROM session
"""  # noqa: S608 - a constant

_set_seq, _set_epoch, _set_event_id, _set_type, _set_body, _set_stream = (
    getattr(StoredEvent, name).__set__
    for name in ("seq", "epoch", "event_id", "type", "body", "stream")
)


def read_events(
    connection: sqlite3.Connection,
    /,
    *,
    session_id: str,
    owner: str | None,
    after: int,
    limit: int,
) -> list[StoredEvent]:
    """Return events above ``after``. Raises SessionNotFoundError."""
    key, _last = last_event(connection, session_id=session_id, owner=owner)
    rows = connection.execute(
        "SELECT place, epoch, event_id, type, body, stream FROM event"
        " WHERE place > ? AND place < ? ORDER BY place LIMIT ?",
        (place_of(key, min(after, NUMBERS - 1)), place_of(key + 1, 0), min(limit, NUMBERS)),
    )
    return _events(rows.fetchall(), place_of(key, 0))


def _events(rows: Iterable[tuple[Any, ...]], first: int) -> list[StoredEvent]:
    events: list[StoredEvent] = []
    for place, epoch, event_id, kind, body, stream in rows:
        # Its own __init__ takes as long as the database takes for the row.
        event = StoredEvent.__new__(StoredEvent)
        _set_seq(event, place - first)
        _set_epoch(event, epoch)
        _set_event_id(event, event_id if event_id.isascii() else read_text(event_id))
        _set_type(event, kind if kind.isascii() else read_text(kind))
        _set_body(event, body)
        _set_stream(event, stream if stream is None or stream.isascii() else read_text(stream))
        events.append(event)
    return events


def last_event(
    connection: sqlite3.Connection, /, *, session_id: str, owner: str | None
) -> tuple[int, int]:
    """Return the key of a session and the number of its last event.

    Raises SessionNotFoundError.
    """
    row = connection.execute(
        f"SELECT key, {LAST_PLACE} FROM session WHERE id = ? AND owner IS ?",  # noqa: S608 - constants
        (session_id, owner),
    ).fetchone()
    if row is None:
        raise refusals.not_found(session_id)
    return row[0], (row[1] or 0) % NUMBERS


def last_event_of(connection: sqlite3.Connection, session_id: str, /) -> tuple[int, int] | None:
    """Return the same for whoever the session belongs to; None when there is none."""
    row = connection.execute(
        f"SELECT key, {LAST_PLACE} FROM session WHERE id = ?",  # noqa: S608 - constants
        (session_id,),
    ).fetchone()
    return None if row is None else (row[0], (row[1] or 0) % NUMBERS)


def get_session(
    connection: sqlite3.Connection, /, *, session_id: str, owner: str | None, now: float
) -> SessionRecord:
    """Describe a session. Raises SessionNotFoundError."""
    row = connection.execute(
        f"{_DESCRIBE} WHERE id = ? AND owner IS ?", (session_id, owner)
    ).fetchone()
    if row is None:
        raise refusals.not_found(session_id)
    return _record(row, now)


def list_sessions(
    connection: sqlite3.Connection, /, *, owner: str | None, now: float
) -> list[SessionRecord]:
    """Describe the sessions of ``owner``, the last written first."""
    rows = connection.execute(
        f"{_DESCRIBE} WHERE owner IS ? ORDER BY updated_at DESC, key DESC", (owner,)
    )
    return [_record(row, now) for row in rows.fetchall()]


def _record(row: tuple[Any, ...], now: float) -> SessionRecord:
    session_id, owner, epoch, last, created_at, updated_at, holder, expires, opening = row
    return SessionRecord(
        session_id=session_id,
        owner=owner,
        epoch=epoch,
        last_seq=(last or 0) % NUMBERS,
        created_at=created_at,
        updated_at=updated_at,
        holder=holder if expires > now else None,
        opening=opening,
    )
