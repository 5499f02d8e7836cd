import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from citestream import errors
from citestream.markers import (
    BLOCKS,
    CHARACTERS,
    DEFAULT_SYNTAX,
    FAMILIES,
    LINES,
    PAGES,
    Family,
    FamilyKind,
    Locator,
    LocatorPattern,
    MarkerSyntax,
    extract_citations,
    format_marker,
    parse_markers,
)
from citestream.markers.syntax import locator_form
from texts import DELIM, START, STOP, SYNTAXES, cite, marker

# -- the syntax


def test_the_defaults_are_those_of_the_guide():
    syntax = DEFAULT_SYNTAX
    assert (syntax.start, syntax.delimiter, syntax.stop) == (START, DELIM, STOP)
    assert syntax.highlight == ("\ue203", "\ue204", "\ue206")
    assert syntax.locators == (LINES,)
    assert syntax.max_length == 4096
    assert syntax.families == FAMILIES


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (FamilyKind.CITING, "cite filecite link"),
        (FamilyKind.NAMED, "entity product_entity product"),
        (FamilyKind.LABELLED, "url video"),
        (
            FamilyKind.WIDGET,
            """products image_group i navlist filenavlist finance forecast schedule standing
            calculator businesses_map code genui memcite image map weather entity_metadata
            explore_more message_reaction link_title memory sports""",
        ),
    ],
)
def test_the_table_of_families(kind, names):
    assert {family.name for family in FAMILIES if family.kind is kind} == set(names.split())
    assert kind.bears_prose == (kind in {FamilyKind.NAMED, FamilyKind.LABELLED})


def test_a_syntax_is_a_value():
    assert MarkerSyntax(families=list(FAMILIES), locators=[LINES]) == DEFAULT_SYNTAX
    assert hash(MarkerSyntax()) == hash(DEFAULT_SYNTAX)
    assert MarkerSyntax(max_length=99) != DEFAULT_SYNTAX


def test_a_locator_is_written_as_it_came():
    assert str(Locator(unit="line", start=8, end=13, text="l8-13")) == "l8-13"


OVERLAP = "a marker syntax wants delimiters that do not overlap each other, got "


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": " [["}, "a marker syntax wants delimiters without blanks around them"),
        ({"start": ""}, "a marker syntax wants delimiters that are not empty"),
        ({"delimiter": ""}, "a marker syntax wants delimiters that are not empty"),
        ({"highlight": ("", "b", "c")}, "a marker syntax wants delimiters that are not empty"),
        (
            {"start": "[[", "delimiter": "[", "stop": "]", "highlight": None},
            OVERLAP + "('[[', '[', ']')",
        ),
        (
            {"start": "<|", "delimiter": "|>", "stop": ">", "highlight": None},
            OVERLAP + "('<|', '|>', '>')",
        ),
        (
            {"start": "\ue203"},
            OVERLAP + r"('\ue203', '\ue202', '\ue201', '\ue203', '\ue204', '\ue206')",
        ),
        (
            {"highlight": ("<<", ">", "^")},
            "a marker syntax wants highlight marks of one character each",
        ),
        ({"families": FAMILIES * 2}, "a marker syntax wants family names that differ"),
        ({"max_length": 4}, "max_length: wanted 5 or more, got 4"),
        (
            {"id_pattern": "["},
            "id_pattern: not a regular expression: unterminated character set at position 0",
        ),
        (
            {"id_pattern": "(a)"},
            "id_pattern: wanted no capturing groups and no match of the empty string",
        ),
        (
            {"id_pattern": "a*"},
            "id_pattern: wanted no capturing groups and no match of the empty string",
        ),
    ],
)
def test_a_syntax_that_cannot_be_read_is_refused(options, message):
    with pytest.raises(errors.OptionError) as caught:
        MarkerSyntax(**options)
    assert str(caught.value) == message


# -- writing markers


@pytest.mark.parametrize(
    ("ids", "options", "written"),
    [
        (["turn0search4"], {}, cite("turn0search4")),
        (["a", "b"], {"locator": "L8-L13"}, cite("a", "b", "L8-L13")),
        (
            ["a"],
            {"locator": Locator(unit="line", start=8, end=8, text="L8"), "family": "filecite"},
            marker("filecite", "a", "L8"),
        ),
        (["a"], {"syntax": SYNTAXES["ascii"]}, "[[cite|a]]"),
        (["a"], {"syntax": SYNTAXES["locators"], "locator": "P3-P5"}, cite("a", "P3-P5")),
        (["L8"], {}, cite("L8")),
    ],
)
def test_a_marker_is_written(ids, options, written):
    assert format_marker(*ids, **options) == written


