import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citestream.markers import DEFAULT_SYNTAX, FAMILIES, FamilyKind, MarkerSyntax, parse_markers
from citestream.markers.grammar import Grammar
from citestream.offsets import well_formed
from texts import CLOSE, DELIM, OPEN, PLACEHOLDER, START, STOP, SYNTAXES, cite, marker, marker_texts

FAR = 10**18


def read(text, syntax=DEFAULT_SYNTAX, known=()):
    """Read the one marker that ``text`` is."""
    (placed,) = parse_markers(text, syntax=syntax, known=known).markers
    assert placed.marker.raw == text
    return placed.marker


def targets(*fields, **options):
    """Return the sources and ranges that a cite marker of ``fields`` names."""
    found = read(cite(*fields), **options).targets
    return [
        (t.source_id, t.locator.unit, t.locator.start, t.locator.end)
        if t.locator
        else (t.source_id,)
        for t in found
    ]


def problems(*fields, **options):
    return [(p.kind, p.message) for p in read(cite(*fields), **options).problems]


def test_the_same_syntax_gives_the_same_grammar():
    assert Grammar.of(MarkerSyntax()) is Grammar.of(MarkerSyntax())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_is_read_as_its_kind(family):
    body = '["t","Name"]' if family.kind is FamilyKind.NAMED else "Label"
    found = read(marker(family.name, body))
    assert (found.family, found.kind) == (family.name, family.kind)
    label = {FamilyKind.NAMED: "Name", FamilyKind.LABELLED: "Label"}.get(family.kind, "")
    assert found.label == label
    assert bool(found.targets) == (family.kind is FamilyKind.CITING)
    assert found.problems == ()


@pytest.mark.parametrize(
    "source_id",
    [
        "turn0search4",
        "turn693056news0",
        "turn0file1",
        "turn2view17",
        "turn0academia3",
        "turn1reddit0",
        "turn3calculator0",
        "turn9youtube1",
        "turn0msearch2",
        "reference_id",
        "S1",
        "chk_1",
        "block5",
        "-",
        "0",
    ],
)
def test_no_kind_of_id_is_unknown(source_id):
    assert targets(source_id) == [(source_id,)]


def test_twenty_ids_in_one_marker_keep_their_order():
    ids = [f"turn{n}view{20 - n}" for n in range(20)]
    assert targets(*ids) == [(source_id,) for source_id in ids]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (["a", "L8"], [("a", "line", 8, 8)]),
        (["a", "L8-L13"], [("a", "line", 8, 13)]),
        (["a", "L8-13"], [("a", "line", 8, 13)]),
        (["a", "l8-l13"], [("a", "line", 8, 13)]),
        (["a", "l8"], [("a", "line", 8, 8)]),
        (["a", "L8\u2013L13"], [("a", "line", 8, 13)]),
        (["a", "L8\u201313"], [("a", "line", 8, 13)]),
        (["a", "L1-L1"], [("a", "line", 1, 1)]),
        (["a", "L0"], [("a", "line", 0, 0)]),
        (["a", "L007"], [("a", "line", 7, 7)]),
        (["a", "L" + "9" * 18], [("a", "line", 10**18 - 1, 10**18 - 1)]),
        (["a", "L" + "9" * 19], [("a", "line", FAR, FAR)]),
        (["a", "L1-L" + "9" * 4000], [("a", "line", 1, FAR)]),
        (["a", "L1", "b", "L4-L9"], [("a", "line", 1, 1), ("b", "line", 4, 9)]),
        (["a", "L1", "b"], [("a", "line", 1, 1), ("b",)]),
        (["a", "b", "L4"], [("a",), ("b", "line", 4, 4)]),
        (["a", "L1", "L4-L9"], [("a", "line", 1, 1), ("a", "line", 4, 9)]),
        (["a", "b", "a", "L2"], [("a",), ("b",), ("a", "line", 2, 2)]),
        ([" a ", "\tL8\n"], [("a", "line", 8, 8)]),
        (["", "a", "", "L8", ""], [("a", "line", 8, 8)]),
        (["a", "P3"], [("a",), ("P3",)]),
        (["turn0file3L1-L25"], [("turn0file3L1-L25",)]),
    ],
)
def test_sources_and_locators(fields, found):
    assert targets(*fields) == found
    assert problems(*fields) == []


