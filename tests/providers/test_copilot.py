import json
from pathlib import Path

import pytest
from hypothesis import given

from citestream import DecodeError, Resolver, wire
from citestream.offsets import to_utf16, utf16_slice
from citestream.providers.copilot import event_mapping, repaired, unparsed_event
from providers.exchanges import damaged
from strategies import wire_citations

DATA = Path(__file__).parents[1] / "data" / "copilot"
TEXT = "May 😀 ([Status](https://s.example/a)). Then ([News](https://n.example/b))."
LINKS = ["([Status](https://s.example/a))", "([News](https://n.example/b))"]


def recorded(name):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def message_of(content, citations, **data):
    return {
        "id": "e1",
        "timestamp": "2026-11-30T04:55:10Z",
        "type": "assistant.message",
        "parentId": None,
        "agentId": None,
        "data": {"content": content, "messageId": "m1", "citations": citations, **data},
    }


def openai(content, *links, url=None, shift=0, **reference):
    """Cite ``links`` as the runtime does: it takes code points for UTF-16."""
    sources, spans = [], []
    for number, link in enumerate(links):
        found = url or (link[link.index("http") :].rstrip(")") if "http" in link else "https://x")
        sources.append({"id": f"s{number}", "provider": "openai", "title": "T", "url": found})
        start = content.index(link) + shift
        cites = [{"sourceId": f"s{number}", **reference}]
        spans.append({"startIndex": start, "endIndex": start + len(link), "references": cites})
    return message_of(content, {"sources": sources, "spans": spans})


def anthropic(source, *references):
    source = {"id": "s0", "provider": "anthropic", **source}
    references = [{"sourceId": "s0", **one} for one in references]
    span = {"startIndex": 0, "endIndex": 5, "references": references}
    return message_of("Rents rose.", {"sources": [source], "spans": [span]})


def words_of(event):
    content = event["data"]["content"]
    return [
        utf16_slice(content, span["startIndex"], span["endIndex"])
        for span in event["data"]["citations"]["spans"]
    ]


def kinds_of(warnings):
    return {w["data"]["repair"]: w["data"]["count"] for w in warnings}


# -- offsets


def test_ranges_that_the_runtime_took_for_utf_16_are_moved():
    event = openai(TEXT, *LINKS)
    assert words_of(event) != LINKS
    message, *warnings = repaired(event)
    assert words_of(message) == LINKS
    assert kinds_of(warnings) == {"offset": 2}


def test_the_recorded_run_cites_its_links_again():
    [event] = [e for e in recorded("live-openai-url-citations") if "citations" in e["data"]]
    before = json.dumps(event)
    message, *warnings = repaired(event)
    assert json.dumps(event) == before
    assert words_of(message) == [
        "([Status page](https://status.example/launch))",
        "([Weekly news](https://news.example/w18))",
    ]
    spans = message["data"]["citations"]["spans"]
    assert [(s["startIndex"], s["endIndex"]) for s in spans] == [(29, 75), (100, 141)]
    assert [r for s in spans for r in s["references"]] == [{"sourceId": "s0"}, {"sourceId": "s1"}]
    assert kinds_of(warnings) == {"words": 2, "offset": 2}


LEFT = {
    "nothing beyond the BMP": openai(TEXT.replace("😀", "絵"), *LINKS),
    "a range before the emoji": openai("([S](https://s.example)) 😀", "([S](https://s.example))"),
    "another address": openai(TEXT, *LINKS, url="https://other.example"),
    "no address": openai(TEXT, *LINKS, url=5),
    "a runtime that counts right": openai(TEXT, *LINKS, shift=1),
    "a range that leaves the text": openai(TEXT, LINKS[1] + ".", shift=1),
}


@pytest.mark.parametrize("name", LEFT)
def test_ranges_that_are_right_or_cannot_be_checked_stay(name):
    assert repaired(LEFT[name]) == [LEFT[name]]


def test_a_bare_address_is_checked_too():
    text = "😀 See https://s.example/a now, (Source: https://s.example/a)."
    for words in ("https://s.example/a", "(Source: https://s.example/a)"):
        message, _ = repaired(openai(text, words, url="https://s.example/a"))
        assert words_of(message) == [words]


