import pytest

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    SourceRegistry,
    format_marker,
)
from citestream.conversation.turns import Material
from citestream.events import SourceFacts
from citestream.providers.sent_material import (
    CitedPiece,
    SentMaterial,
    cited_pieces,
    page_location,
    pieces_of,
    shown_text,
    url_or_path,
)
from citestream.sources import Granularity, SourceDocument, from_blocks, from_pages, from_text


def material(document, *, granularity=Granularity.BLOCK, **fields):
    return Material(source=SourceRegistry().add(document, granularity=granularity), **fields)


def char(start, end):
    return CitationLocationChar(start_index=start, end_index=end)


def page(first, last):
    return CitationLocationPage(start_page=first, end_page=last)


def block(start, end):
    return CitationLocationBlock(start_block=start, end_block=end)


# -- what vendors are shown


def test_a_source_that_is_cited_by_page_is_cut_into_pages():
    pieces = pieces_of(material(from_pages(["A", " ", "B"]), granularity=Granularity.PAGE).source)
    assert (pieces.texts, pieces.numbers, pieces.by_page) == (("A", "B"), (0, 2), True)


@pytest.mark.parametrize("granularity", [Granularity.BLOCK, Granularity.LINE, Granularity.DOCUMENT])
def test_any_other_source_is_cut_into_blocks(granularity):
    pieces = pieces_of(material(from_blocks(["A", "B"]), granularity=granularity).source)
    assert (pieces.texts, pieces.numbers, pieces.by_page) == (("A", "B"), (0, 1), False)


def test_a_text_outside_of_all_blocks_is_one_piece_without_number():
    document = SourceDocument(content="A  ", marked_blocks=((1, 2),))
    pieces = pieces_of(material(document).source)
    assert (pieces.texts, pieces.numbers) == (("A  ",), ())


@pytest.mark.parametrize(
    ("make", "granularity", "name", "location"),
    [
        (from_blocks, Granularity.BLOCK, "block2", block(2, 3)),
        (from_blocks, Granularity.LINE, "block2", char(6, 9)),
        (from_pages, Granularity.PAGE, "page2", page(3, 3)),
    ],
)
def test_what_is_cited_as_a_whole_is_a_page_or_a_block(make, granularity, name, location):
    source = material(make(["A", " ", "B\ue200C"]), granularity=granularity).source
    first, last = cited_pieces(source)
    assert (first.name, first.shown, first.cited_text) == (name[:-1] + "0", "A", "A")
    start = source.document.content.index("B")
    assert last == CitedPiece(
        name=name,
        shown="B\ufffdC",
        cited_text="B\ue200C",
        characters=(start, start + 3),
        location=location,
    )


@pytest.mark.parametrize(
    ("document", "granularity"),
    [
        (from_blocks(["A", "B"]), Granularity.DOCUMENT),
        (SourceDocument(content="A\n\nB  ", marked_blocks=((5, 6),)), Granularity.BLOCK),
    ],
    ids=["document", "outside of all blocks"],
)
def test_a_source_may_be_cited_as_one(document, granularity):
    [piece] = cited_pieces(material(document, granularity=granularity).source)
    assert piece == CitedPiece(shown=document.content)


def test_what_is_shown_holds_no_markers_and_has_its_characters_in_place():
    text = f"Rent {format_marker('turn0file0')} rose."
    shown = shown_text(material(from_text(text)).source)
    assert len(shown) == len(text)
    assert "\ue200" not in shown
    assert shown.endswith(" rose.")


# -- places as vendors name them


@pytest.mark.parametrize(
    ("start", "end", "location"),
    [
        (1, 2, page(1, 1)),  # one page, as recorded
        (2, 5, page(2, 4)),
        (0, 2, None),
        (2, 2, None),
        (3, 2, None),
        (None, 2, None),
        (1, None, None),
    ],
)
def test_the_exclusive_end_page_becomes_the_last_page(start, end, location):
    assert page_location(start, end) == location


@pytest.mark.parametrize(
    ("source", "url", "path"),
    [
        ("https://a.example/x#y", "https://a.example/x#y", None),
        ("HTTP://a.example", "HTTP://a.example", None),
        ("https://", None, None),
        ("docs/g.md", None, "docs/g.md"),
        (".\\docs\\g.md", None, "docs/g.md"),
        ("README.md", None, "README.md"),
        ("kb:1", None, None),
        ("file:///etc/passwd", None, None),
        ("javascript:alert(1)/x.js", None, None),
        ("C:\\g.md", None, None),
        ("/etc/passwd", None, None),
        ("../up.md", None, None),
        ("turn0file0", None, None),
        ("", None, None),
    ],
)
def test_a_free_text_names_a_url_a_path_or_nothing(source, url, path):
    assert url_or_path(source) == (url, path)


# -- what was sent


