import time
from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import OptionError, SourceRegistry, format_marker, parse_markers
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText
from citestream.providers.openai import FILE_SEARCH_RESULTS, WEB_SEARCH_SOURCES, OpenAIResponses
from citestream.sources import Granularity, from_pages, from_text
from providers.exchanges import answer, cited, damaged, events_of, joined, warnings_of
from providers.loopback import CUTS, SSE, Loopback, Reply, bytewise, drawn, sse
from strategies import json_values

CITY, WAGES = "https://city.example/r?utm_source=openai", "https://wages.example/"
A = format_marker("turn0search0")


def link(title, url):
    return f"([{title}]({url}))"


def url(text, words, url=CITY, title="City rents", nth=0, **more):
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    place = {"start_index": at, "end_index": at + len(words)}
    return {"type": "url_citation", "url": url, "title": title, **place, **more}


def file(index, file_id="file_a", filename="memo.pdf"):
    return {"type": "file_citation", "file_id": file_id, "filename": filename, "index": index}


def part(text, *annotations):
    return {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}


def message(*parts, number=0):
    about = {"id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return {"type": "message", "content": list(parts), **about}


def found(*texts, file_id="file_a"):
    results = [{"file_id": file_id, "filename": "memo.pdf", "text": t, "score": 1} for t in texts]
    call = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["rents"]}
    return {**call, "results": results}


THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "no"}],
    "content": [{"type": "reasoning_text", "text": "no"}],
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "r", "sources": [{"type": "url", "url": WAGES}]},
}


def response(output, status="completed", **more):
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": 1}
    about = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", **settings}
    return {**about, "status": status, "output": output, "error": None, **more}


def numbered(events):
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def streamed(output, size=5, end="response.completed", annotations=True):
    """Stream ``output`` as the service does: annotations right behind what they are about."""
    events = [{"type": "response.created", "response": response([], "in_progress")}]
    for index, item in enumerate(output):
        item_id = {"item_id": item["id"], "output_index": index}
        added = {**item, "content": []} if item["type"] == "message" else item
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        parts = item["content"] if item["type"] == "message" else []
        for place, content in enumerate(parts):
            at = {**item_id, "content_index": place}
            events.append({"type": "response.content_part.added", **at, "part": part("")})
            events += _part(content, at, size, annotations=annotations)
            events.append({"type": "response.content_part.done", **at, "part": content})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return numbered([*events, {"type": end, "response": response(output)}])


def _part(content, at, size, *, annotations):
    kind = "refusal" if content["type"] == "refusal" else "output_text"
    text = content["refusal" if kind == "refusal" else "text"]
    noted = [(n, a) for n, a in enumerate(content.get("annotations", ())) if annotations and a]
    for start in range(0, len(text), size):
        end = start + size
        delta = {"type": f"response.{kind}.delta", **at, "delta": text[start:end], "logprobs": []}
        yield delta
        for number, one in [n for n in noted if n[1].get("end_index", n[1].get("index", 0)) <= end]:
            event = {"type": "response.output_text.annotation.added", **at}
            yield {**event, "annotation": one, "annotation_index": number}
            noted.remove((number, one))
    name = "refusal" if kind == "refusal" else "text"
    yield {"type": f"response.{kind}.done", **at, name: text, "logprobs": []}


ASCII = f"Rents rose 4%. {link('city', CITY)} Wages fell. {link('wages', WAGES)}"
CJK = f"家賃は4%上がりました。{link('都市', CITY)}賃金は下がりました。"
EMOJI = f"📎 Rents 😀 rose 4%. {link('city', CITY)} Oh."
TWICE = f"Up. {link('c', CITY)} Down. {link('c', CITY)}"
FILES = "📎 Rents rose 4%. Wages fell."
MARKED = f"📎 Rents rose. {A} Wages fell."

