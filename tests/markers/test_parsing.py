import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.markers import DEFAULT_SYNTAX, FAMILIES, MarkerFilter, parse_markers
from citestream.offsets import well_formed
from feeding import same_however_cut
from texts import (
    CLOSE,
    DELIM,
    OPEN,
    PAIR,
    PARIS,
    PLACEHOLDER,
    START,
    STOP,
    cite,
    marker,
    marker_texts,
    prose,
)

FILE = marker("filecite", "turn23file0", "L1-L1")


def seen(text, **options):
    """Return the content, and for each marker what it cites or else what is wrong with it."""
    read = parse_markers(text, **options)
    assert same_however_cut(text, MarkerFilter) == read.content
    return read.content, [
        [
            *(f"{t.source_id} {t.locator or ''}".strip() for t in placed.marker.targets),
            *(problem.kind for problem in placed.marker.problems),
        ]
        for placed in read.markers
    ]


# Every variant of a marker that was met in real answers, the texts made up.
VARIANTS = {
    "one id": (f"Rents rose. {cite('turn0search4')}", "Rents rose.", [["turn0search4"]]),
    "several ids of several kinds": (
        f"A.{cite('turn6view0', 'turn17news0', 'turn0academia3', 'turn1file2')}",
        "A.",
        [["turn6view0", "turn17news0", "turn0academia3", "turn1file2"]],
    ),
    "the same id twice": (f"A.{cite('a', 'a')}", "A.", [["a", "duplicate_reference"]]),
    "a file, no place": (f"A.{marker('filecite', 'turn0file0')}", "A.", [["turn0file0"]]),
    "a file and a place": (f"A.{FILE}", "A.", [["turn23file0 L1-L1"]]),
    "several files": (
        f"A.{marker('filecite', 'turn0file0', 'turn0file5')}",
        "A.",
        [["turn0file0", "turn0file5"]],
    ),
    "a file in the other family": (f"A.{cite('turn0file1')}", "A.", [["turn0file1"]]),
    "link": (f"A.{marker('link', 'turn0search1')}", "A.", [["turn0search1"]]),
    "a large turn number": (f"A.{cite('turn693056news0')}", "A.", [["turn693056news0"]]),
    "an id of another shape": (f"A.{cite('reference_id')}", "A.", [["reference_id"]]),
    "a template": (f"A.{cite('turn<number>search<number>')}", "A.", [["malformed_marker"]]),
    "dots": (f"A.{cite('...')}", "A.", [["malformed_marker"]]),
    "entity": (f"In {PARIS}, rents rose.", "In Paris, rents rose.", [[]]),
    "entity with spaces": (
        "In " + marker("entity", '["turn0business0", "Chez Léa", "a café"]') + ".",
        "In Chez Léa.",
        [[]],
    ),
    "url": (
        f"See {marker('url', 'the report', 'turn0search1')}.",
        "See the report.",
        [[]],
    ),
    "products": ("A. " + marker("products", '{"selections":[["a","b"]]}') + "\nB", "A.\nB", [[]]),
    "image_group first": (
        marker("image_group", '{"query":["a b"]}') + "\nRents rose.",
        "Rents rose.",
        [[]],
    ),
    "i glued to a word": (f"{marker('i', 'turn0image0', 'turn0image1')}Rents", "Rents", [[]]),
    "navlist with commas": (
        f"A.\n{marker('navlist', 'More', 'turn0news1,turn0news2')}\n",
        "A.\n",
        [[]],
    ),
    "navlist with fields": (f"A.\n{marker('navlist', 'More', 'a', 'b')}\n", "A.\n", [[]]),
    "filenavlist": (
        "A.\n" + marker("filenavlist", f"174:1{PAIR}free text", f"3:2{PAIR}x"),
        "A.\n",
        [[]],
    ),
    "businesses_map": ("A." + marker("businesses_map", '{"cite":"a"}', '{"b":1}'), "A.", [[]]),
    "code over lines": ("A.\n" + marker("code", "py", "x = 1\n\ny = 2") + "\nB", "A.\nB", [[]]),
    "genui": ("A. " + marker("genui", r'{"math":"\alpha \frac{1}{2}"}') + " B", "A. B", [[]]),
    "memcite": (f"A. {marker('memcite')} B", "A. B", [[]]),
    "highlight": (f"{OPEN}Rents rose.{CLOSE} {cite('a')}", "Rents rose.", [["a"]]),
    "highlight of a table": (
        f"{OPEN}| a |\n|---|\n| **b** |{CLOSE}{PLACEHOLDER}\nA",
        "| a |\n|---|\n| **b** |\nA",
        [],
    ),
    "placeholder": (f"A.{PLACEHOLDER}\n\nB.{cite('a')}{PLACEHOLDER}\n", "A.\n\nB.\n", [["a"]]),
    "next START before the STOP": (
        f"A {START}cite{DELIM}a{DELIM}b {marker('filecite', 'c', 'L1-L1')}.",
        "A.",
        [["a", "b", "malformed_marker"], ["c L1-L1"]],
    ),
    "prose after a START without STOP": (
        f"A {START}cite{DELIM}a and more {cite('b')}.",
        "A and more.",
        [["a", "malformed_marker"], ["b"]],
    ),
    "family without anything": (f"({START}filecite). B", f"({START}filecite). B", []),
    "newline inside": ("A." + cite("\na\n", "\r\nL1 "), "A.", [["a L1"]]),
    "blanks around fields": (f"A.{cite(' a ', ' L1 ')}", "A.", [["a L1"]]),
    "doubled delimiters": (f"A.{cite('', 'a', '', '')}", "A.", [["a"]]),
    "delimiters outside": (f"A {DELIM}turn0search0 B{STOP}", f"A {DELIM}turn0search0 B{STOP}", []),
    "inline code": (f"`{cite('a')}` B", "`` B", [["a"]]),
    "link target": (f"[text]({cite('a')})", "[text]()", [["a"]]),
    "table row": (f"| a {cite('a')} | b |", "| a | b |", [["a"]]),
    "table row, label with a pipe": (
        "| " + marker("video", r"a \| b", "turn0video0") + " | c |",
        r"| a \| b | c |",
        [[]],
    ),
    "bold": (f"**In {PARIS}**: **x {cite('a')}** y", "**In Paris**: **x** y", [[], ["a"]]),
    "bold across": (f"**x {cite('a')} y** {cite('b')}", "**x y**", [["a"], ["b"]]),
    "alone on its line": (f"A.\n{cite('a')}\n\nB.", "A.\n\nB.", [["a"]]),
    "behind a word": (f"家賃が上がった。{cite('a')}賃金", "家賃が上がった。賃金", [["a"]]),
    "before punctuation": (f"家賃 {cite('a')}。A {cite('b')}.", "家賃。A.", [["a"], ["b"]]),
    "one blank between": (f"A.{cite('a')} {cite('b')} B", "A. B", [["a"], ["b"]]),
    "hard break": (f"A. {cite('a')}  \nB", "A.  \nB", [["a"]]),
    "right to left": (f"ارتفع الإيجار {cite('a')}.", "ارتفع الإيجار.", [["a"]]),
    "astral": (f"📎 rose 👩\u200d🔬 {cite('a')}🎉", "📎 rose 👩\u200d🔬 🎉", [["a"]]),
}
# What is no marker stays, character for character.
NO_MARKERS = {
    "icons": "\ue200 \ue201\ue202 \ue205",
    "an icon in a button": f"Press {START} or {STOP}",
    "medieval letters": f"bl{PAIR}d in {PAIR}ld",
    "other private use": "\uf8ff \ue210 \U000f0001",
    "CJK brackets": "【注】と【1】",
    "tethers": "【12†L34-L40】【20†source】【4:0†source】",
    "lost delimiters": "citeturn0search0 fileciteturn0file3L1-L25",
    "escapes as text": r"\ue200cite\ue202turn0search0\ue201",
    "words": "We cite it. filecite entity",
    "other notations": ":contentReference[oaicite:3]{index=3} [^1] [1] [cite: 1, 2]",
    "an unknown family": f"A {marker('nope', 'a', 'b')} B",
    "an unknown family that begins like one": f"A {marker('cited', 'a')} B",
    "an unknown family that ends like one": f"A {marker('xcite', 'a')} B",
    "a family in capitals": f"A {marker('Cite', 'a')} B",
    "no family": f"A {marker('', 'a', 'b')} B",
    "a blank before the family": f"A {START} cite{DELIM}a{STOP} B",
}


