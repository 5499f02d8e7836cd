import json
import re
from pathlib import Path

import attrs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from citestream import errors
from citestream.markers import MarkerSyntax, extract_citations, strip_citations
from citestream.markers.extraction import _MEMO_SIZE, MarkerBody
from texts import DELIM, START, STOP, SYNTAXES, cite, marker, marker_texts, prose

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "markers.json").read_text("utf-8"))
ID = re.compile("[A-Za-z0-9_-]+")
LOCATOR = re.compile("L[0-9]+(?:-L[0-9]+)?")


def shown(markers):
    names = ("raw", "family", "source_ids", "locator", "start", "end")
    return [tuple(getattr(found, name) for name in names) for found in markers]


def helper_extract(text, families):
    """Find markers as OpenAI's published helper does, written anew from its known behaviour."""
    words = "|".join(map(re.escape, families))
    found = []
    for match in re.finditer(f"{START}({words}){DELIM}(.*?){STOP}", text, re.DOTALL):
        fields = [field.strip() for field in match[2].split(DELIM)]
        fields = [field for field in fields if field]
        locator = None
        if fields and LOCATOR.fullmatch(fields[-1]):
            locator = fields.pop()
        if fields and all(ID.fullmatch(field) for field in fields):
            found.append((match[0], match[1], tuple(fields), locator, *match.span()))
    return found


def helper_strip(text, found):
    for *_, start, end in reversed(found):
        text = text[:start] + text[end:]
    return text


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors_pass(vector):
    found = extract_citations(vector["text"], families=vector.get("families", ["cite"]))
    assert shown(found) == [
        (v["raw"], v["family"], tuple(v["source_ids"]), v["locator"], v["start"], v["end"])
        for v in vector["citations"]
    ]
    assert strip_citations(vector["text"], found) == vector["stripped"]


FAMILIES = [("cite",), ("cite", "filecite"), ("filecite", "cite", "link"), ("file", "filecite")]


@given(marker_texts(max_size=25) | prose, st.sampled_from(FAMILIES))
@example(f"{START}nope{START}cite{DELIM}a{STOP}{STOP}", ("cite",))
@example(f"{START}cite{STOP}{cite('a')}", ("cite",))
@example(f"{STOP}{START}", ("cite",))
def test_results_are_those_of_the_published_helper(text, families):
    words = "|".join(families)
    assume(not re.search(f"{START}(?:{words}){DELIM}[^{STOP}]*{START}[^{STOP}]*{STOP}", text))
    found = extract_citations(text, families=families)
    expected = helper_extract(text, families)
    assert shown(found) == expected
    assert strip_citations(text, found) == helper_strip(text, expected)


@given(marker_texts(max_size=25))
def test_what_is_found_stands_in_the_text(text):
    found = extract_citations(text)
    for marker_ in found:
        assert text[marker_.start : marker_.end] == marker_.raw
        assert START not in marker_.raw[1:]
    assert [m.start for m in found] == sorted(m.start for m in found)
    stripped = strip_citations(text, found)
    assert len(stripped) == len(text) - sum(len(m.raw) for m in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{START}cite{DELIM}a {cite('b')}", [cite("b")]),
        (f"{START}cite{DELIM}a{START}cite{DELIM}b{cite('c')}", [cite("c")]),
        (f"{START}cite{DELIM}a{marker('filecite', 'b', 'L1-L1')}", []),
        (f"{START}{cite('a')}", [cite("a")]),
    ],
)
def test_reading_restarts_at_an_inner_start(text, found):
    assert [m.raw for m in extract_citations(text)] == found


