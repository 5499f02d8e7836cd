"""When the write-ahead log is folded back into the file, and who must not write meanwhile.

SQLite up to 3.51.2 can damage a file when one connection folds the log back just as another begins
it anew (sqlite.org/wal.html#walresetbug). Under such a version every commit holds a lock file
shared, and whoever folds the log back holds it alone; SQLite does not fold it back by itself.
"""

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from ...errors import StoreBusyError
from .failures import patiently
from .opening import close
from .sqlite_options import SQLiteOptions

if sys.platform != "win32":  # pragma: no branch - which has no such locks
    import fcntl

__all__ = ("Checkpoints", "has_wal_reset_bug")

_PAGES = 4_000  # of the log, about 16 MB; fewer are copied more often than they need be
_FOLD_SECONDS = 0.25  # to wait for others before trying again after a later commit


def has_wal_reset_bug(version: tuple[int, int, int], /) -> bool:
    """Tell whether this version of SQLite can damage a file when two connections use it."""
    if version[:2] in {(3, 44), (3, 50)}:
        return version < ((3, 44, 6) if version[1] == 44 else (3, 50, 7))  # noqa: PLR2004
    return (3, 7, 0) <= version < (3, 51, 3)


class Checkpoints:
    """Folds the log of the file at ``path`` back, and keeps others from it meanwhile."""

    def __init__(self, path: Path, options: SQLiteOptions, /) -> None:
        self._path = path
        self._seconds = options.busy_seconds
        self._has_log = options.journal_mode == "wal"
        self._pages = 0
        self._lock: int | None = None
        self.erasing: bool = False
        """Whether deleted events may still be in the log."""
        if (
            self._has_log
            and sys.platform != "win32"
            and has_wal_reset_bug(sqlite3.sqlite_version_info)
        ):
            side = path.with_name(path.name + "-lock")
            self._lock = os.open(side, os.O_RDWR | os.O_CREAT, 0o600)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Keep the log from being folded back. Raises StoreBusyError."""
        with self._locked(shared=True, seconds=self._seconds):
            yield

    def wrote(self, connection: sqlite3.Connection, /, *, pages: int) -> None:
        """Note that about so many pages were written, and fold the log back when it is long."""
        self._pages += pages
        if self._has_log and self._pages >= _PAGES:
            with (
                contextlib.suppress(StoreBusyError),
                self._locked(shared=False, seconds=_FOLD_SECONDS),
            ):
                _busy, length, folded = connection.execute(
                    "PRAGMA wal_checkpoint(PASSIVE)"
                ).fetchone()
                self._pages = length - folded

    def erase(self, connection: sqlite3.Connection, /, *, seconds: float) -> None:
        """Empty the log, so that nothing deleted is in it. Others who read may prevent it."""
        self.erasing = self._has_log
        if not self.erasing:
            return
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            with self._locked(shared=False, seconds=seconds):
                patiently(lambda: self._empty(connection), seconds=seconds)
        except StoreBusyError:
            return
        finally:
            connection.execute(f"PRAGMA busy_timeout = {round(self._seconds * 1000)}")
        self.erasing = False
        self._pages = 0

    def close(self, connection: sqlite3.Connection | None, /) -> None:
        """Close ``connection`` and the lock file.

        Closing the last connection folds the log back. Others who write are no harm then: theirs
        are connections too.
        """
        try:
            if connection is not None:
                with contextlib.suppress(StoreBusyError):
                    self._hold(shared=False, seconds=_FOLD_SECONDS)
                close(connection)
        finally:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def _empty(self, connection: sqlite3.Connection) -> None:
        busy, _length, _folded = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusyError(f"{self._path}: others read what was deleted")

    @contextlib.contextmanager
    def _locked(self, *, shared: bool, seconds: float) -> Iterator[None]:
        self._hold(shared=shared, seconds=seconds)
        try:
            yield
        finally:
            if self._lock is not None:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _hold(self, *, shared: bool, seconds: float) -> None:
        lock = self._lock
        if lock is not None:
            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            patiently(lambda: self._try(lock, kind), seconds=seconds)

    def _try(self, lock: int, kind: int) -> None:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusyError(f"{self._path}: others fold its log back") from error
