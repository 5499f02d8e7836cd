"""Which pieces of streams need not be kept, as the event that ends their stream comes with them.

Leaving them out makes a repeated append harmless: once dropped, their ids are known no more.
"""

from collections.abc import Sequence

from .records import EventRecord

__all__ = ("lasting",)


def lasting(events: Sequence[EventRecord], /) -> Sequence[EventRecord]:
    """Return ``events`` without the pieces of streams that a later one of them ends."""
    if not any(event.ends for event in events):
        return events
    ended: set[str] = set()
    kept: list[EventRecord] = []
    for event in reversed(events):
        if event.stream is None or event.stream not in ended:
            kept.append(event)
        ended.update(event.ends)
    return kept[::-1]
