import json
from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationLocationBlock,
    CitationLocationPage,
    SourceRegistry,
    format_marker,
    parse_markers,
)
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText, SourceFacts
from citestream.providers.mistral import Mistral
from citestream.sources import Granularity, from_blocks, from_pages, from_text
from providers.exchanges import answer, cited, damaged, events_of, joined
from providers.loopback import CUTS, SSE, Loopback, Reply, drawn, sse
from strategies import json_values

A = format_marker("turn0file0")
SOURCES = {
    "0": SourceFacts(provider="client", title="City", url="https://city.example"),
    "1": SourceFacts(provider="client", title="Wages", path="wages.md"),
}


def ref(*ids):
    return {"type": "reference", "reference_ids": list(ids)}


def tool(title, url=None, **more):
    return {"type": "tool_reference", "tool": "web_search", "title": title, "url": url, **more}


THINKING = {
    "type": "thinking",
    "thinking": [{"type": "text", "text": "no"}, ref(1), {"type": "tool_reference"}],
    "closed": True,
}
NEW = {"type": "new_chunk", "text": "no", "reference_ids": [1]}


def typed(content):
    """Return ``content`` as chunks: texts have a type too."""
    return [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]


def chunk(content, finish_reason=None, **more):
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}
    about = {"id": "m", "object": "chat.completion.chunk", "created": 1, "model": "large"}
    return {**about, "choices": [choice], **more}


def streamed(content, size=5):
    """Stream ``content``: text as strings, whatever else as lists, as the vendor does."""
    yield chunk("")
    for one in content:
        if isinstance(one, str):
            yield from (chunk(one[at : at + size]) for at in range(0, len(one), size))
        else:
            yield chunk([one])
    yield chunk("", "stop", usage=USAGE)


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def whole(content):
    message = {"role": "assistant", "content": content, "tool_calls": None, "prefix": False}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "m", "object": "chat.completion", "created": 1, "model": "large"}
    return {**about, "choices": [choice], "usage": USAGE}


def output(content, **more):
    about = {"object": "entry", "id": "msg", "model": "large", "role": "assistant"}
    return {**about, "type": "message.output", "content": content, **more}


EXECUTED = {"type": "tool.execution", "name": "web_search", "arguments": "{}", "id": "t"}


def conversed(content):
    about = {"object": "conversation.response", "conversation_id": "c", "usage": USAGE}
    return {**about, "outputs": [EXECUTED, output(typed(content))]}


def converse(content, size=5):
    """Stream ``content`` as conversations do, one event for one text or chunk."""
    yield {"type": "conversation.response.started", "conversation_id": "c"}
    yield {"type": "tool.execution.started", "id": "t", "name": "web_search", "arguments": "{}"}
    about = {"type": "message.output.delta", "id": "msg", "model": "large", "role": "assistant"}
    for index, one in enumerate(content):
        pieces = (
            [one[at : at + size] for at in range(0, len(one), size)]
            if isinstance(one, str)
            else [one]
        )
        yield from ({**about, "content_index": index, "content": piece} for piece in pieces)
    yield {"type": "conversation.response.done", "usage": USAGE}