@pytest.mark.parametrize(("text", "content", "found"), VARIANTS.values(), ids=VARIANTS)
def test_every_variant_that_was_met(text, content, found):
    assert seen(text) == (content, found)


@pytest.mark.parametrize("text", NO_MARKERS.values(), ids=NO_MARKERS)
def test_what_is_no_marker_stays(text):
    assert seen(text) == (text, [])
    assert parse_markers(text).runs == ((0, len(text), 0),)


@given(st.text(st.characters(categories=["Ll", "Lu", "Nd", "Zs", "Po"]), max_size=9), prose)
def test_an_unknown_family_passes_byte_for_byte(word, body):
    text = well_formed(marker(word, body))
    if any(word == family.name for family in FAMILIES):
        return
    assert parse_markers(text).content == text


def test_a_start_beyond_the_maximum_length_is_text():
    text = f"{START}cite{DELIM}" + "a" * DEFAULT_SYNTAX.max_length
    assert parse_markers(text).content == text
    assert parse_markers(text + STOP).content == text + STOP
    assert parse_markers(f"{text} B {cite('a')}").content == f"{text} B"


# -- cut off at the end of the text


WHOLE = [
    cite("turn0file0", "L8-L13"),
    marker("filecite", "a", "b"),
    marker("memcite"),
    marker("navlist", "More on this", "a,b"),
    PARIS,
    marker("url", "the report", "turn0search1"),
]


