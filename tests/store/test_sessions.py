"""Sessions in the database."""

import pytest

from citestream.errors import (
    SessionExistsError,
    SessionFenced,
    SessionInUseError,
    SessionNotFoundError,
)
from citestream.store import Lease
from citestream.store.sqlite import sessions
from citestream.store.sqlite.heads import Heads
from citestream.store.sqlite.schema import place_of
from store.tables import new_session


def claim(name="s", owner=None, holder="x"):
    return sessions.Claim(session_id=name, owner=owner, holder=holder, seconds=30.0)


def row(connection):
    return connection.execute(
        "SELECT epoch, holder, taken_at, expires, created_at, updated_at FROM session"
    ).fetchone()


def test_making(connection):
    assert new_session(connection) == Lease(session_id="s", epoch=1, key=1)
    assert row(connection) == (1, "w", 100, 130, 100, 100)
    with pytest.raises(SessionExistsError):
        new_session(connection)


def test_taking(connection):
    new_session(connection, owner="o")
    heads = Heads()
    with pytest.raises(SessionNotFoundError):
        sessions.acquire(connection, heads, 110.0, claim=claim(), mode="takeover")
    mine = claim(owner="o")
    for mode in ("wait", "fail"):
        with pytest.raises(SessionInUseError):
            sessions.acquire(connection, heads, 129.9, claim=mine, mode=mode)
    assert row(connection)[0] == 1
    lease = sessions.acquire(connection, heads, 110.0, claim=mine, mode="takeover")
    assert lease == Lease(session_id="s", epoch=2, key=1)
    assert row(connection) == (2, "x", 110, 140, 100, 100)
    assert sessions.acquire(connection, heads, 140.0, claim=mine, mode="fail").epoch == 3


def test_what_was_known_is_forgotten_when_a_session_is_taken(connection):
    old, heads = new_session(connection), Heads()
    heads.find(connection, old)
    sessions.acquire(connection, heads, 110.0, claim=claim(), mode="takeover")
    with pytest.raises(SessionFenced):
        heads.find(connection, old)


def test_renewing_and_giving_back(connection):
    lease, heads = new_session(connection), Heads()
    sessions.renew(connection, heads, 120.0, lease=lease, seconds=30.0)
    assert row(connection)[3] == 150
    stale = Lease(session_id="s", epoch=0, key=lease.key)
    with pytest.raises(SessionFenced):
        sessions.renew(connection, heads, 120.0, lease=stale, seconds=30.0)
    sessions.release(connection, heads, 120.0, lease=stale)
    assert row(connection)[3] == 150
    sessions.release(connection, heads, 120.0, lease=lease)
    assert row(connection)[3] == 0


def test_deleting(connection):
    for name in "rst":
        lease = new_session(connection, name)
        connection.execute("INSERT INTO stream VALUES (?, 'm', 1)", (lease.key,))
        for number in (1, 2**32 - 1):
            connection.execute(
                "INSERT INTO event VALUES (?, 1, ?, 'b', 'm', '{}', 0)",
                (place_of(lease.key, number), str(number)),
            )
    heads = Heads()
    with pytest.raises(SessionNotFoundError):
        sessions.delete(connection, heads, 0.0, session_id="s", owner="o")
    sessions.delete(connection, heads, 0.0, session_id="s", owner=None)
    with pytest.raises(SessionNotFoundError):
        sessions.delete(connection, heads, 0.0, session_id="s", owner=None)
    assert connection.execute("SELECT id FROM session").fetchall() == [("r",), ("t",)]
    for query in ("SELECT session FROM stream", "SELECT DISTINCT place >> 32 FROM event"):
        assert connection.execute(query).fetchall() == [(1,), (3,)]
    assert new_session(connection).key == 4
