"""A store in one SQLite file: safe from crashes, and shared by the processes of one machine.

``sqlitestore`` is the store, ``sqlite_options`` says how it behaves. One thread writes
(``writer``): it takes what waits, puts it into one transaction (``batch``, and ``additions`` for
each session) and tells all at once (``waiters``). ``heads`` is what it knows of the sessions it
writes to, ``sessions`` how they are made and taken over. Reads have connections of their own
(``readers``, ``queries``); who waits for events is in ``watches``. ``schema`` is the file,
``opening`` how it is opened, ``file_systems`` where it may be, ``checkpoints`` how its log is
folded back, ``failures`` what goes wrong.
"""

from .sqlite_options import SQLiteOptions
from .sqlitestore import SQLiteStore

__all__ = ("SQLiteOptions", "SQLiteStore")