@pytest.mark.parametrize("whole", WHOLE, ids=ascii)
def test_no_trace_of_a_marker_that_the_end_cuts_off(whole):
    for size in range(1, len(whole)):
        text = f"Rents rose. {whole[:size]}"
        read = parse_markers(text)
        assert same_however_cut(text, MarkerFilter) == read.content
        (placed,) = read.markers
        found = placed.marker
        assert found.raw == whole[:size]
        assert found.targets == ()
        assert [(p.kind, p.message) for p in found.problems] == [
            ("truncated_marker", "is cut off by the end of the text")
        ]
        assert read.content == f"Rents rose. {found.label}".strip()


@pytest.mark.parametrize(
    ("cut", "content"),
    [
        (f"{START}url{DELIM}the rep", "See"),
        (f"{START}url{DELIM}the report{DELIM}", "See the report"),
        (f"{START}video{DELIM}the report{DELIM}turn0", "See the report"),
        (f'{START}entity{DELIM}["city","Par', "See"),
        (f'{START}entity{DELIM}["city","Paris"', "See Paris"),
        (f"{START}cite{DELIM}a. More text", "See. More text"),
        (f"{START}cite{DELIM}a\n\nMore text", "See\n\nMore text"),
        (f"{START}navlist{DELIM}A\nMore text", "See\nMore text"),
        (f"{START}ent", "See"),
        (f"{START}enx", f"See {START}enx"),
    ],
)
def test_words_around_what_is_cut_off_stay(cut, content):
    text = f"See {cut}"
    assert same_however_cut(text, MarkerFilter) == parse_markers(text).content == content


def test_in_strip_mode_words_go_and_in_keep_mode_everything_stays():
    cut = f"See {START}url{DELIM}the report{DELIM}"
    assert parse_markers(cut, other_families="strip").content == "See"
    assert parse_markers(cut, other_families="keep").content == cut


# -- positions


def test_positions_and_places():
    text = f"📎 A.{cite('a')} B {PARIS}.{FILE}"
    read = parse_markers(text)
    assert read.content == "📎 A. B Paris."
    assert [m.position for m in read.markers] == [4, 12, 13]
    assert [text[m.marker.start : m.marker.end] for m in read.markers] == [
        cite("a"),
        PARIS,
        FILE,
    ]
    assert read.runs == ((0, 4, 0), (12, 15, 4), (41, 42, 12))


def test_surrogates_are_joined_or_replaced_first():
    read = parse_markers(f"\ud83d\udcce \ud83d {cite('a')}")
    assert (read.content, read.markers[0].position) == ("📎 \ufffd", 3)


def test_registered_ids():
    read = parse_markers(f"A{cite('L8')}", known={"L8"})
    assert [t.source_id for t in read.markers[0].marker.targets] == ["L8"]


@given(marker_texts(max_size=40) | prose)
def test_reading_never_raises_and_what_stays_is_text(text):
    for mode in ("display", "strip", "keep"):
        read = parse_markers(text, other_families=mode)
        assert well_formed(read.content) == read.content


@given(marker_texts())
def test_reading_the_content_again_changes_no_word(text):
    read = parse_markers(text, other_families="strip")
    again = parse_markers(read.content, other_families="strip")
    assert all(m.marker.problems for m in again.markers)