WHOLE = "a source id wants no delimiters and no blanks around it, got "
LOOSE = MarkerSyntax(id_pattern=".+")
DASHES = MarkerSyntax(start="<", delimiter="--", stop=">", highlight=None)


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        ([], {}, "a marker wants at least one source id"),
        (["a b"], {}, "a source id wants the form [A-Za-z0-9_-]+, got 'a b'"),
        (["a\n"], {}, r"a source id wants the form [A-Za-z0-9_-]+, got 'a\n'"),
        (
            ["a"],
            {"family": "entity"},
            "family: wanted a citing family of the syntax, got 'entity'",
        ),
        (["a"], {"family": "nope"}, "family: wanted a citing family of the syntax, got 'nope'"),
        (["a"], {"locator": "L8-13"}, "a locator wants the form L8 or L8-L13, got 'L8-13'"),
        (["a"], {"locator": "P3"}, "a locator wants the form L8 or L8-L13, got 'P3'"),
        (
            ["a"],
            {"locator": "L9-L8"},
            "a locator wants an end at or after its start, got 'L9-L8'",
        ),
        (["a" * 5000], {}, "a marker wants at most 4096 characters: 5007"),
        (
            [f"a{DELIM}b"],
            {"syntax": LOOSE},
            WHOLE + r"'\ue200cite\ue202a\ue202b\ue201'",
        ),
        (
            [f"a{STOP}b"],
            {"syntax": LOOSE},
            WHOLE + r"'\ue200cite\ue202a\ue201b\ue201'",
        ),
        (
            [f"a{START}b"],
            {"syntax": LOOSE},
            WHOLE + r"'\ue200cite\ue202a\ue200b\ue201'",
        ),
        (
            [" a"],
            {"syntax": LOOSE},
            WHOLE + r"'\ue200cite\ue202 a\ue201'",
        ),
        (
            ["a-", "b"],
            {"syntax": DASHES},
            WHOLE + "'<cite--a---b>'",
        ),
    ],
)
def test_a_marker_that_would_not_be_read_back_is_not_written(ids, options, message):
    with pytest.raises(errors.OptionError) as caught:
        format_marker(*ids, **options)
    assert str(caught.value) == message


ids = st.one_of(
    st.text("abL0123456789_-", min_size=1, max_size=6), st.sampled_from(["L8", "L8-L13", "P3"])
)
locators = st.builds(
    lambda prefix, start, size: (
        f"{prefix}{start}-{prefix}{start + size}" if size else f"{prefix}{start}"
    ),
    st.sampled_from("LPBC"),
    st.integers(0, 10**20),
    st.integers(0, 9),
)
syntaxes = st.sampled_from([*SYNTAXES.values(), DASHES])


@given(
    st.lists(ids, min_size=1, max_size=4, unique=True), st.none() | locators, syntaxes, st.data()
)
def test_what_is_written_is_read_back(source_ids, locator, syntax, data):
    family = data.draw(st.sampled_from(["cite", "filecite", "link"]))
    try:
        written = format_marker(*source_ids, locator=locator, family=family, syntax=syntax)
    except errors.OptionError:
        assume(False)
    # A locator in the place of an id is an id for a reader that knows it.
    known = set(source_ids)
    assume(locator not in known)
    read = parse_markers(f"Rents rose.{written} Wages", syntax=syntax, known=known)
    (placed,) = read.markers
    assert read.content == "Rents rose. Wages"
    assert placed.marker.raw == written
    assert placed.marker.family == family
    assert placed.marker.problems == ()
    wanted = [(source_id, None) for source_id in source_ids]
    wanted[-1] = (source_ids[-1], locator)
    targets = placed.marker.targets
    assert [(t.source_id, t.locator and t.locator.text) for t in targets] == wanted
    for found in extract_citations(written, families=[family], syntax=syntax):
        assert found.raw == written


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        (
            LINES,
            ["L8", "L8-L13", "L0"],
            ["L", "L8-13", "l8", "L8-P13", "L8\u2013L13", "P8", "L\u0663"],
        ),
        (PAGES, ["P3", "P3-P5"], ["L3", "P3-L5"]),
        (BLOCKS, ["B2"], ["C2"]),
        (CHARACTERS, ["C10-C20"], ["C10-20"]),
        (LocatorPattern(unit="line", prefix="."), [".1"], ["a1"]),
    ],
)
def test_the_form_of_a_locator(pattern, fits, others):
    form = re.compile(locator_form(pattern))
    assert form.groups == 0
    assert all(form.fullmatch(text) for text in fits)
    assert not any(form.fullmatch(text) for text in others)


def test_a_family_of_ones_own():
    syntax = MarkerSyntax(families=[Family(name="src", kind=FamilyKind.CITING)])
    written = format_marker("a", family="src", syntax=syntax)
    assert parse_markers(f"x {written}", syntax=syntax).content == "x"
    assert parse_markers(f"x {cite('a')}", syntax=syntax).content == f"x {cite('a')}"
