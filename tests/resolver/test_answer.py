import attrs
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
from citestream.sources import Granularity, SourceRegistry, from_text

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


# -- what an upstream cites with the text of a marker

PAGE = "https://a.example/page"


def native(text, *words, **fields):
    """Cite words of ``text`` with a source each; words may be (words, url)."""
    spans, sources, at = [], [], 0
    for number, one in enumerate(words):
        found, url = one if isinstance(one, tuple) else (one, f"https://a.example/{number}")
        at = text.index(found, at)
        start = utf16_length(text[:at])
        reference = CitationReference(source_id=f"s{number}", **fields)
        spans.append(
            CitationSpan(
                start_index=start, end_index=start + utf16_length(found), references=[reference]
            )
        )
        title = f"Page {number}"
        sources.append(CitationSource(id=f"s{number}", provider="openai", url=url, title=title))
    return Citations(sources=sources, spans=spans)


def told(answer):
    return [
        (
            span.slice(answer.content),
            [answer.citations.sources[int(r.source_id[1:])].title for r in span.references],
        )
        for span in answer.citations.spans
    ]


def test_a_native_citation_of_a_marker_and_the_marker_are_one():
    text = f"📎 Rents rose. {A} Wages fell."
    answer = resolve(text, citations=native(text, A, provider_metadata={"startIndex": 13}))
    assert answer.content == "📎 Rents rose. Wages fell."
    assert told(answer) == [("📎 Rents rose.", ["Page 0"])]
    (source,) = answer.citations.sources
    assert (source.provider, source.url) == ("openai", "https://a.example/0")
    (reference,) = answer.citations.spans[0].references
    assert reference.provider_metadata == {"startIndex": 13, "citableSourceId": "a", "marker": A}
    assert answer.issues == ()


def test_a_part_of_a_marker_is_the_marker_and_names_it_everywhere():
    text = f"One. {A} Two. {A} Three. {B}"
    answer = resolve(text, citations=native(text, A[1:5], B))
    assert told(answer) == [("One.", ["Page 0"]), ("Two.", ["Page 0"]), ("Three.", ["Page 1"])]
    last = answer.citations.spans[2].references[0].provider_metadata
    assert last == {"citableSourceId": "b", "marker": B, "locator": "L4-L9"}


def test_a_native_point_inside_a_marker_is_the_marker_and_at_its_edge_is_a_point():
    text = f"One. {A} Two."
    inside, edge = text.index("cite"), text.index(A)
    for place, expected in ((inside, ("One.", ["s0"])), (edge, ("", ["s1"]))):
        span = CitationSpan(
            start_index=place, end_index=place, references=[CitationReference(source_id="s0")]
        )
        source = CitationSource(id="s0", provider="openai", url=PAGE)
        answer = resolve(text, citations=Citations(sources=[source], spans=[span]))
        assert expected in cited(answer)


def test_as_many_sources_as_ids_are_named_in_order():
    both = "\ue200cite\ue202a\ue202b\ue201"
    text = f"One. {both} Two. {both}"
    citations = native(text, both)
    more = native(text, both, both)
    (first, second) = (
        attrs.evolve(span, start_index=5, end_index=5 + len(both)) for span in more.spans
    )
    answer = resolve(text, citations=attrs.evolve(more, spans=[first, second]))
    assert told(answer) == [("One.", ["Page 0", "Page 1"]), ("Two.", ["Page 0", "Page 1"])]
    # One source for two ids: nobody can tell which, so all three stay.
    assert told(resolve(text, citations=citations)) == [
        ("One.", ["Page 0", None, None]),
        ("Two.", [None, None]),
    ]


def test_an_id_that_another_marker_named_is_known_where_it_is_unclear():
    both = "\ue200cite\ue202a\ue202b\ue201"
    text = f"One. {both} Two. {A}"
    answer = resolve(text, citations=native(text, (both, PAGE), (A, PAGE)))
    assert told(answer) == [("One.", ["Page 0", None]), ("Two.", ["Page 0"])]
    other = resolve(text, citations=native(text, both, A))
    assert told(other) == [("One.", ["Page 0", "Page 1", None]), ("Two.", ["Page 1"])]


