import pytest

from citestream.providers.gemini_sources import (
    annotation_source,
    grounding_source,
    known,
    spelled,
)


class Sdk:
    """An object as the SDK has them."""

    def __init__(self, **fields):
        vars(self).update(fields)


def test_objects_and_mappings_are_read_by_the_names_that_they_use():
    place = {"placeId": "p", "uri": "https://m.example"}
    found = [
        grounding_source(chunk)
        for chunk in (
            {"maps": place},
            {"maps": {"place_id": "p", "uri": "https://m.example"}},
            Sdk(maps=Sdk(place_id="p", uri="https://m.example")),
        )
    ]
    assert found[0].metadata == {"placeId": "p"}
    assert found[0] == found[1] == found[2]


def test_names_are_spelled_as_the_value_does():
    assert spelled({}, "confidence_scores") == "confidenceScores"
    assert spelled({"confidence_scores": None}, "confidence_scores") == "confidence_scores"
    assert spelled(Sdk(), "confidence_scores") == "confidence_scores"
    assert spelled(None, "uri") == "uri"


def test_what_the_sdk_wrapped_is_unwrapped():
    assert known(Sdk(type="UNKNOWN", raw={"type": "new"}), kind="type") == {"type": "new"}
    assert known({"type": "text", "raw": 2}, kind="type") == {"type": "text", "raw": 2}
    assert known(None, kind="type") is None


NOTHING = [None, {}, [], {"web": None}, {"web": {}}, {"web": 1}, {"new": {"uri": "https://a"}}]


@pytest.mark.parametrize("sent", NOTHING, ids=repr)
def test_what_names_no_source_is_none(sent):
    assert grounding_source(sent) is None
    assert annotation_source(sent) is None


@pytest.mark.parametrize("url", ["HTTPS://a.example", "http://a.example"])
def test_only_addresses_of_the_web_are_urls(url):
    assert annotation_source({"type": "url_citation", "url": url}).facts.url == url
    other = annotation_source({"type": "url_citation", "url": "files/1"}).facts
    assert (other.url, other.key) == (None, ("web", "files/1"))


def test_a_page_is_the_first_and_the_last():
    one = grounding_source({"retrievedContext": {"title": "T", "pageNumber": 0}})
    assert (one.location.start_page, one.location.end_page) == (0, 0)