CASES = {
    "ascii": (
        [
            message(
                part(
                    ASCII,
                    url(ASCII, link("city", CITY)),
                    url(ASCII, link("wages", WAGES), WAGES, "Wages"),
                )
            )
        ],
        [(link("city", CITY), ["City rents"]), (link("wages", WAGES), ["Wages"])],
    ),
    "cjk": (
        [THOUGHT, SEARCH, message(part(CJK, url(CJK, link("都市", CITY), title="")))],
        [(link("都市", CITY), [CITY])],
    ),
    "emoji": (
        [message(part(EMOJI, url(EMOJI, link("city", CITY))))],
        [(link("city", CITY), ["City rents"])],
    ),
    "repeated": (
        [
            message(
                part(
                    TWICE,
                    url(TWICE, link("c", CITY)),
                    url(TWICE, link("c", CITY), nth=1),
                    url(TWICE, link("c", CITY), nth=1),
                )
            )
        ],
        [(link("c", CITY), ["City rents"]), (link("c", CITY), ["City rents"])],
    ),
    "overlapping": (
        [
            message(
                part(
                    ASCII,
                    url(ASCII, f"4%. {link('city', CITY)}"),
                    url(ASCII, link("city", CITY), title="Later"),
                )
            )
        ],
        [(f"4%. {link('city', CITY)}", ["City rents"]), (link("city", CITY), ["City rents"])],
    ),
    "one range, two sources": (
        [
            message(
                part(
                    ASCII,
                    url(ASCII, link("city", CITY)),
                    url(ASCII, link("city", CITY), CITY + "#top", "Same"),
                    url(ASCII, "Rents rose", "https://b.example", "B"),
                )
            )
        ],
        [("Rents rose", ["B"]), (link("city", CITY), ["City rents"])],
    ),
    "several parts and messages": (
        [
            message(part("😀 One. "), part(EMOJI, url(EMOJI, link("city", CITY)))),
            message(part(CJK, url(CJK, link("都市", CITY)), file(12)), number=1),
        ],
        [
            (link("city", CITY), ["City rents"]),
            ("家賃は4%上がりました。", ["memo.pdf"]),
            (link("都市", CITY), ["City rents"]),
        ],
    ),
    "files": (
        [
            message(
                part(
                    FILES,
                    file(FILES.index(". Wages")),
                    file(len(FILES) - 1, "file_b", None),
                    file(len(FILES) - 1, "file_b", "b.pdf"),
                )
            )
        ],
        [("📎 Rents rose 4%", ["memo.pdf"]), ("Wages fell", ["b.pdf"])],
    ),
    "a marker": (
        [message(part(MARKED, url(MARKED, A)))],
        [("📎 Rents rose.", ["City rents"])],
    ),
    "no range": (
        [
            message(
                part(
                    ASCII,
                    {"type": "url_citation", "url": CITY},
                    {"type": "url_citation", "url": WAGES, "start_index": 0, "end_index": 0},
                )
            )
        ],
        [],
    ),
    "what cites nothing": (
        [
            message(
                part(
                    ASCII,
                    {"type": "file_path", "file_id": "file_a", "index": 0},
                    {"type": "new_citation", "file_id": "file_a", "url": CITY},
                    {"type": "url_citation", "url": None},
                    {"type": "file_citation"},
                    None,
                )
            )
        ],
        [],
    ),
    "a refusal": ([message({"type": "refusal", "refusal": "I cannot say. 😀"})], []),
    "nothing": ([THOUGHT], []),
}
SHAPES = {
    "streamed": streamed,
    "in single characters": lambda output: streamed(output, size=1),
    "annotations at the end only": lambda output: streamed(output, annotations=False),
    "incomplete": lambda output: streamed(output, end="response.incomplete"),
    "whole": lambda output: [response(output)],
    "objects": lambda output: [
        SimpleNamespace(
            **{
                **event,
                **(
                    {"response": SimpleNamespace(**event["response"])}
                    if "response" in event
                    else {}
                ),
            }
        )
        for event in streamed(output)
    ],
}


def words_of(output):
    texts = [c for item in output if item["type"] == "message" for c in item["content"]]
    return "".join(one.get("text") or one.get("refusal") for one in texts)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_answers(name, shape):
    output, expected = CASES[name]
    message = answer(OpenAIResponses(), SHAPES[shape](output))
    assert (cited(message), message.model) == (expected, "gpt-5")
    assert message.content == parse_markers(words_of(output)).content
    assert message == answer(OpenAIResponses(), [response(output)])