@pytest.mark.parametrize(
    ("fields", "found", "wrong"),
    [
        ([], [], [("malformed_marker", "names no source")]),
        (["", " "], [], [("malformed_marker", "names no source")]),
        (
            ["a", "L9-L8"],
            [],
            [("reversed_range", "L9-L8 ends before it starts")],
        ),
        (
            ["a", "L9-8", "b"],
            [("b",)],
            [("reversed_range", "L9-8 ends before it starts")],
        ),
        (
            ["L8", "a"],
            [("a",)],
            [("malformed_marker", "locator 'L8' has no source id before it")],
        ),
        (
            ["L8"],
            [],
            [("malformed_marker", "locator 'L8' has no source id before it")],
        ),
        (["a b"], [], [("malformed_marker", "'a b' is not a source id")]),
        (["turn<0>search3"], [], [("malformed_marker", "'turn<0>search3' is not a source id")]),
        (["..."], [], [("malformed_marker", "'...' is not a source id")]),
        (["a", "#L8-L13"], [("a",)], [("malformed_marker", "'#L8-L13' is not a source id")]),
        (
            ["a", "p.3", "L2"],
            [("a",)],
            [
                ("malformed_marker", "'p.3' is not a source id"),
                ("malformed_marker", "locator 'L2' has no source id before it"),
            ],
        ),
        (["a", "L\u0663"], [("a",)], [("malformed_marker", r"'L\u0663' is not a source id")]),
        (["a", "a"], [("a",)], [("duplicate_reference", "names a twice")]),
        (
            ["a", "L1", "a", "L1"],
            [("a", "line", 1, 1)],
            [("duplicate_reference", "names a at L1 twice")],
        ),
        (["日本"], [], [("malformed_marker", r"'\u65e5\u672c' is not a source id")]),
    ],
)
def test_what_cannot_be_used_is_a_problem(fields, found, wrong):
    assert targets(*fields) == found
    assert problems(*fields) == wrong


def test_a_registered_id_is_an_id_whatever_it_looks_like():
    assert targets("L8", known={"L8"}) == [("L8",)]
    assert targets("a", "L8", known={"L8"}) == [("a",), ("L8",)]
    assert targets("L8", "L9", known=["L8"]) == [("L8", "line", 9, 9)]
    assert targets("a", "L8-13", known={"a": 1, "L8-13": 2}) == [("a",), ("L8-13",)]


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("L8", ("line", 8, 8)),
        ("P3-P5", ("page", 3, 5)),
        ("p3", ("page", 3, 3)),
        ("B2-4", ("block", 2, 4)),
        ("C10-C20", ("char", 10, 20)),
    ],
)
def test_locators_of_other_units_are_read_on_request(field, found):
    assert targets("a", field, syntax=SYNTAXES["locators"]) == [("a", *found)]


def test_locators_mix_no_units():
    assert targets("a", "L3-P5", syntax=SYNTAXES["locators"]) == [("a",), ("L3-P5",)]


def test_locators_may_be_switched_off():
    assert targets("a", "L8", syntax=MarkerSyntax(locators=())) == [("a",), ("L8",)]


def test_a_syntax_without_families_knows_no_marker():
    syntax = MarkerSyntax(families=())
    assert parse_markers(cite("a") + START, syntax=syntax).content == cite("a") + START


# -- labels


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('["city","Paris","the capital"]', "Paris"),
        ('["city", "Paris", 0]', "Paris"),
        ('["turn0business0","Café du Port"]', "Café du Port"),
        ('["city","S\\u00e3o Paulo"]', "São Paulo"),
        ('["x","A \\"B\\" C"]', 'A "B" C'),
        ('["x","a\\\\b\\/c"]', "a\\b/c"),
        (r'["x","A\|B"]', r"A\|B"),
        (r'["x","\alpha and \x41"]', r"\alpha and \x41"),
        (r'["x","\u00"]', r"\u00"),
        (r'["x","\ud83d\udcce"]', "📎"),
        (r'["x","lone \ud83d here"]', "lone \ufffd here"),
        (r'["x","two\nlines"]', "two lines"),
        ('["x","two\nlines"]', "two lines"),
        (r'["x","a\r\nb\rc\u2028d"]', "a b c d"),
        (r'["x","\ue200cite\ue202a\ue201"]', "citea"),
        (r'["x","\ue203sub\ue204\ue206"]', "sub"),
        ('["x","cut here"', "cut here"),
        ('not json, but "x" and "name"', "name"),
        ('["x","  padded "]', "padded"),
        ('["x","tab\tin"]', "tab\tin"),
    ],
)
def test_names_are_read_also_from_what_is_not_quite_json(body, name):
    assert read(marker("entity", body)).label == name


@pytest.mark.parametrize(
    "body",
    ["", "[]", '["x"]', '["x",""]', '["x","cut', "plain words", r'["x","\ue200"]', '["x", 7]'],
)
def test_a_name_that_is_not_there_is_a_problem(body):
    found = read(marker("entity", body))
    assert found.label == ""
    assert [(p.kind, p.message) for p in found.problems] == [("malformed_marker", "has no label")]


