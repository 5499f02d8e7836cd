import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.render import TerminalFilter, plain, terminal
from render.grammars import TERMINAL
from render.hostile import PAYLOADS, cite

URL = "https://a.example/"
ALL = [text for family in PAYLOADS.values() for text in family]


def screen(text):
    """Return the lines that a terminal shows."""
    shown = pyte.Screen(160, 24)
    stream = pyte.Stream(shown)
    stream.feed(text.replace("\n", "\r\n"))
    return [line.rstrip() for line in shown.display]


def test_numbers_and_names_are_coloured_and_lead_to_urls():
    citations = cite(11, url=URL)
    assert terminal("Rents rose.", citations) == (
        "Rents rose. \x1b]8;;https://a.example/\x1b\\\x1b[36m[1]\x1b[0m\x1b]8;;\x1b\\\n\n"
        "\x1b]8;;https://a.example/\x1b\\\x1b[36m[1]\x1b[0m\x1b]8;;\x1b\\ "
        "\x1b]8;;https://a.example/\x1b\\T\x1b]8;;\x1b\\"
    )
    assert screen(terminal("Rents rose.", citations))[:3] == ["Rents rose. [1]", "", "[1] T"]
    assert terminal("Rents rose.", citations, color=False) == (
        "Rents rose. \x1b]8;;https://a.example/\x1b\\[1]\x1b]8;;\x1b\\\n\n"
        "\x1b]8;;https://a.example/\x1b\\[1]\x1b]8;;\x1b\\ "
        "\x1b]8;;https://a.example/\x1b\\T\x1b]8;;\x1b\\"
    )
    assert terminal("Rents rose.", citations, links=False) == (
        "Rents rose. \x1b[36m[1]\x1b[0m\n\n\x1b[36m[1]\x1b[0m T, https://a.example/"
    )


@pytest.mark.parametrize("quotes", [False, True])
@pytest.mark.parametrize("content", ["Rents [1] rose.", "`x` **y** z", "```\nx", ""])
def test_without_colours_and_links_it_is_plain_text(content, quotes):
    citations = cite(3, url=URL)
    bare = terminal(content, citations, color=False, links=False, quotes=quotes)
    assert bare == plain(content, citations, quotes=quotes)


def test_urls_that_are_not_safe_are_no_links():
    shown = terminal("Rents rose.", cite(11, url="javascript:x\x07"))
    assert "javascript" not in shown
    assert "\x1b]8" not in shown


@pytest.mark.parametrize("payload", ALL)
def test_nothing_of_a_stranger_steers_the_terminal(payload):
    for field in ("title", "url", "path"):
        assert TERMINAL.fullmatch(terminal("x", cite(1, **{"title": None, field: payload})))
    shown = terminal(f"a{payload}b", cite(1))
    assert TERMINAL.fullmatch(shown)
    assert "\x1b" not in terminal(f"a{payload}b", cite(1), color=False, links=False)


def test_escapes_are_shown_and_other_controls_left_out():
    assert terminal("a\x1b[2J\x9b1m\x00\x07\x08b\tc\r\nd\x7f", None) == "a␛[2J1mb\tc\nd"
    assert screen(terminal("one\x1b[2J\rtwo", None))[0] == "one␛[2Jtwo"


@given(
    st.lists(st.sampled_from([*ALL, "a", "\n", "\ud83d", "\udcce"]), max_size=6).map("".join),
    st.data(),
)
def test_deltas_are_safe_however_they_are_cut(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    safe = TerminalFilter()
    shown = [out for piece in pieces for out in safe.feed(piece)] + safe.finish()
    assert all(shown)
    assert all(TERMINAL.fullmatch(piece) and "\x1b" not in piece for piece in shown)
    assert "".join(shown) == terminal(text, None)


def test_half_a_character_waits_for_the_other_half():
    safe = TerminalFilter()
    assert safe.feed("a\ud83d") == ["a"]
    assert safe.feed("") == []
    assert safe.feed("\udcce") == ["📎"]
    assert safe.feed("\ud83d") == []
    assert safe.finish() == ["\ufffd"]
    assert safe.finish() == []
