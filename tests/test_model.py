import pickle
import weakref

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import model
from citestream.errors import ModelError
from citestream.model import (
    NO_EXTRA,
    CitableSource,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationOther,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    Extra,
)

SOURCE = CitationSource(id="s0", provider="client")
REFERENCE = CitationReference(source_id="s0")
RANGES = [
    (CitationLocationChar, "start_index", "end_index"),
    (CitationLocationPage, "start_page", "end_page"),
    (CitationLocationBlock, "start_block", "end_block"),
    (lambda **ends: CitationSpan(references=(), **ends), "start_index", "end_index"),
]


@pytest.mark.parametrize(("make", "start", "end"), RANGES, ids=["char", "page", "block", "span"])
@given(low=st.integers(0, 10**6), high=st.integers(0, 10**6))
def test_a_range_ends_at_or_after_its_start(make, start, end, low, high):
    if low <= high:
        value = make(**{start: low, end: high})
        assert (getattr(value, start), getattr(value, end)) == (low, high)
    else:
        with pytest.raises(ModelError, match=f"^{end}: expected {start}"):
            make(**{start: low, end: high})


@pytest.mark.parametrize(("make", "start", "end"), RANGES, ids=["char", "page", "block", "span"])
@pytest.mark.parametrize("bad", [-1, True, 1.0, "1", None])
def test_the_ends_of_a_range_are_integers_from_0(make, start, end, bad):
    for low, high, name in ((bad, 5, start), (0, bad, end)):
        with pytest.raises(ModelError, match=f"^{name}: expected an integer of 0 or more, got"):
            make(**{start: low, end: high})


@pytest.mark.parametrize(
    ("cls", "given_fields", "name"),
    [
        (CitationSource, {"id": 5, "provider": "x"}, "id"),
        (CitationSource, {"id": "a", "provider": None}, "provider"),
        (CitationSource, {"id": "a", "provider": "x", "title": 5}, "title"),
        (CitationSource, {"id": "a", "provider": "x", "url": b""}, "url"),
        (CitationSource, {"id": "a", "provider": "x", "path": []}, "path"),
        (CitationReference, {"source_id": None}, "source_id"),
        (CitationReference, {"source_id": "a", "cited_text": 5}, "cited_text"),
        (CitationLocationOther, {"type": None}, "type"),
        (CitableSource, {"id": "a", "content": None}, "content"),
        (CitableSource, {"id": "a", "content": "b", "title": 5}, "title"),
    ],
)
def test_texts_are_strings(cls, given_fields, name):
    with pytest.raises(ModelError, match=rf"^{cls.__name__}\.{name}: expected a string, got "):
        cls(**given_fields)


def span(*references):
    return CitationSpan(start_index=0, end_index=1, references=references)


@pytest.mark.parametrize(
    ("sources", "spans", "message"),
    [
        ([SOURCE, SOURCE], [], "sources: expected ids that differ"),
        ([], [span(REFERENCE)], "references: expected the id of a source, got 's0'"),
        (["s0"], [], "sources: expected a CitationSource, got 's0'"),
        ([SOURCE], [REFERENCE], "spans: expected a CitationSpan, got a value of type"),
    ],
)
def test_every_reference_names_a_source(sources, spans, message):
    with pytest.raises(ModelError, match=f"^{message}"):
        Citations(sources=sources, spans=spans)


def test_the_references_of_a_span_are_references():
    with pytest.raises(ModelError, match=r"^references: expected a CitationReference, got 5$"):
        span(5)


def test_lists_become_tuples():
    citations = Citations(sources=[SOURCE], spans=iter([span(REFERENCE)]))
    assert citations.sources == (SOURCE,)
    assert citations.spans[0].references == (REFERENCE,)
    assert hash(citations) == hash(attrs.evolve(citations))


def test_a_span_gives_its_words_whatever_the_characters():
    content = "📎 週次 memo"
    assert CitationSpan(start_index=3, end_index=5, references=()).slice(content) == "週次"
    assert CitationSpan(start_index=1, end_index=3, references=()).slice(content) == "📎 "
    assert CitationSpan(start_index=6, end_index=99, references=()).slice(content) == "memo"


def pending(make):
    """Citations whose spans are made at first use, as decoding makes them."""
    citations = Citations(sources=[SOURCE], spans=())
    object.__delattr__(citations, "spans")
    object.__setattr__(citations, "_pending", make)
    return citations


def test_spans_that_are_pending_are_made_once_when_asked_for():
    made = []
    citations = pending(lambda: made.append(1) or [span(REFERENCE)])
    assert citations.sources == (SOURCE,)
    assert not made
    assert citations.spans == (span(REFERENCE),)
    assert citations == Citations(sources=[SOURCE], spans=[span(REFERENCE)])
    assert made == [1]
    assert weakref.ref(citations)() is citations


def test_spans_that_fail_for_want_of_memory_can_be_asked_for_again():
    answers = [MemoryError, None]

    def make():
        if answers.pop(0):
            raise MemoryError
        return [span(REFERENCE)]

    citations = pending(make)
    with pytest.raises(MemoryError):
        _ = citations.spans
    assert citations.spans == (span(REFERENCE),)


def test_an_unknown_attribute_is_an_error_whether_or_not_spans_are_pending():
    made = Citations(sources=(), spans=())
    for citations in (made, attrs.evolve(made), pending(tuple), object.__new__(Citations)):
        with pytest.raises(AttributeError, match="'Citations' object has no attribute 'span'"):
            _ = citations.span
    with pytest.raises(AttributeError, match="spans"):
        _ = object.__new__(Citations).spans


@pytest.mark.parametrize(
    "cls", [cls for cls in vars(model).values() if isinstance(cls, type) and attrs.has(cls)]
)
def test_values_are_frozen_and_taken_by_keyword(cls):
    shape = attrs.inspect(cls)
    assert shape.is_frozen
    assert shape.is_slotted
    assert all(field.kw_only for field in attrs.fields(cls))
    assert attrs.fields_dict(cls)["extra"].default is NO_EXTRA


def test_the_type_of_a_location_is_on_the_class():
    assert [cls.type for cls, _, _ in RANGES[:3]] == ["char", "page", "block"]
    assert CitationLocationOther(type="slide").type == "slide"


def test_an_extra_is_a_mapping_that_nobody_can_change():
    items = {"a": 1, "b": [2]}
    extra = Extra(items)
    items["c"] = 3
    assert dict(extra) == {"a": 1, "b": [2]}
    assert (extra["a"], len(extra), list(extra)) == (1, 2, ["a", "b"])
    assert extra == Extra({"a": 1, "b": [2]})
    assert repr(extra) == "Extra({'a': 1, 'b': [2]})"
    assert pickle.loads(pickle.dumps(extra)) == extra  # noqa: S301 - our own bytes
    with pytest.raises(TypeError):
        extra["a"] = 2
    assert not NO_EXTRA
