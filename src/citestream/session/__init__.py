"""The async shell: sessions that chat clients embed, on asyncio and trio.

``session`` moves events from an upstream to whoever listens, ``eventstream`` is the iterator with a
bounded buffer, ``options`` says how. ``upstreams`` attaches a session of the Copilot SDK; it
brings the providers along and is imported by its own name.
What an event becomes is decided in ``citestream.resolver``.
"""

from .eventstream import EventBuffer, EventStream
from .options import SessionOptions
from .session import EventHandler, Session, UpstreamEvent

__all__ = (
    "EventBuffer",
    "EventHandler",
    "EventStream",
    "Session",
    "SessionOptions",
    "UpstreamEvent",
)
