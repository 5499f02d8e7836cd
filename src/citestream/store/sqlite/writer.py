"""The thread that writes: it takes all that waits, commits it at once, and tells who waits for it.

In: requests, from any thread. Out: settled waiters. One thread has the connection, so that nobody
else's cancelled call can leave a transaction open. While anyone waits for events it also looks now
and then whether another process wrote some. Deliberately elsewhere: what is written (``batch``).
"""

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from ...errors import StoreBusyError, StoreError
from .additions import Write
from .batch import Batch, Refused, Request, lease_key
from .checkpoints import Checkpoints
from .failures import FAILURES, failure, is_busy, is_harmless, patiently
from .heads import Heads
from .opening import close, open_writer
from .queries import last_event_of
from .sqlite_options import SQLiteOptions
from .waiters import Waiter, wake
from .watches import Watches

__all__ = ("Writer",)

_logger = logging.getLogger("citestream.store")
_CLOSE_SECONDS = 5.0  # on top of what a busy file may cost
_ERASE_SECONDS = 0.5  # to wait for those who read


class Writer:
    """Writes to the file at ``path`` from when it is started until it is closed.

    What goes wrong is told to whom it concerns, and the file is opened anew if need be. Should the
    thread end for a reason that nobody thought of, everyone is told and nothing is taken any more.
    """

    def __init__(self, path: Path, options: SQLiteOptions, watches: Watches, /) -> None:
        self._path = path
        self._options = options
        self._watches = watches
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._accepted = 0
        self._hurry = False
        self._asleep = False
        self._closing = False
        self._ended = False
        self._closers: list[Waiter] = []
        self._taken: list[Request] = []
        self._refused: Refused = {}
        self._heads = Heads()
        self._connection: sqlite3.Connection | None = None
        self._checkpoints: Checkpoints | None = None
        self._version: int | None = None
        self._next_look = 0.0
        self._thread = threading.Thread(
            target=self._run, name=f"citestream-store {path.name}", daemon=True
        )

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    # -- for other threads

    def submit(self, request: Request, /) -> None:
        """Have ``request`` carried out soon. Raises StoreError when the thread has ended."""
        with self._changed:
            if self._ended:
                raise self._gone()
            self._requests.append(request)
            self._hurry = True
            self._changed.notify()

    def accept(self, write: Write, /) -> None:
        """Have ``write`` carried out within a while."""
        with self._changed:
            if self._ended:
                return
            if self._accepted >= self._options.max_accepted:
                self._refused.setdefault(
                    lease_key(write.lease),
                    StoreBusyError(f"{self._path}: {self._accepted} pieces wait to be kept"),
                )
                return
            self._requests.append(write)
            self._accepted += len(write.events)
            if len(self._requests) == 1:
                self._changed.notify()

    def watch(self) -> None:
        """Have the thread look for events of other processes, since someone waits for them."""
        with self._changed:
            if self._asleep:
                self._changed.notify()

    def stop(self) -> None:
        """Have the thread end when it has carried out what it was given."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    async def close(self) -> None:
        """Stop, and return when the thread has ended; whatever happens, after a while."""
        waiter = Waiter()
        with self._changed:
            ended = self._ended
            self._closers.append(waiter)
        self.stop()
        with anyio.move_on_after(2 * self._options.busy_seconds + _CLOSE_SECONDS, shield=True):
            if not ended:
                await waiter.wait()
            self._thread.join(1)  # it has nothing left to do

    # -- the thread

    def _run(self) -> None:
        try:
            while True:
                requests = self._take()
                if requests:
                    self._commit(requests)
                elif self._closing:
                    break
                self._look()
        finally:
            self._end()

    def _take(self) -> list[Request]:
        """Wait for something to do; return what is to be written, if anything."""
        with self._changed:
            deadline: float | None = None
            while not (self._hurry or self._closing):
                if self._requests and deadline is None:
                    deadline = time.monotonic() + self._options.accept_seconds
                if deadline is not None:
                    timeout: float | None = deadline - time.monotonic()
                else:
                    timeout = self._options.poll_seconds if self._is_curious() else None
                self._asleep = timeout is None
                if not self._changed.wait(timeout):
                    break
            self._asleep = False
            self._taken, self._requests = self._requests, []
            self._accepted = 0
            self._hurry = False
            return self._taken

    def _is_curious(self) -> bool:
        return bool(self._watches) or (self._checkpoints is not None and self._checkpoints.erasing)

    def _commit(self, requests: Sequence[Request]) -> None:
        """Commit ``requests`` together; when that fails, in halves, so that the guilty is alone."""
        try:
            connection, checkpoints = self._opened()
        except FAILURES as error:
            self._refuse(requests, error)
            return
        try:
            try:
                batch = self._transact(connection, checkpoints, requests, repeated=False)
            except sqlite3.IntegrityError:  # an event may be there already: have a closer look
                batch = self._transact(connection, checkpoints, requests, repeated=True)
        except FAILURES as error:
            self._recover(error)
            if len(requests) == 1 or is_busy(error):
                self._refuse(requests, error)
            else:
                half = len(requests) // 2
                self._commit(requests[:half])
                self._commit(requests[half:])
        else:
            self._settle(connection, checkpoints, batch)

    def _opened(self) -> tuple[sqlite3.Connection, Checkpoints]:
        if self._connection is None or self._checkpoints is None:
            connection = open_writer(self._path, self._options)
            with contextlib.ExitStack() as undo:
                undo.callback(close, connection)
                self._checkpoints = Checkpoints(self._path, self._options)
                undo.pop_all()
            self._connection = connection
            self._heads.clear()
            self._version = None
        return self._connection, self._checkpoints

    def _transact(
        self,
        connection: sqlite3.Connection,
        checkpoints: Checkpoints,
        requests: Sequence[Request],
        *,
        repeated: bool,
    ) -> Batch:
        seconds = self._options.busy_seconds
        batch = Batch(
            connection, self._heads, now=time.time(), lease_seconds=self._options.lease_seconds
        )
        with contextlib.ExitStack() as undo:
            undo.callback(self._roll_back, connection)
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), seconds=seconds)
            with checkpoints.writing():
                self._heads.refresh(connection)
                if repeated:
                    batch.look_up(requests)
                batch.run(requests, self._refused)
                patiently(lambda: connection.execute("COMMIT"), seconds=seconds)
            undo.pop_all()
        return batch

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        self._heads.clear()
        if connection.in_transaction:  # some errors have ended it already
            connection.execute("ROLLBACK")

    def _settle(
        self, connection: sqlite3.Connection, checkpoints: Checkpoints, batch: Batch
    ) -> None:
        """Tell everyone what has been committed."""
        for key in batch.reported:
            self._refused.pop(key, None)
        self._refused.update(batch.refused)
        woken: list[Waiter] = []
        for waiter, result, error in batch.outcomes:
            waiter.settle(result, error=None if error is None else failure(self._path, error))
            woken.append(waiter)
        for head in batch.advanced:
            woken += self._watches.advanced(head.session_id, key=head.key, last=head.last)
        for session_id in batch.deleted:
            woken += self._watches.lost(session_id)
        try:
            if batch.deleted:
                checkpoints.erase(connection, seconds=_ERASE_SECONDS)
            wake(woken)
            woken = []
            checkpoints.wrote(connection, pages=batch.pages)
        except FAILURES as error:  # what was committed stays committed
            _logger.warning("%s", failure(self._path, error))
            self._recover(error)
            wake(woken)

    def _refuse(self, requests: Sequence[Request], error: BaseException) -> None:
        """Tell that nothing came of ``requests``."""
        woken = []
        for request in requests:
            if request.waiter is not None:
                key = lease_key(request.lease) if isinstance(request, Write) else None
                earlier = self._refused.pop(key, None) if key is not None else None
                request.waiter.settle(error=earlier or failure(self._path, error))
                woken.append(request.waiter)
            else:
                self._refused.setdefault(lease_key(request.lease), failure(self._path, error))
        wake(woken)

    def _recover(self, error: BaseException) -> None:
        """Leave the connection as good as new."""
        if not is_harmless(error) or (
            self._connection is not None and self._connection.in_transaction
        ):
            self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        checkpoints, self._checkpoints = self._checkpoints, None
        if checkpoints is not None:
            with contextlib.suppress(*FAILURES):
                checkpoints.close(connection)

    def _look(self) -> None:
        """Look whether another process wrote what someone waits for."""
        now = time.monotonic()
        if now < self._next_look or not self._is_curious():
            return
        self._next_look = now + self._options.poll_seconds
        woken: list[Waiter] = []
        try:
            connection, checkpoints = self._opened()
            if checkpoints.erasing:
                checkpoints.erase(connection, seconds=0)
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                for session_id in self._watches.sessions():
                    found = last_event_of(connection, session_id)
                    if found is None:
                        woken += self._watches.lost(session_id)
                    else:
                        key, last = found
                        woken += self._watches.advanced(session_id, key=key, last=last)
                self._version = version
        except FAILURES as error:
            self._recover(error)
            woken += self._watches.fail(failure(self._path, error))
        wake(woken)

    def _end(self) -> None:
        """Tell all who still wait, in whatever state the thread is."""
        with self._changed:
            self._ended = True
            left = [*self._taken, *self._requests]
            self._taken, self._requests = [], []
            closers = self._closers
        woken = [request.waiter for request in left if request.waiter is not None]
        for waiter in woken:
            if not waiter.done:
                waiter.settle(error=self._gone())
        woken += self._watches.close()
        try:
            self._disconnect()
        finally:
            wake([*woken, *closers])

    def _gone(self) -> StoreError:
        return StoreError(f"{self._path}: the thread that writes has ended; open the store anew")
