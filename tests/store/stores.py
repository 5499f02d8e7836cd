"""Stores to test with, and events to keep in them."""

import os
from pathlib import Path

from citestream.store import EventRecord, MemoryStore, SQLiteOptions, SQLiteStore

__all__ = ("ENVIRONMENT", "KINDS", "event", "kept", "make", "piece")

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    ),
}
"""What a process of its own needs to import this module."""

KINDS = ("memory", "wal", "truncate")


def make(kind, path, /, *, lease_seconds=30.0, **options):
    """Return a store of this kind; ``path`` is where it may have a file."""
    if kind == "memory":
        return MemoryStore(lease_seconds=lease_seconds)
    return SQLiteStore(
        path,
        options=SQLiteOptions(
            journal_mode=kind, lease_seconds=lease_seconds, poll_seconds=0.005, **options
        ),
    )


def event(name, /, *ends, kind="assistant.message", body="{}"):
    return EventRecord(event_id=name, type=kind, body=body, ends=ends)


def piece(name, stream="m", /):
    return EventRecord(event_id=name, type="assistant.message_delta", body="{}", stream=stream)


async def kept(store, session_id="s", /, **options):
    """Return the numbers and ids of what is kept."""
    return [(stored.seq, stored.event_id) for stored in await store.read(session_id, **options)]