def test_the_way_of_the_vendor_is_taken_where_both_readings_look_alike():
    text = "😀 It says so: https://s.example/a, today."
    message, _ = repaired(openai(text, "so: https://s.example/a, to", url="https://s.example/a"))
    assert words_of(message) == ["so: https://s.example/a, to"]


# -- cited text


@pytest.mark.parametrize("words", ["([Status](https://s.example/a", "Status", ""])
def test_the_answer_s_own_words_are_no_cited_text(words):
    text = TEXT.replace("😀", "絵")
    event = openai(text, LINKS[0], citedText=words)
    message, *warnings = repaired(event)
    [reference] = message["data"]["citations"]["spans"][0]["references"]
    if words:
        assert reference == {"sourceId": "s0"}
        assert kinds_of(warnings) == {"words": 1}
    else:
        assert (message, warnings) == (event, [])


def test_half_a_character_at_the_edge_is_the_answer_s_too():
    text = "A 😀 b https://s.example/a"
    sources = [{"id": "s0", "provider": "openai", "url": "https://o.example"}]
    reference = {"sourceId": "s0", "citedText": "\ude00 b"}
    span = {"startIndex": 3, "endIndex": 6, "references": [reference]}
    message, warning = repaired(message_of(text, {"sources": sources, "spans": [span]}))
    assert message["data"]["citations"]["spans"][0]["references"] == [{"sourceId": "s0"}]
    assert warning["data"]["repair"] == "words"


KEPT = {
    "words of the source": openai("Rents rose ([S](https://s.example)).", "rose", citedText="Up."),
    "another provider": anthropic({"title": "Memo"}, {"citedText": "Rents"}),
    "an unknown source": message_of(
        "Rents",
        {
            "sources": [],
            "spans": [
                {
                    "startIndex": 0,
                    "endIndex": 5,
                    "references": [{"sourceId": "s9", "citedText": "Rents"}],
                }
            ],
        },
    ),
    "a range that ends before it starts": message_of(
        "Rents",
        {
            "sources": [{"id": "s0", "provider": "openai"}],
            "spans": [
                {
                    "startIndex": 5,
                    "endIndex": 0,
                    "references": [{"sourceId": "s0", "citedText": "Rents"}],
                }
            ],
        },
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_cited_text_of_sources_stays(name):
    assert repaired(KEPT[name]) == [KEPT[name]]


# -- pages and paths


def pages(start, end, kind="page"):
    return {"location": {"type": kind, "startPage": start, "endPage": end}}


@pytest.mark.parametrize(("end", "last"), [(2, 1), (4, 3)])
def test_the_last_page_is_inclusive(end, last):
    message, warning = repaired(anthropic({"title": "Memo"}, pages(1, end)))
    [reference] = message["data"]["citations"]["spans"][0]["references"]
    assert reference["location"] == {"type": "page", "startPage": 1, "endPage": last}
    assert warning["data"]["repair"] == "pages"


@pytest.mark.parametrize(
    "reference",
    [pages(2, 2), pages(None, 2), pages(3, 2), pages(1, 2, "leaf"), {"location": None}, {}],
)
def test_other_locations_stay(reference):
    event = anthropic({"title": "Memo"}, reference)
    assert repaired(event) == [event]
    other = openai(TEXT.replace("😀", "絵"), LINKS[0], **pages(1, 2))
    assert repaired(other) == [other]


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("docs/memo.md", {"path": "docs/memo.md"}),
        (".\\docs\\memo.md", {"path": "docs/memo.md"}),
        ("", {}),
    ],
)
def test_what_is_no_url_is_a_path_or_nothing(url, source):
    message, warning = repaired(anthropic({"url": url, "title": "T"}))
    [found] = message["data"]["citations"]["sources"]
    assert found == {"id": "s0", "provider": "anthropic", "title": "T", **source}
    assert warning["data"] == {
        "warningType": "citation.offset_repaired",
        "message": "1 of the runtime's urls were none",
        "messageId": "m1",
        "repair": "path",
        "count": 1,
    }


@pytest.mark.parametrize("url", ["https://a.example/x", "kb:1", "/etc/passwd", None, 5])
def test_other_urls_stay(url):
    event = anthropic({"url": url})
    assert repaired(event) == [event]


def test_the_recorded_run_on_anthropic_differs_in_its_pages_alone():
    [event] = [e for e in recorded("live-anthropic-citations") if "citations" in e["data"]]
    message, *warnings = repaired(event)
    assert kinds_of(warnings) == {"pages": 1}
    message["data"]["citations"]["spans"][1]["references"][0]["location"]["endPage"] += 1
    assert message == event


