import json

import attrs
import pytest

from citestream.errors import DecodeError, EncodeError
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
from citestream.wire import decode_citations, decode_event, encode_citations

pytestmark = pytest.mark.usefixtures("codec")


def tree(**changes):
    reference = {
        "sourceId": "s0",
        "citedText": "thirty days",
        "location": {"type": "char", "startIndex": 1, "endIndex": 12},
        "providerMetadata": {"documentIndex": 0},
    }
    return {
        "sources": [{"id": "s0", "provider": "anthropic", "title": "Agreement"}],
        "spans": [{"startIndex": 0, "endIndex": 4, "references": [reference | changes]}],
    }


def with_location(location):
    return tree(location=location)


def test_citations_are_read_into_the_model():
    assert decode_citations(tree()) == Citations(
        sources=[CitationSource(id="s0", provider="anthropic", title="Agreement")],
        spans=[
            CitationSpan(
                start_index=0,
                end_index=4,
                references=[
                    CitationReference(
                        source_id="s0",
                        cited_text="thirty days",
                        location=CitationLocationChar(start_index=1, end_index=12),
                        provider_metadata={"documentIndex": 0},
                    )
                ],
            )
        ],
    )


@pytest.mark.parametrize(
    ("location", "value"),
    [
        (
            {"type": "char", "startIndex": 1, "endIndex": 1},
            CitationLocationChar(start_index=1, end_index=1),
        ),
        (
            {"type": "page", "startPage": 1, "endPage": 2},
            CitationLocationPage(start_page=1, end_page=2),
        ),
        (
            {"type": "block", "startBlock": 0, "endBlock": 2},
            CitationLocationBlock(start_block=0, end_block=2),
        ),
        (
            {"type": "char", "startIndex": 0, "endIndex": 1, "line": 3},
            CitationLocationChar(start_index=0, end_index=1, extra=Extra({"line": 3})),
        ),
        (
            {"type": "slide", "number": 3, "startIndex": "x"},
            CitationLocationOther(type="slide", extra=Extra({"number": 3, "startIndex": "x"})),
        ),
    ],
)
def test_each_location_has_its_class(location, value):
    citations = decode_citations(with_location(location))
    assert citations.spans[0].references[0].location == value
    assert encode_citations(citations) == with_location(location)


def test_unknown_providers_keys_and_nulls_come_back():
    given = tree(citedText=None, new=[1])
    given["sources"] = [{"id": "s0", "provider": "who?", "url": None, "rank": 1}]
    given["spans"][0]["weight"] = 0.5
    given["more"] = {"a": None}
    assert encode_citations(decode_citations(given)) == given
    assert decode_citations(given).sources[0].provider == "who?"


SPAN = {"startIndex": 0, "endIndex": 1, "references": []}


@pytest.mark.parametrize("filler", [0, 12], ids=["few", "many"])
@pytest.mark.parametrize(
    ("change", "path", "expected", "got"),
    [
        (lambda t: t.update(sources={}), "$.sources", "an array", "an object with 0 keys"),
        (
            lambda t: t.pop("spans"),
            "$.spans",
            "a value, since this key is required",
            "nothing",
        ),
        (lambda t: t["spans"].append("x"), "$.spans[-1]", "an object", "'x'"),
        (
            lambda t: t["spans"].append({**SPAN, "startIndex": -1}),
            "$.spans[-1].startIndex",
            "an integer of 0 or more",
            "-1",
        ),
        (
            lambda t: t["spans"].append({**SPAN, "startIndex": 5}),
            "$.spans[-1].endIndex",
            "an integer of startIndex or more",
            "1",
        ),
        (
            lambda t: t["spans"].append({**SPAN, "endIndex": 1.0}),
            "$.spans[-1].endIndex",
            "an integer",
            "1.0",
        ),
        (
            lambda t: t["spans"].append({**SPAN, "references": [{"sourceId": "s9"}]}),
            "$.spans[-1].references[0].sourceId",
            "the id of a source",
            "'s9'",
        ),
        (
            lambda t: t["spans"].append({**SPAN, "references": [{"sourceId": "s0"}, {}]}),
            "$.spans[-1].references[1].sourceId",
            "a value, since this key is required",
            "nothing",
        ),
        (
            lambda t: t["sources"].append({"id": "s0", "provider": "x"}),
            "$.sources[-1].id",
            "an id that no other source has",
            "'s0'",
        ),
        (
            lambda t: t["sources"].append({"id": "s1", "provider": 5}),
            "$.sources[-1].provider",
            "a string",
            "5",
        ),
    ],
)
def test_errors_name_the_place(filler, change, path, expected, got):
    given = tree()
    given["spans"] = [SPAN] * filler
    given["sources"] += [{"id": f"f{n}", "provider": "x"} for n in range(filler)]
    change(given)
    for key in ("spans", "sources"):
        path = path.replace(f"{key}[-1]", f"{key}[{len(given.get(key, ())) - 1}]")
    for source in (given, json.dumps(given)):
        with pytest.raises(DecodeError) as caught:
            decode_citations(source)
        error = caught.value
        assert (error.path, error.expected, error.got) == (path, expected, got)