def test_a_registered_id_stays_what_was_registered():
    registry = SourceRegistry()
    source = registry.add(
        from_text("Rents rose.", title="Mine", url=PAGE), granularity=Granularity.LINE
    )
    marker = format_marker(source.id, locator="L1")
    text = f"One. {marker}"
    same = resolve(text, registry, citations=native(text, (marker, PAGE + "#x")))
    assert told(same) == [("One.", ["Page 0"])]
    assert same.citations.spans[0].references[0].cited_text == "Rents rose."
    quoted = resolve(text, registry, citations=native(text, (marker, PAGE), cited_text="Other."))
    assert [r.cited_text for r in quoted.citations.spans[0].references] == ["Other.", "Rents rose."]
    other = resolve(text, registry, citations=native(text, marker))
    assert told(other) == [("One.", ["Page 0", "Mine"])]
    unknown = resolve(f"One. {A}", registry, citations=native(f"One. {A}", A))
    assert (told(unknown), unknown.issues) == ([("One.", ["Page 0"])], ())
    missing = f"One. {format_marker(source.id, locator='L9')}"
    answer = resolve(missing, registry, citations=native(missing, missing[5:]))
    assert (told(answer), [i.kind for i in answer.issues]) == (
        [("One.", ["Page 0"])],
        ["out_of_range"],
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One. Two. \ue200navlist\ue202T\ue202a\ue201 Three.", "\ue200navlist\ue202T\ue202a\ue201"),
        ("One. Two. \ue200cite\ue202?\ue201 Three.", "cite"),
        (f"One. Two.  {A}\nThree.", "  "),
        (f"One. Two. {A}{B} Three.", A + B),
        (f"One. Two. {A} Three.", f" {A}"),
        ("One. Two.\ue206 Three.", "\ue206"),
    ],
)
def test_what_was_taken_out_is_cited_as_what_stood_before_it(text, words):
    assert ("Two.", "Page 0") in [
        (span, titles[0]) for span, titles in told(resolve(text, citations=native(text, words)))
    ]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (f"{A} Two.", "Two."),
        (f"{A[3:]} Two. {B[:4]}", "Two."),
        (f"One. {A} Two", "One. Two"),
        (" Two. ", " Two."),
    ],
)
def test_blanks_between_a_marker_at_the_edge_and_words_are_not_cited(words, kept):
    text = f"One. {A} Two. {B} Three."
    spans = told(resolve(text, citations=native(text, words)))
    assert [span for span, titles in spans if "Page 0" in titles] == [kept]


def test_what_is_nothing_but_blanks_stays_what_it_is():
    text = f"One.{A} \n {B}Two."
    assert (" \n ", ["Page 0"]) in told(resolve(text, citations=native(text, f"{A} \n {B}")))


def test_points_stay_points_where_points_are_wanted():
    text = f"One. {A} Two."
    answer = resolve(text, citations=native(text, A), options=CitationOptions(spans="point"))
    assert told(answer) == [("", ["Page 0"])]


@given(
    st.lists(st.sampled_from(["Rents rose. ", "📎", "下がった。", "\n", " ", A, B, "\ue206"])),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=4),
)
def test_native_spans_stand_in_the_content_whatever_was_taken_out(pieces, ranges):
    text = "".join(pieces)
    citations = upstream(*((start, start + size) for start, size in ranges), url=PAGE)
    answer = resolve(text, citations=citations)
    fitting = [r for r in ranges if sum(r) <= utf16_length(text)]
    assert len([i for i in answer.issues if i.kind == "out_of_range"]) == len(ranges) - len(fitting)
    spans = answer.citations.spans
    assert all(span.end_index <= utf16_length(answer.content) for span in spans)


@pytest.mark.parametrize(("provider", "quote"), [("openai", None), ("anthropic", "Rent")])
def test_the_answers_own_words_are_no_quotation_of_an_openai_source(provider, quote):
    source = CitationSource(id="s0", provider=provider, url="https://a.example")
    references = [CitationReference(source_id="s0", cited_text=text) for text in ("Rent", "It")]
    span = CitationSpan(start_index=0, end_index=4, references=references)
    answer = resolve("Rent rose.", citations=Citations(sources=[source], spans=[span]))
    assert [r.cited_text for r in answer.citations.spans[0].references] == [quote, "It"]