CASES = {
    "ascii": (
        ["Rents rose 4%", ref("0"), " and wages fell.", ref(1, 0)],
        [("Rents rose 4%", ["City"]), ("and wages fell.", ["Wages", "City"])],
    ),
    "cjk": (
        ["家賃は4%上がりました。", ref(0), "賃金は下がりました。", ref("1")],
        [("家賃は4%上がりました。", ["City"]), ("賃金は下がりました。", ["Wages"])],
    ),
    "emoji": (
        ["📎 Oh 😀. Rents 😀 rose.", ref(0), " 📎 Wages fell.", ref(1)],
        [("Rents 😀 rose.", ["City"]), ("📎 Wages fell.", ["Wages"])],
    ),
    "one after the other, and again": (
        ["It rose.", ref(0), ref("1"), ref(0), " It fell.", ref("0")],
        [("It rose.", ["City", "Wages"]), ("It fell.", ["City"])],
    ),
    "inside a sentence": (
        ["It rose", ref(0), ", then fell", ref(1), ", then rose."],
        [("It rose", ["City"]), ("then fell", ["Wages"])],
    ),
    "first": ([ref(0), "It rose."], [("", ["City"])]),
    "thinking and what is new": ([THINKING, "It rose.", NEW, ref(0)], [("It rose.", ["City"])]),
    "a marker too": (
        [f"It rose. {A}", " It fell.", ref(0)],
        [("It rose.", [None]), ("It fell.", ["City"])],
    ),
    "tools": (
        [
            "It rose.",
            tool("City", "https://city.example", description="A city.", favicon="x"),
            tool("Memo"),
            " It fell.",
            tool("City", "https://city.example/#x"),
        ],
        [("It rose.", ["City", "Memo"]), ("It fell.", ["City"])],
    ),
    "nothing": ([], []),
}
SHAPES = {
    "streamed": streamed,
    "in single characters": lambda content: streamed(content, size=1),
    "whole": lambda content: [whole(typed(content))],
    "a conversation": converse,
    "a whole conversation": lambda content: [conversed(content)],
    "in the objects of the SDK": lambda content: [
        SimpleNamespace(data=SimpleNamespace(**one)) for one in streamed(content)
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_answers(name, shape):
    content, expected = CASES[name]
    message = answer(Mistral(sources=SOURCES), SHAPES[shape](content))
    assert cited(message) == expected
    assert (
        message.content == parse_markers("".join(c for c in content if isinstance(c, str))).content
    )
    assert message.citations == answer(Mistral(sources=SOURCES), [whole(typed(content))]).citations
    assert message.model == ("large" if content or "conversation" not in shape else message.model)


def test_content_may_be_one_string():
    assert answer(Mistral(), [whole("It rose. 📎")]).content == "It rose. 📎"
    assert (
        answer(Mistral(), [conversed([]) | {"outputs": [output("It rose.")]}]).content == "It rose."
    )


def test_several_outputs_are_one_answer():
    outputs = {
        "outputs": [output("It "), {"type": "agent.handoff"}, output(typed(["rose.", ref(0)]))]
    }
    message = answer(Mistral(sources=SOURCES), [conversed([]) | outputs])
    assert cited(message) == [("It rose.", ["City"])]


def test_halves_of_a_character_in_two_chunks_are_the_character():
    chunks = [chunk("\ud83d"), chunk("\udcce rose."), chunk([ref(0)]), chunk("", "stop")]
    assert cited(answer(Mistral(sources=SOURCES), chunks)) == [("📎 rose.", ["City"])]


def test_what_nobody_knows_is_kept_by_its_id():
    content = ["It rose.", ref(7, "x", 7, True, None, 1.5, [2]), " It fell.", ref("7")]
    message = answer(Mistral(), streamed(content))
    assert [(s.provider, s.title, s.url) for s in message.citations.sources] == [
        ("mistral", None, None),
        ("mistral", None, None),
    ]
    assert [
        [(r.source_id, r.provider_metadata) for r in span.references]
        for span in message.citations.spans
    ] == [
        [("s0", {"referenceId": "7"}), ("s1", {"referenceId": "x"})],
        [("s0", {"referenceId": "7"})],
    ]


def test_what_is_told_of_a_tools_page_is_no_quote_of_it():
    [span] = answer(
        Mistral(), converse(["Up.", tool("A", "https://a.example", description="D")])
    ).citations.spans
    [reference] = span.references
    assert reference.cited_text is None
    assert reference.provider_metadata == {"tool": "web_search", "description": "D"}


# -- what was sent


def registered(registry, document, **more):
    return Material(source=registry.add(document, **more), origin="tool")


@pytest.fixture
def exchange_and_messages():
    registry = SourceRegistry()
    materials = (
        registered(
            registry,
            from_blocks(
                ["Rents rose.", " ", "Wages fell. 賃金📎"], title="Memo", url="https://m.example"
            ),
        ),
        registered(
            registry,
            from_pages(["One.", "Two."], title="Book", path="b.pdf"),
            granularity=Granularity.PAGE,
        ),
    )
    more = (registered(registry, from_text(f"All of it. {A}"), granularity=Granularity.DOCUMENT),)
    turns = (
        UserTurn(text="Why?"),
        ToolTurn(call_id="c1", name="find", arguments={"q": "家賃"}, materials=materials),
        ToolTurn(call_id="c2", name="more", text=f"1 hit {A}", materials=more, round=1),
        ToolTurn(call_id="c3", name="none", text="0 hits", round=2),
        AssistantTurn(text="So."),
    )
    exchange = Mistral()
    asked = exchange.request(Conversation(turns=turns, system="Be brief."), model="m", n=1)
    assert asked.keys() == {"model", "messages", "n"}
    return exchange, asked["messages"]


def test_results_of_tools_are_numbered(exchange_and_messages):
    _, messages = exchange_and_messages
    assert [m["role"] for m in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"),
        "assistant",
    ]
    assert messages[0]["content"] == "Be brief."
    function = {"name": "find", "arguments": '{"q":"\\u5bb6\\u8cc3"}'}
    assert messages[2]["tool_calls"] == [{"id": "c1", "type": "function", "function": function}]
    assert (messages[3]["name"], messages[3]["tool_call_id"]) == ("find", "c1")
    assert "賃金📎" in messages[3]["content"]
    memo = {"title": "Memo", "url": "https://m.example"}
    book = {"title": "Book", "source": "b.pdf"}
    assert json.loads(messages[3]["content"]) == {
        "0": {**memo, "snippets": [["Rents rose."]]},
        "1": {**memo, "snippets": [["Wages fell. 賃金📎"]]},
        "2": {**book, "snippets": [["One."]]},
        "3": {**book, "snippets": [["Two."]]},
    }
    last = json.loads(messages[5]["content"])
    assert last["4"]["snippets"][0][0].startswith("All of it. \ufffdcite")
    assert last["text"].startswith("1 hit \ufffdcite")
    assert messages[7]["content"] == "0 hits"


def test_calls_at_once_are_one_message_with_what_is_said():
    calls = [ToolTurn(call_id=f"c{n}", name="find", text=f"{n}") for n in range(2)]
    tools = (ToolDefinition(name="find"),)
    asked = Mistral().request(
        Conversation(turns=(AssistantTurn(text="Hm."), *calls), tools=tools),
        model="m",
        tools=[{"type": "web_search"}],
        temperature=0.5,
    )
    said, *results = asked["messages"]
    assert (said["role"], said["content"]) == ("assistant", "Hm.")
    assert [call["id"] for call in said["tool_calls"]] == ["c0", "c1"]
    assert [(one["tool_call_id"], one["content"]) for one in results] == [("c0", "0"), ("c1", "1")]
    function = {"name": "find", "parameters": {"type": "object", "properties": {}}}
    assert asked["tools"] == [{"type": "function", "function": function}, {"type": "web_search"}]
    assert asked["temperature"] == 0.5


def test_calls_of_conversations_without_ids_are_told_apart():
    entry = {"type": "function.call", "name": "f", "arguments": "{}"}
    entries = [{**entry, "id": "e1"}, {**entry, "id": "e2", "arguments": {"q": 1}}]
    first, second, end = Mistral().decode({"outputs": entries})
    assert (first.arguments, second.arguments, type(end)) == ({}, {"q": 1}, AnswerEnd)
    assert first.call_id != second.call_id


def test_references_are_what_was_sent(exchange_and_messages):
    exchange, _ = exchange_and_messages
    message = answer(exchange, streamed(["It rose.", ref(1, "3", 4, 9)]))
    assert [(s.provider, s.title, s.url, s.path) for s in message.citations.sources] == [
        ("client", "Memo", "https://m.example", None),
        ("client", "Book", None, "b.pdf"),
        ("client", None, None, None),
        ("mistral", None, None, None),
    ]
    references = message.citations.spans[0].references
    assert [(r.cited_text, r.location) for r in references] == [
        ("Wages fell. 賃金📎", CitationLocationBlock(start_block=2, end_block=3)),
        ("Two.", CitationLocationPage(start_page=2, end_page=2)),
        (None, None),
        (None, None),
    ]
    assert references[0].provider_metadata == {
        "referenceId": "1",
        "citableSourceId": "turn0file0",
        "charRange": [16, 31],
    }


def test_a_reference_and_a_marker_of_one_source_are_one_source():
    registry = SourceRegistry()
    one = registered(registry, from_text("Rents rose."), granularity=Granularity.DOCUMENT)
    exchange = Mistral()
    turn = ToolTurn(call_id="c", name="find", materials=(one,))
    exchange.request(Conversation(turns=(turn,)), model="m")
    message = answer(exchange, streamed([f"It rose. {A} It did.", ref(0)]), registry=registry)
    assert len(message.citations.sources) == 1


def test_what_the_caller_says_of_an_id_counts_more_than_what_was_sent():
    one = registered(SourceRegistry(), from_text("x", title="Sent"))
    turn = ToolTurn(call_id="c", name="find", materials=(one,))
    for sources, title in (({}, "Sent"), (SOURCES, "City")):
        exchange = Mistral(sources=sources)
        exchange.request(Conversation(turns=(turn,)), model="m")
        assert cited(answer(exchange, streamed(["It rose.", ref(0)]))) == [("It rose.", [title])]


def test_attachments_are_shown_with_markers():
    material = Material(source=SourceRegistry().add(from_text("Rents rose.")))
    tools = ToolTurn(
        call_id="c", name="find", materials=(Material(source=material.source, origin="tool"),)
    )
    turns = (UserTurn(text="Why?", materials=(material,)), tools)
    system, user, _, result = Mistral().request(Conversation(turns=turns), model="m")["messages"]
    assert system["content"].startswith("# Citing sources")
    assert "<BLOCK" in system["content"]
    assert user["content"].endswith("</BLOCK>\n\nWhy?")
    assert json.loads(result["content"]) == {"0": {"snippets": [["Rents rose."]]}}


def test_the_json_that_a_model_reads_has_letters():
    words = 'a"\\\\u1234 \\u5bb6 é\x7f\x00 家賃 📎'
    turn = ToolTurn(
        call_id="c",
        name="find",
        materials=(
            registered(SourceRegistry(), from_text(words), granularity=Granularity.DOCUMENT),
        ),
    )
    [_, result] = Mistral().request(Conversation(turns=(turn,)), model="m")["messages"]
    assert json.loads(result["content"])["0"]["snippets"] == [[words]]
    assert all(letter in result["content"] for letter in ("é", "家賃", "📎", "\\u0000"))


# -- other chunks


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (
            {"type": "conversation.response.error", "message": "Down.", "code": 500},
            ("Down.", "500"),
        ),
        ({"object": "error", "message": "Busy.", "code": "slow"}, ("Busy.", "slow")),
        ({"error": {"message": "No."}}, ("No.", "provider")),
        ({"error": "No."}, ("No.", "provider")),
        (
            {"data": {"type": "conversation.response.error"}},
            ("the vendor reported an error", "provider"),
        ),
    ],
)
def test_errors_are_failures_and_end_the_answer(error, failure):
    exchange = Mistral()
    assert exchange.decode(error) == [AnswerFailure(message=failure[0], error_type=failure[1])]
    assert exchange.decode(whole("x")) == []
    exchange.request(Conversation(turns=()), model="m")
    assert joined(exchange, [whole("x"), whole("y")]) == "x"


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        "x",
        [],
        {},
        {"data": None},
        {"choices": [{"index": 1, "delta": {"content": "x"}}]},
        {"type": "agent.handoff.started"},
        {"type": "function.call.delta", "arguments": "{}"},
        {"type": "UNKNOWN", "raw": {"type": "new.event"}, "is_unknown": True},
        {"error": None},
        chunk(None),
        chunk([]),
        chunk([NEW, THINKING, None, 5, {"type": "text", "text": None}]),
        chunk([{"type": "reference"}, {"type": "reference", "reference_ids": None}]),
        chunk({"type": "image_url", "image_url": "x"}),
    ],
)
def test_what_is_unknown_or_empty_says_nothing(unknown):
    exchange = Mistral()
    assert exchange.decode(unknown) == []
    assert exchange.decode(chunk("", "stop")) == [AnswerEnd(model="large")]


