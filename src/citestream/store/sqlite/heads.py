"""What a writer knows of the sessions it writes to, as long as nobody else writes.

SQLite tells whether another connection has committed anything; while none has, what was read once
need not be read again.
"""

import sqlite3

from .. import refusals
from ..records import Lease
from .schema import LAST_PLACE, NUMBERS, read_text

__all__ = ("Head", "Heads")

_MOST = 10_000  # sessions; a few kilobytes each
_FIND = f"""
    SELECT id, epoch, holder, taken_at, opening, {LAST_PLACE} FROM session WHERE key = ?
"""  # noqa: S608 - a constant


class Head:
    """A session as it will be when the transaction is committed.

    ``last`` is the number of its last event. ``streams`` has the place of the first piece of each
    stream that has pieces. ``noted_at`` is when it was last written that the session is in use.
    """

    __slots__ = (
        "epoch",
        "has_opening",
        "holder",
        "key",
        "last",
        "noted_at",
        "session_id",
        "streams",
        "taken_at",
    )

    def __init__(
        self, key: int, row: tuple[str, int, str, float, int | None, int | None], /
    ) -> None:
        self.key: int = key
        self.session_id: str = row[0]
        self.epoch: int = row[1]
        self.holder: str = row[2]
        self.taken_at: float = row[3]
        self.has_opening: bool = row[4] is not None
        self.last: int = (row[5] or 0) % NUMBERS
        self.streams: dict[str, int] = {}
        self.noted_at: float = 0.0


class Heads:
    """The sessions that were written to lately. For use inside of a write transaction."""

    def __init__(self) -> None:
        self._heads: dict[int, Head] = {}
        self._version: int | None = None

    def refresh(self, connection: sqlite3.Connection, /) -> None:
        """Forget everything when others have written. To be called first in a transaction."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version or len(self._heads) > _MOST:
            self._heads.clear()
            self._version = version

    def find(self, connection: sqlite3.Connection, lease: Lease, /) -> Head:
        """Return the session of ``lease``. Raises SessionNotFoundError and SessionFenced."""
        head = self._heads.get(lease.key)
        if head is None:
            row = connection.execute(_FIND, (lease.key,)).fetchone()
            if row is None:
                raise refusals.not_found(lease.session_id)
            head = self._heads[lease.key] = Head(lease.key, row)
            for name, first in connection.execute(
                "SELECT name, first FROM stream WHERE session = ?", (lease.key,)
            ):
                head.streams[read_text(name)] = first
        if head.session_id != lease.session_id:
            raise refusals.not_found(lease.session_id)
        if head.epoch != lease.epoch:
            raise refusals.fenced(
                lease.session_id,
                epoch=lease.epoch,
                holder=head.holder,
                current=head.epoch,
                since=head.taken_at,
            )
        return head

    def forget(self, key: int, /) -> None:
        """Forget a session that was changed."""
        self._heads.pop(key, None)

    def clear(self) -> None:
        """Forget everything, as after a transaction that failed."""
        self._heads.clear()
        self._version = None