@pytest.mark.parametrize(
    ("location", "path", "expected"),
    [
        ("char", "", "an object"),
        ({}, ".type", "a value, since this key is required"),
        ({"type": 5}, ".type", "a string"),
        ({"type": "char"}, ".startIndex", "a value, since this key is required"),
        ({"type": "char", "startIndex": "1", "endIndex": 2}, ".startIndex", "an integer"),
        ({"type": "page", "startPage": -1, "endPage": 2}, ".startPage", "an integer of 0 or more"),
        (
            {"type": "block", "startBlock": 3, "endBlock": 2},
            ".endBlock",
            "an integer of startBlock or more",
        ),
    ],
)
def test_errors_in_a_location(location, path, expected):
    with pytest.raises(DecodeError) as caught:
        decode_citations(with_location(location))
    assert caught.value.path == "$.spans[0].references[0].location" + path
    assert caught.value.expected == expected


def test_errors_in_an_event_name_the_whole_way():
    given = {
        "id": "e",
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "assistant.message",
        "data": {"content": "", "messageId": "m", "citations": tree()},
    }
    given["data"]["citations"]["spans"][0]["endIndex"] = -1
    with pytest.raises(DecodeError) as caught:
        decode_event(given)
    assert caught.value.path == "$.data.citations.spans[0].endIndex"


def reencoded(**changes):
    citations = decode_citations(tree())
    reference = attrs.evolve(citations.spans[0].references[0], **changes)
    span = attrs.evolve(citations.spans[0], references=[reference])
    return encode_citations(attrs.evolve(citations, spans=[span]))


def test_a_changed_location_shows_when_encoded():
    assert reencoded(location=None, cited_text=None) == {
        **tree(),
        "spans": [
            {
                **SPAN,
                "endIndex": 4,
                "references": [{"sourceId": "s0", "providerMetadata": {"documentIndex": 0}}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (5, "location: expected a value of type CitationLocationOther, got 5"),
        (
            CitationLocationOther(type="char"),
            "location.type: expected a type without a class of its own, got 'char'",
        ),
        (
            CitationLocationOther(type="x", extra=Extra({"type": "y"})),
            "location.type: expected null, as this key has a field, got 'y'",
        ),
        (
            CitationLocationChar(start_index=0, end_index=1, extra=Extra({"type": "y"})),
            "location.type: expected null, as this key has a field, got 'y'",
        ),
    ],
)
def test_encoding_refuses_a_location_that_would_not_come_back(location, message):
    with pytest.raises(EncodeError) as caught:
        reencoded(location=location)
    assert str(caught.value) == "$.spans[0].references[0]." + message


def test_encoding_wants_citations():
    with pytest.raises(EncodeError, match="expected a value of type Citations, got None"):
        encode_citations(None)
