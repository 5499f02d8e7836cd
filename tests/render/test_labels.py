import pytest

from citestream.render.labels import anchor, free_prefix, isolated, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" a\n\tb\u2028c ", "a b c"),
        ("a  b", "a b"),
        ("Meals, line 3", "Meals, line 3"),
        ("a\x1b[31mb\x07", "a[31mb"),
        ("a\u202eb\u2067c\ue200d\ud83de\U000e0041", "abcde"),
        ("a\u200bb\u2060c\ufeffd\u3164e\uf8fff\U000f0000g", "abcdefg"),
        ("می\u200cخواهم 👩\u200d👧", "می\u200cخواهم 👩\u200d👧"),
        ("\u200fשלום\u200e", "\u200fשלום\u200e"),
        ("週次　報告\u00ad", "週次　報告\u00ad"),
        ("週次 📎", "週次 📎"),
        ("\u200b\ue000", ""),
        ("", ""),
    ],
)
def test_what_strangers_wrote_becomes_one_line_of_visible_characters(text, line):
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("text", "kept"),
    [("Memo", True), ("週次", True), ("שלום", False), ("a مرحبا", False), ("\u200f.", False)],
)
def test_what_runs_from_right_to_left_is_isolated(text, kept):
    assert isolated(text) == (text if kept else f"\u2068{text}\u2069")


def test_prefixes_of_anchors_are_letters_that_every_sink_takes():
    assert anchor("m7-") == "m7-"
    assert anchor("m 7]<\u2028") == "m_20_7_5d__3c__2028_"


def test_prefixes_grow_until_they_are_free():
    assert free_prefix("a", before="[^", prefix="", digits=False) == ""
    assert free_prefix("[^a] [^S", before="[^", prefix="", digits=False) == "ss"
    assert free_prefix("[x]", before="[", prefix="", digits=True) == ""
    assert free_prefix("[1] [s1]", before="[", prefix="", digits=True) == "ss"
    assert free_prefix("[^m.1]", before="[^", prefix="m.", digits=False) == "m.s"
    assert free_prefix("[^mx1]", before="[^", prefix="m.", digits=False) == "m."