def test_what_the_sdk_does_not_know_is_read_as_it_came():
    raw = {"type": "text", "text": "It rose."}
    wrapped = SimpleNamespace(type="UNKNOWN", raw=raw, is_unknown=True)
    assert Mistral().decode(chunk([wrapped])) == [AnswerText(text="It rose.")]


DAMAGED = [
    list(streamed(["📎 It rose.", ref(0), " It fell."], size=20)),
    list(converse(["📎 It rose.", tool("A", "https://a.example"), " It fell."], size=20)),
]
STRUCTURE = {"choices", "delta", "content", "text", "index", "finish_reason"}
STRUCTURE |= {"error", "data", "object", "type", "outputs", "is_unknown"}


@pytest.mark.parametrize("chunks", DAMAGED)
@given(data=st.data())
def test_no_damage_around_the_text_loses_it(chunks, data):
    # An item of a list stays one: a text in place of a chunk would be text of the answer.
    keep = damaged(chunks, keep=lambda p: p[-1] in STRUCTURE or isinstance(p[-1], int))
    assert answer(Mistral(), data.draw(keep)).content == "📎 It rose. It fell."


@given(st.sampled_from(DAMAGED).flatmap(damaged), st.lists(json_values, max_size=4))
def test_no_damage_and_no_value_raises(chunks, values):
    events_of(Mistral(), chunks)
    events_of(Mistral(), values)
    events_of(Mistral(), [whole(values)])
    events_of(Mistral(), [whole([ref(*values)])])