# -- events


def test_warnings_are_events_of_their_own_that_decode():
    message, *warnings = map(wire.decode_event, repaired(openai(TEXT, *LINKS, citedText="Status")))
    assert [w.data.warning_type for w in warnings] == ["citation.offset_repaired"] * 2
    assert {w.parent_id for w in warnings} == {message.id}
    assert len({w.id for w in warnings}) == 2
    assert all(w.ephemeral and w.timestamp == message.timestamp for w in warnings)


def test_repairs_survive_the_resolver():
    event = wire.decode_event(repaired(openai(f"{TEXT} \ue200cite\ue202a\ue201", *LINKS))[0])
    [message, *_] = Resolver().feed(event)
    spans = message.data.citations.spans
    assert spans[0].slice(message.data.content) == LINKS[0]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "assistant.message"},
        {"type": "assistant.message", "data": "text"},
        message_of("Rents", None),
        message_of(None, {"sources": [], "spans": []}),
        message_of("Rents", {"sources": None, "spans": [None, {}, {"references": [None]}]}),
        {**openai(TEXT, *LINKS), "type": "assistant.message_delta"},
    ],
)
def test_what_is_no_message_with_citations_stays(event):
    assert repaired(event) == [event]


SAMPLE = [
    *repaired(openai(TEXT, *LINKS, citedText="Status")),
    openai(TEXT, *LINKS, citedText="Status"),
    anthropic({"url": "docs/memo.md"}, pages(1, 2), {"citedText": "Rents"}),
]


@given(damaged(SAMPLE))
def test_no_json_anywhere_raises(events):
    for event in events:
        if isinstance(event, dict):
            content = event.get("data", {}) if isinstance(event.get("data"), dict) else {}
            found, *_ = repaired(event)
            if isinstance(content, dict) and "content" in content:
                assert found["data"]["content"] == content["content"]


@given(wire_citations)
def test_what_decodes_still_decodes(citations):
    event = message_of("Rents rose 😀 https://a.example", citations)
    for one in repaired(event):
        wire.decode_event(one)


def test_mappings_pass_and_other_things_are_no_events():
    event = message_of("Rents", None)
    assert event_mapping(event) is event
    for other in (None, "text", 5):
        with pytest.raises(DecodeError, match="an event of the Copilot SDK"):
            event_mapping(other)

    class Odd:
        def to_dict(self):
            return [1]

    class Broken:
        def to_dict(self):
            raise AssertionError

    for other in (Odd(), Broken()):
        with pytest.raises(DecodeError):
            event_mapping(other)


@pytest.mark.parametrize("name", [path.stem for path in sorted(DATA.glob("live-*.jsonl"))])
def test_events_of_the_sdk_are_what_they_were(name):
    sdk = pytest.importorskip("copilot.session_events", reason="needs github-copilot-sdk")
    for event in recorded(name):
        mapping = event_mapping(sdk.session_event_from_dict(event))
        assert wire.decode_event(mapping) == wire.decode_event(event)


def test_an_event_that_the_sdk_cannot_parse_is_found_where_it_failed():
    sdk = pytest.importorskip("copilot.session_events", reason="needs github-copilot-sdk")
    event = {**openai(TEXT, *LINKS), "id": "11111111-1111-1111-1111-111111111111"}
    event["data"]["citations"]["sources"][0]["provider"] = "google"
    params = {"sessionId": "c1", "event": event}

    def handle(method, params):
        del method
        sdk.session_event_from_dict(params["event"])

    if __debug__:  # without asserts the SDK takes anything
        with pytest.raises(AssertionError) as info:
            handle("session.event", params)
        assert unparsed_event(info.value, session_id="c1") == event
        assert unparsed_event(info.value, session_id="c2") is None
    assert unparsed_event(ValueError(), session_id="c1") is None


def test_moving_agrees_with_the_conversion_of_offsets():
    message, _ = repaired(openai(TEXT, LINKS[1]))
    [span] = message["data"]["citations"]["spans"]
    at = TEXT.index(LINKS[1])
    assert span["startIndex"] == to_utf16(TEXT, at)
    assert span["endIndex"] == to_utf16(TEXT, at + len(LINKS[1]))
