"""What one writer adds in one transaction."""

import pytest

from citestream.store import Lease
from citestream.store.sqlite.additions import Additions, Write
from citestream.store.sqlite.heads import Head
from citestream.store.sqlite.schema import NUMBERS, place_of
from store.stores import event, piece

LEASE = Lease(session_id="s", epoch=1, key=3)


def head(last=0, streams=()):
    found = Head(3, ("s", 1, "w", 0.0, None, place_of(3, last)))
    found.streams.update(streams)
    return found


def appended(*events):
    return Write(lease=LEASE, events=events, waiter=str(len(events)))


def accepted(*events):
    return Write(lease=LEASE, events=events, waiter=None)


def rows(additions):
    return [(row[0] - place_of(3, 0), row[2]) for row in additions.rows]


def test_events_are_numbered():
    additions = Additions(head(5), {})
    numbers = additions.write([accepted(piece("1")), appended(event("a"), event("b")), appended()])
    assert numbers == [("2", 8), ("0", 8)]
    assert rows(additions) == [(6, "1"), (7, "a"), (8, "b")]
    assert additions.rows[0] == (
        place_of(3, 6), 1, "1", "assistant.message_delta", "m", "{}", 1
    )  # fmt: skip
    assert additions.rows[1] == (place_of(3, 7), 1, "a", "assistant.message", None, "{}", 0)
    assert (additions.head.last, additions.drops, additions.streams) == (8, [], {"m"})
    assert additions.head.streams == {"m": place_of(3, 6)}


def test_what_is_known_is_not_added():
    additions = Additions(head(5), {"a": (2, None)})
    assert additions.write([appended(event("a")), appended(event("b"), event("a"))]) == [
        ("1", 2),
        ("2", 2),
    ]
    assert rows(additions) == [(6, "b")]


def test_an_end_drops_what_was_there_before():
    first = place_of(3, 2)
    additions = Additions(head(5, {"m": first}), {"p": (2, "m"), "q": (3, "n")})
    numbers = additions.write([appended(event("end", "m")), appended(piece("p"), piece("q", "n"))])
    assert numbers == [("1", 6), ("2", 3)]
    assert additions.drops == [(first, place_of(3, 6), "m")]
    assert rows(additions) == [(6, "end"), (7, "p")]
    assert additions.head.streams == {"m": place_of(3, 7)}


def test_accepted_pieces_of_an_ending_stream_take_no_numbers():
    additions = Additions(head(), {})
    writes = [
        accepted(piece("m1"), piece("n1", "n")),
        appended(event("tool")),
        accepted(piece("m2")),
        appended(event("end", "m")),
        accepted(piece("m3")),
    ]
    assert additions.write(writes) == [("1", 2), ("1", 3)]
    assert rows(additions) == [(1, "n1"), (2, "tool"), (3, "end"), (4, "m3")]
    assert additions.drops == []


@pytest.mark.parametrize("known", [{}, {"end": (1, None)}])
def test_a_repeated_end_ends_nothing(known):
    additions = Additions(head(1), known)
    first = [] if known else [appended(event("end", "m"))]
    additions.write([*first, accepted(piece("m1")), appended(event("end", "m"))])
    assert [name for _, name in rows(additions)][-1] == "m1"


def test_appended_pieces_that_end_at_once_are_never_there():
    additions = Additions(head(), {})
    numbers = additions.write([appended(piece("m1"), piece("n1", "n")), appended(event("e", "m"))])
    assert numbers == [("2", 2), ("1", 3)]
    assert rows(additions) == [(2, "n1"), (3, "e")]
    assert additions.streams == {"m", "n"}
    assert set(additions.head.streams) == {"n"}


def test_the_first_message_of_the_user_is_noted():
    additions = Additions(head(), {})
    question = event("q", kind="user.message")
    additions.write([appended(event("a"), question, event("r", kind="user.message"))])
    assert additions.opening == place_of(3, 2)
    again = Additions(additions.head, {})
    again.write([appended(event("s", kind="user.message"))])
    assert again.opening is None


def test_a_session_has_an_end():
    additions = Additions(head(NUMBERS - 2), {})
    additions.write([appended(event("a"))])
    with pytest.raises(OverflowError, match="session 's' is full"):
        additions.write([appended(event("b"))])
