import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationLocationChar,
    CitationOptions,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    format_marker,
    resolve,
)
from citestream.model import Extra
from citestream.offsets import utf16_length

A, B = format_marker("a"), format_marker("b", locator="L4-L9")


def upstream(*ranges, **fields):
    return Citations(
        sources=[CitationSource(id="s0", provider="anthropic", title="Memo", **fields)],
        spans=[
            CitationSpan(
                start_index=start,
                end_index=end,
                references=[
                    CitationReference(
                        source_id="s0",
                        cited_text="Rent rose.",
                        location=CitationLocationChar(start_index=0, end_index=10),
                        provider_metadata={"documentIndex": 0},
                    )
                ],
            )
            for start, end in ranges
        ],
    )


def cited(answer):
    return [
        (span.slice(answer.content), [r.source_id for r in span.references])
        for span in answer.citations.spans
    ]


def test_text_without_markers_has_no_citations():
    answer = resolve("Rents rose.")
    assert (answer.content, answer.citations, answer.issues) == ("Rents rose.", None, ())


def test_spans_count_utf16_and_cover_what_the_markers_support():
    answer = resolve(f"📎 Rents rose 🚨 a lot. {A} 賃金は下がった。{B}{A}")
    assert answer.content == "📎 Rents rose 🚨 a lot. 賃金は下がった。"
    assert cited(answer) == [
        ("📎 Rents rose 🚨 a lot.", ["s0"]),
        ("賃金は下がった。", ["s1", "s0"]),
    ]
    assert answer.citations.spans[0].end_index == 23


def test_a_reference_tells_what_the_model_wrote():
    answer = resolve(f"x {B}")
    (source,), (span,) = answer.citations.sources, answer.citations.spans
    assert source == CitationSource(id="s0", provider="openai")
    assert span.references == (
        CitationReference(
            source_id="s0",
            provider_metadata={"citableSourceId": "b", "marker": B, "locator": "L4-L9"},
        ),
    )


def test_one_source_at_two_places_is_two_references_to_one_source():
    answer = resolve("x \ue200cite\ue202b\ue202L1\ue202L4-L9\ue201" + B)
    assert len(answer.citations.sources) == 1
    assert [r.provider_metadata["locator"] for r in answer.citations.spans[0].references] == [
        "L1",
        "L4-L9",
    ]


def test_the_text_may_mark_its_claim_itself():
    answer = resolve(f"It says \ue203two\nlines\ue204 {A}. More.")
    assert answer.content == "It says two\nlines. More."
    assert cited(answer) == [("two\nlines", ["s0"])]


@pytest.mark.parametrize(
    ("spans", "words"), [("sentence", "Two."), ("paragraph", "One. Two."), ("point", "")]
)
def test_spans_cover_as_much_as_is_wanted(spans, words):
    answer = resolve(f"One. \ue203Two.\ue204 {A}", options=CitationOptions(spans=spans))
    answer_without = resolve(f"One. Two. {A}", options=CitationOptions(spans=spans))
    assert cited(answer_without) == [(words, ["s0"])]
    assert cited(answer) == [("" if spans == "point" else "Two.", ["s0"])]


def test_unknown_sources_can_be_dropped():
    answer = resolve(f"x {A}", options=CitationOptions(unknown_sources="drop"))
    assert (answer.content, answer.citations) == ("x", None)
    assert [(i.kind, i.raw) for i in answer.issues] == [("unknown_source", A)]


def test_an_upstreams_citations_stay_as_they_are():
    citations = upstream((0, 4), (6, 10))
    assert resolve("Rent rose. It did.", citations=citations).citations == citations


