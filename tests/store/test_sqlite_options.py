"""The options of an SQLite store."""

import attrs
import pytest

from citestream.errors import OptionError
from citestream.store import SQLiteOptions

SECONDS = ["lease_seconds", "busy_seconds", "accept_seconds", "poll_seconds"]


@pytest.mark.parametrize("name", SECONDS)
def test_times_are_positive(name):
    assert getattr(SQLiteOptions(**{name: 1}), name) == 1
    for value in (0, -1, True, "1", None, float("inf")):
        with pytest.raises(OptionError, match=f"{name}: wanted a number of seconds above 0"):
            SQLiteOptions(**{name: value})


@pytest.mark.parametrize("name", ["readers", "max_accepted"])
def test_bounds_are_positive(name):
    assert getattr(SQLiteOptions(**{name: 1}), name) == 1
    for value in (0, -1, True, 1.0, None):
        with pytest.raises(OptionError, match=f"{name}: wanted an integer of 1 or more"):
            SQLiteOptions(**{name: value})


def test_there_are_two_journal_modes():
    assert SQLiteOptions().journal_mode == "wal"
    assert SQLiteOptions(journal_mode="truncate").journal_mode == "truncate"
    for value in ("delete", "WAL", None):
        with pytest.raises(OptionError, match="journal_mode: wanted 'wal' or 'truncate'"):
            SQLiteOptions(journal_mode=value)


def test_all_are_covered():
    names = {field.name for field in attrs.fields(SQLiteOptions)}
    assert names == {*SECONDS, "readers", "max_accepted", "journal_mode"}