def test_facts_of_what_was_sent_and_of_what_was_not():
    sent = SentMaterial([material(from_text("A", title="T", url="https://a.example/", path="a"))])
    assert sent.facts(0, provider="p", kind="document") == SourceFacts(
        provider="p",
        key=("citableSourceId", "turn0file0"),
        title="T",
        url="https://a.example/",
        path="a",
    )
    found = material(from_text("A"), origin="tool")
    assert sent.add(found) == 1
    facts = sent.facts(1, provider="p", kind="document", title="V")
    assert (facts.provider, facts.title) == ("client", "V")
    for number in (2, -1, None, "0"):
        stranger = SourceFacts(provider="p", key=("document", number, "V"), title="V")
        assert sent.facts(number, provider="p", kind="document", title="V") == stranger


def test_number_and_name_find_what_was_sent():
    sent = SentMaterial()
    for name in ("A", "B  b", None, "Twin", "Twin"):
        sent.add(material(from_text("x")), name=name)
    wanted = {
        (0, None): 0,
        (0, "A"): 0,
        (1, "b B"): 1,
        (1, "b\nb"): 1,
        (0, "B b"): 1,
        (None, "A"): 0,
        (9, "A"): 0,
        (2, None): 2,
        (2, "Z"): None,
        (4, "Twin"): 4,
        (0, "Twin"): None,
        (None, "Twin"): None,
        (9, None): None,
        (None, None): None,
    }
    assert {(n, name): sent.find(n, name=name) for n, name in wanted} == wanted


def located(document, *, number=0, granularity=Granularity.BLOCK, **place):
    sent = SentMaterial([material(document, granularity=granularity)])
    return sent.location(number, **place)


@pytest.mark.parametrize("unit", ["char", "page", "block"])
@pytest.mark.parametrize(("start", "end"), [(None, 2), (1, None), (2, 2), (3, 1)])
@pytest.mark.parametrize("number", [0, None])
def test_an_impossible_range_is_no_place(unit, start, end, number):
    document = from_text("Rent rose.")
    assert located(document, number=number, unit=unit, start=start, end=end) is None


TEXT = "📎 Rent rose. 家賃。 Rent fell."


@pytest.mark.parametrize(
    ("start", "end", "cited_text", "location"),
    [
        (2, 12, "Rent rose.", char(2, 12)),
        (3, 13, "Rent rose.", char(2, 12)),  # counted in UTF-16
        (5, 15, "Rent rose.", char(2, 12)),  # counted in bytes
        (4, 14, "Rent rose.", char(2, 12)),  # off, but its words stand there alone
        (2, 12, None, char(2, 12)),
        (2, 12, "Other words", char(2, 12)),
        (0, len(TEXT), "Other words", char(0, len(TEXT))),
        (0, len(TEXT) + 1, "Other words", None),
        (0, len(TEXT) + 1, None, None),
    ],
)
def test_the_words_decide_what_characters_are_counted_in(start, end, cited_text, location):
    place = {"unit": "char", "start": start, "end": end, "cited_text": cited_text}
    assert located(from_text(TEXT), **place) == location
    assert located(from_text(TEXT), number=None, **place) == char(start, end)


def test_a_text_is_searched_more_than_once():
    sent = SentMaterial([material(from_text(TEXT))])
    for start, end, words in [(2, 12, "Rent rose."), (17, 27, "Rent fell.")]:
        for off in (0, 1):
            places = {"start": start + off, "end": end + off}
            found = sent.location(0, unit="char", cited_text=words, **places)
            assert found == char(start, end)


@pytest.mark.parametrize(
    ("start", "end", "location"),
    [(0, 1, block(0, 1)), (1, 2, block(2, 3)), (0, 2, block(0, 3)), (1, 3, None)],
)
def test_blocks_are_those_of_the_document(start, end, location):
    sent = SentMaterial([material(from_blocks(["A", " ", "B"]))])
    for _ in range(2):
        assert sent.location(0, unit="block", start=start, end=end) == location
    assert sent.location(7, unit="block", start=start, end=end) == block(start, end)


def test_blocks_are_pages_where_pages_were_sent():
    place = {"unit": "block", "start": 1, "end": 2, "granularity": Granularity.PAGE}
    assert located(from_pages(["A", " ", "B"]), **place) == page(3, 3)


@pytest.mark.parametrize(
    ("document", "start", "end", "location"),
    [
        (from_pages(["A", "B"]), 2, 3, page(2, 2)),
        (from_pages(["A", "B"]), 2, 4, None),
        (from_pages(["A", "B"]), 0, 1, None),
        (from_text("A"), 2, 4, page(2, 3)),  # nothing is known of its pages
    ],
)
def test_pages_are_those_of_the_document(document, start, end, location):
    assert located(document, unit="page", start=start, end=end) == location
    if location is not None:
        assert located(document, number=None, unit="page", start=start, end=end) == location


def test_a_quotation_is_given_back_as_it_stands_in_the_source():
    text = f"Rent {format_marker('turn0file0')} rose."
    sent = SentMaterial([material(from_text(text))])
    shown = sent.get(0) and shown_text(sent.get(0).source)
    assert sent.exact_text(0, shown[3:]) == text[3:]
    for same in ("Rent", "\ufffd nowhere", "", None):
        assert sent.exact_text(0, same) == same
    assert sent.exact_text(None, shown) == shown
