"""What one writer adds to its session in one transaction: events numbered, pieces dropped.

In: the writes of one lease, in order. Out: rows. Nothing here touches the database.
"""

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from ..records import EventRecord, Lease
from ..streams import lasting
from .heads import Head
from .schema import NUMBERS, kept_text, place_of
from .waiters import Waiter

__all__ = ("Additions", "EventRow", "Known", "Write")

EventRow: TypeAlias = tuple[int, int, str, str, str | None, str, int]
"""A row of ``event``."""

Known: TypeAlias = dict[str, tuple[int, str | None]]
"""The numbers and streams of appended events that are there already, by their ids."""


@attrs.frozen(kw_only=True, eq=False)
class Write:
    """Events to be kept. ``waiter`` is None for accepted ones."""

    lease: Lease
    events: Sequence[EventRecord]
    waiter: Waiter | None


class Additions:
    """Adds to the session of ``head``, which moves along.

    ``rows`` are new, ``drops`` are the streams that ended with the places between which their
    pieces are, to be dropped before the rows go in. ``streams`` are those that began or ended.
    ``opening`` is the place of the first message of the user, if it is among the rows.
    """

    def __init__(self, head: Head, known: Known, /) -> None:
        self.head = head
        self.rows: list[EventRow] = []
        self.drops: list[tuple[int, int, str]] = []
        self.streams: set[str] = set()
        self.opening: int | None = None
        self._known = known

    def write(self, writes: Sequence[Write], /) -> list[tuple[Waiter, int]]:
        """Add all; return, for each that waits, the number of its last event."""
        numbers: list[tuple[Waiter, int]] = []
        for write, events in self._lasting(writes):
            if write.waiter is None:
                for event in events:
                    self._add(event, accepted=1)
            else:
                numbers.append((write.waiter, self._append(events)))
        return numbers

    def _lasting(self, writes: Sequence[Write]) -> list[tuple[Write, Sequence[EventRecord]]]:
        """Leave out the accepted pieces whose stream ends right here: they take no numbers."""
        appended = (write for write in writes if write.waiter is not None)
        if not any(event.ends for write in appended for event in write.events):
            return [(write, write.events) for write in writes]
        seen = set(self._known)
        ends: list[set[str]] = []
        for write in writes:
            new = [event for event in write.events if event.ends and event.event_id not in seen]
            ends.append({stream for event in new for stream in event.ends})
            seen.update(event.event_id for event in new)
        ended: set[str] = set()
        kept: list[tuple[Write, Sequence[EventRecord]]] = []
        for write, own in zip(reversed(writes), reversed(ends), strict=True):
            if write.waiter is None:
                events = [event for event in write.events if event.stream not in ended]
                kept.append((write, events))
            else:
                kept.append((write, lasting(write.events)))
            ended |= own
        return kept[::-1]

    def _append(self, events: Sequence[EventRecord]) -> int:
        last = self.head.last
        for event in events:
            if event.event_id in self._known:
                last, _ = self._known[event.event_id]
            else:
                last = self._add(event, accepted=0)
                self._known[event.event_id] = last, event.stream
                for stream in event.ends:
                    self._end(stream, place_of(self.head.key, last))
        return last

    def _add(self, event: EventRecord, *, accepted: int) -> int:
        head, stream = self.head, event.stream
        head.last += 1
        if head.last >= NUMBERS:
            raise OverflowError(f"session {head.session_id!r} is full")
        place = place_of(head.key, head.last)
        if stream is not None:
            if stream not in head.streams:
                head.streams[stream] = place
                self.streams.add(stream)
            stream = kept_text(stream)
        elif not head.has_opening and event.type == "user.message":
            head.has_opening = True
            self.opening = place
        kind = kept_text(event.type)
        event_id = kept_text(event.event_id)
        self.rows.append((place, head.epoch, event_id, kind, stream, event.body, accepted))
        return head.last

    def _end(self, stream: str, place: int) -> None:
        first = self.head.streams.pop(stream, None)
        if first is None:
            return
        name = kept_text(stream)
        self.drops.append((first, place, name))
        self.streams.add(stream)
        self.rows = [row for row in self.rows if row[4] != name]
        for event_id, (_, of) in list(self._known.items()):
            if of == stream:
                del self._known[event_id]
