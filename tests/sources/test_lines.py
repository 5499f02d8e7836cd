import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.errors import OptionError
from citestream.sources.lines import LineTable

# Everything that some other rule takes for the end of a line, and little else.
texts = st.text(st.sampled_from("\n\r\u2028\u2029\x85\v\f\x1c a漢📎"), max_size=30)


def lines_of(text):
    return [text[start:end] for start, end in LineTable(text)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("\n\n", ["", ""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\r", ["a", "b"]),
        ("a\n\rb", ["a", "", "b"]),
        ("a\r\r\nb", ["a", "", "b"]),
        ("a\r\n\nb", ["a", "", "b"]),
        ("a\u2028b\x85c\vd\fe\x1cf", ["a\u2028b\x85c\vd\fe\x1cf"]),
    ],
)
def test_lf_crlf_and_cr_end_a_line_and_nothing_else_does(text, lines):
    assert lines_of(text) == lines
    assert len(LineTable(text)) == len(lines)


@given(texts)
def test_lines_and_their_ends_are_the_whole_text(text):
    table = LineTable(text)
    position = 0
    gaps = []
    for start, end in table:
        gaps.append(text[position:start])
        assert not set(text[start:end]) & set("\r\n")
        position = end
    assert gaps[:1] in ([], [""])
    assert all(re.fullmatch("\r\n?|\n", gap) for gap in gaps[1:])
    assert text[position:] in {"", "\n", "\r", "\r\n"}


@given(texts.filter(lambda text: "\r" not in text))
def test_both_ways_of_finding_line_ends_agree(text):
    with_cr = LineTable(text + "\r")
    assert list(LineTable(text)) == list(with_cr)[: len(LineTable(text))]


@given(texts, st.data())
def test_a_range_of_lines_is_those_lines_with_what_stands_between(text, data):
    table = LineTable(text + "x")
    first = data.draw(st.integers(1, len(table)))
    last = data.draw(st.integers(first, len(table)))
    start, end = table.range(first, last)
    assert start == table.range(first, first)[0]
    assert end == table.range(last, last)[1]


@given(texts, st.data())
def test_every_character_is_in_the_line_that_number_at_tells(text, data):
    text += "x"
    index = data.draw(st.integers(0, len(text) - 1))
    table = LineTable(text)
    number = table.number_at(index)
    start, end = table.range(number, number)
    assert start <= index
    assert index < end or text[end : index + 1] in {"\n", "\r", "\r\n"}


def test_an_index_beyond_the_text_means_the_last_line():
    assert LineTable("a\nb\n").number_at(10**18) == 2


@pytest.mark.parametrize(("first", "last"), [(0, 1), (1, 3), (2, 1), (-1, 1), (3, 3), (1, 10**18)])
def test_lines_that_are_not_there_are_refused(first, last):
    with pytest.raises(OptionError, match="wanted lines between 1 and 2"):
        LineTable("a\nb").range(first, last)


@pytest.mark.parametrize(("text", "index"), [("", 0), ("a", -1)])
def test_an_index_without_a_line_is_refused(text, index):
    with pytest.raises(OptionError, match="wanted an index"):
        LineTable(text).number_at(index)