# -- the official client


@pytest.fixture
def sdk():
    return pytest.importorskip("mistralai.client", reason="the mistralai SDK is absent")


def client_of(sdk, server, **options):
    return sdk.Mistral(api_key="none", server_url=server.url, **options)


def ask():
    exchange = Mistral(sources=SOURCES)
    conversation = Conversation(turns=(UserTurn(text="Why?"),))
    return exchange, exchange.request(conversation, model="large")


CHATS = [name for name in CASES if name not in {"tools", "thinking and what is new"}]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", CHATS)
def test_the_client_streams(sdk, name, cut):
    content, expected = CASES[name]
    exchange, asked = ask()
    data = sse(*streamed(content), "[DONE]")
    with Loopback(Reply(headers=SSE, pieces=CUTS[cut](data))) as server:
        client = client_of(sdk, server)
        message = answer(exchange, client.chat.stream(**asked))
    assert (cited(message), message.model) == (expected, "large")
    assert server.requests[0].body["messages"] == asked["messages"]


@pytest.mark.parametrize("name", CHATS)
def test_the_client_gets_it_whole(sdk, name):
    content, expected = CASES[name]
    exchange, asked = ask()
    with Loopback(Reply.json(whole(typed(content)))) as server:
        message = answer(exchange, [client_of(sdk, server).chat.complete(**asked)])
    assert cited(message) == expected


