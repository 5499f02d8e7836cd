import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.markers import BLOCKS, LINES, PAGES, MarkerSyntax, parse_markers
from citestream.prompts.neutral import LONGEST_FIELD, attribute, neutralise, one_line

SYNTAXES = [
    MarkerSyntax(),
    MarkerSyntax(locators=(LINES, PAGES, BLOCKS), highlight=None),
    MarkerSyntax(start="[[", delimiter="|", stop="]]", highlight=None),
    MarkerSyntax(start="<<", delimiter="::", stop=">>", highlight=None),
    MarkerSyntax(start="\ufffd(", delimiter="\ufffd,", stop="\ufffd)", highlight=None),
    MarkerSyntax(start="mark", delimiter="\u25a0", stop="\u25a1", highlight=None, locators=()),
]
syntaxes = st.sampled_from(SYNTAXES)
pieces = [
    "\ue200", "\ue201", "\ue202", "\ue203", "\ue206", "cite", "turn0file0", "L7", "[L7]", "[ l7",
    "[P1]", "</BLOCK>", "< / bloCk >", "<BLOCK id=", "Citation Marker:", "citation\u2028marker :",
    "[", "[[", "]]", "|", "<<", ">>", "::", "\ufffd(", "mark", "\n", "\r", "\u2028", "\v", " ", "a",
    "\u200b", "漢", "📎",
]  # fmt: skip
hostile = st.lists(st.sampled_from(pieces), max_size=20).map("".join)


@given(hostile, syntaxes)
def test_no_character_moves_and_nothing_has_power_left(text, syntax):
    shown = neutralise(text, syntax=syntax)
    assert len(shown) == len(text)
    assert syntax.start not in shown
    assert not re.search("[\ue200-\ue206]", shown)
    assert not re.search(r"<\s*/?\s*block\b", shown, re.IGNORECASE)
    assert not re.search(r"citation\s+marker\s*:", shown, re.IGNORECASE)
    assert parse_markers(shown, syntax=syntax).markers == ()
    for line in re.split("\r\n?|\n", shown):
        assert line.splitlines() in ([], [line])
        for pattern in syntax.locators:
            assert not re.match(rf"\s*\[\s*{pattern.prefix}\s*[0-9]", line, re.IGNORECASE)


@given(hostile, syntaxes)
def test_what_is_harmless_stays_as_it_is(text, syntax):
    shown = neutralise(text, syntax=syntax)
    assert neutralise(shown, syntax=syntax) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Prose with <b>tags</b>, <blockquote>, 1 < 2 and [links](u).",
        "See [L7] in the middle, block L7, [Lemma 7] and [7].",
        "Citation markers: two; the citation, marker",
        "| a | b |\r\n|---|---|\r",
        "漢字 📎 \u00a0\u3000 \t",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert neutralise(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n  [L7] b", "a\n  \ufffdL7] b"),
        ("[L7]\r[l 8]", "\ufffdL7]\r\ufffdl 8]"),
        ("a\u2028[L7]\v\x85", "a [L7]  "),
        ("\u200b[L7]", "\u200b\ufffdL7]"),
        ("</BLOCK\n>", "\ufffd/BLOCK\n>"),
        ("<\u200b/\nblock>", "\ufffd\u200b/\nblock>"),
        ("Citation Marker：", "Citation Marker\ufffd"),
        ("\ue205", "\ufffd"),
    ],
)
def test_one_character_is_taken_from_what_has_power(text, shown):
    assert neutralise(text) == shown


def test_a_mark_of_several_characters_keeps_its_length():
    syntax = SYNTAXES[3]
    assert neutralise("<<cite::a>>", syntax=syntax) == "\ufffd\ufffdcite\ufffd\ufffda\ufffd\ufffd"


def test_a_single_ascii_delimiter_stays():
    assert neutralise("|a|[[b]]", syntax=SYNTAXES[2]) == "|a|\ufffd\ufffdb\ufffd\ufffd"


def test_a_syntax_made_of_the_spare_character_gets_another():
    assert neutralise("\ufffd(", syntax=SYNTAXES[4]) == "\u25a0\u25a0"


@given(hostile, syntaxes)
def test_a_field_is_one_line_without_power(text, syntax):
    line = one_line(text, syntax=syntax)
    assert line.splitlines() in ([], [line])
    assert line == line.strip()
    assert syntax.start not in line
    assert not re.search(r"citation\s+marker\s*:", line, re.IGNORECASE)
    quoted = attribute(text)
    assert not set(quoted) & set('"<>\n')


def test_a_field_shows_nothing_unseen_and_is_cut():
    assert one_line("a\x00\u202eb\u2066\U000e0041c \x1b[0m\u200bd") == "a b c [0m d"
    assert one_line("x" * 1000) == "x" * (LONGEST_FIELD - 3) + "..."
    assert one_line(" " * 1_000_000) == ""


@pytest.mark.parametrize(
    "piece",
    ["<", "< ", "[", "\n[", "[ ", " ", "\n", "citation ", "citation marker ", "\ue200", "</"],
)
def test_the_time_is_linear(piece):
    # Quadratic work on a million characters would outlast the suite's limit for a test.
    assert len(neutralise(piece * (1_000_000 // len(piece)))) >= 999_900
    assert len(neutralise("<" + piece * 300_000 + "x")) >= 300_000
