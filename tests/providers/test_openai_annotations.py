from types import SimpleNamespace

import pytest
from hypothesis import given

from citestream.events import AnswerFailure, SourceFacts
from citestream.offsets import utf16_length
from citestream.providers.openai_annotations import Annotation, failure, joined, read_annotation
from citestream.resolver.ranges import RangeFinder
from strategies import json_values

URL = "https://a.example/x_(y)"
FLAT = {"type": "url_citation", "url": URL, "title": "X", "start_index": 3, "end_index": 9}


@pytest.mark.parametrize(
    "given_as",
    [
        FLAT,
        {**FLAT, "type": None},
        {"type": "url_citation", "url_citation": FLAT},
        {"url_citation": SimpleNamespace(**FLAT)},
        SimpleNamespace(**FLAT),
    ],
)
def test_a_url_is_read_in_every_shape(given_as):
    expected = Annotation(kind="url_citation", url=URL, title="X", start=3, end=9)
    assert read_annotation(given_as) == expected


@pytest.mark.parametrize(
    ("start", "end"), [(None, 9), (3, None), ("3", 9), (3.0, 9), (-1, 9), (True, 9)]
)
def test_half_a_range_is_none(start, end):
    read = read_annotation({**FLAT, "start_index": start, "end_index": end})
    assert (read.start, read.end) == (None, None)
    assert read.cite("words", part=0, provider="openai").place is None


def test_what_is_known_of_a_file_is_kept():
    one = {"type": "container_file_citation", "file_id": "f", "container_id": "c"}
    citation = read_annotation({**one, "filename": "a.csv", "index": 4}).cite(
        "words", part=2, provider="azure"
    )
    assert citation.source == SourceFacts(provider="azure", key=("file", "c", "f"), title="a.csv")
    assert citation.metadata == {"containerId": "c", "fileId": "f"}
    assert citation.place is None


@pytest.mark.parametrize("title", ["x", "[1]", "a [b] c", "賃金", ""])
@pytest.mark.parametrize("form", ["({})", "{}"])
@pytest.mark.parametrize("behind", ["", ' "T"'])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_link_is_found_whole_whatever_the_range_counts_in(title, form, behind, count):
    inner = f"[{title}]({URL}{behind})"
    text = f"{'📎' * count} Rents rose. {form.format(inner)} And so on."
    for words in {form.format(inner), inner}:
        start = text.index(words)
        for measure in (len, utf16_length):
            citation = Annotation(
                kind="url_citation",
                url=URL,
                start=measure(text[:start]),
                end=measure(text[: start + len(words)]),
            ).cite(text, part=0, provider="openai")
            found = RangeFinder(text).find(citation.place)
            assert text[found.start : found.end] == words


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"Rents {URL} rose.", URL),
        (f"Rents ]({URL}) rose.", URL),
        (f"Rents [x]({URL} rose.", URL),
        (f"Rents [{'x' * 2_000}]({URL}) rose.", URL),
        ("Rents rose.", None),
        (f"\ue200cite\ue202a\ue201 {URL}", None),
        (f"【5:0†source】 {URL}", None),
    ],
)
def test_what_is_no_link_is_checked_by_its_url_or_not_at_all(text, holds):
    one = Annotation(kind="url_citation", url=URL, start=0, end=8)
    assert one.cite(text, part=0, provider="openai").place.holds == holds
    point = Annotation(kind="url_citation", url=URL, start=8, end=8)
    assert point.cite(text, part=0, provider="openai").place.holds is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("No.", AnswerFailure(message="No.")),
        ("", AnswerFailure(message="the vendor reported an error")),
        (None, AnswerFailure(message="the vendor reported an error")),
        ({"message": "No.", "code": 429}, AnswerFailure(message="No.")),
        (
            {"message": "No.", "code": "slow", "type": "x"},
            AnswerFailure(message="No.", error_type="slow"),
        ),
        (
            SimpleNamespace(message="No.", type="x"),
            AnswerFailure(message="No.", error_type="x"),
        ),
    ],
)
def test_errors_are_read_in_every_shape(error, expected):
    assert failure(error) == expected


def test_what_is_empty_is_not_joined():
    assert joined("", "a", "", "b") == "a\n\nb"


@given(json_values, json_values, json_values)
def test_no_value_raises(first, second, third):
    for kind in ("url_citation", "file_citation", "container_file_citation", first):
        one = {"type": kind, "url": "u", "file_id": "f", "start_index": second, "index": third}
        for value in (first, one, {**one, "end_index": third, "url": first, "title": second}):
            read = read_annotation(value)
            if read is not None:
                read.cite("u in words", part=0, provider="openai")
            failure(value)