def test_a_source_tells_whose_it_is_and_a_reference_where_it_was():
    output, _ = CASES["files"]
    message = answer(OpenAIResponses(provider="azure"), streamed(output))
    assert [(s.provider, s.title, s.url) for s in message.citations.sources] == [
        ("azure", "memo.pdf", None),
        ("azure", "b.pdf", None),
    ]
    [reference] = message.citations.spans[0].references
    at = FILES.index(". Wages")
    assert reference.provider_metadata == {"fileId": "file_a", "startIndex": at, "endIndex": at}
    assert reference.cited_text is None


def test_sources_without_a_place_are_kept():
    output, _ = CASES["no range"]
    message = answer(OpenAIResponses(), streamed(output))
    assert [s.url for s in message.citations.sources] == [CITY, WAGES]


@pytest.mark.parametrize(
    "kind",
    [
        "response.output_text.annotation.added",
        "response.content_part.done",
        "response.output_item.done",
    ],
)
def test_annotations_of_one_place_alone_are_kept(kind):
    """The Copilot runtime loses those that the last payload lacks."""
    output, expected = CASES["ascii"]
    *events, end = streamed([message(part(ASCII))])
    events += [event for event in streamed(output) if event["type"] == kind]
    events = [{**event, "sequence_number": None} for event in (*events, end)]
    assert cited(answer(OpenAIResponses(), events)) == expected


def test_a_title_may_come_with_either():
    output = [message(part(ASCII, url(ASCII, link("city", CITY))))]
    bare = [message(part(ASCII, url(ASCII, link("city", CITY), title=None)))]
    for first, last in ((output, bare), (bare, output)):
        events = [*streamed(first)[:-1], streamed(last)[-1]]
        assert cited(answer(OpenAIResponses(), events)) == [(link("city", CITY), ["City rents"])]


# -- ranges


def test_a_range_in_utf16_is_found_by_its_url_and_reported():
    off = url(EMOJI, link("city", CITY))
    off = {**off, "start_index": off["start_index"] + 2, "end_index": off["end_index"] + 2}
    events = events_of(OpenAIResponses(), streamed([message(part(EMOJI, off))]))
    assert warnings_of(events) == ["citation.offset_repaired"]


@pytest.mark.parametrize(
    "place",
    [(0, 5), (5, 2), (900, 990), (3, 3)],
)
def test_a_range_that_cannot_be_right_is_dropped_and_its_source_is_kept(place):
    start, end = place
    off = {
        "type": "url_citation",
        "url": CITY,
        "title": "C",
        "start_index": start,
        "end_index": end,
    }
    chunks = streamed([message(part(EMOJI, off))])
    got = answer(OpenAIResponses(), chunks)
    assert [s.title for s in got.citations.sources] == ["C"]
    assert [span.slice(got.content) for span in got.citations.spans] == (
        ["📎 R"] if start == end else []
    )


def test_a_container_file_is_cited_at_its_path():
    text = "😀 See [the table](sandbox:/mnt/data/rents.csv)."
    place = text.index("sandbox:"), text.index(").")
    one = {
        "type": "container_file_citation",
        "container_id": "cntr_1",
        "file_id": "cfile_1",
        "filename": "rents.csv",
        "start_index": place[0],
        "end_index": place[1],
    }
    image = {**one, "file_id": "cfile_2", "filename": "p.png", "start_index": 0, "end_index": 0}
    message_ = answer(OpenAIResponses(), streamed([message(part(text, one, image))]))
    assert cited(message_) == [("sandbox:/mnt/data/rents.csv", ["rents.csv"])]
    assert [s.title for s in message_.citations.sources] == ["rents.csv", "p.png"]
    assert message_.citations.spans[0].references[0].provider_metadata == {
        "containerId": "cntr_1",
        "fileId": "cfile_1",
        "startIndex": place[0],
        "endIndex": place[1],
    }