@pytest.mark.parametrize(
    ("text", "ids", "locator"),
    [
        (cite("a", "L8"), ("a",), "L8"),
        (cite("a", "L8-13"), ("a", "L8-13"), None),
        (cite("a", "l8"), ("a", "l8"), None),
        (cite("a", "L1", "b", "L4-L9"), ("a", "L1", "b"), "L4-L9"),
        (cite("a", "L9-L8"), ("a",), "L9-L8"),
        (cite("a", "P3"), ("a", "P3"), None),
        (cite("\u3000a\n", "\t"), ("a",), None),
    ],
)
def test_locators_count_only_as_the_last_field(text, ids, locator):
    (found,) = extract_citations(text)
    assert (found.source_ids, found.locator) == (ids, locator)


@pytest.mark.parametrize(
    "text",
    [
        cite(),
        cite("L8"),
        cite("", " "),
        cite("a b"),
        cite("a", "#L8"),
        cite("a", "L\u0663"),
        cite("turn<number>search<number>"),
        marker("memcite"),
        marker("citex", "a"),
        f"{START}cite{DELIM}a",
        f"cite{DELIM}a{STOP}",
    ],
)
def test_malformed_markers_are_left_alone(text):
    assert extract_citations(text) == []


def test_other_syntaxes():
    assert shown(extract_citations("x[[cite|a|L2]]", syntax=SYNTAXES["ascii"])) == [
        ("[[cite|a|L2]]", "cite", ("a",), "L2", 1, 14)
    ]
    several = SYNTAXES["locators"]
    assert extract_citations(cite("a", "P3-P5"), syntax=several)[0].locator == "P3-P5"
    mixed = extract_citations(cite("a", "P3-L5"), syntax=several)[0]
    assert (mixed.source_ids, mixed.locator) == (("a", "P3-L5"), None)
    none = MarkerSyntax(locators=())
    assert extract_citations(cite("a", "L3"), syntax=none)[0].source_ids == ("a", "L3")


def test_markers_are_values_and_share_what_they_say():
    first, second = extract_citations(cite("a") * 2)
    assert first.body is second.body
    assert first.body == MarkerBody(raw=cite("a"), family="cite", source_ids=("a",), locator=None)
    assert (first, hash(first)) == (extract_citations(cite("a"))[0], hash(first))
    assert first != second
    assert attrs.evolve(second, start=0, end=8) == first
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        first.start = 1


def test_many_different_and_long_markers():
    ids = [f"id{number}" for number in range(_MEMO_SIZE + 2)]
    found = extract_citations("".join(map(cite, ids)))
    assert [m.source_ids for m in found] == [(source_id,) for source_id in ids]
    long = cite(*ids[:100])
    assert [m.raw for m in extract_citations(long * 2)] == [long, long]


# -- strip


def test_markers_may_come_in_any_order_and_only_once_each():
    text = f"A{cite('a')}B{cite('b')}C"
    found = extract_citations(text)
    assert strip_citations(text, reversed(found)) == "ABC"
    assert strip_citations(text, found[1:]) == f"A{cite('a')}BC"
    assert strip_citations(text, []) == text


@pytest.mark.parametrize("case", ["twice", "overlapping", "beyond", "negative", "reversed"])
def test_markers_of_another_text_are_refused(case):
    text = f"A{cite('a')}B"
    (found,) = extract_citations(text)
    markers = {
        "twice": [found, found],
        "overlapping": [found, attrs.evolve(found, start=3)],
        "beyond": [attrs.evolve(found, end=99)],
        "negative": [attrs.evolve(found, start=-1)],
        "reversed": [attrs.evolve(found, start=9, end=1)],
    }[case]
    with pytest.raises(errors.OptionError) as caught:
        strip_citations(text, markers)
    assert str(caught.value) == "markers: wanted ranges of the text that do not overlap"


def test_one_text_is_no_choice_of_families():
    with pytest.raises(
        errors.OptionError, match="families: wanted names, not one text, got 'cite'"
    ):
        extract_citations("x", families="cite")


def test_long_ids_are_read_and_not_remembered():
    name = "a" * 300
    for _ in range(2):
        (found,) = extract_citations(cite(name, "L8"))
        assert (found.source_ids, found.locator) == ((name,), "L8")