@pytest.mark.parametrize(
    ("family", "fields", "label"),
    [
        ("url", ["the report", "https://example.org/a"], "the report"),
        ("url", ["the report"], "the report"),
        ("url", [" spaced ", "x"], "spaced"),
        ("video", ['How to | "fix" it', "turn0video1"], 'How to | "fix" it'),
        ("video", ["日本の\r\n歴史", "turn0video1"], "日本の 歴史"),
        ("url", [f"{OPEN}a{CLOSE}{PLACEHOLDER}", "x"], "a"),
        ("product_entity", ['["turn0product0","Lamp"]'], "Lamp"),
        ("product", ['["turn0product1","Lamp",{"price":"9"}]'], "Lamp"),
    ],
)
def test_labels(family, fields, label):
    found = read(marker(family, *fields))
    assert (found.label, found.targets, found.problems) == (label, (), ())


@pytest.mark.parametrize("fields", [[], ["", "x"], [" "]])
def test_a_missing_label_is_a_problem(fields):
    found = read(marker("url", *fields))
    assert [(p.kind, p.message) for p in found.problems] == [("malformed_marker", "has no label")]


@given(marker_texts(), st.sampled_from(["default", "ascii", "ascii highlight"]))
@example("[[[[]]]]", "ascii")
@example("[[]][", "ascii")
def test_no_label_holds_marker_characters(name, syntax_name):
    syntax = SYNTAXES[syntax_name]
    escaped = "".join(f"\\u{unit:04x}" for unit in utf16_units(name))
    body = f'"place","{escaped}"'
    text = f"{syntax.start}entity{syntax.delimiter}{body}{syntax.stop}"
    found = read(text, syntax=syntax)
    marks = (syntax.start, syntax.delimiter, syntax.stop, *(syntax.highlight or ()))
    assert not any(mark in found.label for mark in marks)
    assert found.label == well_formed(found.label).strip()
    assert len(found.label.splitlines()) <= 1


def utf16_units(text):
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]


# -- what of a marker without STOP is no prose


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("cite|a and prose", "cite|a"),
        ("cite|a|b prose", "cite|a|b"),
        ("cite|", "cite|"),
        ("cite| <bad>", "cite| "),
        ("memcite|x y\nprose", "memcite|x y"),
        ("navlist|Some title|a,b\nprose", "navlist|Some title|a,b"),
        ('entity|["p","Paris"] is big', 'entity|["p","Paris"]'),
        ('entity| ["p","a]b", 0] x', 'entity| ["p","a]b", 0]'),
        ('entity|["p","Paris is\nbig', 'entity|["p","Paris is'),
        ("url|the report|http://x.y/z and prose", "url|the report|http://x.y/z"),
        ("url|the report and\nprose", "url|the report and"),
    ],
)
def test_what_of_a_marker_without_stop_goes(text, raw):
    syntax = MarkerSyntax(start="<", delimiter="|", stop="}", highlight=None)
    (placed, _) = parse_markers(f"<{text}<cite|z}}", syntax=syntax).markers
    assert placed.marker.raw == f"<{raw}"
    assert ("malformed_marker", "has no end") in [
        (p.kind, p.message) for p in placed.marker.problems
    ]


def test_what_is_cut_in_a_delimiter_goes_too():
    for text in ("[[cite|a]", "[[cite|a", "[[cit", "[[cite"):
        assert parse_markers(f"Rents {text}", syntax=SYNTAXES["ascii"]).content == "Rents"
    long = SYNTAXES["ascii highlight"]
    assert parse_markers("Rents <<cite:", syntax=long).content == "Rents"
    assert parse_markers("Rents <<cite::a:", syntax=long).content == "Rents"
    assert parse_markers("Rents <<cite::a>", syntax=long).content == "Rents"


def test_marks_and_names_are_taken_as_they_are():
    syntax = MarkerSyntax(start="(?:", delimiter="+", stop="*)", highlight=None)
    assert parse_markers("a (?:cite+b*)", syntax=syntax).markers[0].marker.raw == "(?:cite+b*)"


def test_head_and_opening():
    grammar = Grammar.of(DEFAULT_SYNTAX)
    assert grammar.head.match(f"cite{DELIM}a")[1] == "cite"
    assert grammar.head.match(f"image_group{STOP}")[1] == "image_group"
    assert grammar.head.match("cite") is None
    assert grammar.opening.fullmatch(f"i{STOP}")