@pytest.mark.parametrize(
    ("search", "quote"),
    [
        (found("Rents rose 4 %."), "Rents rose 4 %."),
        (found("Rents rose 4 %.", "Rents rose 4 %."), "Rents rose 4 %."),
        (found("Rents rose 4 %.", "Wages."), None),
        (found("Rents rose 4 %.", file_id="file_x"), None),
        ({**found(), "results": None}, None),
        ({**found(), "results": [{"file_id": "file_a"}, None, {"text": "x"}]}, None),
    ],
)
def test_what_a_search_found_is_quoted_if_it_is_one_text(search, quote):
    output = [search, message(part(FILES, file(FILES.index(". Wages"))))]
    for chunks in (
        streamed(output),
        [response(output)],
        [*streamed(output)[:-1], {"type": "response.completed", "response": None}],
    ):
        [reference] = answer(OpenAIResponses(), chunks).citations.spans[0].references
        assert reference.cited_text == quote


def test_an_annotation_of_a_file_may_bring_its_range_and_its_quote():
    text = "Rents rose 4%【4:0†memo.pdf】."
    one = {
        "type": "file_citation",
        "file_id": "f",
        "start_index": 13,
        "end_index": 27,
        "quote": "Up.",
    }
    message_ = answer(OpenAIResponses(), [response([message(part(text, one))])])
    [span] = message_.citations.spans
    assert (span.slice(text), span.references[0].cited_text) == ("【4:0†memo.pdf】", "Up.")


# -- text


def test_missed_deltas_come_with_the_whole_text():
    output, expected = CASES["emoji"]
    events = streamed(output)
    deltas = [i for i, e in enumerate(events) if e["type"].endswith("text.delta")]
    for gone in (deltas[:1], deltas[2:4], deltas[-1:], deltas[1:], deltas):
        left = [e for i, e in enumerate(events) if i not in gone]
        assert cited(answer(OpenAIResponses(), left)) == expected
        assert answer(OpenAIResponses(), left).content == EMOJI


def test_a_part_that_begins_after_a_gap_lacks_nothing():
    events = streamed([THOUGHT, message(part("Rents rose."))])
    del events[1]
    exchange = OpenAIResponses()
    assert joined(exchange, events[:5]) == "Rents"


def test_what_waits_comes_at_the_end_if_it_never_comes_whole():
    events = [
        e for e in streamed([message(part("Rents rose 4%."))]) if e["type"].endswith("text.delta")
    ]
    end = {"type": "response.completed", "response": None}
    message_ = answer(OpenAIResponses(), [events[0], events[2], end])
    assert message_.content == "Rents 4%."
    # The same where the whole text says something else than what was shown already.
    other = {"type": "response.output_text.done", "text": "Wages."}
    assert answer(OpenAIResponses(), [events[0], events[2], other, end]).content == "Rents 4%."


def test_halves_of_a_character_in_two_deltas_are_the_character():
    deltas = [{"type": "response.output_text.delta", "delta": d} for d in ("a\ud83d", "\udcceb")]
    message_ = answer(OpenAIResponses(), [*deltas, response([message(part("a📎bc"))])])
    assert message_.content == "a📎bc"


@pytest.mark.parametrize("indexes", [{}, {"output_index": None}, {"output_index": 7}])
def test_a_server_that_counts_otherwise_says_nothing_twice(indexes):
    event = {"type": "response.output_text.delta", "content_index": 0, **indexes}
    deltas = [{**event, "delta": text} for text in ("Rents ", "rose.")]
    end = {
        "type": "response.completed",
        "response": response([THOUGHT, message(part("Rents rose."))]),
    }
    assert answer(OpenAIResponses(), [*deltas, end]).content == "Rents rose."


def test_after_the_end_there_is_nothing_until_the_next_request():
    exchange = OpenAIResponses()
    whole = response([message(part("One."))])
    assert joined(exchange, [whole, whole]) == "One."
    exchange.request(Conversation(turns=()), model="m")
    assert joined(exchange, [whole]) == "One."


# -- other chunks


