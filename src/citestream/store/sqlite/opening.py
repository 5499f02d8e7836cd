"""How the file is opened: made if need be, for this user alone, checked, and set to lose nothing.

In: a path. Out: connections of ``sqlite3``, one that writes and some that read. StoreError for a
file of another application or of a newer version, and for an SQLite that is too old.
"""

import contextlib
import os
import sqlite3
from pathlib import Path

from ...errors import StoreError
from .failures import patiently
from .file_systems import check_file_system
from .schema import APPLICATION, SCHEMA, VERSION
from .sqlite_options import SQLiteOptions

__all__ = ("close", "open_reader", "open_writer")

_OLDEST = (3, 37, 0)  # the first with STRICT tables

_BOTH = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "PRAGMA temp_store = MEMORY")
_WRITER = (
    *_BOTH,
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS needs it, others ignore it
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA wal_autocheckpoint = 0",  # see checkpoints
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -16384",
)

# A process that was forked must never close what its parent opened, not even by collecting it.
_open: set[sqlite3.Connection] = set()


def open_writer(path: Path, options: SQLiteOptions, /) -> sqlite3.Connection:
    """Open ``path`` to write, and make what is missing: folders, file, tables."""
    if sqlite3.sqlite_version_info < _OLDEST:
        wanted = ".".join(map(str, _OLDEST))
        raise StoreError(f"{path}: wanted SQLite {wanted} or newer, got {sqlite3.sqlite_version}")
    _make_folder(path.parent)
    if options.journal_mode == "wal":
        check_file_system(path)
    _make_file(path)
    connection = _connect(path, "rw", options)
    with contextlib.ExitStack() as undo:
        undo.callback(close, connection)
        for setting in _WRITER:
            connection.execute(setting)
        is_new = patiently(lambda: _check(connection, path), seconds=options.busy_seconds)
        patiently(
            lambda: _set_journal_mode(connection, path, options.journal_mode),
            seconds=options.busy_seconds,
        )
        if is_new:
            patiently(lambda: _make_tables(connection, path), seconds=options.busy_seconds)
        undo.pop_all()
    return connection


def open_reader(path: Path, options: SQLiteOptions, /) -> sqlite3.Connection:
    """Open ``path``, which a writer has open, to read."""
    connection = _connect(path, "ro", options)
    with contextlib.ExitStack() as undo:
        undo.callback(close, connection)
        for setting in _BOTH:
            connection.execute(setting)
        undo.pop_all()
    return connection


def close(connection: sqlite3.Connection, /) -> None:
    """Close ``connection``."""
    _open.discard(connection)
    connection.close()


def _connect(path: Path, mode: str, options: SQLiteOptions) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=options.busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    _open.add(connection)
    return connection


def _make_file(path: Path) -> None:
    # Made with O_EXCL or not opened at all: to close a descriptor of a file that another store of
    # this process uses would give up its locks.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(OSError):  # where folders cannot be opened, as on Windows
            parent = os.open(folder.parent, os.O_RDONLY)
            try:
                os.fsync(parent)  # a folder is as durable as what is kept in it
            finally:
                os.close(parent)


def _check(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the file is empty; refuse it when it is not ours."""
    # In one query: while it runs, no other process can turn an empty file into a store.
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == APPLICATION:
        if version > VERSION:
            raise StoreError(
                f"{path}: was made by a newer version of citestream (its tables are of version "
                f"{version}, this one knows {VERSION}); update citestream"
            )
        return False
    if application or version or tables:
        raise StoreError(f"{path}: is a database of another application; give another path")
    return True


def _set_journal_mode(connection: sqlite3.Connection, path: Path, mode: str) -> None:
    (answer,) = connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
    if answer != mode:
        raise StoreError(f"{path}: wanted journal mode {mode}, got {answer}")


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _check(connection, path):  # another process may have been faster
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
