import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.model import CitationLocationBlock, CitationLocationChar, CitationLocationPage
from citestream.sources.documents import from_blocks, from_pages, from_text
from citestream.sources.locating import Place, locate_in

texts = st.text(st.sampled_from("\n\r\u2028\x85 a漢📎"), max_size=30)
DOCUMENT = from_pages(["one\ntwo\r\n\r\nfour", "five", "six"])
BLOCKS = from_blocks(["alpha", "beta", "gamma"])
HUGE = 10**18


def place(document, unit, start, end=None):
    return locate_in(document, unit=unit, start=start, end=start if end is None else end)


@given(texts, st.integers(-1, 12), st.integers(-1, 12))
def test_lines_are_those_that_are_there_or_nothing(text, start, end):
    document = from_text(text)
    found = place(document, "line", start, end)
    if 1 <= start <= end <= len(document.lines):
        assert found.location == CitationLocationChar(start_index=found.start, end_index=found.end)
        assert found.text == text[found.start : found.end]
        assert len(list(from_text(found.text + "x").lines)) == end - start + 1
    else:
        assert found[0] == ("reversed_range" if end < start else "out_of_range")


@given(texts, st.integers(-1, 40), st.integers(-1, 40))
def test_characters_slice_the_content(text, start, end):
    found = place(from_text(text), "char", start, end)
    if 0 <= start < end <= len(text):
        assert found == Place(
            location=CitationLocationChar(start_index=start, end_index=end),
            start=start,
            end=end,
            text=text[start:end],
        )
    else:
        assert found[0] == ("reversed_range" if end < start else "out_of_range")


def test_lines_leave_out_their_last_end_only():
    assert place(DOCUMENT, "line", 2, 4).text == "two\r\n\r\nfour"
    assert place(DOCUMENT, "line", 3).text == ""


def test_pages_count_from_one_and_include_the_last():
    found = place(DOCUMENT, "page", 2, 3)
    assert found.location == CitationLocationPage(start_page=2, end_page=3)
    assert found.text == "five\n\nsix"
    assert DOCUMENT.content[found.start : found.end] == found.text


def test_blocks_count_from_one_in_the_prompt_and_from_zero_in_the_location():
    found = place(BLOCKS, "block", 2, 3)
    assert found.location == CitationLocationBlock(start_block=1, end_block=3)
    assert found.text == "beta\n\ngamma"


@pytest.mark.parametrize(
    ("document", "unit", "start", "end", "message"),
    [
        (from_text("a"), "line", 0, 0, "has 1 line: there is no line 0"),
        (from_text("a\nb"), "line", 2, 3, "has 2 lines: there are no lines 2 to 3"),
        (from_text(""), "line", 1, 1, "has no lines: there is no line 1"),
        (from_text("a"), "page", 1, 1, "has no pages: there is no page 1"),
        (from_pages(["a"]), "page", 1, 2, "has 1 page: there are no pages 1 to 2"),
        (BLOCKS, "block", 4, 4, "has 3 blocks: there is no block 4"),
        (from_text("abc"), "char", 1, 4, "has 3 characters: there are no characters 1 to 4"),
        (from_text("abc"), "char", 1, 1, "has 3 characters: there are no characters 1 to 1"),
        (from_text("a"), "line", HUGE, HUGE, f"has 1 line: there is no line {HUGE}"),
        (from_text("a"), "verse", 1, 1, "has no places of the kind 'verse'"),
    ],
)
def test_what_is_out_of_range_says_what_there_is(document, unit, start, end, message):
    assert place(document, unit, start, end) == ("out_of_range", message)


@pytest.mark.parametrize("unit", ["line", "page", "block", "char"])
def test_a_reversed_range_is_never_turned_round(unit):
    assert place(DOCUMENT, unit, 2, 1) == (
        "reversed_range",
        "cannot be cited from 2 to 1: the range ends before it starts",
    )


def test_numbers_of_any_size_are_answered():
    kind, message = place(DOCUMENT, "char", 0, 10**100_000)
    assert kind == "out_of_range"
    assert "an integer of" in message