def test_an_upstreams_spans_move_with_their_words():
    text = f"📎 Rents rose. {A} Wages fell. {B} The end."
    start = utf16_length(text[: text.index("Wages")])
    answer = resolve(text, citations=upstream((start, start + 5)))
    assert cited(answer) == [
        ("📎 Rents rose.", ["s0"]),
        ("Wages", ["s1"]),
        ("Wages fell.", ["s2"]),
    ]
    assert [s.provider for s in answer.citations.sources] == ["openai", "anthropic", "openai"]


def test_a_span_never_splits_a_surrogate_pair():
    answer = resolve("a📎b", citations=upstream((0, 2)))
    assert cited(answer) == [("a", ["s0"])]


def test_a_span_beyond_the_text_is_dropped_and_reported():
    answer = resolve("Rent rose.", citations=upstream((0, 4), (6, 11)))
    assert cited(answer) == [("Rent", ["s0"])]
    assert [(i.kind, i.message) for i in answer.issues] == [
        (
            "out_of_range",
            "a citation of 6 to 11 does not lie in the answer of 10 UTF-16 units",
        )
    ]


def test_sources_of_an_upstream_that_are_the_same_become_one():
    url = "https://a.example/x"
    citations = Citations(
        sources=[
            CitationSource(id="p", provider="openai", url=url + "#one"),
            CitationSource(id="q", provider="openai", url=url, title="X"),
            CitationSource(id="r", provider="openai", title="never cited"),
        ],
        spans=[
            CitationSpan(
                start_index=0, end_index=1, references=[CitationReference(source_id=i)] * 2
            )
            for i in "pq"
        ],
        extra=Extra({"version": 1}),
    )
    answer = resolve("abc", citations=citations)
    assert [(s.id, s.title) for s in answer.citations.sources] == [
        ("s0", "X"),
        ("s1", "never cited"),
    ]
    assert [len(s.references) for s in answer.citations.spans] == [1]
    assert answer.citations.extra == {"version": 1}


@pytest.mark.parametrize(
    ("text", "kind", "message", "index"),
    [
        (f"x {A[:-2]}", "truncated_marker", "a cite marker is cut off by the end of the text", 1),
        ("x \ue200ci", "truncated_marker", "a marker is cut off by the end of the text", 1),
        (
            "x \ue200cite\ue202b c\ue201",
            "malformed_marker",
            "a cite marker 'b c' is not a source id",
            1,
        ),
        (
            "📎 \ue200cite\ue202a\ue202L9-L2\ue201",
            "reversed_range",
            "a cite marker L9-L2 ends before it starts",
            2,
        ),
        (
            "x \ue200navlist\ue202T\ue202a\ue201",
            "widget",
            "a navlist marker stands for something that is not shown",
            1,
        ),
        (
            "x \ue200cite\ue202a\ue202a\ue201",
            "duplicate_reference",
            "a cite marker names a twice",
            1,
        ),
    ],
)
def test_what_is_wrong_becomes_an_issue_with_its_place(text, kind, message, index):
    (issue,) = resolve(text).issues
    assert (issue.kind, issue.message, issue.index) == (kind, message, index)
    assert issue.raw in text


def test_metadata_that_is_equal_makes_references_equal_and_other_metadata_does_not():
    def span(metadata):
        return CitationSpan(
            start_index=0,
            end_index=1,
            references=[CitationReference(source_id="s0", provider_metadata=metadata)],
        )

    metadata = [{"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, {"a": [True, {"b": None}]}]
    source = CitationSource(id="s0", provider="openai", url="https://a.example")
    answer = resolve("abc", citations=Citations(sources=[source], spans=map(span, metadata)))
    assert [r.provider_metadata for r in answer.citations.spans[0].references] == metadata[1:]


@given(st.lists(st.sampled_from(["Rents rose. ", "📎", "下がった。", "\n", " ", A, B, "\ud83d"])))
def test_resolving_twice_changes_nothing_more(pieces):
    answer = resolve("".join(pieces))
    again = resolve(answer.content, citations=answer.citations)
    assert (again.content, again.citations, again.issues) == (answer.content, answer.citations, ())
