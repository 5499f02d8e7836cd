"""What a writer knows of its sessions, and when it forgets it."""

import sqlite3

import attrs
import pytest

from citestream.errors import SessionFenced, SessionNotFoundError
from citestream.store.sqlite import heads as heads_module
from citestream.store.sqlite.heads import Heads
from citestream.store.sqlite.schema import SCHEMA, kept_text, place_of
from store.tables import new_session


def test_a_head_is_read_once(connection):
    lease = new_session(connection)
    stream = "m\ud800"
    connection.execute("INSERT INTO stream VALUES (?, ?, 7)", (lease.key, kept_text(stream)))
    connection.execute(
        "INSERT INTO event VALUES (?, 1, 'a', 'b', NULL, '{}', 0)", (place_of(lease.key, 5),)
    )
    heads = Heads()
    heads.refresh(connection)
    head = heads.find(connection, lease)
    assert (head.key, head.session_id, head.epoch, head.holder) == (lease.key, "s", 1, "w")
    assert (head.last, head.has_opening, head.streams) == (5, False, {stream: 7})
    connection.execute("UPDATE session SET epoch = 2, opening = 3")
    assert heads.find(connection, lease) is head
    heads.refresh(connection)
    assert heads.find(connection, lease) is head
    heads.forget(lease.key)
    with pytest.raises(SessionFenced, match="'w' took it over"):
        heads.find(connection, lease)
    assert heads.find(connection, attrs.evolve(lease, epoch=2)).has_opening
    heads.clear()
    connection.execute("DELETE FROM session")
    with pytest.raises(SessionNotFoundError):
        heads.find(connection, lease)


def test_an_empty_session_begins_at_nothing(connection):
    new_session(connection, "before")
    lease = new_session(connection)
    new_session(connection, "behind")
    for key in (lease.key - 1, lease.key + 1):
        connection.execute(
            "INSERT INTO event VALUES (?, 1, 'a', 'b', NULL, '{}', 0)", (place_of(key, 1),)
        )
    assert Heads().find(connection, lease).last == 0


def test_a_lease_is_of_the_session_that_it_names(connection):
    lease = new_session(connection)
    with pytest.raises(SessionNotFoundError, match="'t'"):
        Heads().find(connection, attrs.evolve(lease, session_id="t"))


def test_what_others_write_is_read_again(tmp_path):
    ours, theirs = (sqlite3.connect(tmp_path / "s.db", isolation_level=None) for _ in range(2))
    for statement in SCHEMA:
        ours.execute(statement)
    lease = new_session(ours)
    heads = Heads()
    heads.refresh(ours)
    head = heads.find(ours, lease)
    theirs.execute("UPDATE session SET holder = 'x'")
    heads.refresh(ours)
    assert heads.find(ours, lease) is not head
    assert heads.find(ours, lease).holder == "x"
    ours.close()
    theirs.close()


def test_not_too_much_is_known(connection, monkeypatch):
    monkeypatch.setattr(heads_module, "_MOST", 2)
    leases = [new_session(connection, name) for name in "abc"]
    heads = Heads()
    heads.refresh(connection)
    found = [heads.find(connection, lease) for lease in leases]
    assert heads.find(connection, leases[0]) is found[0]
    heads.refresh(connection)
    assert heads.find(connection, leases[0]) is not found[0]