def framed(events):
    return b"".join(sse(event, event=event["type"]) for event in events)


@pytest.mark.parametrize("name", ["tools", "emoji"])
def test_the_client_streams_conversations(sdk, name):
    content, expected = CASES[name]
    content = [c for c in content if isinstance(c, str) or c["type"] != "reference"]
    expected = expected if name == "tools" else []
    with Loopback(Reply(headers=SSE, pieces=drawn(framed(converse(content))))) as server:
        stream = client_of(sdk, server).beta.conversations.start_stream(
            inputs="Why?", model="large"
        )
        message = answer(Mistral(), stream)
    assert (cited(message), message.model) == (expected, "large")


def test_the_client_gets_conversations_whole(sdk):
    content, expected = CASES["tools"]
    with Loopback(Reply.json(conversed(content))) as server:
        whole_one = client_of(sdk, server).beta.conversations.start(inputs="Why?", model="large")
    assert cited(answer(Mistral(), [whole_one])) == expected


def test_chunks_that_the_client_does_not_know_are_passed_over(sdk):
    content, expected = CASES["thinking and what is new"]
    exchange, asked = ask()
    with Loopback(Reply(headers=SSE, pieces=[sse(*streamed(content), "[DONE]")])) as server:
        message = answer(exchange, client_of(sdk, server).chat.stream(**asked))
    assert cited(message) == expected


def test_the_async_client_streams(sdk):
    content, expected = CASES["emoji"]
    exchange, asked = ask()

    async def main(url):
        async with sdk.Mistral(api_key="none", server_url=url) as client:
            return [event async for event in await client.chat.stream_async(**asked)]

    pieces = drawn(sse(*streamed(content), "[DONE]"), seed=2)
    with Loopback(Reply(headers=SSE, pieces=pieces)) as server:
        chunks = anyio.run(main, server.url)
    assert cited(answer(exchange, chunks)) == expected


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(sdk):
    content, _ = CASES["emoji"]
    exchange, asked = ask()
    data = sse(*streamed(content))
    chunks = []
    with Loopback(Reply(headers=SSE, pieces=[data[:-300], b"x"], break_after=1)) as server:
        stream = client_of(sdk, server).chat.stream(**asked)
        with pytest.raises(Exception, match="peer closed connection"):
            chunks.extend(iter(stream))
    text = joined(exchange, chunks)
    assert "".join(c for c in content if isinstance(c, str)).startswith(text)
    assert len(text) > 9
    assert not any(isinstance(i, AnswerEnd) for c in chunks for i in Mistral().decode(c))


def test_an_error_status_is_what_the_client_raises(sdk):
    errors = pytest.importorskip("mistralai.client.errors", reason="the mistralai SDK is absent")
    _, asked = ask()
    failing = pytest.raises(errors.MistralError, match="Slow down")
    reply = Reply.json({"object": "error", "message": "Slow down"}, status=429)
    with Loopback(reply) as server, failing:
        client_of(sdk, server).chat.stream(**asked)


def test_a_slow_sender_is_only_slow_until_the_client_gives_up(sdk):
    content, expected = CASES["ascii"]
    pieces = [sse(one) for one in (*streamed(content, size=30), "[DONE]")]
    with Loopback(*[Reply(headers=SSE, pieces=pieces, delay=d) for d in (0.02, 0.5)]) as server:
        client = client_of(sdk, server, timeout_ms=300)
        exchange, asked = ask()
        assert cited(answer(exchange, client.chat.stream(**asked))) == expected
        with pytest.raises(Exception, match="timed out"):
            events_of(exchange, client.chat.stream(**asked))