@pytest.mark.parametrize(
    ("chunk", "failure"),
    [
        ({"type": "error", "code": "server_error", "message": "Down."}, ("Down.", "server_error")),
        (
            {"type": "error", "error": {"type": "overloaded", "message": "Busy."}},
            ("Busy.", "overloaded"),
        ),
        ({"error": {"message": "No."}}, ("No.", "provider")),
        ({"error": "No."}, ("No.", "provider")),
        ({"type": "error"}, ("the vendor reported an error", "provider")),
        ({"type": "response.failed"}, ("the vendor reported an error", "provider")),
        (
            {
                "type": "response.failed",
                "response": response([], "failed", error={"code": "x", "message": "Y."}),
            },
            ("Y.", "x"),
        ),
        (response([], "failed", error={"code": "x", "message": "Y."}), ("Y.", "x")),
        (response([], "cancelled"), ("the vendor reported an error", "provider")),
    ],
)
def test_errors_are_failures_and_end_the_answer(chunk, failure):
    exchange = OpenAIResponses()
    [item] = exchange.decode(chunk)
    assert item == AnswerFailure(message=failure[0], error_type=failure[1])
    assert exchange.decode(response([])) == []


def test_a_failed_answer_keeps_its_text():
    exchange = OpenAIResponses()
    items = exchange.decode(response([message(part("Half."))], "failed"))
    assert [type(item) for item in items] == [AnswerText, AnswerFailure]


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        [],
        "x",
        {},
        {"type": None},
        {"type": []},
        {"error": None},
        {"type": "response.new", "delta": "x"},
        {"type": "response.reasoning_text.delta", "delta": "x"},
        {"type": "response.reasoning_summary_text.delta", "delta": "x"},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
        {"type": "response.output_text.delta", "delta": None},
        {"type": "response.output_text.done", "text": None},
        {"type": "response.content_part.added", "part": part("x")},
        {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": "x"}},
        {"type": "response.output_item.done", "item": THOUGHT},
        {"type": "response.output_item.done", "item": None},
        {"type": "response.output_text.annotation.added", "annotation": None},
        response([], "in_progress"),
        response([], "queued"),
    ],
)
def test_what_is_unknown_or_empty_says_nothing(chunk):
    exchange = OpenAIResponses()
    assert exchange.decode(chunk) == []
    [*_, end] = exchange.decode(response([message(part("x"))]))
    assert end == AnswerEnd(model="gpt-5")


DAMAGED = streamed([found("Up."), message(part(EMOJI, url(EMOJI, link("city", CITY)), file(3)))])


STRUCTURE = {
    *("type", "delta", "text", "output_index", "content_index", "sequence_number"),
    *("item", "part", "response", "output", "content", "object", "status", "error"),
}


def _carries_text(path):
    return path[-1] in STRUCTURE or (isinstance(path[-1], int) and path[-2:-1] != ("annotations",))


@given(damaged(DAMAGED, keep=_carries_text))
def test_no_damage_around_the_text_loses_it(chunks):
    message_ = answer(OpenAIResponses(), chunks)
    assert message_.content == EMOJI


@given(damaged(DAMAGED))
def test_no_damage_raises(chunks):
    events_of(OpenAIResponses(), chunks)


@given(st.lists(json_values, max_size=4))
def test_no_value_raises(chunks):
    events_of(OpenAIResponses(), chunks)
    events_of(OpenAIResponses(), [response([message(part(chunk, *chunks))]) for chunk in chunks])


# -- asking


def material(origin="attachment", **registered):
    registry = SourceRegistry()
    document = from_text("Rents rose.\n\nWages fell.", title="Memo")
    return Material(source=registry.add(document, **registered), origin=origin)


def test_a_plain_conversation_is_sent_as_it_is():
    turns = (UserTurn(text="Hi."), AssistantTurn(text="Hello."), UserTurn(text="Why?"))
    asked = OpenAIResponses().request(Conversation(turns=turns), model="m", stream=True)
    assert asked == {
        "model": "m",
        "stream": True,
        "input": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Why?"},
        ],
    }


def test_attachments_are_shown_as_blocks_before_the_question():
    turn = UserTurn(text="Why?", materials=(material(),))
    conversation = Conversation(turns=(turn,), system="Be brief.")
    asked = OpenAIResponses().request(
        conversation, model="m", include=[FILE_SEARCH_RESULTS, WEB_SEARCH_SOURCES], tools=[]
    )
    assert asked["instructions"].startswith("Be brief.\n\n# Citing sources")
    [sent] = asked["input"]
    assert sent["content"].startswith('<BLOCK id="turn0block0" title="Memo">')
    assert sent["content"].endswith("</BLOCK>\n\nWhy?")
    assert asked["include"] == ["file_search_call.results", "web_search_call.action.sources"]
    assert asked["tools"] == []


