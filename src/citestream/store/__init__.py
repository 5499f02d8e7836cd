"""Where sessions are kept: logs of events that survive the process that wrote them.

``protocol`` says what every store does, ``records`` what it takes and gives, ``memory`` keeps
sessions as long as the process lives, ``sqlite`` in a file. What events mean is of no concern here.
"""

from .memory import MemoryStore
from .protocol import Store
from .records import EventRecord, Lease, ResumeMode, SessionRecord, StoredEvent
from .sqlite import SQLiteOptions, SQLiteStore

__all__ = (
    "EventRecord",
    "Lease",
    "MemoryStore",
    "ResumeMode",
    "SQLiteOptions",
    "SQLiteStore",
    "SessionRecord",
    "Store",
    "StoredEvent",
)
