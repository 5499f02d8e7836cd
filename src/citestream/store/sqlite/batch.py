"""One transaction: whatever waits to be written, numbered and put into the tables.

In: requests, in the order in which they came. Out: what to tell each of them once it is committed.
Requests of one lease are carried out in order, and before the jobs; sessions do not see each other.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs

from ...errors import StoreError
from ..records import Lease
from .additions import Additions, EventRow, Known, Write
from .heads import Head, Heads
from .schema import NUMBERS, kept_text, read_text
from .waiters import Waiter

__all__ = ("Batch", "Job", "LeaseKey", "Refused", "Request", "lease_key")

LeaseKey: TypeAlias = tuple[int, int]
"""The key of a session and the epoch of a lease on it."""

Refused: TypeAlias = dict[LeaseKey, StoreError]
"""What went wrong with the accepted pieces of a lease, until its next append tells."""

_PIECES_NOTED = 1.0  # seconds between notes that a session streams


@attrs.frozen(kw_only=True, eq=False)
class Job:
    """Anything else that writes. ``deletes`` is the id of a session that is gone then."""

    work: Callable[[sqlite3.Connection, Heads, float], object]
    waiter: Waiter
    deletes: str | None = None


Request: TypeAlias = Write | Job


def lease_key(lease: Lease, /) -> LeaseKey:
    """Return what tells ``lease`` from all others."""
    return lease.key, lease.epoch


class Batch:
    """What one transaction does. Nothing of it is true before the transaction is committed.

    ``outcomes`` says what to tell the waiters, ``advanced`` which sessions have new events,
    ``refused`` and ``reported`` what becomes of pieces that could not be kept, ``deleted`` which
    sessions are gone, ``pages`` about how much was written.
    """

    def __init__(
        self, connection: sqlite3.Connection, heads: Heads, /, *, now: float, lease_seconds: float
    ) -> None:
        self.outcomes: list[tuple[Waiter, object, StoreError | None]] = []
        self.advanced: list[Head] = []
        self.refused: Refused = {}
        self.reported: list[LeaseKey] = []
        self.deleted: list[str] = []
        self.pages: int = 0
        self._connection = connection
        self._heads = heads
        self._now = now
        self._lease_seconds = lease_seconds
        self._known: dict[int, Known] = {}
        self._additions: list[Additions] = []
        self._notes: list[tuple[float, float, int]] = []

    def look_up(self, requests: Sequence[Request], /) -> None:
        """Find which of the appended events are there already. Without it, none may be."""
        for request in requests:
            if isinstance(request, Write) and request.waiter is not None:
                key = request.lease.key
                for event in request.events:
                    row = self._connection.execute(
                        "SELECT place, stream FROM event"
                        " WHERE place >> 32 = ? AND event_id = ? AND accepted = 0",
                        (key, kept_text(event.event_id)),
                    ).fetchone()
                    if row is not None:
                        known = self._known.setdefault(key, {})
                        stream = None if row[1] is None else read_text(row[1])
                        known[event.event_id] = row[0] % NUMBERS, stream

    def run(self, requests: Sequence[Request], refused: Refused, /) -> None:
        """Carry ``requests`` out. ``refused`` is what earlier batches refused.

        Raises sqlite3.IntegrityError when an event was there already.
        """
        writes: dict[LeaseKey, list[Write]] = {}
        for request in requests:
            if isinstance(request, Write):
                writes.setdefault(lease_key(request.lease), []).append(request)
        for key, group in writes.items():
            self._write(group, refused.get(key))
        self._execute()
        for request in requests:
            if isinstance(request, Job):
                self._do(request)

    # -- inside

    def _do(self, job: Job) -> None:
        try:
            result = job.work(self._connection, self._heads, self._now)
        except StoreError as error:
            self.outcomes.append((job.waiter, None, error))
        else:
            self.outcomes.append((job.waiter, result, None))
            if job.deletes is not None:
                self.deleted.append(job.deletes)

    def _write(self, group: list[Write], refusal: StoreError | None) -> None:
        """Carry out the requests of one lease."""
        lease = group[0].lease
        allowed = self._allowed(group, refusal)
        try:
            head = self._heads.find(self._connection, lease)
        except StoreError as error:
            self._refuse(allowed, error)
            return
        additions = Additions(head, self._known.setdefault(head.key, {}))
        numbers = additions.write(allowed)
        self.outcomes += [(waiter, number, None) for waiter, number in numbers]
        self._additions.append(additions)
        if additions.rows:
            self.advanced.append(head)
        if numbers or self._now - head.noted_at >= min(_PIECES_NOTED, self._lease_seconds / 4):
            head.noted_at = self._now
            self._notes.append((self._now, self._now + self._lease_seconds, head.key))

    def _allowed(self, group: list[Write], refusal: StoreError | None) -> list[Write]:
        """Leave out what comes after refused pieces, up to the append that tells of them."""
        allowed = []
        for write in group:
            if refusal is None:
                allowed.append(write)
            elif write.waiter is not None:
                self.outcomes.append((write.waiter, None, refusal))
                self.reported.append(lease_key(write.lease))
                refusal = None
        return allowed

    def _refuse(self, group: list[Write], error: StoreError) -> None:
        for write in group:
            if write.waiter is None:
                self.refused[lease_key(write.lease)] = error
            else:
                self.outcomes.append((write.waiter, None, error))

    def _execute(self) -> None:
        drops: list[tuple[int, int, str]] = []
        rows: list[EventRow] = []
        gone: list[tuple[int, str]] = []
        there: list[tuple[int, str, int]] = []
        openings: list[tuple[int, int]] = []
        for additions in self._additions:
            head = additions.head
            drops += additions.drops
            rows += additions.rows
            for stream in additions.streams:
                first = head.streams.get(stream)
                if first is None:
                    gone.append((head.key, kept_text(stream)))
                else:
                    there.append((head.key, kept_text(stream), first))
            if additions.opening is not None:
                openings.append((additions.opening, head.key))
        many = self._connection.executemany
        many("DELETE FROM event WHERE place >= ? AND place < ? AND stream = ?", drops)
        many("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        many("DELETE FROM stream WHERE session = ? AND name = ?", gone)
        many("INSERT OR REPLACE INTO stream VALUES (?, ?, ?)", there)
        many("UPDATE session SET opening = ? WHERE key = ?", openings)
        many("UPDATE session SET updated_at = ?, expires = ? WHERE key = ?", self._notes)
        self.pages = 3 * len(self._additions) + sum(len(row[5]) for row in rows) // 2048
