"""One transaction: what is told to whom, and what is in the tables."""

import sqlite3

import attrs
import pytest

from citestream.errors import SessionFenced, SessionNotFoundError, StoreError
from citestream.store.sqlite.additions import Write
from citestream.store.sqlite.batch import Batch, Job, lease_key
from citestream.store.sqlite.heads import Heads
from citestream.store.sqlite.queries import read_events
from citestream.store.sqlite.schema import NUMBERS
from store.stores import event, piece
from store.tables import new_session


class Log:
    """Batches on one connection."""

    def __init__(self, connection):
        self.connection = connection
        self.heads = Heads()
        self.lease = new_session(connection)

    def run(self, *requests, refused=None, repeated=False, now=200.0):
        batch = Batch(self.connection, self.heads, now=now, lease_seconds=30.0)
        if repeated:
            batch.look_up(requests)
        batch.run(requests, refused or {})
        return batch

    def write(self, *events, waiter=None, lease=None):
        return Write(lease=lease or self.lease, events=events, waiter=waiter)

    def kept(self, name="s"):
        events = read_events(self.connection, session_id=name, owner=None, after=0, limit=99)
        return [(one.seq, one.event_id) for one in events]

    def table(self, query):
        return self.connection.execute(query).fetchall()


@pytest.fixture
def log(connection):
    return Log(connection)


def test_writes_and_jobs(log):
    other = new_session(log.connection, "t")
    batch = log.run(
        log.write(event("a"), waiter="first"),
        Job(work=lambda *_: "done", waiter="job", deletes="x"),
        log.write(event("b"), waiter="second", lease=other),
        log.write(piece("p")),
        log.write(event("c"), waiter="third"),
    )
    assert batch.outcomes == [
        ("first", 1, None),
        ("third", 3, None),
        ("second", 1, None),
        ("job", "done", None),
    ]
    assert [head.session_id for head in batch.advanced] == ["s", "t"]
    assert (batch.deleted, batch.refused, batch.reported) == (["x"], {}, [])
    assert batch.pages > 0
    assert log.kept() == [(1, "a"), (2, "p"), (3, "c")]
    assert log.kept("t") == [(1, "b")]


def test_a_job_that_refuses(log):
    error = StoreError("no")

    def refuse(*_):
        raise error

    batch = log.run(Job(work=refuse, waiter="job", deletes="x"), log.write(event("a"), waiter="w"))
    assert batch.outcomes == [("w", 1, None), ("job", None, error)]
    assert batch.deleted == []


def test_what_is_there_already_must_be_looked_up(log):
    log.run(log.write(event("a"), piece("b"), waiter="w"))
    with pytest.raises(sqlite3.IntegrityError):
        log.run(log.write(event("a"), event("c"), waiter="w"))
    log.heads.clear()
    batch = log.run(
        log.write(event("a"), event("c"), piece("b"), waiter="w"),
        Job(work=lambda *_: None, waiter="job"),
        log.write(piece("a")),
        repeated=True,
    )
    assert batch.outcomes[0] == ("w", 2, None)
    assert log.kept() == [(1, "a"), (2, "b"), (3, "c"), (4, "a")]


def test_streams_begin_and_end(log):
    log.run(log.write(piece("p1"), piece("q1", "q"), waiter="w"))
    assert log.table("SELECT name, first % 4294967296 FROM stream") == [("m", 1), ("q", 2)]
    log.run(log.write(event("end", "m"), piece("p2"), piece("q2", "q"), waiter="w"))
    assert log.table("SELECT name, first % 4294967296 FROM stream") == [("m", 4), ("q", 2)]
    log.run(log.write(event("end of all", "m", "q", "r"), waiter="w"))
    assert log.table("SELECT * FROM stream") == []
    assert log.kept() == [(3, "end"), (6, "end of all")]


def test_sessions_are_noted_as_in_use(log):
    def times():
        return log.table("SELECT updated_at, expires FROM session")

    log.run(log.write(event("a"), waiter="w"), now=200.0)
    assert times() == [(200, 230)]
    log.run(log.write(piece("1")), now=200.9)
    assert times() == [(200, 230)]
    log.run(log.write(piece("2")), now=201.0)
    assert times() == [(201, 231)]
    log.run(log.write(waiter="w"), now=201.1)
    assert times() == [(201.1, 231.1)]


def test_the_first_question_is_noted_once(log):
    log.run(log.write(event("a"), event("q", kind="user.message"), waiter="w"))
    log.run(log.write(event("r", kind="user.message"), waiter="w"))
    log.heads.clear()
    log.run(log.write(event("s", kind="user.message"), waiter="w"))
    assert log.table("SELECT opening % 4294967296 FROM session") == [(2,)]


@pytest.mark.parametrize(
    ("change", "kind"),
    [({"epoch": 0}, SessionFenced), ({"key": 99}, SessionNotFoundError)],
)
def test_leases_that_are_over(log, change, kind):
    over = attrs.evolve(log.lease, **change)
    batch = log.run(
        log.write(piece("p"), lease=over),
        log.write(event("a"), waiter="w", lease=over),
        log.write(event("b"), waiter="v"),
    )
    error = batch.refused[lease_key(over)]
    assert isinstance(error, kind)
    assert batch.outcomes == [("w", None, error), ("v", 1, None)]
    assert log.kept() == [(1, "b")]


def test_refused_pieces_are_told_once_and_leave_no_hole(log):
    error = StoreError("no")
    batch = log.run(
        log.write(piece("2")),
        log.write(event("a"), waiter="first"),
        log.write(piece("3")),
        log.write(event("b"), waiter="second"),
        refused={lease_key(log.lease): error},
    )
    assert batch.outcomes == [("first", None, error), ("second", 2, None)]
    assert batch.reported == [lease_key(log.lease)]
    assert log.kept() == [(1, "3"), (2, "b")]


def test_a_full_session_is_refused(log):
    log.connection.execute(
        "INSERT INTO event VALUES (?, 1, 'z', 'b', NULL, '{}', 0)",
        (log.lease.key * NUMBERS + NUMBERS - 1,),
    )
    with pytest.raises(OverflowError):
        log.run(log.write(event("a"), waiter="w"))
