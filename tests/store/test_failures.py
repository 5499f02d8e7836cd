"""What goes wrong with a database, as errors of this package."""

import sqlite3
from pathlib import Path

import pytest

from citestream.errors import SessionFenced, StoreBusyError, StoreError
from citestream.store.sqlite.failures import (
    FAILURES,
    failure,
    is_busy,
    is_harmless,
    patiently,
)

PATH = Path("folder/s.db")


def error_of(code, name="SQLITE_X", kind=sqlite3.OperationalError):
    error = kind("told")
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    return error


def test_a_failure_names_the_file():
    error = error_of(sqlite3.SQLITE_FULL, "SQLITE_FULL")
    told = failure(PATH, error)
    assert type(told) is StoreError
    assert (str(told), told.__cause__) == ("folder/s.db: told (SQLITE_FULL)", error)
    assert str(failure(PATH, TypeError("odd"))) == "folder/s.db: odd (TypeError)"


@pytest.mark.parametrize("code", [5, 6, 5 | 1 << 8])
def test_others_in_the_way(code):
    error = error_of(code)
    assert is_busy(error)
    assert is_harmless(error)
    told = failure(PATH, error)
    assert type(told) is StoreBusyError
    assert str(told) == "folder/s.db: others held the file for too long (told); try again"


def test_our_own_errors_stay_but_are_never_shared():
    error = SessionFenced("fenced")
    told = failure(PATH, error)
    assert (type(told), str(told)) == (SessionFenced, "fenced")
    assert told is not error
    assert not is_busy(error)
    assert is_busy(StoreBusyError("busy"))


def test_what_harms_a_connection():
    harmless = [sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG, 19 | 1 << 8]
    harmful = [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, 8]
    assert all(is_harmless(error_of(code)) for code in harmless)
    assert not any(is_harmless(error_of(code)) for code in harmful)
    assert not is_harmless(sqlite3.ProgrammingError("no code"))
    assert is_harmless(TypeError("no database"))


def test_patience_ends():
    calls = []

    def work():
        calls.append(1)
        if len(calls) < 4:
            raise error_of(sqlite3.SQLITE_BUSY)
        return "done"

    assert patiently(work, seconds=30) == "done"
    assert len(calls) == 4
    calls.clear()
    with pytest.raises(sqlite3.OperationalError):
        patiently(work, seconds=0)
    assert len(calls) == 1
    with pytest.raises(sqlite3.OperationalError):
        patiently(lambda: (_ for _ in ()).throw(error_of(sqlite3.SQLITE_IOERR)), seconds=30)


def test_failures_are_named():
    assert Exception not in FAILURES
    assert issubclass(StoreError, FAILURES)
