"""How the file is opened and what it is refused for."""

import contextlib
import sqlite3

import pytest

from citestream.errors import StoreError
from citestream.store.sqlite import SQLiteOptions, opening
from citestream.store.sqlite.opening import close, open_reader, open_writer
from citestream.store.sqlite.schema import APPLICATION, VERSION

OPTIONS = SQLiteOptions(busy_seconds=0.2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


@contextlib.contextmanager
def opened(opener, path, options=OPTIONS):
    connection = opener(path, options)
    try:
        yield connection
    finally:
        close(connection)


def pragma(connection, name):
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_writer_loses_nothing(path):
    with opened(open_writer, path, SQLiteOptions()) as connection:
        found = {
            name: pragma(connection, name)
            for name in (
                "journal_mode",
                "synchronous",
                "busy_timeout",
                "foreign_keys",
                "trusted_schema",
                "cell_size_check",
                "temp_store",
                "fullfsync",
                "checkpoint_fullfsync",
                "secure_delete",
                "wal_autocheckpoint",
                "application_id",
                "user_version",
            )
        }
        assert found == {
            "journal_mode": "wal",
            "synchronous": 2,
            "busy_timeout": 30_000,
            "foreign_keys": 1,
            "trusted_schema": 0,
            "cell_size_check": 1,
            "temp_store": 2,
            "fullfsync": 1,
            "checkpoint_fullfsync": 1,
            "secure_delete": 1,
            "wal_autocheckpoint": 0,
            "application_id": APPLICATION,
            "user_version": VERSION,
        }
        assert connection.isolation_level is None


def test_a_reader_cannot_write(path):
    with opened(open_writer, path), opened(open_reader, path) as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (0,)
        assert pragma(connection, "trusted_schema") == 0
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM session")


def test_a_reader_makes_no_file(path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_reader(path, OPTIONS)
    assert not path.exists()


def prepare(path, *statements):
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE other (x)", "PRAGMA application_id = 5", "PRAGMA user_version = 5"],
)
def test_the_database_of_another_application_is_left_alone(path, statement):
    prepare(path, statement)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"s\.db: is a database of another application"):
        open_writer(path, OPTIONS)
    assert path.read_bytes() == before


def test_the_file_of_a_newer_version_is_left_alone(path):
    with opened(open_writer, path):
        pass
    prepare(path, f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"made by a newer version of citestream .* 2, .* knows 1"):
        open_writer(path, OPTIONS)
    assert path.read_bytes() == before


def test_a_file_made_meanwhile_is_not_made_again(path):
    with opened(open_writer, path) as connection:
        opening._make_tables(connection, path)  # noqa: SLF001 - as when two processes race
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (0,)


def test_tables_that_cannot_be_made_are_not_half_made(path, monkeypatch):
    monkeypatch.setattr(opening, "SCHEMA", (opening.SCHEMA[0], "CREATE NONSENSE"))
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        open_writer(path, OPTIONS)
    monkeypatch.undo()
    with opened(open_writer, path):
        pass


def test_an_old_sqlite_is_refused(path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(StoreError, match=r"s\.db: wanted SQLite 3\.37\.0 or newer, got 3"):
        open_writer(path, OPTIONS)
    assert not path.exists()


def test_a_remote_file_system_needs_another_journal(path, monkeypatch):
    def refuse(path):
        raise StoreError(f"{path}: is on nfs")

    monkeypatch.setattr(opening, "check_file_system", refuse)
    with pytest.raises(StoreError, match="is on nfs"):
        open_writer(path, OPTIONS)
    assert not path.exists()
    truncate = SQLiteOptions(journal_mode="truncate", busy_seconds=0.2)
    with opened(open_writer, path, truncate) as connection:
        assert pragma(connection, "journal_mode") == "truncate"


def test_a_journal_mode_that_is_not_to_be_had(path, monkeypatch):
    prepare(path, "PRAGMA journal_mode = WAL", "CREATE TABLE x (y)", "DROP TABLE x")
    other = sqlite3.connect(path)
    other.execute("SELECT * FROM sqlite_schema").fetchall()
    truncate = SQLiteOptions(journal_mode="truncate", busy_seconds=0.05)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        open_writer(path, truncate)
    other.close()
    monkeypatch.setattr(opening, "_connect", lambda *_: sqlite3.connect(":memory:"))
    with pytest.raises(StoreError, match=r"s\.db: wanted journal mode wal, got memory"):
        open_writer(path, OPTIONS)


def test_connections_are_never_collected_while_open(path):
    with opened(open_writer, path) as connection:
        assert connection in opening._open  # noqa: SLF001 - a fork must not close it
    assert connection not in opening._open  # noqa: SLF001
