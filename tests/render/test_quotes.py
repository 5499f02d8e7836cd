import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.render import QUOTE_LENGTH, quote_lines

LONG = "".join(f"Line {number} of the source holds some words.\n" for number in range(60))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("One.\r\nTwo.\rThree.", ("One.", "Two.", "Three.")),
        ("\n\n    if x:\n        y\n \n    z\n\n", ("if x:", "    y", "", "z")),
        ("a\tb\u3000c\u2028d  ", ("a\tb\u3000c d",)),
        ("a\x1b[2Jb\u202ec\ue200d", ("a[2Jbcd",)),
        ("", ()),
        (" \n\u200b\n", ()),
    ],
)
def test_lines_are_shown_as_they_are_but_for_what_cannot_be_seen(text, lines):
    assert quote_lines(text, claim="") == lines


@pytest.mark.parametrize(
    "line",
    [
        "می\u200cخواهم کتاب\u200cها را ببینم.",
        "The family 👨\u200d👩\u200d👧\u200d👦 travels ❤\ufe0f.",
        "क्\u200dष and র\u200d্যাব",
        "Donau\u00addampf\u00adschiff",
        "\u200fשלום (A)\u200e 1.",
        "葛\U000e0100城　市\u00a0役所\u2009！",
        "ភាសា\u200bខ្មែរ",
        "\ue010 gaiji",
    ],
)
def test_a_quote_is_its_source_character_by_character(line):
    assert quote_lines(f"Before.\n{line}\n", claim="") == ("Before.", line)


def test_what_fits_is_shown_whole():
    assert quote_lines("x" * QUOTE_LENGTH, claim="x") == ("x" * QUOTE_LENGTH,)


def test_a_longer_text_is_cut_behind_a_word():
    lines = quote_lines("words " * 200, claim="nowhere")
    assert lines[0].endswith("words…")
    assert QUOTE_LENGTH - 40 < len(lines[0]) <= QUOTE_LENGTH + 1
    assert quote_lines("食" * 600, claim="") == ("食" * QUOTE_LENGTH + "…",)


def test_of_a_longer_text_the_cited_words_are_shown():
    claim = "Heading – Line 40\nof the  source holds some words."
    lines = quote_lines(LONG, claim=claim)
    assert lines[0].startswith("…Line ")
    assert "Line 40 of the source holds some words." in lines
    assert sum(map(len, lines)) <= QUOTE_LENGTH + 2
    near = quote_lines(LONG, claim="Line 2 of the source holds some words.")
    assert near[0] == "Line 0 of the source holds some words."
    last = quote_lines(LONG, claim="Line 59 of the source holds some words.")
    assert last[-1] == "Line 59 of the source holds some words."


def test_in_one_long_line_the_cited_words_are_shown_too():
    text = f"{'some words ' * 100}Meals are paid. {'more words ' * 100}"
    (line,) = quote_lines(text, claim="Meals are paid.")
    assert line.startswith("…")
    assert "Meals are paid." in line
    assert line[1:].split()[0] in {"some", "words"}
    (line,) = quote_lines(f"{'食' * 900}酒代は支給しない。", claim="酒代は支給しない。")
    assert line == "…" + "食" * 291 + "酒代は支給しない。"


@given(st.text(), st.text(), st.integers(0, 700))
def test_any_text_is_shown_within_its_bounds(text, claim, size):
    lines = quote_lines(text + "x " * size + text, claim=claim)
    assert sum(map(len, lines)) <= QUOTE_LENGTH + 2
    assert not any(set(line) & set("\n\r\x1b\ue200\u202e") for line in lines)
