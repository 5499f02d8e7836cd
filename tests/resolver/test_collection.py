import pytest

from citestream import CitationReference, Citations, CitationSource
from citestream.model import Extra
from citestream.resolver import CitationCollection, source_key


def source(**fields):
    return CitationSource(**{"id": "x", "provider": "openai"} | fields)


def reference(**fields):
    return CitationReference(**{"source_id": "x"} | fields)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://a.example/x", "https://a.example/x#part", True),
        ("https://A.Example/x", "https://a.example/x", True),
        ("HTTPS://a.example/x", "https://a.example/x", True),
        ("https://a.example/X", "https://a.example/x", False),
        ("https://User@a.example/x", "https://user@a.example/x", False),
        ("https://a.example/x?a=1", "https://a.example/x?a=2", False),
        ("https://a.example/x", "https://a.example/x/", False),
        ("kb:1#a", "kb:1#b", False),
        ("https://[broken", "https://[broken", True),
        ("https://[broken", "https://[other", False),
    ],
)
def test_urls_are_compared_without_fragment_and_case_of_scheme_and_host(first, second, same):
    assert (source_key(source(url=first)) == source_key(source(url=second))) is same


@pytest.mark.parametrize(
    ("fields", "metadata", "key"),
    [
        ({"url": "https://a.example/"}, {"documentIndex": 1}, ("url", "https://a.example/")),
        ({"path": "a/b.md", "title": "B"}, {"documentIndex": 1}, ("path", "a/b.md")),
        ({"title": "B"}, {"documentIndex": 1, "fileId": "f"}, ("document", 1, "B")),
        ({"title": "B"}, {"fileId": "f"}, ("fileId", "f")),
        ({"title": "B"}, {"citableSourceId": "turn0file0"}, ("citableSourceId", "turn0file0")),
        ({"title": "B"}, {"fileId": 7, "other": "x"}, ("id", "x")),
        ({"title": "B"}, "opaque", ("id", "x")),
        ({}, None, ("id", "x")),
    ],
)
def test_a_source_is_recognised_by_url_path_document_or_vendors_id(fields, metadata, key):
    assert source_key(source(**fields), metadata) == key


def test_nothing_collected_is_no_citations():
    assert CitationCollection().build() is None


def test_ids_follow_first_citation_in_reading_order():
    collection = CitationCollection()
    for key in "abc":
        collection.add_source((key,), source(id=key, title=key))
    collection.add((5, 9), ("c",), reference())
    collection.add((0, 4), ("b",), reference())
    built = collection.build()
    assert [(s.id, s.title) for s in built.sources] == [("s0", "b"), ("s1", "c"), ("s2", "a")]
    assert [(s.start_index, s.references[0].source_id) for s in built.spans] == [
        (0, "s0"),
        (5, "s1"),
    ]


def test_more_than_ten_sources_keep_their_order():
    collection = CitationCollection()
    for number in range(12):
        collection.add_source((number,), source(id=str(number)))
        collection.add((number, number + 1), (number,), reference())
    assert [s.id for s in collection.build().sources] == [f"s{n}" for n in range(12)]


def test_the_first_title_wins_and_a_later_one_fills_a_missing_one():
    collection = CitationCollection()
    for title in (None, "Memo", "Other"):
        collection.add_source(("k",), source(title=title))
    assert collection.build().sources[0].title == "Memo"


def test_identical_references_collapse_and_marked_ones_do_not():
    collection = CitationCollection()
    collection.add_source(("k",), source())
    assert collection.add((0, 1), ("k",), reference(cited_text="q"))
    assert not collection.add((0, 1), ("k",), reference(cited_text="q"))
    assert collection.add((0, 1), ("k",), reference(cited_text="q"), mark="L2")
    assert collection.add((0, 2), ("k",), reference(cited_text="q"))
    assert [len(s.references) for s in collection.build().spans] == [2, 1]


def test_what_else_an_upstream_sent_stays():
    collection = CitationCollection()
    collection.extra = Extra({"version": 2})
    collection.add_span((0, 1), extra=Extra({"score": 1}))
    collection.add_span((0, 1), extra=Extra({"score": 2}))
    collection.add_span((3, 4))
    built = collection.build()
    assert isinstance(built, Citations)
    assert (built.extra["version"], built.spans[0].extra["score"], len(built.spans)) == (2, 1, 2)


def test_a_span_with_many_references_still_has_each_once():
    collection = CitationCollection()
    collection.add_source(("k",), source())
    added = [collection.add((0, 1), ("k",), reference(), mark=n % 40) for n in range(120)]
    assert added == [True] * 40 + [False] * 80
    assert len(collection.build().spans[0].references) == 40
