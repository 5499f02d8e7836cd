import pytest
from hypothesis import given

from citestream.claims import Region, regions
from texts import marker_texts, prose


def shown(content):
    """Return the words of the regions; those that are one statement begin with an equals sign."""
    return [f"{'=' if r.whole else ''}{content[r.start : r.end]}" for r in regions(content)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", []),
        (" \n\t\n", []),
        ("Rents rose.", ["Rents rose."]),
        ("  Rents rose. \n", ["Rents rose."]),
        ("Rents\nrose.\n\nWages", ["Rents\nrose.", "Wages"]),
        ("Rents\r\nrose.\r\n\r\nWages", ["Rents\r\nrose.", "Wages"]),
        ("Rents\rrose.\r\rWages", ["Rents\rrose.", "Wages"]),
        ("A\n \t\nB", ["A", "B"]),
        ("\u3000A", ["A"]),
        # Hard breaks
        ("A  \nB", ["A", "B"]),
        ("A   \nB", ["A", "B"]),
        ("A \nB", ["A \nB"]),
        ("A\\\nB", ["A\\", "B"]),
        # Headings
        ("# A\nB", ["A", "B"]),
        ("###### A ##\nB", ["A", "B"]),
        ("## C# and F#", ["C# and F#"]),
        ("# #", []),
        ("#\nA", ["A"]),
        ("#A", ["#A"]),
        ("####### A", ["####### A"]),
        ("A\n===\nB", ["A", "B"]),
        ("A\n---\nB", ["A", "B"]),
        # Breaks
        ("A\n***\nB", ["A", "B"]),
        ("A\n* * *\nB", ["A", "B"]),
        ("A\n- - -  \nB", ["A", "B"]),
        ("A\n___\nB", ["A", "B"]),
        ("A\n*-*\nB", ["A\n*-*\nB"]),
        # Lists
        ("- A\n- B", ["A", "B"]),
        ("* A\n+ B", ["A", "B"]),
        ("1. A\n2) B\n10. C", ["A", "B", "C"]),
        ("- A\n  goes on\n- B", ["A\n  goes on", "B"]),
        ("- A\n  - B\n    - C", ["A", "B", "C"]),
        ("- [ ] A\n- [x] B\n* [X] C", ["A", "B", "C"]),
        ("- [y] A", ["[y] A"]),
        ("-A", ["-A"]),
        ("**A** B", ["**A** B"]),
        ("A:\n- B", ["A:", "B"]),
        ("A:\n1. B\n2. C", ["A:", "B", "C"]),
        ("It rose in\n2020. Then it fell.", ["It rose in\n2020. Then it fell."]),
        ("It rose in\n2020.", ["It rose in\n2020."]),
        ("2020. A", ["A"]),
        ("-\n- A", ["A"]),
        ("*\nA", ["A"]),
        ("1.\n2.\nA", ["A"]),
        # Block quotes
        ("> A\n> goes on\n\nB", ["A\n> goes on", "B"]),
        (">A\n>\n>B", ["A", "B"]),
        ("> > A", ["A"]),
        ("> - A\n> - B", ["A", "B"]),
        ("> # A\n> B", ["A", "B"]),
        # Tables
        ("| a | b |\n|---|:-:|\n| c | d |", ["a", "b", "c", "d"]),
        ("a | b\n--|--\nc | d", ["a", "b", "c", "d"]),
        ("a | b\n:-: | -:\nc | d\n\ne | f", ["a", "b", "c", "d", "e | f"]),
        ("Text\na | b\n--|--\nc | d\nText", ["Text", "a", "b", "c", "d", "Text"]),
        ("| a \\| b | c |", ["a \\| b", "c"]),
        ("| a | b\\", ["a", "b"]),
        ("|  |  |", []),
        ("| a |\r\n|---|\r\n| b |", ["a", "b"]),
        ("> | a | b |\n> |---|---|\n> | c | d |", ["a", "b", "c", "d"]),
        ("> a | b\n> --|--\n> c | d", ["a", "b", "c", "d"]),
        ("a | b is prose\nand more", ["a | b is prose\nand more"]),
        ("a | b\n- c", ["a | b", "c"]),
        ("| a |\n- b | c", ["a", "- b", "c"]),
        ("| a |\n```\nx | y\n```\nc | d", ["a", "=x | y", "c | d"]),
        # Code
        ("```\na = 1\n\nb = 2\n```\nC", ["=a = 1", "=b = 2", "C"]),
        ("~~~ python\n- a\n~~~", ["=- a"]),
        ("A\n```py\nx\n```", ["A", "=x"]),
        ("````\n```\n````\nA", ["=```", "A"]),
        ("```\n~~~\n```", ["=~~~"]),
        ("```\n```py\n```\nA", ["=```py", "A"]),
        ("```a``` is code", ["```a``` is code"]),
        ("```\nnever closed", ["=never closed"]),
        ("- A\n  ```\n  x\n  ```", ["A", "=x"]),
        ("> ```\n> x\n> ```\n> A", ["=x", "A"]),
    ],
)
def test_where_prose_stands(content, found):
    assert shown(content) == found


@given(marker_texts(max_size=30) | prose)
def test_regions_are_apart_in_order_and_trimmed(content):
    behind = 0
    for region in regions(content):
        assert behind <= region.start < region.end <= len(content)
        text = content[region.start : region.end]
        assert text == text.strip()
        behind = region.end


def test_a_region_is_a_value():
    assert regions("A") == [Region(start=0, end=1)]
