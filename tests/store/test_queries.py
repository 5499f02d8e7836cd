"""What is read from the database."""

import pytest

from citestream.errors import SessionNotFoundError
from citestream.store import SessionRecord, StoredEvent
from citestream.store.sqlite import queries
from citestream.store.sqlite.schema import kept_text, place_of
from store.tables import new_session


def add(connection, key, number, name="a", kind="b", stream=None):
    connection.execute(
        "INSERT INTO event VALUES (?, 1, ?, ?, ?, ?, 0)",
        (
            place_of(key, number),
            kept_text(name),
            kept_text(kind),
            stream and kept_text(stream),
            f'"{number}"',
        ),
    )


def test_events_come_in_order_and_from_one_session(connection):
    keys = [new_session(connection, name).key for name in "rst"]
    for number in (2**32 - 1, 3, 1):
        for key in keys:
            add(connection, key, number, str(number))

    def read(**options):
        options = {"owner": None, "after": 0, "limit": 10, **options}
        events = queries.read_events(connection, session_id="s", **options)
        return [event.seq for event in events]

    assert read() == [1, 3, 2**32 - 1]
    assert read(after=1) == [3, 2**32 - 1]
    assert read(limit=2) == [1, 3]
    assert read(limit=0) == read(after=2**32) == read(after=2**99, limit=2**99) == []
    with pytest.raises(SessionNotFoundError):
        read(owner="o")


def test_names_come_back(connection):
    key = new_session(connection).key
    add(connection, key, 1, "\ud800", "\ud801", "\ud802")
    add(connection, key, 2, "é", "ü", "ß")
    events = queries.read_events(connection, session_id="s", owner=None, after=0, limit=10)
    assert events == [
        StoredEvent(seq=1, epoch=1, event_id="\ud800", type="\ud801", stream="\ud802", body='"1"'),
        StoredEvent(seq=2, epoch=1, event_id="é", type="ü", stream="ß", body='"2"'),
    ]


def test_how_far_a_session_has_come(connection):
    key = new_session(connection, owner="o").key
    assert queries.last_event(connection, session_id="s", owner="o") == (key, 0)
    assert queries.last_event_of(connection, "s") == (key, 0)
    add(connection, key, 7)
    add(connection, key + 1, 9)
    assert queries.last_event(connection, session_id="s", owner="o") == (key, 7)
    assert queries.last_event_of(connection, "s") == (key, 7)
    assert queries.last_event_of(connection, "t") is None
    with pytest.raises(SessionNotFoundError):
        queries.last_event(connection, session_id="s", owner=None)


def test_sessions_are_described(connection):
    key = new_session(connection, owner="o").key
    add(connection, key, 4)
    connection.execute("UPDATE session SET opening = ?, updated_at = 101", (place_of(key, 4),))
    expected = SessionRecord(
        session_id="s",
        owner="o",
        epoch=1,
        last_seq=4,
        created_at=100,
        updated_at=101,
        holder="w",
        opening='"4"',
    )
    found = queries.get_session(connection, session_id="s", owner="o", now=129)
    assert (found, found.opening) == (expected, '"4"')
    found = queries.get_session(connection, session_id="s", owner="o", now=130)
    assert found.holder is None
    with pytest.raises(SessionNotFoundError):
        queries.get_session(connection, session_id="s", owner=None, now=0)


def test_sessions_are_listed(connection):
    for name, updated in (("a", 5), ("b", 7), ("c", 5)):
        new_session(connection, name)
        connection.execute("UPDATE session SET updated_at = ? WHERE id = ?", (updated, name))
    new_session(connection, "d", owner="")
    found = queries.list_sessions(connection, owner=None, now=0)
    assert [record.session_id for record in found] == ["b", "c", "a"]
    assert len(queries.list_sessions(connection, owner="", now=0)) == 1
    assert queries.list_sessions(connection, owner="o", now=0) == []


def test_the_last_event_is_found_without_looking_at_the_others(connection):
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT place FROM event WHERE place > 1 AND place < 9"
        " ORDER BY place DESC LIMIT 1"
    ).fetchall()
    assert [row[3] for row in plan] == [
        "SEARCH event USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    ]
