import pytest

from citestream import parse_markers
from citestream.resolver import visible_ranges

MARK = "\ue200cite\ue202a\ue201"
NAME = '\ue200entity\ue202["x","Ada"]\ue201'


@pytest.mark.parametrize(
    ("text", "part", "words"),
    [
        (f"Rents rose. {MARK} Wages fell.", "Wages", "Wages"),
        (f"Rents rose. {MARK} Wages fell.", "Rents rose.", "Rents rose."),
        (f"Rents {MARK} rose.", f"Rents {MARK} rose.", "Rents rose."),
        (f"Rents rose. {MARK}", MARK, ""),
        (f"{MARK}Rents rose.", f"{MARK}Rents", "Rents"),
        (f"By {NAME} alone.", NAME, "Ada"),
        (f"By {NAME} alone.", f"{NAME} alone", "Ada alone"),
        (f"By {NAME} alone.", f"{NAME[3:]} alone", " alone"),
        (f"{MARK}", MARK, ""),
    ],
)
def test_a_range_of_the_text_finds_its_words_in_the_content(text, part, words):
    read = parse_markers(text)
    start = text.index(part)
    ((first, last),) = visible_ranges(read, [(start, start + len(part))])
    assert read.content[first:last] == words
