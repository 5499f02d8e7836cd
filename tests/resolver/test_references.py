import pytest

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    CitationOptions,
    CitationSource,
    MarkerSyntax,
    format_marker,
    resolve,
)
from citestream.markers import BLOCKS, CHARACTERS, LINES, PAGES
from citestream.sources import SourceRegistry, from_blocks, from_pages, from_text

ALL = MarkerSyntax(locators=(LINES, PAGES, BLOCKS, CHARACTERS))
RULES = "Meals are paid.\r\nTaxis are not. 📎\r\n\r\nAsk first.\n"


@pytest.fixture
def registry():
    registry = SourceRegistry()
    registry.add(from_text(RULES, title="Rules", path="docs/rules.md"), alias="rules")
    registry.add(from_blocks(["Meals are paid.", "Ask first."]), alias="parts")
    registry.begin_turn()
    registry.add(from_pages(["One.", "Two."], title="Deck", url="https://a.example/deck#p"))
    return registry


def read(registry, *fields, unknown_sources="auto"):
    marker = ALL.start + ALL.delimiter.join(["cite", *fields]) + ALL.stop
    options = CitationOptions(syntax=ALL, unknown_sources=unknown_sources)
    return resolve(f"So it is. {marker}", registry, options=options)


def char(start, end):
    return CitationLocationChar(start_index=start, end_index=end)


def only(answer):
    ((reference,),) = (span.references for span in answer.citations.spans)
    return answer.citations.sources[0], reference


@pytest.mark.parametrize(
    ("fields", "location", "text"),
    [
        (["turn0file0"], None, None),
        (["rules"], None, None),
        (["turn0file0", "L2"], char(17, 33), "Taxis are not. 📎"),
        (["turn0file0", "L2-L4"], char(17, 47), "Taxis are not. 📎\r\n\r\nAsk first."),
        (["turn0file0", "C6-C9"], char(6, 9), "are"),
        (["turn0file1", "B2"], CitationLocationBlock(start_block=1, end_block=2), "Ask first."),
        (["turn0block2"], CitationLocationBlock(start_block=1, end_block=2), "Ask first."),
        (["turn1file0", "P2"], CitationLocationPage(start_page=2, end_page=2), "Two."),
        (["turn1file0", "P1-P2"], CitationLocationPage(start_page=1, end_page=2), None),
    ],
)  # fmt: skip
def test_a_registered_source_is_cited_with_the_exact_text(registry, fields, location, text):
    source, reference = only(read(registry, *fields))
    assert source.provider == "client"
    assert reference.location == location
    document = registry.get(fields[0]).document
    if text is None and location is not None:
        text = document.content
    assert reference.cited_text == text
    if isinstance(location, CitationLocationChar):
        assert document.content[location.start_index : location.end_index] == text
    elif location is not None:
        start, end = reference.provider_metadata["charRange"]
        assert document.content[start:end] == text


def test_a_source_brings_its_names(registry):
    assert only(read(registry, "rules", "L1"))[0] == CitationSource(
        id="s0", provider="client", title="Rules", path="docs/rules.md"
    )
    assert only(read(registry, "turn1file0"))[0].url == "https://a.example/deck#p"


def test_a_source_is_one_source_whatever_it_is_called(registry):
    answer = read(registry, "rules", "L1", "turn0file0", "L1", "turn0block0", "turn0file0", "L3-L3")
    assert len(answer.citations.sources) == 1
    assert [
        r.provider_metadata["citableSourceId"] for r in answer.citations.spans[0].references
    ] == [
        "rules",
        "turn0block0",
        "turn0file0",
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "message", "suggestions"),
    [
        ("unknown_source", ["turn0fil0"],
         "no source has the id 'turn0fil0'", ("turn0file0",)),
        ("out_of_range", ["turn0file0", "L5"],
         "turn0file0 has 4 lines: there is no line 5", ()),
        ("out_of_range", ["turn0file0", "L0"],
         "turn0file0 has 4 lines: there is no line 0", ()),
        ("out_of_range", ["turn0file0", "L3-L9"],
         "turn0file0 has 4 lines: there are no lines 3 to 9", ()),
        ("reversed_range", ["turn0file0", "L3-L2"],
         "a cite marker L3-L2 ends before it starts", ()),
        ("out_of_range", ["turn0file0", "C9-C9"],
         "turn0file0 has 48 characters: there are no characters 9 to 9", ()),
        ("out_of_range", ["turn1file0", "P3"],
         "turn1file0 has 2 pages: there is no page 3", ()),
        ("out_of_range", ["turn0block0", "L1"],
         "turn0block0 is one block of turn0file0 and takes no locator", ()),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_never_cited(registry, kind, fields, message, suggestions):
    answer = read(registry, *fields)
    assert answer.citations is None
    issue = next(i for i in answer.issues if i.kind != "uncited")
    assert (issue.kind, issue.message, issue.suggestions) == (kind, message, suggestions)


@pytest.mark.parametrize(
    ("unknown_sources", "registered", "kept"),
    [
        ("auto", False, True),
        ("auto", True, False),
        ("keep", True, True),
        ("drop", False, False),
    ],
)
def test_ids_that_nobody_registered(registry, unknown_sources, registered, kept):
    given = registry if registered else SourceRegistry()
    for chosen in (given, None) if not registered else (given,):
        answer = read(chosen, "turn9file9", unknown_sources=unknown_sources)
        assert (answer.citations is not None) is kept
        assert ("unknown_source" in {i.kind for i in answer.issues}) is not kept
        if kept:
            assert only(answer)[0].provider == "openai"


def test_a_registered_id_is_an_id_even_if_it_looks_like_a_locator(registry):
    registry.add(from_text("Line eight."), alias="L8")
    answer = read(registry, "turn0file0", "L8")
    assert [
        r.provider_metadata["citableSourceId"] for r in answer.citations.spans[0].references
    ] == [
        "turn0file0",
        "L8",
    ]


def test_an_answer_that_cites_nothing_it_was_given_is_reported(registry):
    assert [i.kind for i in resolve("So it is.", registry).issues] == ["uncited"]
    assert resolve(" ", registry).issues == ()
    assert resolve("So it is.", SourceRegistry()).issues == ()
    assert resolve(f"So it is. {format_marker('rules')}", registry).issues == ()
