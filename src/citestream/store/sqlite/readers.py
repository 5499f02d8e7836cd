"""Reads: a few connections in threads of their own, so that nobody who reads waits for who writes.

In: what to read, as a function of a connection. Out: what it returns. Connections are opened when
they are needed and kept for the next reader.
"""

import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio.lowlevel
import anyio.to_thread

from ...errors import StoreError
from .failures import FAILURES, failure
from .opening import close, open_reader
from .sqlite_options import SQLiteOptions

__all__ = ("Readers",)

T = TypeVar("T")


class Readers:
    """Reads the file at ``path`` from any event loop, until it is closed."""

    def __init__(self, path: Path, options: SQLiteOptions, /) -> None:
        self._path = path
        self._options = options
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._limiters: dict[object, anyio.CapacityLimiter] = {}

    async def run(self, query: Callable[[sqlite3.Connection], T], /) -> T:
        """Return what ``query`` returns. Raises what it raises, database errors as StoreError."""
        loop = anyio.lowlevel.current_token().native_token
        limiter = self._limiters.get(loop)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._options.readers)
            self._limiters[loop] = limiter
        return await anyio.to_thread.run_sync(partial(self._run, query), limiter=limiter)

    def close(self) -> None:
        """Close the connections, those in use when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            close(connection)

    def _run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        try:
            if connection is None:
                connection = open_reader(self._path, self._options)
            return query(connection)
        except StoreError:
            raise
        except FAILURES as error:
            if connection is not None:
                close(connection)
                connection = None
            raise failure(self._path, error) from error
        finally:
            if connection is not None:
                self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        close(connection)
