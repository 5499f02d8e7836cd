import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitationLocationBlock, CitationLocationPage, EncodeError, SourceRegistry
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText
from citestream.providers.cohere import Cohere
from citestream.sources import Granularity, from_pages, from_text
from providers.exchanges import answer, cited, damaged, events_of, joined, warnings_of
from providers.loopback import CUTS, SSE, Loopback, Reply, cut, sse
from strategies import json_values

MEMO = {"type": "document", "id": "doc_0", "document": {"id": "doc_0", "title": "Memo"}}
PAGE = {
    "type": "document",
    "id": "doc_1",
    "document": {"title": "Page", "url": "https://a.example/x", "snippet": "Wages fell."},
}
TOOL = {"type": "tool", "id": "call_1:0", "tool_output": {"title": "Search", "rows": [1]}}


def noted(text, words, *sources, nth=0, **more):
    """Say as Cohere does that ``words`` rest on ``sources``."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    end = at + len(words)
    return {"start": at, "end": end, "text": words, "sources": list(sources), **more}


def delta(kind, index=None, **message):
    event = {"type": kind, "delta": {"message": message}}
    return event if index is None else {**event, "index": index}


def end(reason="COMPLETE", **more):
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 5}}
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage, **more}}


def streamed(contents, citations, size=5):
    """Stream ``contents``: texts, or what is thought as a tuple of one."""
    role = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    events = [{"type": "message-start", "id": "m", **delta("message-start", **role)}]
    for index, content in enumerate(contents):
        name, text = ("text", content) if isinstance(content, str) else ("thinking", *content)
        events.append(delta("content-start", index, content={"type": name, name: ""}))
        events += [
            delta("content-delta", index, content={name: text[at : at + size]})
            for at in range(0, len(text), size)
        ]
        events.append({"type": "content-end", "index": index})
    for index, citation in enumerate(citations):
        events.append(delta("citation-start", index, citations=citation))
        events.append({"type": "citation-end", "index": index})
    return [*events, end()]


def whole(contents, citations):
    content = [
        {"type": "text", "text": one}
        if isinstance(one, str)
        else {"type": "thinking", "thinking": one[0]}
        for one in contents
    ]
    message = {"role": "assistant", "content": content, "citations": citations}
    return [{"id": "m", "finish_reason": "COMPLETE", "message": message}]


ASCII = "Rents rose 4%. Wages fell."
CJK = "家賃は4%上がりました。賃金は下がりました。"
EMOJI = "📎 Rents rose 4% 😀. Wages fell."
TWICE = "It rose. Then it fell. It rose. End."
OFF = noted(EMOJI, "Wages fell.", MEMO)
OFF["start"] += 2  # as if it counted UTF-16
OFF["end"] += 2

CASES = {
    "ascii": (
        [ASCII],
        [noted(ASCII, "rose 4%.", MEMO), noted(ASCII, "Wages fell.", PAGE)],
        [("rose 4%.", ["Memo"]), ("Wages fell.", ["Page"])],
    ),
    "cjk": (
        [CJK],
        [noted(CJK, "賃金は下がりました。", MEMO, type="TEXT_CONTENT", content_index=0)],
        [("賃金は下がりました。", ["Memo"])],
    ),
    "emoji": (
        [EMOJI],
        [noted(EMOJI, "rose 4% 😀.", MEMO), noted(EMOJI, "Wages", PAGE)],
        [("rose 4% 😀.", ["Memo"]), ("Wages", ["Page"])],
    ),
    "emoji, counted in UTF-16": ([EMOJI], [OFF], [("Wages fell.", ["Memo"])]),
    "overlapping": (
        [ASCII],
        [noted(ASCII, "Rents rose", MEMO), noted(ASCII, "rose 4%", PAGE)],
        [("Rents rose", ["Memo"]), ("rose 4%", ["Page"])],
    ),
    "repeated": (
        [TWICE],
        [
            noted(TWICE, "It rose.", MEMO),
            noted(TWICE, "It rose.", MEMO, nth=1),
            noted(TWICE, "It rose.", MEMO),
        ],
        [("It rose.", ["Memo"]), ("It rose.", ["Memo"])],
    ),
    "several sources": (
        [ASCII],
        [noted(ASCII, "Wages fell.", PAGE, MEMO, TOOL)],
        [("Wages fell.", ["Page", "Memo", "Search"])],
    ),
    "thinking first": (
        [("Let me 考える",), ASCII],
        [noted(ASCII, "Wages", MEMO, type="TEXT_CONTENT", content_index=1)],
        [("Wages", ["Memo"])],
    ),
    "two texts": (
        [EMOJI, CJK],
        [noted(CJK, "賃金", MEMO, content_index=1), noted(EMOJI, "Wages", PAGE, content_index=0)],
        [("Wages", ["Page"]), ("賃金", ["Memo"])],
    ),
    "plans and thinking": (
        [("Wages",), ASCII],
        [
            noted(ASCII, "Rents", MEMO, type="PLAN"),
            noted("Wages", "Wages", MEMO, type="THINKING_CONTENT", content_index=0),
            noted(ASCII, "Rents", MEMO, type="NEW_KIND"),
        ],
        [],
    ),
    "a content that is not shown": (
        [("Wages",), ASCII],
        [
            noted(ASCII, "Wages", MEMO, content_index=0),
            {"start": 0, "end": 3, "content_index": 0, "sources": [MEMO]},
        ],
        [("Wages", ["Memo"])],
    ),
    "no words": ([CJK], [{"end": 2, "sources": [MEMO]}], [("家賃", ["Memo"])]),
    "no places": ([CJK], [{"text": "賃金", "sources": [MEMO]}], [("賃金", ["Memo"])]),
    "nulls": (
        [ASCII],
        [
            None,
            {},
            {"start": None, "end": None, "text": None, "sources": [MEMO]},
            {"start": 0, "end": 5, "text": "Rents", "sources": None},
            {"start": 0, "end": 5, "sources": [None, {}, {"type": "document", "document": None}]},
        ],
        [],
    ),
    "beyond the answer": ([ASCII], [{"start": 3, "end": 99, "sources": [MEMO]}], []),
}


def sdk_events(chunks):
    types = pytest.importorskip("cohere.v2.types", reason="needs cohere")
    core = pytest.importorskip("cohere.core.unchecked_base_model", reason="needs cohere")
    kinds = {"message": types.V2ChatResponse}
    return [
        core.construct_type(
            type_=types.V2ChatStreamResponse if "type" in chunk else kinds["message"], object_=chunk
        )
        for chunk in chunks
    ]


FORMS = {"wire": list, "sdk": sdk_events}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_every_recorded_shape_gives_the_words_that_are_meant(name, form):
    contents, citations, expected = CASES[name]
    content = "".join(one for one in contents if isinstance(one, str))
    for chunks in (
        whole(contents, citations),
        streamed(contents, citations),
        streamed(contents, citations, 1),
    ):
        message = answer(Cohere(), FORMS[form](chunks))
        assert (message.content, cited(message)) == (content, expected)


@pytest.mark.parametrize("name", CASES)
def test_streamed_or_whole_the_citations_are_equal(name):
    contents, citations, _ = CASES[name]
    stream = streamed(contents, citations)
    early = [stream[0], *[e for e in stream if e["type"] == "citation-start"]]
    early += [e for e in stream[1:] if e["type"] != "citation-start"]
    first, *others = (
        answer(Cohere(), way).citations for way in (whole(contents, citations), stream, early)
    )
    assert all(other == first for other in others)


def test_what_was_moved_and_what_does_not_fit_is_reported():
    contents, citations, _ = CASES["emoji, counted in UTF-16"]
    moved = events_of(Cohere(), whole(contents, citations))
    assert warnings_of(moved) == ["citation.offset_repaired"]
    contents, citations, _ = CASES["beyond the answer"]
    assert warnings_of(events_of(Cohere(), whole(contents, citations))) == ["citation.out_of_range"]


def test_a_list_of_citations_and_a_plain_text_are_read_too():
    chunks = [
        delta("content-delta", content="Rents rose."),
        delta("citation-start", citations=[noted("Rents rose.", "Rents", MEMO)]),
        end(),
    ]
    assert cited(answer(Cohere(), chunks)) == [("Rents", ["Memo"])]
    message = {"content": "Rents rose.", "citations": [noted("Rents rose.", "Rents", MEMO)]}
    assert cited(answer(Cohere(), [{"message": message}])) == [("Rents", ["Memo"])]


def test_a_delta_without_an_index_goes_on_where_the_last_one_was():
    chunks = [
        delta("content-start", 1, content={"type": "text", "text": "Rents "}),
        delta("content-delta", content={"text": "rose."}),
        delta("citation-start", citations=noted("Rents rose.", "rose.", MEMO, content_index=1)),
        end(),
    ]
    assert cited(answer(Cohere(), chunks)) == [("rose.", ["Memo"])]


def source_of(sent):
    citation = noted(ASCII, "Rents", sent)
    citations = answer(Cohere(), whole([ASCII], [citation])).citations
    [source] = citations.sources
    return source, citations.spans[0].references[0]


SOURCES = {
    "document": (MEMO, "cohere", {"title": "Memo"}),
    "with an address": (PAGE, "cohere", {"title": "Page", "url": "https://a.example/x"}),
    "with a path": (
        {"type": "document", "id": "d", "document": {"url": "docs/memo.md"}},
        "cohere",
        {"path": "docs/memo.md"},
    ),
    "with a name for an address": (
        {"type": "document", "id": "d", "document": {"url": "kb:1", "title": 5}},
        "cohere",
        {},
    ),
    "tool": (TOOL, "client", {"title": "Search"}),
    "unknown kind": ({"type": "new", "id": "d"}, "cohere", {}),
    "no kind": ({"id": "d"}, "cohere", {}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_source(name):
    sent, provider, facts = SOURCES[name]
    source, reference = source_of(sent)
    assert source.provider == provider
    assert {n: v for n in ("title", "url", "path") if (v := getattr(source, n))} == facts
    assert (reference.cited_text, reference.location) == (None, None)
    assert reference.provider_metadata == {k: sent[k] for k in ("type", "id") if k in sent}


def test_results_of_one_call_are_one_source():
    outputs = [{**TOOL, "id": f"call_1:{n}"} for n in range(2)]
    other = {**TOOL, "id": "call_2:0"}
    citations = answer(Cohere(), whole([ASCII], [noted(ASCII, "Rents", *outputs, other)])).citations
    assert len(citations.sources) == 2
    assert [r.source_id for r in citations.spans[0].references] == ["s0", "s0", "s1"]


# -- how it ends

BROKEN = [
    (end("ERROR"), "Cohere stopped: ERROR"),
    (end("ERROR_LIMIT"), "Cohere stopped: ERROR_LIMIT"),
    (end("TIMEOUT"), "Cohere stopped: TIMEOUT"),
    (end("ERROR", error="it broke"), "it broke"),
    (end(None, error={}), "Cohere reported an error"),
]


@pytest.mark.parametrize(("sent", "message"), BROKEN)
def test_what_stops_an_answer_is_a_failure_and_the_text_stays(sent, message):
    cohere = Cohere()
    cohere.decode(delta("content-delta", 0, content={"text": "Rents"}))
    assert cohere.decode(sent) == [AnswerEnd(), AnswerFailure(message=message)]
    assert Cohere().decode(sent) == [AnswerFailure(message=message)]


@pytest.mark.parametrize("reason", ["COMPLETE", "MAX_TOKENS", "STOP_SEQUENCE", "TOOL_CALL", None])
def test_an_answer_that_ends_is_no_failure(reason):
    assert Cohere().decode(end(reason)) == [AnswerEnd()]


def test_a_whole_answer_that_broke_is_a_failure_too():
    sent = {"finish_reason": "ERROR", "message": {"content": [{"type": "text", "text": "Rents"}]}}
    assert Cohere().decode(sent) == [
        AnswerText(text="Rents"),
        AnswerEnd(),
        AnswerFailure(message="Cohere stopped: ERROR"),
    ]


FAILURES = [
    ({"message": "invalid token"}, "invalid token"),
    ({"id": "x", "message": "invalid"}, "invalid"),
    ({"error": {"message": "broke"}}, "broke"),
    ({"error": {}}, "Cohere reported an error"),
    ({"message": ""}, "Cohere reported an error"),
]


@pytest.mark.parametrize(("sent", "message"), FAILURES)
def test_errors_are_failures(sent, message):
    assert Cohere().decode(sent) == [AnswerFailure(message=message)]


SILENT = [
    None,
    1,
    "text",
    [],
    {},
    {"type": "new-kind", "delta": {"message": {"content": {"text": "no"}}}},
    {"type": "content-delta"},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will search."}}},
    {"type": "citation-start", "delta": None},
    {"type": "debug", "prompt": "text"},
]


@pytest.mark.parametrize("sent", SILENT, ids=repr)
def test_what_says_nothing_gives_nothing(sent):
    assert Cohere().decode(sent) == []


def test_an_exchange_with_tools_has_several_answers():
    cohere = Cohere()
    assert cohere.decode(end("TOOL_CALL")) == [AnswerEnd()]
    for name in ("two texts", "ascii"):
        contents, citations, expected = CASES[name]
        assert cited(answer(cohere, streamed(contents, citations))) == expected


# -- anything anywhere

SAMPLE = [
    *streamed(*CASES["two texts"][:2]),
    *whole(*CASES["several sources"][:2]),
    *whole(*CASES["thinking first"][:2]),
]


@given(damaged(SAMPLE))
def test_no_json_anywhere_raises(chunks):
    events_of(Cohere(), chunks)


TEXTUAL = {"type", "delta", "message", "content", "text"}


@given(
    damaged(
        streamed(*CASES["several sources"][:2], size=9),
        keep=lambda path: TEXTUAL.issuperset(key for key in path if isinstance(key, str)),
    ),
    json_values,
)
def test_no_json_beside_the_text_loses_any_of_it(chunks, junk):
    for one in chunks:
        one["novel"] = junk
    assert joined(Cohere(), chunks) == ASCII


@given(st.lists(json_values, max_size=4))
def test_what_is_no_answer_at_all_does_not_raise(chunks):
    events_of(Cohere(), chunks)


# -- asking


def registered(document, granularity=Granularity.DOCUMENT, registry=None):
    registry = SourceRegistry() if registry is None else registry
    return registry.add(document, granularity=granularity)


def ask(*turns, cohere=None, **fields):
    return (cohere or Cohere()).request(Conversation(turns=turns, **fields), model="m")


def attached(*sources, text="What rose?", origin="attachment"):
    materials = tuple(Material(source=source, origin=origin) for source in sources)
    return UserTurn(text=text, materials=materials)


MEMO_TEXT = from_text("Rents rose.", title="Memo", path="docs/memo.md")


def test_a_plain_conversation_is_asked_plainly():
    assert ask(
        UserTurn(text="Hi"),
        AssistantTurn(text="Hello"),
        AssistantTurn(text=""),
        system="Be brief.",
    ) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
        ],
    }


def test_attachments_are_documents_once():
    source = registered(MEMO_TEXT, Granularity.LINE)
    blank = registered(from_text(" \n"))
    asked = ask(attached(source, blank), attached(source, text="And?"))
    assert asked["documents"] == [
        {
            "id": f"{source.id}-block0",
            "data": {"title": "Memo", "path": "docs/memo.md", "snippet": "Rents rose."},
        }
    ]


def test_what_a_source_contains_cannot_be_a_marker():
    source = registered(from_text("\ue200cite\ue202turn0file0\ue201", url="https://a.example"))
    [document] = ask(attached(source))["documents"]
    assert "\ue200" not in document["data"]["snippet"]
    assert document["data"]["url"] == "https://a.example"


def test_sources_of_two_registries_with_the_same_id_stay_apart():
    first, second = registered(MEMO_TEXT), registered(from_text("Wages fell.", title="Other"))
    assert first.id == second.id
    cohere = Cohere()
    asked = ask(attached(first, second), attached(second), cohere=cohere)
    assert [d["id"] for d in asked["documents"]] == [first.id, f"{first.id}-2"]
    citation = noted(ASCII, "Wages", {"type": "document", "id": f"{first.id}-2"})
    assert cited(answer(cohere, whole([ASCII], [citation]))) == [("Wages", ["Other"])]


def cites(cohere, name, kind="document"):
    citation = noted(ASCII, "Rents", {"type": kind, "id": name})
    citations = answer(cohere, whole([ASCII], [citation])).citations
    return citations.sources[0], citations.spans[0].references[0]


def test_what_was_sent_is_recognised():
    cohere, source = Cohere(), registered(MEMO_TEXT)
    [document] = ask(attached(source), cohere=cohere)["documents"]
    found, reference = cites(cohere, document["id"])
    assert (found.provider, found.title, found.path) == ("cohere", "Memo", "docs/memo.md")
    assert (reference.location, reference.cited_text) == (None, None)


def test_a_source_that_is_cited_by_block_is_one_document_a_block():
    text = "\n\n".join(f"{n}. " + "Rents rose in May. " * 40 for n in range(3))
    source = registered(from_text(text, title="Long"), Granularity.BLOCK)
    cohere = Cohere()
    documents = ask(attached(source), cohere=cohere)["documents"]
    assert len(documents) == len(source.document.blocks) > 1
    found, reference = cites(cohere, documents[1]["id"])
    start, stop = source.document.blocks[1]
    assert found.title == "Long"
    assert reference.location == CitationLocationBlock(start_block=1, end_block=2)
    assert reference.cited_text == text[start:stop]


def test_a_source_that_is_cited_by_page_is_one_document_a_page():
    source = registered(from_pages(["One.", " ", "Three."]), Granularity.PAGE)
    cohere = Cohere()
    documents = ask(attached(source), cohere=cohere)["documents"]
    assert [d["data"]["snippet"] for d in documents] == ["One.", "Three."]
    _, reference = cites(cohere, documents[1]["id"])
    assert reference.location == CitationLocationPage(start_page=3, end_page=3)
    assert reference.cited_text == "Three."


def tool_turn(*sources, text="", call_id="call_1"):
    materials = tuple(Material(source=source, origin="tool") for source in sources)
    return ToolTurn(
        call_id=call_id,
        name="search",
        arguments={"q": "家賃"},
        text=text,
        materials=materials,
    )


def test_results_of_tools_are_documents_in_their_messages():
    registry = SourceRegistry()
    first = registered(MEMO_TEXT, registry=registry)
    second = registered(from_text("Wages fell.", title="Other"), registry=registry)
    cohere = Cohere()
    asked = ask(tool_turn(first, second, text="Found two."), cohere=cohere)
    call, result = asked["messages"]
    assert call["tool_calls"][0]["function"] == {
        "name": "search",
        "arguments": '{"q":"\\u5bb6\\u8cc3"}',
    }
    assert (result["role"], result["tool_call_id"]) == ("tool", "call_1")
    assert [c["type"] for c in result["content"]] == ["text", "document", "document"]
    assert "documents" not in asked
    for name in (second.id, "call_1:2"):
        found, reference = cites(cohere, name, kind="tool")
        assert (found.provider, found.title) == ("client", "Other")
        assert reference.provider_metadata == {"type": "tool", "id": name}


def test_calls_at_once_are_one_message_with_what_was_said_as_their_plan():
    turns = [tool_turn(text=f"{n}", call_id=f"call_{n}") for n in (1, 2)]
    messages = ask(AssistantTurn(text="I shall look."), *turns)["messages"]
    assert [m["role"] for m in messages] == ["assistant", "tool", "tool"]
    assert messages[0]["tool_plan"] == "I shall look."
    assert "content" not in messages[0]
    assert [call["id"] for call in messages[0]["tool_calls"]] == ["call_1", "call_2"]
    assert [m["tool_call_id"] for m in messages[1:]] == ["call_1", "call_2"]
    assert "tool_plan" not in ask(*turns)["messages"][0]


def test_tools_and_what_the_caller_adds_are_sent():
    conversation = Conversation(turns=(), tools=(ToolDefinition(name="look"),))
    function = {"name": "look", "parameters": {"type": "object", "properties": {}}}
    assert Cohere().request(conversation, model="m", temperature=0.5, tools=[{"x": 1}]) == {
        "model": "m",
        "messages": [],
        "temperature": 0.5,
        "tools": [{"type": "function", "function": function}, {"x": 1}],
    }


@pytest.mark.parametrize("reason", ["ERROR", "TIMEOUT"])
def test_an_answer_that_broke_calls_nothing(reason):
    cohere = Cohere()
    [shown] = [e for e in streamed(["Hm."], []) if e["type"] == "content-delta"]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    started = {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}
    items = [i for one in (shown, started, end(reason)) for i in cohere.decode(one)]
    assert [type(item) for item in items] == [AnswerText, AnswerEnd, AnswerFailure]
    assert cohere.decode(end("COMPLETE")) == [AnswerEnd()]


def test_asking_again_sends_the_same_under_the_same_ids():
    cohere, source = Cohere(), registered(MEMO_TEXT)
    first = ask(tool_turn(source), cohere=cohere)
    again = ask(tool_turn(source), UserTurn(text="And?"), cohere=cohere)
    assert again["messages"][:2] == first["messages"]
    found, _ = cites(cohere, "call_1:0", kind="tool")
    assert (found.provider, found.title, found.path) == ("client", "Memo", "docs/memo.md")


def test_a_tool_that_brought_no_document_is_called_by_its_name():
    cohere = Cohere()
    [_, result] = ask(tool_turn(text="42"), cohere=cohere)["messages"]
    assert result["content"] == [{"type": "text", "text": "42"}]
    found, _ = cites(cohere, "call_1:0", kind="tool")
    assert (found.provider, found.title) == ("client", "search")


def test_arguments_that_json_cannot_say_are_the_caller_s():
    with pytest.raises(EncodeError):
        ask(ToolTurn(call_id="c", name="f", arguments={"x": {1}}))


# -- the real client


@pytest.fixture
def client():
    """Return what makes a client of Cohere for a server."""
    cohere = pytest.importorskip("cohere", reason="needs cohere")
    httpx = pytest.importorskip("httpx", reason="needs cohere")
    opened = []

    def make(server):
        opened.append(httpx.Client(trust_env=False, timeout=20))
        return cohere.ClientV2("none", base_url=server.url, httpx_client=opened[-1])

    yield make
    for one in opened:
        one.close()


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("way", CUTS)
@pytest.mark.parametrize("name", ["ascii", "cjk", "emoji", "two texts", "thinking first"])
def test_the_real_client_streams_whatever_the_cuts(name, way, named, client):
    contents, citations, expected = CASES[name]
    events = streamed(contents, citations)
    framed = b"".join(sse(one, event=one["type"] if named else None) for one in events)
    source = registered(MEMO_TEXT)
    with Loopback(Reply(headers=SSE, pieces=CUTS[way](framed))) as server:
        asked = ask(attached(source), tool_turn(text="42"))
        message = answer(Cohere(), list(client(server).chat_stream(**asked)))
    assert cited(message) == expected
    assert message.citations == answer(Cohere(), whole(contents, citations)).citations
    sent = server.requests[0].body
    assert (sent["documents"], sent["messages"]) == (asked["documents"], asked["messages"])


def test_the_real_client_streams_when_characters_are_cut(client):
    contents, citations, expected = CASES["emoji"]
    framed = sse(*streamed(contents, citations, 8))
    places = [at for at, byte in enumerate(framed) if byte >= 0x80]
    with Loopback(Reply(headers=SSE, pieces=cut(framed, at=places))) as server:
        stream = list(client(server).chat_stream(**ask(UserTurn(text="?"))))
    assert cited(answer(Cohere(), stream)) == expected


def test_the_real_client_reads_a_whole_answer(client):
    contents, citations, expected = CASES["cjk"]
    with Loopback(Reply.json(whole(contents, citations)[0])) as server:
        message = answer(Cohere(), [client(server).chat(**ask(UserTurn(text="?")))])
    assert (message.content, cited(message)) == (CJK, expected)


def test_the_real_client_leaves_out_what_it_does_not_know(client, caplog):
    contents, citations, expected = CASES["ascii"]
    events = streamed(contents, citations)
    events.insert(3, {"type": "new-kind", "delta": {}})
    events[2]["novel"] = {"a": 1}
    caplog.set_level(logging.CRITICAL)  # it warns of the new kind
    with Loopback(Reply(headers=SSE, pieces=[sse(*events)])) as server:
        stream = list(client(server).chat_stream(**ask(UserTurn(text="?"))))
    assert cited(answer(Cohere(), stream)) == expected


def test_a_stream_that_breaks_keeps_what_came_and_invents_nothing(client):
    pieces = [sse(one) for one in streamed(*CASES["emoji"][:2])]
    seen = []

    def read(server):
        for one in client(server).chat_stream(**ask(UserTurn(text="?"))):
            seen.append(one)  # noqa: PERF402 - what came before it breaks

    reply = Reply(headers=SSE, pieces=pieces, break_after=5)
    with Loopback(reply) as server, pytest.raises(Exception, match="closed"):
        read(server)
    events = events_of(Cohere(), seen)
    # The SDK gives an event out when the next one begins: the last that came may be missing.
    streamed_text = "".join(e.data.delta_content for e in events if "delta" in e.type.value)
    assert streamed_text in {EMOJI[:10], EMOJI[:15]}
    assert not [e for e in events if e.type.value == "assistant.message"]


def test_an_error_status_is_the_client_s_to_raise_and_its_body_is_a_failure(client):
    errors = pytest.importorskip("cohere.core.api_error", reason="needs cohere")
    body = {"id": "x", "message": "too many"}
    options = {"max_retries": 0}
    with Loopback(Reply.json(body, status=429)) as server, pytest.raises(errors.ApiError) as info:
        list(client(server).chat_stream(**ask(UserTurn(text="?")), request_options=options))
    assert Cohere().decode(info.value.body) == [AnswerFailure(message="too many")]


def test_a_slow_sender_streams_as_it_sends(client):
    contents, citations, expected = CASES["ascii"]
    pieces = [sse(one) for one in streamed(contents, citations, 13)]
    with Loopback(Reply(headers=SSE, pieces=pieces, delay=0.02)) as server:
        stream = client(server).chat_stream(**ask(UserTurn(text="?")))
        arrivals = [(time.monotonic(), one) for one in stream]
    assert arrivals[-1][0] - arrivals[0][0] >= 0.1
    assert cited(answer(Cohere(), [one for _, one in arrivals])) == expected
