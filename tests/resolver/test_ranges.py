import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.events import OffsetUnit, TextRange
from citestream.offsets import utf16_length
from citestream.resolver.ranges import RangeFinder
from texts import prose

TEXT = "📈 Zürich rents rose 4 %. 賃金は下がった。 Rents rose."
POINT, UTF16, UTF8 = OffsetUnit.CODE_POINT, OffsetUnit.UTF16, OffsetUnit.UTF8


def find(start, end, unit, text=TEXT, **told):
    found = RangeFinder(text).find(TextRange(start=start, end=end, unit=unit, **told))
    return found and (text[found.start : found.end], found.repaired)


def measure(text, unit):
    if unit is UTF8:
        return len(text.encode(errors="surrogatepass"))
    return utf16_length(text) if unit is UTF16 else len(text)


@given(prose, st.data(), st.sampled_from(OffsetUnit))
def test_every_range_of_every_unit_is_found(text, data, unit):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edges = [measure(text[:index], unit) for index in (start, end)]
    assert find(*edges, unit, text) == (text[start:end], False)


@given(prose, st.integers(-3, 80), st.integers(-3, 80), st.sampled_from(OffsetUnit))
def test_a_range_is_right_or_none(text, start, end, unit):
    found = RangeFinder(text).find(TextRange(start=start, end=end, unit=unit))
    if found is not None:
        assert measure(text[: found.start], unit) == start
        assert measure(text[: found.end], unit) == end
        assert not found.repaired


@pytest.mark.parametrize(
    ("start", "end", "unit"),
    [
        (-1, 3, POINT),
        (3, 2, POINT),
        (0, len(TEXT) + 1, POINT),
        (1, 4, UTF16),
        (0, 2, UTF8),
        (0, 1000, UTF8),
    ],
)
def test_what_cannot_be_right_is_none_and_never_clamped(start, end, unit):
    assert find(start, end, unit) is None


@pytest.mark.parametrize("unit", OffsetUnit)
@pytest.mark.parametrize("told", ["expected", "holds"])
def test_the_words_decide_about_the_unit(unit, told):
    words = "賃金は下がった。"
    at = TEXT.index(words)
    start, end = (measure(TEXT[:i], unit) for i in (at, at + len(words)))
    for declared in OffsetUnit:
        result = find(start, end, declared, **{told: words})
        assert result == (words, declared is not unit)


def test_words_that_are_unique_are_found_wherever_they_stand():
    assert find(0, 3, UTF8, expected="下がった") == ("下がった", True)
    assert find(900, 903, UTF8, expected="下がった") == ("下がった", True)


def test_words_that_recur_are_found_only_close_to_their_place():
    text = "one two one two one"
    assert find(9, 12, POINT, text, expected="one") == ("one", True)
    assert RangeFinder(text).find(TextRange(start=9, end=12, unit=POINT, expected="one")).start == 8
    far = "one" + " " * 50 + "one"
    assert find(25, 28, POINT, far, expected="one") is None
    assert find(900, 903, POINT, text, expected="one") is None


def test_words_that_do_not_occur_are_found_nowhere():
    assert find(0, 3, POINT, expected="absent") is None
    assert find(0, 3, POINT, expected="") is None
    assert find(0, 3, POINT, holds="absent") is None