def test_results_of_tools_are_shown_with_their_markers():
    shown = material("tool", granularity=Granularity.LINE)
    turn = ToolTurn(
        call_id="c1", name="find", arguments={"q": "r"}, text=f"1 hit {A}", materials=(shown,)
    )
    asked = OpenAIResponses().request(Conversation(turns=(turn,)), model="m")
    call, output = asked["input"]
    assert call == {
        "type": "function_call",
        "call_id": "c1",
        "name": "find",
        "arguments": '{"q":"r"}',
    }
    assert (output["type"], output["call_id"]) == ("function_call_output", "c1")
    assert output["output"].startswith("1 hit \ufffdcite")
    assert format_marker("turn0file0") in output["output"]
    assert "Results of tools may bring sources" in asked["instructions"]


def test_calls_at_once_come_before_their_results():
    calls = [ToolTurn(call_id=f"c{n}", name="find", text=f"{n}") for n in range(2)]
    asked = OpenAIResponses().request(
        Conversation(turns=(AssistantTurn(text="Hm."), *calls)), model="m"
    )
    assert asked["input"][0] == {"role": "assistant", "content": "Hm."}
    assert [(one["type"], one["call_id"]) for one in asked["input"][1:]] == [
        ("function_call", "c0"),
        ("function_call", "c1"),
        ("function_call_output", "c0"),
        ("function_call_output", "c1"),
    ]


def test_tools_and_what_the_caller_adds_are_sent():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    look = ToolDefinition(name="look", description="Looks.", parameters=schema)
    asked = OpenAIResponses().request(
        Conversation(turns=(), tools=(look,)), model="m", tools=[{"type": "web_search"}]
    )
    about = {"type": "function", "name": "look", "description": "Looks.", "strict": False}
    assert asked["tools"] == [{**about, "parameters": schema}, {"type": "web_search"}]


