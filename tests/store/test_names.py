"""Arguments of stores: what is taken and what is refused."""

import pytest

from citestream.errors import OptionError
from citestream.store import names
from store.stores import event, piece


@pytest.mark.parametrize("name", ["s", "A-Z_0.9:x", "..", "x" * 128])
def test_ids_of_sessions(name):
    names.check_session_id(name)


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "ä", "a\n", "a/b", None, b"a"])
def test_what_is_no_id_of_a_session(name):
    with pytest.raises(OptionError, match="session_id: wanted 1 to 128 letters, digits or any of"):
        names.check_session_id(name)


@pytest.mark.parametrize("text", ["", "ä", "\U0001f600", "a\nb"])
def test_people(text):
    names.check_people(text, text)
    names.check_people(None)


@pytest.mark.parametrize("text", ["\0", "a\ud83d", b"a", 1])
def test_what_is_nobody(text):
    with pytest.raises(OptionError, match="owner: wanted a text without NUL and surrogates, got"):
        names.check_people(text)
    with pytest.raises(OptionError, match="holder: wanted a text"):
        names.check_people("o", text)


def test_numbers():
    for number in (0, 1, 2**70):
        names.check_number("after", number)
    for number in (-1, True, 1.0, "1", None):
        with pytest.raises(OptionError, match="after: wanted an integer of 0 or more, got"):
            names.check_number("after", number)


def test_seconds():
    for seconds in (0.001, 1, 10**9):
        names.check_seconds("wait", seconds)
    for seconds in (0, -0.1, True, "1", None, float("inf"), float("nan")):
        with pytest.raises(OptionError, match="wait: wanted a number of seconds above 0, got"):
            names.check_seconds("wait", seconds)


def test_modes():
    for mode in ("takeover", "wait", "fail"):
        names.check_mode(mode)
    for mode in ("", "observe", None, 1):
        with pytest.raises(OptionError, match="mode: wanted one of takeover, wait, fail, got"):
            names.check_mode(mode)


def test_events_and_pieces():
    names.check_events([])
    names.check_events([event("a"), piece("b")])
    names.check_pieces((piece("b"),))
    with pytest.raises(OptionError, match="events: wanted EventRecord, got 'text'"):
        names.check_events([event("a"), "text"])
    with pytest.raises(OptionError, match="events: wanted EventRecord"):
        names.check_pieces([piece("a"), None])
    with pytest.raises(OptionError, match="wanted pieces of streams, got"):
        names.check_pieces([piece("a"), event("b")])
