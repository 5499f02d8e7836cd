import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import offsets
from citestream.errors import OptionError
from citestream.offsets import (
    from_utf16,
    from_utf16_many,
    is_high_surrogate,
    to_utf16,
    to_utf16_many,
    utf16_length,
    utf16_slice,
    well_formed,
)
from strategies import texts

# Each width in UTF-8 and UTF-16, and both halves of a pair alone.
MIXED = "aé週\U0001f4ce\ud83d b\udcce\U0010ffff"


@pytest.fixture(params=[True, False], ids=["size tells", "size does not tell"], autouse=True)
def size_tells(request, monkeypatch):
    monkeypatch.setattr(offsets, "_SIZE_TELLS", request.param)


def units(text):
    """The plain way: how many units each character takes."""
    return [2 if character > "\uffff" else 1 for character in text]


@pytest.mark.parametrize(
    "text", ["", "abc", "é" * 100, "週次", "\U0001f4ce", MIXED, MIXED * 400], ids=range(7)
)
def test_lengths_and_every_index_there_and_back(text):
    starts = [0, *itertools.accumulate(units(text))]
    assert utf16_length(text) == starts[-1]
    assert to_utf16_many(text, range(len(text) + 1)) == starts
    assert from_utf16_many(text, starts) == list(range(len(text) + 1))
    for index in (0, len(text) // 2, len(text)):
        assert to_utf16(text, index) == starts[index]
        assert from_utf16(text, starts[index]) == index


@pytest.mark.parametrize("text", ["abc", MIXED])
def test_beyond_the_end_means_the_end(text):
    assert to_utf16(text, 99) == utf16_length(text)
    assert to_utf16_many(text, [99, 0]) == [utf16_length(text), 0]
    assert from_utf16(text, 99) == len(text)
    assert from_utf16_many(text, [99, 0]) == [len(text), 0]


def test_an_index_inside_a_pair_means_its_start():
    assert from_utf16("a\U0001f4ceb", 2) == 1
    assert from_utf16("x" * 5000 + "\U0001f4ce" * 9, 5001) == 5000
    assert utf16_slice("a\U0001f4ceb", 0, 2) == "a"
    assert utf16_slice("a\U0001f4ceb", 2, 4) == "\U0001f4ceb"


def test_nothing_to_convert():
    assert to_utf16_many("a", []) == []
    assert from_utf16_many("a", []) == []


@given(text=texts, wanted=st.lists(st.integers(0, 30), max_size=6))
def test_many_indexes_are_converted_as_one_by_one(text, wanted):
    assert to_utf16_many(text, wanted) == [to_utf16(text, index) for index in wanted]
    assert from_utf16_many(text, wanted) == [from_utf16(text, index) for index in wanted]


@given(text=texts, start=st.integers(0, 30), size=st.integers(0, 30))
def test_a_slice_is_that_of_the_units(text, start, size):
    whole = utf16_slice(text, start, start + size)
    assert whole in text
    first, last = from_utf16_many(text, [start, start + size])
    assert whole == text[first:last]


@pytest.mark.parametrize(
    "call",
    [
        lambda: to_utf16("a", -1),
        lambda: to_utf16_many("a", [0, -1]),
        lambda: from_utf16("a", -1),
        lambda: from_utf16_many("a", [0, -1]),
        lambda: utf16_slice("a", -1, 0),
    ],
    ids=range(5),
)
def test_offsets_count_from_the_start(call):
    with pytest.raises(OptionError, match="wanted 0 or more, got -1"):
        call()


def test_a_slice_ends_at_or_after_its_start():
    with pytest.raises(OptionError, match="got 3 to 2"):
        utf16_slice("abcd", 3, 2)


@pytest.mark.parametrize(
    ("text", "answer"),
    [("", False), ("a", False), ("a\ud83d", True), ("\udbff", True), ("\ud83d\udcce", False)],
)
def test_a_text_may_end_in_half_a_pair(text, answer):
    assert is_high_surrogate(text) is answer


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("abc", "abc"),
        ("週\U0001f4ce", "週\U0001f4ce"),
        ("\ud83d\udcce", "\U0001f4ce"),
        ("\udcce\ud83d", "\ufffd\ufffd"),
        ("a\ud83d", "a\ufffd"),
    ],
)
def test_halves_are_joined_or_replaced(text, whole):
    assert well_formed(text) == whole


@given(texts)
def test_repair_keeps_the_length_and_can_be_encoded(text):
    assert utf16_length(well_formed(text)) == utf16_length(text)
    assert well_formed(text).encode().decode() == well_formed(text)
