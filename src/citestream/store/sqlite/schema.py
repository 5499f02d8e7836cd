"""The tables of a store, and how text is kept in them.

An event's ``place`` is its session's key and its number in one integer: the events of a session lie
next to each other, and a commit touches one page for each session that streams. Numbers of events
are not counted anywhere but there: the last event of a session is never dropped.
"""

__all__ = (
    "APPLICATION",
    "LAST_PLACE",
    "NUMBERS",
    "SCHEMA",
    "VERSION",
    "kept_text",
    "place_of",
    "read_text",
)

APPLICATION = 0x43495445
"""The application id in the header of the file: CITE."""

VERSION = 1
"""The version of the tables, in ``PRAGMA user_version``."""

NUMBERS = 1 << 32
"""How many numbers a session has for its events."""

SCHEMA = (
    """
    CREATE TABLE session (
      key INTEGER PRIMARY KEY AUTOINCREMENT CHECK (key < 2147483648),
      id TEXT NOT NULL UNIQUE,
      owner TEXT,
      epoch INTEGER NOT NULL,
      holder TEXT NOT NULL,
      taken_at REAL NOT NULL,
      expires REAL NOT NULL,
      opening INTEGER,
      created_at REAL NOT NULL,
      updated_at REAL NOT NULL
    ) STRICT
    """,
    "CREATE INDEX session_owner ON session (owner)",
    """
    CREATE TABLE event (
      place INTEGER PRIMARY KEY,
      epoch INTEGER NOT NULL,
      event_id TEXT NOT NULL,
      type TEXT NOT NULL,
      stream TEXT,
      body TEXT NOT NULL,
      accepted INTEGER NOT NULL
    ) STRICT
    """,
    # Accepted pieces are many and never repeated: looking for them would double what is written.
    "CREATE UNIQUE INDEX event_identity ON event (place >> 32, event_id) WHERE accepted = 0",
    """
    CREATE TABLE stream (
      session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
      name TEXT NOT NULL,
      first INTEGER NOT NULL,
      PRIMARY KEY (session, name)
    ) STRICT, WITHOUT ROWID
    """,
)

LAST_PLACE = """
    (SELECT place FROM event WHERE place > key * 4294967296 AND place < (key + 1) * 4294967296
     ORDER BY place DESC LIMIT 1)
"""
"""The place of the last event, None for none, in a query of ``session``."""

_ESCAPE = "\ufdd0"  # never a character of any text, and UTF-8 has it


def place_of(key: int, number: int, /) -> int:
    """Return where event ``number`` of the session with ``key`` is kept."""
    return key * NUMBERS + number


def kept_text(text: str, /) -> str:
    """Return what to keep for ``text``: itself, but for half surrogate pairs, which are escaped.

    Raises TypeError for what is no text.
    """
    if str.isascii(text):
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        escaped = True
    else:
        escaped = text.startswith(_ESCAPE)
    return _ESCAPE + text.encode("unicode_escape").decode("ascii") if escaped else text


def read_text(kept: str, /) -> str:
    """Return the text that ``kept_text`` was given."""
    if kept.startswith(_ESCAPE):
        return kept[1:].encode("ascii").decode("unicode_escape")
    return kept