def test_a_call_without_its_id_counts_once():
    call = {"type": "function_call", "name": "look", "arguments": "{}"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": call}
    exchange = OpenAIResponses()
    assert exchange.decode(done) == []
    ended = {"type": "response.completed", "response": response([call])}
    found, end = exchange.decode(ended)
    assert (found.name, found.arguments, type(end)) == ("look", {}, AnswerEnd)
    assert found.call_id.startswith("call_")


def test_an_answer_that_failed_calls_nothing():
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    [item] = OpenAIResponses().decode({**response([call]), "status": "failed"})
    assert type(item) is AnswerFailure


def test_a_source_without_locators_for_it_is_refused():
    source = SourceRegistry().add(from_pages(["One."]), granularity=Granularity.PAGE)
    turn = UserTurn(text="Why?", materials=(Material(source=source),))
    with pytest.raises(OptionError, match="locators for pages"):
        OpenAIResponses().request(Conversation(turns=(turn,)), model="m")


# -- the official client


BROKEN = "Connection error|peer closed connection"  # newer clients wrap it, older ones do not


@pytest.fixture
def sdk():
    return pytest.importorskip("openai", reason="the openai SDK is absent")


def client_of(sdk, server, **options):
    return sdk.OpenAI(base_url=server.url, api_key="none", max_retries=0, **options)


def framed(events):
    return b"".join(sse(event, event=event["type"]) for event in events)


def ask(**arguments):
    conversation = Conversation(turns=(UserTurn(text="Why?"),))
    exchange = OpenAIResponses()
    return exchange, exchange.request(conversation, model="gpt-5", **arguments)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", ["emoji", "several parts and messages", "files", "a marker"])
def test_the_client_streams(sdk, name, cut):
    output, expected = CASES[name]
    exchange, asked = ask(stream=True)
    with Loopback(Reply(headers=SSE, pieces=CUTS[cut](framed(streamed(output))))) as server:
        message_ = answer(exchange, client_of(sdk, server).responses.create(**asked))
    assert cited(message_) == expected
    assert server.requests[0].body == asked
    assert message_ == answer(OpenAIResponses(), streamed(output))


@pytest.mark.parametrize("name", CASES)
def test_the_client_streams_every_kind(sdk, name):
    output, expected = CASES[name]
    exchange, asked = ask(stream=True)
    with Loopback(Reply(headers=SSE, pieces=[framed(streamed(output))])) as server:
        message_ = answer(exchange, client_of(sdk, server).responses.create(**asked))
    assert cited(message_) == expected


@pytest.mark.parametrize("name", CASES)
def test_the_client_gets_it_whole(sdk, name):
    output, expected = CASES[name]
    exchange, asked = ask()
    with Loopback(Reply.json(response(output))) as server:
        message_ = answer(exchange, [client_of(sdk, server).responses.create(**asked)])
    assert cited(message_) == expected


def test_the_helper_of_the_client_repeats_nothing(sdk):
    output, expected = CASES["several parts and messages"]
    exchange, asked = ask()
    with Loopback(Reply(headers=SSE, pieces=drawn(framed(streamed(output))))) as server:
        with client_of(sdk, server).responses.stream(**asked) as stream:
            chunks = [*stream, stream.get_final_response()]
        assert cited(answer(exchange, chunks)) == expected


def test_the_async_client_streams(sdk):
    output, expected = CASES["emoji"]
    exchange, asked = ask(stream=True)

    async def main(url):
        async with sdk.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            return [event async for event in await client.responses.create(**asked)]

    with Loopback(Reply(headers=SSE, pieces=drawn(framed(streamed(output)), seed=3))) as server:
        chunks = anyio.run(main, server.url)
    assert cited(answer(exchange, chunks)) == expected


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(sdk):
    data = framed(streamed(CASES["emoji"][0]))
    exchange, asked = ask(stream=True)
    pieces = [data[: data.index("😀".encode()) + 2], b"never sent"]
    chunks = []
    with Loopback(Reply(headers=SSE, pieces=pieces, break_after=1)) as server:
        stream = client_of(sdk, server).responses.create(**asked)
        with pytest.raises(Exception, match=BROKEN):
            chunks.extend(iter(stream))
    events = events_of(exchange, chunks)
    deltas = [e.data.delta_content for e in events if e.type.value == "assistant.message_delta"]
    assert "".join(deltas) == EMOJI[: len("".join(deltas))] != ""
    assert not any(e.type.value == "assistant.message" for e in events)


def test_an_error_status_is_what_the_client_raises(sdk):
    _, asked = ask(stream=True)
    body = {"error": {"message": "Slow down.", "type": "rate_limit", "code": "slow"}}
    limited = pytest.raises(sdk.RateLimitError, match="Slow down")
    with Loopback(Reply.json(body, status=429)) as server, limited:
        client_of(sdk, server).responses.create(**asked)


def test_a_slow_sender_is_only_slow(sdk):
    output, expected = CASES["files"]
    exchange, asked = ask(stream=True)
    events = [framed([event]) for event in streamed(output, size=10)]
    began = time.monotonic()
    with Loopback(Reply(headers=SSE, pieces=events, delay=0.02)) as server:
        message_ = answer(exchange, client_of(sdk, server).responses.create(**asked))
    assert cited(message_) == expected
    assert time.monotonic() - began >= 0.02 * len(events)


def test_a_sender_that_is_too_slow_gives_no_message(sdk):
    output, _ = CASES["files"]
    exchange, asked = ask(stream=True)
    pieces = [framed(streamed(output)[:5]), framed(streamed(output)[5:])]
    with Loopback(Reply(headers=SSE, pieces=pieces, delay=0.5)) as server:
        client = client_of(sdk, server, timeout=sdk.Timeout(0.7, read=0.3))
        with pytest.raises(Exception, match="timed out"):
            events_of(exchange, client.responses.create(**asked))


def test_an_error_in_the_stream_is_a_failure(sdk):
    events = numbered(
        [
            *streamed(CASES["files"][0])[:5],
            {"type": "error", "message": "Down.", "code": "x", "param": None},
        ]
    )
    exchange, asked = ask(stream=True)
    with Loopback(Reply(headers=SSE, pieces=bytewise(framed(events)))) as server:
        made = events_of(exchange, client_of(sdk, server).responses.create(**asked))
    assert made[-1].data.message == "Down."
    assert made[-1].type.value == "session.error"
