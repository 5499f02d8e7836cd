"""Sessions in the database: made, taken up, renewed, given back, deleted.

Each function runs inside of a write transaction, and raises what it refuses before it writes
anything. ``now`` is in seconds since 1970.
"""

import sqlite3

import attrs

from .. import refusals
from ..records import Lease, ResumeMode
from .heads import Heads
from .schema import place_of

__all__ = ("Claim", "acquire", "create", "delete", "release", "renew")


@attrs.frozen(kw_only=True)
class Claim:
    """Who wants which session, and for how long without being heard of."""

    session_id: str
    owner: str | None
    holder: str
    seconds: float


def create(connection: sqlite3.Connection, _heads: Heads, now: float, /, *, claim: Claim) -> Lease:
    """Make a session. Raises SessionExistsError."""
    name = claim.session_id
    if connection.execute("SELECT 1 FROM session WHERE id = ?", (name,)).fetchone():
        raise refusals.exists(name)
    (key,) = connection.execute(
        "INSERT INTO session"
        " (id, owner, epoch, holder, taken_at, expires, created_at, updated_at)"
        " VALUES (?, ?, 1, ?, ?, ?, ?, ?) RETURNING key",
        (name, claim.owner, claim.holder, now, now + claim.seconds, now, now),
    ).fetchone()
    return Lease(session_id=name, epoch=1, key=key)


def acquire(
    connection: sqlite3.Connection, heads: Heads, now: float, /, *, claim: Claim, mode: ResumeMode
) -> Lease:
    """Take a session up. Raises SessionNotFoundError; SessionInUseError unless ``takeover``."""
    name = claim.session_id
    row = connection.execute(
        "SELECT key, epoch, holder, taken_at, expires FROM session WHERE id = ? AND owner IS ?",
        (name, claim.owner),
    ).fetchone()
    if row is None:
        raise refusals.not_found(name)
    key, epoch, current, since, expires = row
    if mode != "takeover" and expires > now:
        raise refusals.in_use(name, holder=current, since=since, expires=expires)
    connection.execute(
        "UPDATE session SET epoch = ?, holder = ?, taken_at = ?, expires = ? WHERE key = ?",
        (epoch + 1, claim.holder, now, now + claim.seconds, key),
    )
    heads.forget(key)
    return Lease(session_id=name, epoch=epoch + 1, key=key)


def renew(
    connection: sqlite3.Connection,
    heads: Heads,
    now: float,
    /,
    *,
    lease: Lease,
    seconds: float,
) -> None:
    """Say that a session is in use. Raises SessionNotFoundError and SessionFenced."""
    heads.find(connection, lease)
    connection.execute("UPDATE session SET expires = ? WHERE key = ?", (now + seconds, lease.key))


def release(connection: sqlite3.Connection, heads: Heads, _now: float, /, *, lease: Lease) -> None:
    """Give a session back, unless someone else has it."""
    connection.execute(
        "UPDATE session SET expires = 0 WHERE key = ? AND epoch = ?", (lease.key, lease.epoch)
    )
    heads.forget(lease.key)


def delete(
    connection: sqlite3.Connection,
    heads: Heads,
    _now: float,
    /,
    *,
    session_id: str,
    owner: str | None,
) -> None:
    """Remove a session and its events. Raises SessionNotFoundError."""
    row = connection.execute(
        "SELECT key FROM session WHERE id = ? AND owner IS ?", (session_id, owner)
    ).fetchone()
    if row is None:
        raise refusals.not_found(session_id)
    (key,) = row
    connection.execute(
        "DELETE FROM event WHERE place >= ? AND place < ?", (place_of(key, 0), place_of(key + 1, 0))
    )
    connection.execute("DELETE FROM session WHERE key = ?", (key,))
    heads.forget(key)
