"""The quick ways give what the tables give, or leave it to them."""

import copy
import json
import pickle
import threading

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citestream.errors import CitestreamError, EncodeError
from citestream.events import SessionEventType
from citestream.model import (
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
from citestream.wire import citations as tables
from citestream.wire import decode_citations, decode_event, encode_citations, fields, usual
from strategies import json_values, wire_citations

CHAR = {"type": "char", "startIndex": 1, "endIndex": 2}
PAGE = {"type": "page", "startPage": 1, "endPage": 2}
BLOCK = {"type": "block", "startBlock": 1, "endBlock": 2}
FULL = {"sourceId": "a", "citedText": "t", "location": CHAR, "providerMetadata": {"n": 1}}


def span(*references, **changes):
    return {"startIndex": 0, "endIndex": 1, "references": list(references)} | changes


def long(*spans):
    """Citations of many spans, the given ones among them."""
    sources = [{"id": "a", "provider": "p"}, {"id": "b", "provider": "p", "title": "t"}]
    return copy.deepcopy({"sources": sources, "spans": [*spans, *[span(FULL)] * 9]})


def is_deferred(citations):
    try:
        object.__getattribute__(citations, "spans")
    except AttributeError:
        return True
    return False


def with_least(least, job, *given_values):
    """The result or error of a job for which so many values are many."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (fields, usual, tables):
            patch.setattr(module, "MANY", least)
        try:
            return job(*given_values), None
        except CitestreamError as error:
            return None, str(error)


@pytest.mark.parametrize(
    "tree",
    [
        long(),
        long(span(), span({"sourceId": "b"})),
        long(span(FULL | {"location": PAGE}, FULL | {"location": BLOCK}, FULL)),
        long(span({"sourceId": "a", "citedText": ""}, {"sourceId": "a", "providerMetadata": 0})),
        long() | {"more": 1},
        {"sources": [], "spans": [span()] * 8},
    ],
)
def test_many_spans_are_made_at_first_use(tree):
    unread = []
    assert usual.are_usual(tree, unread)
    assert [each for each in unread if each != {"n": 1}] in ([], [0])
    citations = decode_citations(json.dumps(tree))
    assert is_deferred(citations)
    eager, _ = with_least(10**9, decode_citations, tree)
    assert not is_deferred(eager)
    assert citations == eager
    assert not is_deferred(citations)


UNUSUAL = [
    None,
    [],
    {"sources": []},
    {"spans": [span()] * 9},
    {"sources": 5, "spans": [span()] * 9},
    {"sources": {}, "spans": [span()] * 9},
    {"sources": [5], "spans": [span()] * 9},
    {"sources": [{"id": []}], "spans": [span()] * 9},
    {"sources": [{"id": "a", "provider": "p"}] * 2, "spans": [span()] * 9},
    {"sources": [], "spans": dict.fromkeys("abcdefgh", 1)},
    long(span(startIndex=-1)),
    long(span(startIndex=2)),
    long(span(startIndex=0.0)),
    long(span(endIndex=True)),
    long(span(references={})),
    long(span(references=None)),
    long(span(more=None)),
    long({"startIndex": 0, "endIndex": 1}),
    long("span"),
    long(None),
    long(span({"sourceId": "c"})),
    long(span({"sourceId": ["a"]})),
    long(span({"sourceId": None})),
    long(span({"citedText": "a"})),
    long(span("reference")),
    long(span(FULL | {"citedText": 5})),
    long(span(FULL | {"citedText": None})),
    long(span(FULL | {"location": None})),
    long(span(FULL | {"providerMetadata": None})),
    long(span(FULL | {"more": 1})),
    long(span(FULL | {"location": "x"})),
    long(span(FULL | {"location": {}})),
    long(span(FULL | {"location": {"type": "slide"}})),
    long(span(FULL | {"location": {"type": ["char"]}})),
    long(span(FULL | {"location": CHAR | {"type": "page"}})),
    long(span(FULL | {"location": CHAR | {"startIndex": 3}})),
    long(span(FULL | {"location": CHAR | {"startIndex": -3}})),
    long(span(FULL | {"location": CHAR | {"endIndex": 3.5}})),
    long(span(FULL | {"location": PAGE | {"startPage": False}})),
    long(span(FULL | {"location": CHAR | {"line": 3}})),
]


@pytest.mark.parametrize("tree", UNUSUAL, ids=range(len(UNUSUAL)))
def test_the_unusual_is_left_to_the_tables(tree):
    # An array for an object, or the reverse, can only be told apart by what is read later.
    if tree != {"sources": {}, "spans": [span()] * 9}:
        assert not usual.are_usual(tree, [])
    quick = with_least(1, tables.CITATIONS.decode, copy.deepcopy(tree), None, [])
    assert quick == with_least(10**9, tables.CITATIONS.decode, tree, None, [])
    assert quick[0] is None or not is_deferred(quick[0])


@settings(max_examples=60)
@given(wire_citations, st.data())
def test_a_damaged_value_has_the_same_error_either_way(tree, data):
    node = tree
    while node and isinstance(node, dict | list):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        parent, key = node, data.draw(st.sampled_from(keys))
        node = parent[key]
    parent[key] = data.draw(json_values)
    line = json.dumps(tree)
    assert with_least(1, decode_citations, line) == with_least(10**9, decode_citations, line)


USES = {
    "eq": lambda one, other: one == other,
    "eq, reversed": lambda one, other: other == one,
    "ne": lambda one, other: (one != other) is False,
    "hash": lambda one, other: hash(one) == hash(other),
    "repr": lambda one, other: repr(one) == repr(other),
    "spans": lambda one, other: one.spans == other.spans,
    "pickle": lambda one, other: pickle.loads(pickle.dumps(one)) == other,  # noqa: S301 - our own
    "copy": lambda one, other: copy.copy(one) == other,
    "deepcopy": lambda one, other: copy.deepcopy(one) == other,
    "evolve": lambda one, other: attrs.evolve(one) == other,
    "evolve a field": lambda one, other: (
        attrs.evolve(one, extra=Extra({})).spans == attrs.evolve(other, extra=Extra({})).spans
    ),
    "asdict": lambda one, other: attrs.asdict(one) == attrs.asdict(other),
    "astuple": lambda one, other: attrs.astuple(one) == attrs.astuple(other),
    "encode": lambda one, other: encode_citations(one) == encode_citations(other),
    "getattr": lambda one, other: getattr(one, "spans", None) == getattr(other, "spans", None),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@settings(max_examples=20)
@given(wire_citations)
def test_nobody_can_tell_spans_that_are_not_made_yet(use, tree):
    line = json.dumps(tree)
    later, _ = with_least(1, decode_citations, line)
    eager, _ = with_least(10**9, decode_citations, line)
    assert not is_deferred(eager)
    assert use(later, eager)
    assert use(later, eager)
    later, _ = with_least(1, decode_citations, line)
    assert use(eager, later)


def test_threads_that_ask_at_once_get_equal_spans():
    eager = decode_citations(long()).spans
    for _ in range(20):
        citations = decode_citations(long())
        barrier = threading.Barrier(8)
        got = []

        def ask(citations=citations, barrier=barrier, got=got):
            barrier.wait()
            got.append(citations.spans)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [eager] * 8


def test_nothing_of_the_callers_mapping_is_kept_until_the_first_use():
    tree = long()
    event = decode_event(
        {
            "id": "e",
            "timestamp": "2026-01-01T00:00:00Z",
            "type": SessionEventType.ASSISTANT_MESSAGE.value,
            "data": {"content": "c", "messageId": "m", "citations": tree},
        }
    )
    tree["spans"][0]["references"][0]["providerMetadata"]["n"] = 2
    tree["spans"].clear()
    assert is_deferred(event.data.citations)
    assert event.data.citations == decode_citations(long())


def test_the_depth_of_metadata_is_checked_at_once():
    metadata = []
    for _ in range(600):
        metadata = [metadata]
    tree = long()
    tree["spans"][0]["references"][0]["providerMetadata"] = metadata
    line = json.dumps(tree)
    with pytest.raises(CitestreamError, match="at most 500 levels of nesting"):
        decode_citations(line)


class Text(str):
    __slots__ = ()


def reference(**changes):
    return CitationReference(**{"source_id": "a", "cited_text": "t"} | changes)


def made(*references, **changes):
    ends = {"start_index": 0, "end_index": 1, "references": references}
    return CitationSpan(**ends | {"references": references} | changes)


def char(**changes):
    return CitationLocationChar(**{"start_index": 1, "end_index": 2} | changes)


def forced(value, **changes):
    """A value that no constructor would make."""
    for name, change in changes.items():
        object.__setattr__(value, name, change)
    return value


MORE = Extra({"more": [1]})
WRITTEN = [
    made(),
    made(reference(), reference(cited_text=None)),
    made(reference(location=char())),
    made(reference(location=CitationLocationPage(start_page=1, end_page=2))),
    made(reference(location=CitationLocationBlock(start_block=1, end_block=2))),
    made(reference(provider_metadata={"n": 1, "t": "x", "b": True, "z": None})),
    made(reference(provider_metadata={"n": 1}), reference(provider_metadata={"n": 10**40})),
]


@pytest.mark.parametrize("span", WRITTEN, ids=range(len(WRITTEN)))
def test_usual_spans_are_written_as_the_tables_write_them(span):
    trees = usual.written_spans([span])
    assert trees == [tables.SPAN.encode(span, None)]
    assert json.dumps(trees) == json.dumps([tables.SPAN.encode(span, None)])


UNWRITTEN = [
    5,
    made(extra=MORE),
    forced(made(), start_index=True),
    forced(made(), end_index=None),
    forced(made(), references=[]),
    made(forced(reference(), extra=MORE)),
    forced(made(), references=(5,)),
    made(forced(reference(), source_id=5)),
    made(reference(source_id=Text("a"))),
    made(forced(reference(), cited_text=5)),
    made(reference(cited_text=Text("a"))),
    made(reference(location=5)),
    made(reference(location=CitationLocationOther(type="slide"))),
    made(reference(location=CitationLocationOther(type="char"))),
    made(reference(location=char(extra=MORE))),
    made(reference(location=forced(char(), start_index="1"))),
    made(
        reference(
            location=forced(CitationLocationPage(start_page=1, end_page=2), end_page=1.5),
        )
    ),
    made(
        reference(
            location=forced(CitationLocationBlock(start_block=1, end_block=2), end_block=None),
        )
    ),
    made(reference(provider_metadata=5)),
    made(reference(provider_metadata=Extra({"n": 1}))),
    made(reference(provider_metadata={1: 1})),
    made(reference(provider_metadata={Text("a"): 1})),
    made(reference(provider_metadata={"a": [1]})),
    made(reference(provider_metadata={"a": {"b": 1}})),
    made(reference(provider_metadata={"a": 1.5})),
    made(reference(provider_metadata={"a": float("nan")})),
    made(reference(provider_metadata={"a": 10**4300})),
    made(reference(provider_metadata={"a": -(10**4300)})),
    made(reference(provider_metadata={"a": -(10**4300), "b": "x"})),
    made(reference(provider_metadata={"a": object()})),
]


@pytest.mark.parametrize("span", UNWRITTEN, ids=range(len(UNWRITTEN)))
def test_unusual_spans_are_left_to_the_tables(span):
    assert usual.written_spans([made(), span]) is None
    citations = forced(Citations(sources=(), spans=()), spans=(span,) * 9)
    quick = with_least(1, encode_citations, citations)
    assert quick == with_least(10**9, encode_citations, citations)


SOURCE = CitationSource(id="a", provider="p")


@pytest.mark.parametrize(
    "source",
    [SOURCE, CitationSource(id="a", provider="p", title="t", url="u", path="x/y")],
)
def test_usual_sources_are_written_as_the_tables_write_them(source):
    assert usual.written_sources([source]) == [tables.SOURCE.encode(source, None)]


@pytest.mark.parametrize(
    "source",
    [
        5,
        attrs.evolve(SOURCE, extra=MORE),
        attrs.evolve(SOURCE, title=Text("t")),
        forced(attrs.evolve(SOURCE), id=None),
        forced(attrs.evolve(SOURCE), path=5),
    ],
)
def test_unusual_sources_are_left_to_the_tables(source):
    assert usual.written_sources([SOURCE, source]) is None
    citations = forced(Citations(sources=(), spans=()), sources=(source,) * 9)
    quick = with_least(1, encode_citations, citations)
    assert quick == with_least(10**9, encode_citations, citations)


def test_the_error_for_a_long_list_names_the_place():
    bad = made(reference(), reference(provider_metadata={"a": [object()]}))
    citations = forced(Citations(sources=(), spans=()), spans=(*[made()] * 9, bad))
    with pytest.raises(EncodeError) as caught:
        encode_citations(citations)
    assert caught.value.path == "$.spans[9].references[1].providerMetadata.a[0]"


def test_what_was_written_is_the_callers_to_change():
    citations = decode_citations(long())
    tree = encode_citations(citations)
    tree["spans"][0]["references"][0]["providerMetadata"]["n"] = 5
    tree["spans"][0]["references"][0]["location"].clear()
    assert encode_citations(citations) == long()
