"""What every store does: the contract that one test suite holds all of them to.

A session is a log of events. One writer at a time holds its lease; any number of readers, in this
process or another, read what comes after a number. Stores run on asyncio and trio.

Deliberately elsewhere: JSON and what events mean (``wire``, ``session``).
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from .records import EventRecord, Lease, ResumeMode, SessionRecord, StoredEvent

__all__ = ("Store",)


class Store(Protocol):
    """Keeps sessions. An async context manager, and one that may be entered several times.

    ``owner`` tells the users of one store apart. A session of another owner is reported as one that
    does not exist. None is an owner like any other.

    Every method raises StateError outside of ``async with`` and StoreError where the store cannot
    do what is asked (StoreBusyError where trying again may help).
    """

    async def create(
        self, session_id: str, /, *, owner: str | None = None, holder: str = ""
    ) -> Lease:
        """Make an empty session and return its lease, of epoch 1.

        ``holder`` describes the writer to people. Raises SessionExistsError for an id that is
        taken, by whomever.
        """

    async def acquire(
        self,
        session_id: str,
        /,
        *,
        owner: str | None = None,
        holder: str = "",
        mode: ResumeMode = "takeover",
    ) -> Lease:
        """Return a lease of the next epoch: whoever held the session before can no longer write.

        Raises SessionNotFoundError, and SessionInUseError for ``fail`` and a session in use.
        ``wait`` waits for as long as it takes.
        """

    async def renew(self, lease: Lease, /) -> None:
        """Say that the session is still in use. Appending does so too. Raises SessionFenced."""

    async def release(self, lease: Lease, /) -> None:
        """Give the lease back. Does nothing when someone else has the session."""

    async def append(self, lease: Lease, events: Sequence[EventRecord], /) -> int:
        """Keep ``events``, in order and all or none; return the number of the last event kept.

        What was kept survives the death of this process and, on a disk that honours fsync, that of
        the machine. When the call is cancelled the outcome is unknown, and to repeat it is safe:
        an event whose id is there already is not kept again.

        Raises SessionFenced when someone else took the session over, SessionNotFoundError when it
        was deleted.
        """

    def accept(self, lease: Lease, events: Sequence[EventRecord], /) -> None:
        """Take pieces of streams, to be kept in order before whatever is appended later.

        Nobody looks whether they are there already: a piece that is accepted twice is kept twice.
        A crash may lose those of the last moment. What goes wrong is reported by the next
        ``append`` of this lease.
        """

    async def flush(self) -> None:
        """Return when everything that was accepted before is kept, or was refused."""

    async def read(
        self, session_id: str, /, *, owner: str | None = None, after: int = 0, limit: int = 10_000
    ) -> list[StoredEvent]:
        """Return up to ``limit`` events with numbers above ``after``, in order.

        Raises SessionNotFoundError.
        """

    async def wait(self, session_id: str, /, *, owner: str | None = None, after: int = 0) -> None:
        """Return when there is an event above ``after``, whichever process wrote it.

        Raises SessionNotFoundError, also when the session is deleted meanwhile.
        """

    async def get(self, session_id: str, /, *, owner: str | None = None) -> SessionRecord:
        """Return what is known of a session. Raises SessionNotFoundError."""

    async def list(self, *, owner: str | None = None) -> list[SessionRecord]:
        """Return the sessions of ``owner``, the last written first."""

    async def delete(self, session_id: str, /, *, owner: str | None = None) -> None:
        """Remove a session and everything in it; writers find themselves fenced off.

        Raises SessionNotFoundError.
        """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
