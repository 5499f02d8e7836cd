"""The async shell: clients and sessions that chat clients embed, on asyncio and trio.

==================  ==============================================================================
``client``          creates, resumes, lists, follows and deletes the sessions of a store
``session``         what an application holds: listens, feeds, asks
``intake``          the way of an event: kept (``journal``), read (``reading``), given out
                    (``delivery``; ``eventstream`` is the iterator with a bounded buffer)
``work``            questions until they are answered: a call of a model (``asking``, ``provider``),
                    running the tools that it asks for (``toolwork``), what it is told
                    (``transcript``)
``follow``          readers of what someone else writes
``transfer``        sessions from logs, and logs of sessions
``options``         how a session behaves, as one value; ``settings`` what a client is told of it
==================  ==============================================================================

``upstreams`` attaches a session of the Copilot SDK and is imported by its own name.
What an event becomes is decided in ``citestream.resolver``.
"""

from .client import Client, SessionMetadata
from .delivery import EventHandler
from .eventstream import EventBuffer, EventStream
from .follow import FollowedEvent, Follower
from .options import CLIENT_OPTIONS, SessionOptions
from .provider import Exchange, OfflineProvider, Provider, ProviderItem, VendorProvider
from .session import Session
from .settings import SessionSettings
from .transfer import ImportedSession

__all__ = (
    "CLIENT_OPTIONS",
    "Client",
    "EventBuffer",
    "EventHandler",
    "EventStream",
    "Exchange",
    "FollowedEvent",
    "Follower",
    "ImportedSession",
    "OfflineProvider",
    "Provider",
    "ProviderItem",
    "Session",
    "SessionMetadata",
    "SessionOptions",
    "SessionSettings",
    "VendorProvider",
)
