import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.render.characters import visible

DROPPED = {
    "controls": [c for c in map(chr, range(0xA0)) if not c.isprintable() and not c.isspace()],
    "overrides": "\u202a\u202b\u202c\u202d\u202e",
    "isolates": "\u2066\u2067\u2068\u2069",
    "tags": list(map(chr, range(0xE0000, 0xE0080))),
    "markers": list(map(chr, range(0xE200, 0xE207))),
    "surrogates": "\ud800\udfff",
    "deprecated": "\u206a\u206f\ufff9\ufffa\ufffb",
}
KEPT = {
    "joiners": "\u200c\u200d",
    "variation selectors": "\ufe00\ufe0e\ufe0f\U000e0100\U000e01ef",
    "hyphens": "\u00ad",
    "marks of direction": "\u200e\u200f\u061c",
    "word breaks": "\u200b\u2060\ufeff",
    "blanks": " \t\u00a0\u2009\u202f\u3000",
    "private use": "\ue000\ue1ff\ue207\U000f0000",
}


@pytest.mark.parametrize("characters", DROPPED.values(), ids=DROPPED)
def test_what_controls_or_hides_is_not_shown(characters):
    for character in characters:
        assert visible(f"a{character}b") == "ab"


@pytest.mark.parametrize("characters", KEPT.values(), ids=KEPT)
def test_what_words_are_written_with_stays(characters):
    for character in characters:
        assert visible(f"a{character}b") == f"a{character}b"


@pytest.mark.parametrize("end", "\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029")
def test_what_may_end_a_line_is_a_blank(end):
    assert visible(f"a{end}b") == "a b"


@pytest.mark.parametrize("text", ["", " \u3000\t", "\u200b\u200d", "\x1b\u202e", "\U000e0041 "])
def test_nothing_is_shown_where_nothing_can_be_seen(text):
    assert visible(text) == ""


@given(st.text())
def test_nothing_but_what_is_dropped_is_missing(text):
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    assert visible(shown) == shown
    letters = [c for c in text if unicodedata.category(c)[0] in "LMNPS"]
    assert [c for c in shown if unicodedata.category(c)[0] in "LMNPS"] == letters
