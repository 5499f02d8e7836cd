import pytest

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationOther,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)
from citestream.render import notes
from citestream.render.notes import span_numbers, with_notes

CHARS = CitationLocationChar(start_index=22, end_index=75)


def citations(*references, **source):
    return Citations(
        sources=[CitationSource(**{"id": "s0", "provider": "client"} | source)],
        spans=[
            CitationSpan(
                start_index=0,
                end_index=1,
                references=[CitationReference(source_id="s0", **r) for r in references],
            )
        ],
    )


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ({"title": "T", "url": "https://u", "path": "p"}, "T"),
        ({"title": " ", "url": "https://u", "path": "p"}, "https://u"),
        ({"path": "a/b.md"}, "a/b.md"),
        ({}, "turn0file0"),
    ],
)
def test_a_source_is_called_by_title_url_path_or_what_the_model_called_it(source, label):
    (note,) = notes(citations({"provider_metadata": {"citableSourceId": "turn0file0"}}, **source))
    assert note.label == label


def test_a_source_without_any_name_is_called_by_its_id():
    assert notes(citations({}))[0].label == "s0"
    nameless = Citations(sources=[CitationSource(id="\u200b", provider="client")], spans=[])
    assert notes(nameless)[0].label == "source"


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ({"provider_metadata": {"locator": "L2-L3"}}, "L2-L3"),
        ({"provider_metadata": {"locator": 7}}, None),
        ({"location": CitationLocationPage(start_page=4, end_page=4)}, "page 4"),
        ({"location": CitationLocationPage(start_page=4, end_page=5)}, "pages 4-5"),
        ({"location": CitationLocationBlock(start_block=3, end_block=4)}, "block 3"),
        ({"location": CitationLocationBlock(start_block=3, end_block=5)}, "blocks 3-4"),
        ({"location": CitationLocationBlock(start_block=3, end_block=3)}, "block 3"),
        ({"location": CitationLocationChar(start_index=22, end_index=75)}, "characters 22-75"),
        ({"location": CHARS, "provider_metadata": {"locator": "L8-L13"}}, "lines 8-13"),
        ({"location": CHARS, "provider_metadata": {"locator": "l08\u201313"}}, "lines 8-13"),
        ({"location": CHARS, "provider_metadata": {"locator": "L7-L7"}}, "line 7"),
        ({"location": CHARS, "provider_metadata": {"locator": "C22-C75"}}, "C22-C75"),
        (
            {
                "location": CitationLocationPage(start_page=2, end_page=3),
                "provider_metadata": {"locator": "P2-P3"},
            },
            "pages 2-3",
        ),
        (
            {
                "location": CitationLocationBlock(start_block=3, end_block=5),
                "provider_metadata": {"citableSourceId": "a"},
            },
            "blocks 4-5",
        ),
        ({"location": CitationLocationOther(type="time")}, None),
        ({"provider_metadata": "opaque"}, None),
        ({}, None),
    ],
)
def test_places_are_said_once_in_words(reference, place):
    (note,) = notes(citations(reference, reference))
    assert note.places == ((place,) if place else ())


@pytest.mark.parametrize(
    ("source", "reduced"),
    [
        ({"path": "docs/a.html"}, True),
        ({"path": "a.HTM", "title": "Rules"}, True),
        ({"title": "a.xhtml"}, True),
        ({"title": "a.pdf"}, True),
        ({"path": "a.md", "title": "About a.pdf"}, False),
        ({"path": "html"}, False),
        ({"title": "a.pdf.txt"}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize(
    ("locator", "place"), [("L10", "line 10"), ("L10-L11", "lines 10-11"), ("C22-C75", None)]
)
def test_lines_of_what_was_reduced_to_text_are_those_of_its_text(source, reduced, locator, place):
    reference = {"location": CHARS, "provider_metadata": {"locator": locator}}
    said = locator if place is None else f"{place} of its text" if reduced else place
    assert notes(citations(reference, **source))[0].places == (said,)


def test_pages_and_blocks_of_what_was_reduced_to_text_are_said_as_they_are():
    page = {"location": CitationLocationPage(start_page=4, end_page=4)}
    assert notes(citations(page, path="a.pdf"))[0].places == ("page 4",)


def test_the_lines_of_vendors_are_said_in_their_words():
    reference = {"location": CHARS, "provider_metadata": {"locator": "L8"}}
    assert notes(citations(reference, provider="anthropic"))[0].places == ("L8",)


def test_every_place_that_is_quoted_has_a_note_of_its_own():
    def span(end, *references):
        made = [CitationReference(source_id=i, **rest) for i, rest in references]
        return CitationSpan(start_index=0, end_index=end, references=made)

    memo = {"location": CHARS, "cited_text": "Memo."}
    last = {"location": CHARS, "cited_text": "Last."}
    page = {"location": CitationLocationPage(start_page=1, end_page=1)}
    both = Citations(
        sources=[CitationSource(id=i, provider="client", title=i) for i in ("s0", "s1", "s2")],
        spans=[
            span(1, ("s1", memo), ("s0", page)),
            span(2, ("s1", last), ("s1", memo), ("s0", {})),
        ],
    )
    found = notes(both, quoted_in="ab")
    assert [(n.number, n.label, n.places, n.quote) for n in found] == [
        (1, "s1", ("characters 22-75",), ("Memo.",)),
        (2, "s0", ("page 1",), ()),
        (3, "s1", ("characters 22-75",), ("Last.",)),
        (4, "s2", (), ()),
    ]
    assert span_numbers(both, quotes=True) == [(1, 2), (3, 1, 2)]
    assert span_numbers(both) == [(2, 1), (2, 1)]
    assert [n.label for n in notes(both)] == ["s0", "s1", "s2"]


def test_without_any_text_of_a_source_the_notes_are_those_of_sources():
    plain = citations({"location": CHARS, "cited_text": ""}, {}, title="Memo")
    assert notes(plain, quoted_in="a") == notes(plain)
    assert span_numbers(plain, quotes=True) == span_numbers(plain)


def test_without_citations_there_is_nothing_to_say():
    assert notes(None) == []
    assert notes(Citations(sources=[], spans=[])) == []
    assert with_notes("text\n", []) == "text\n"


@pytest.mark.parametrize(
    ("source", "label", "url"),
    [
        ({"url": "https://a.example/週"}, "https://a.example/週", "https://a.example/%E9%80%B1"),
        (
            {"url": "https://аррle.example/"},
            "https://xn--le-6kc8da.example/",
            "https://xn--le-6kc8da.example/",
        ),
        ({"url": "javascript:alert(1)"}, "javascript:alert(1)", None),
        ({"url": "javascript:alert(1)", "title": "M"}, "M", None),
    ],
)
def test_a_url_is_shown_with_the_host_that_it_leads_to(source, label, url):
    (note,) = notes(citations({}, **source))
    assert (note.label, note.url) == (label, url)


def test_each_number_of_a_span_is_named_once():
    def span(*ids):
        references = [CitationReference(source_id=i) for i in ids]
        return CitationSpan(start_index=0, end_index=1, references=references)

    both = [CitationSource(id=i, provider="client") for i in ("s0", "s1")]
    made = Citations(sources=both, spans=[span("s1", "s0", "s1"), span()])
    assert span_numbers(made) == [(2, 1), ()]
