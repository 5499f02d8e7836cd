"""Who waits for events of which session, whichever process writes them.

The writer says what it committed, and what it found that others did; who waits says for what. Both
sides are threads of their own.
"""

import threading

from ...errors import StateError, StoreError
from .. import refusals
from .waiters import Waiter

__all__ = ("Watch", "Watches")


class Watch:
    """One task that waits for an event above ``after``. ``key`` is None until it is known."""

    __slots__ = ("after", "key", "session_id", "waiter")

    def __init__(self, session_id: str, /, *, after: int) -> None:
        self.session_id: str = session_id
        self.after: int = after
        self.key: int | None = None
        self.waiter: Waiter = Waiter()


class Watches:
    """The tasks that wait. ``advanced`` to ``close`` return whom to wake."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: dict[str, dict[Watch, None]] = {}
        self._closed = False

    def __bool__(self) -> bool:
        return bool(self._watches)

    def add(self, watch: Watch, /) -> None:
        """Begin to wait. Raises StateError when the store was left meanwhile."""
        with self._lock:
            if self._closed:
                raise refusals.closed("wait")
            self._watches.setdefault(watch.session_id, {})[watch] = None

    def remove(self, watch: Watch, /) -> None:
        """Wait no longer; does nothing for who does not wait."""
        with self._lock:
            self._remove(watch)

    def sessions(self) -> list[str]:
        """Return the ids of the sessions that anyone waits for."""
        with self._lock:
            return list(self._watches)

    def advanced(self, session_id: str, /, *, key: int, last: int) -> list[Waiter]:
        """Note that the last event of a session is ``last``, and that its key is ``key``."""
        if session_id not in self._watches:
            return []
        woken = []
        with self._lock:
            for watch in list(self._watches.get(session_id, ())):
                if watch.key not in {None, key}:
                    woken.append(self._settle(watch, refusals.not_found(session_id)))
                elif last > watch.after:
                    woken.append(self._settle(watch, None))
        return woken

    def lost(self, session_id: str, /) -> list[Waiter]:
        """Note that a session was deleted."""
        with self._lock:
            watches = list(self._watches.get(session_id, ()))
            return [self._settle(watch, refusals.not_found(session_id)) for watch in watches]

    def fail(self, error: StoreError, /) -> list[Waiter]:
        """Note that the file cannot be read."""
        return self._settle_all(error)

    def close(self) -> list[Waiter]:
        """Note that the store was left."""
        with self._lock:
            self._closed = True
        return self._settle_all(refusals.closed("wait"))

    def _settle_all(self, error: StoreError | StateError) -> list[Waiter]:
        with self._lock:
            watches = [watch for group in self._watches.values() for watch in group]
            return [self._settle(watch, type(error)(*error.args)) for watch in watches]

    def _settle(self, watch: Watch, error: StoreError | StateError | None) -> Waiter:
        self._remove(watch)
        watch.waiter.settle(error=error)
        return watch.waiter

    def _remove(self, watch: Watch) -> None:
        group = self._watches.get(watch.session_id)
        if group is not None:
            group.pop(watch, None)
            if not group:
                del self._watches[watch.session_id]
