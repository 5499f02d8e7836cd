"""When the log is folded back, and who waits meanwhile."""

import sqlite3
import sys
import threading

import pytest

from citestream.errors import StoreBusyError
from citestream.store.sqlite import SQLiteOptions, checkpoints
from citestream.store.sqlite.checkpoints import Checkpoints, has_wal_reset_bug
from citestream.store.sqlite.opening import close, open_writer

OPTIONS = SQLiteOptions(busy_seconds=0.05)


@pytest.mark.parametrize(
    ("version", "affected"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 0), True),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 52, 0), False),
        ((4, 0, 0), False),
    ],
)
def test_which_versions_can_damage_a_file(version, affected):
    assert has_wal_reset_bug(version) is affected


@pytest.fixture(params=[(3, 40, 1), (3, 51, 3)], ids=["affected", "mended"])
def version(request, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", request.param)
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


@pytest.fixture
def connection(path):
    connection = open_writer(path, OPTIONS)
    yield connection
    close(connection)


def fill(connection, count=50):
    connection.executemany(
        "INSERT INTO event (epoch, event_id, type, body, accepted) VALUES (1, '', '', ?, 1)",
        [("x" * 5_000,)] * count,
    )


def size(path):
    return path.with_name("s.db-wal").stat().st_size


def test_the_lock_file_is_there_when_it_is_needed(path, connection, version):
    found = Checkpoints(path, OPTIONS)
    lock = path.with_name("s.db-lock")
    assert lock.exists() is has_wal_reset_bug(version)
    if lock.exists():
        assert lock.stat().st_mode & 0o777 == 0o600
    found.close(None)
    assert connection.total_changes == 0


@pytest.mark.parametrize("why", ["truncate", "windows"])
def test_without_a_log_or_locks_there_is_no_lock_file(path, monkeypatch, why):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    options = SQLiteOptions(journal_mode="truncate") if why == "truncate" else OPTIONS
    if why == "windows":
        monkeypatch.setattr(sys, "platform", "win32")
    found = Checkpoints(path, options)
    assert not path.with_name("s.db-lock").exists()
    with found.writing():
        pass
    found.close(None)


@pytest.mark.usefixtures("version")
def test_a_long_log_is_folded_back(path, connection):
    found = Checkpoints(path, OPTIONS)
    fill(connection)
    before = path.stat().st_size
    found.wrote(connection, pages=10)
    assert path.stat().st_size == before
    found.wrote(connection, pages=checkpoints._PAGES)  # noqa: SLF001
    assert path.stat().st_size > before
    fill(connection, 1)
    folded = path.stat().st_size
    found.wrote(connection, pages=10)
    assert path.stat().st_size == folded
    found.close(None)


def test_a_store_without_a_log_folds_nothing(path):
    options = SQLiteOptions(journal_mode="truncate")
    connection = open_writer(path, options)
    found = Checkpoints(path, options)
    found.wrote(connection, pages=10**9)
    found.erase(connection, seconds=1)
    assert not found.erasing
    found.close(connection)


@pytest.mark.usefixtures("version")
def test_erasing_empties_the_log(path, connection):
    found = Checkpoints(path, OPTIONS)
    fill(connection)
    assert size(path) > 0
    found.erase(connection, seconds=1)
    assert (size(path), found.erasing) == (0, False)
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (50,)
    found.close(None)


@pytest.mark.usefixtures("version")
def test_erasing_waits_for_who_reads(path, connection):
    found = Checkpoints(path, OPTIONS)
    fill(connection)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM event").fetchone()
    fill(connection)
    found.erase(connection, seconds=0.02)
    assert found.erasing
    assert size(path) > 0
    reader.close()
    found.erase(connection, seconds=0)
    assert (size(path), found.erasing) == (0, False)
    found.close(None)


def test_nobody_writes_while_another_folds_the_log_back(path, connection, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    ours, theirs = Checkpoints(path, OPTIONS), Checkpoints(path, OPTIONS)
    before = path.stat().st_size
    with ours.writing(), theirs.writing():
        fill(connection)
        theirs.wrote(connection, pages=10**9)
        theirs.erase(connection, seconds=0)
        assert theirs.erasing
    assert path.stat().st_size == before
    with (
        ours._locked(shared=False, seconds=1),  # noqa: SLF001
        pytest.raises(StoreBusyError, match=r"s\.db: others fold its log back"),
        theirs.writing(),
    ):
        raise AssertionError("it was not kept out")
    done = threading.Event()

    def write():
        with theirs.writing():
            done.set()

    patient = Checkpoints(path, SQLiteOptions())
    theirs, second = patient, theirs
    with ours._locked(shared=False, seconds=1):  # noqa: SLF001
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.is_set()
    thread.join(10)
    assert done.is_set()
    for one in (ours, theirs, second):
        one.close(None)


def test_closing_closes_whatever_others_do(path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    monkeypatch.setattr(checkpoints, "_FOLD_SECONDS", 0)
    ours, theirs = Checkpoints(path, OPTIONS), Checkpoints(path, OPTIONS)
    connection = open_writer(path, OPTIONS)
    with theirs.writing():
        ours.close(connection)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
    connection = open_writer(path, OPTIONS)
    theirs.close(connection)
    theirs.close(None)
