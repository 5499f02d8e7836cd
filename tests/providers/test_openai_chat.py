from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import SourceRegistry, format_marker, parse_markers
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText
from citestream.providers.openai_chat import OpenAIChat
from citestream.sources import Granularity, from_text
from providers.exchanges import answer, cited, damaged, events_of, joined
from providers.loopback import CUTS, SSE, Loopback, Reply, drawn, sse
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
    return {"type": "url_citation", "url_citation": {"url": url, "title": title, **place, **more}}


def chunk(delta, finish_reason=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    return {**about, "choices": [choice], **more}


USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def streamed(text, annotations=(), size=5, first=False, field="content"):
    """Stream ``text``; annotations come one by one, before all text or behind it."""
    noted = [chunk({"content": "", "annotations": [one]}) for one in annotations]
    deltas = [chunk({field: text[at : at + size]}) for at in range(0, len(text), size)]
    start = chunk({"role": "assistant", "content": "", "refusal": None})
    usage = {**chunk({}), "choices": [], "usage": USAGE}
    return [
        start,
        *(noted if first else ()),
        *deltas,
        *(() if first else noted),
        chunk({}, "stop"),
        usage,
    ]


def whole(text, annotations=(), field="content"):
    message = {"role": "assistant", "content": None, "refusal": None, "annotations": annotations}
    choice = {"index": 0, "finish_reason": "stop", "message": {**message, field: text}}
    about = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5"}
    return {**about, "choices": [choice], "usage": USAGE}


ASCII = f"Rents rose 4%. {link('city', CITY)} Wages fell. {link('wages', WAGES)}"
CJK = f"家賃は4%上がりました。{link('都市', CITY)}賃金は下がりました。"
EMOJI = f"📎 Rents 😀 rose 4%. {link('city', CITY)} Oh."
TWICE = f"Up. {link('c', CITY)} Down. {link('c', CITY)}"
MARKED = f"📎 Rents rose. {A} Wages fell."

CASES = {
    "ascii": (
        ASCII,
        [url(ASCII, link("city", CITY)), url(ASCII, link("wages", WAGES), WAGES, "Wages")],
        [(link("city", CITY), ["City rents"]), (link("wages", WAGES), ["Wages"])],
    ),
    "cjk": (CJK, [url(CJK, link("都市", CITY), title="")], [(link("都市", CITY), [CITY])]),
    "emoji": (
        EMOJI,
        [url(EMOJI, link("city", CITY))],
        [(link("city", CITY), ["City rents"])],
    ),
    "repeated": (
        TWICE,
        [
            url(TWICE, link("c", CITY), title=None),
            url(TWICE, link("c", CITY), nth=1),
            url(TWICE, link("c", CITY)),
        ],
        [(link("c", CITY), ["City rents"]), (link("c", CITY), ["City rents"])],
    ),
    "overlapping": (
        ASCII,
        [url(ASCII, f"4%. {link('city', CITY)}"), url(ASCII, link("city", CITY), title="Later")],
        [(f"4%. {link('city', CITY)}", ["City rents"]), (link("city", CITY), ["City rents"])],
    ),
    "a marker": (MARKED, [url(MARKED, A)], [("📎 Rents rose.", ["City rents"])]),
    "flat": (
        EMOJI,
        [{"type": "url_citation", **url(EMOJI, link("city", CITY))["url_citation"]}],
        [(link("city", CITY), ["City rents"])],
    ),
    "what cites nothing": (
        ASCII,
        [
            {"type": "file", "file": {"hash": "x"}},
            {"type": "new_citation", "url": CITY},
            {"type": "url_citation", "url_citation": {"url": None}},
        ],
        [],
    ),
    "no annotations": (ASCII, [], []),
}
SHAPES = {
    "streamed": streamed,
    "annotations first": lambda text, noted: streamed(text, noted, first=True),
    "in single characters": lambda text, noted: streamed(text, noted, size=1),
    "whole": lambda text, noted: [whole(text, noted)],
    "objects": lambda text, noted: [
        SimpleNamespace(choices=[SimpleNamespace(**one) for one in c["choices"]], model="gpt-5")
        for c in streamed(text, noted)
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_answers(name, shape):
    text, annotations, expected = CASES[name]
    message = answer(OpenAIChat(), SHAPES[shape](text, annotations))
    assert (cited(message), message.model) == (expected, "gpt-5")
    assert message.content == parse_markers(text).content
    assert message == answer(OpenAIChat(), [whole(text, annotations)])


def test_annotations_before_the_text_without_a_range_are_sources_without_a_place():
    noted = [
        url("", "", CITY, "", content="Rents rose 4 % in May."),
        url("", "", WAGES, "Wages"),
    ]
    message = answer(OpenAIChat(provider="openrouter"), streamed("Rents rose.", noted, first=True))
    assert (message.content, message.citations.spans) == ("Rents rose.", ())
    assert [(s.provider, s.title, s.url) for s in message.citations.sources] == [
        ("openrouter", None, CITY),
        ("openrouter", "Wages", WAGES),
    ]


def test_a_snippet_of_the_source_is_its_text():
    noted = url(EMOJI, link("city", CITY), content="Rents rose 4 % in May.")
    [span] = answer(OpenAIChat(), streamed(EMOJI, [noted])).citations.spans
    assert span.references[0].cited_text == "Rents rose 4 % in May."


@pytest.mark.parametrize("shape", [streamed, lambda *a, **k: [whole(*a, **k)]])
def test_a_refusal_is_what_the_answer_says(shape):
    assert answer(OpenAIChat(), shape("I cannot. 😀", field="refusal")).content == "I cannot. 😀"


def test_only_the_first_choice_is_read():
    chunks = streamed("Rents rose.")
    for one in chunks:
        for choice in list(one["choices"]):
            other = {**choice, "index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}
            one["choices"].insert(0, other)
    assert answer(OpenAIChat(), chunks).content == "Rents rose."


def test_the_message_so_far_counts_where_there_is_no_delta():
    texts = ["Rents", "Rents rose", "Rents rose 4%."]
    chunks = [chunk({"content": new}) for new in ("Rents", " rose", "")]
    for one, text in zip(chunks, texts, strict=True):
        one["choices"][0]["message"] = {"content": text}
    chunks.append(chunk({"content": ""}, "stop"))
    chunks[-1]["choices"][0]["message"] = {"content": "Rents rose 4%. Oh."}
    assert answer(OpenAIChat(), chunks).content == "Rents rose 4%. Oh."
    # A message that says something else does not take back what was shown.
    chunks[-1]["choices"][0]["message"] = {"content": "Wages."}
    assert answer(OpenAIChat(), chunks).content == "Rents rose 4%."


def test_a_chunk_without_delta_is_no_whole_answer():
    only = chunk(None)
    only["choices"][0] |= {"delta": None, "message": {"content": "Rents"}}
    exchange = OpenAIChat()
    assert exchange.decode(only) == [AnswerText(text="Rents")]
    assert answer(exchange, [chunk({"content": " rose."}), chunk({}, "stop")]).content == " rose."


def test_content_may_come_in_parts():
    parts = [
        {"type": "text", "text": "Rents "},
        {"type": "text", "text": "rose."},
        None,
        {"type": "x"},
    ]
    assert answer(OpenAIChat(), [whole(parts)]).content == "Rents rose."


def test_after_the_end_there_is_nothing_until_the_next_request():
    exchange = OpenAIChat()
    assert joined(exchange, [whole("One."), whole("Two.")]) == "One."
    exchange.request(Conversation(turns=()), model="m")
    assert joined(exchange, [whole("Three.")]) == "Three."


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"message": "Down.", "code": 502}, ("Down.", "provider")),
        ({"message": "Busy.", "type": "overloaded"}, ("Busy.", "overloaded")),
        ("No.", ("No.", "provider")),
        ({"code": 1}, ("the vendor reported an error", "provider")),
    ],
)
def test_an_error_is_a_failure_and_ends_the_answer(error, failure):
    exchange = OpenAIChat()
    items = exchange.decode(chunk({"content": "Half"}, "error", error=error))
    expected = AnswerFailure(message=failure[0], error_type=failure[1])
    assert items == [AnswerText(text="Half"), expected]
    assert exchange.decode(chunk({"content": "x"}, "stop")) == []
    assert OpenAIChat().decode({"error": error}) == [expected]


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        "x",
        [],
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]},
        chunk(None),
        chunk({"content": None, "reasoning_content": "hm", "reasoning": "hm"}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        chunk({"audio": {"data": "x"}, "annotations": None}),
        chunk({}, error=None),
    ],
)
def test_what_is_unknown_or_empty_says_nothing(unknown):
    exchange = OpenAIChat()
    assert exchange.decode(unknown) == []
    assert exchange.decode(chunk({}, "stop")) == [AnswerEnd(model="gpt-5")]


DAMAGED = streamed(EMOJI, [url(EMOJI, link("city", CITY))], size=20)
STRUCTURE = {"choices", "delta", "content", "refusal", "index", "finish_reason", "error"}


@given(damaged(DAMAGED, keep=lambda path: path[-1] in STRUCTURE or path[-1] in range(9)))
def test_no_damage_around_the_text_loses_it(chunks):
    assert answer(OpenAIChat(), chunks).content == EMOJI


@given(damaged(DAMAGED))
def test_no_damage_raises(chunks):
    events_of(OpenAIChat(), chunks)


@given(st.lists(json_values, max_size=4))
def test_no_value_raises(values):
    for exchange in (OpenAIChat(), OpenAIChat()):
        events_of(exchange, values)
        events_of(exchange, [chunk(one) for one in values] + [chunk({}, "stop", error=values)])


# -- asking


def material(origin="attachment", **registered):
    document = from_text("Rents rose.\n\nWages fell.", title="Memo")
    return Material(source=SourceRegistry().add(document, **registered), origin=origin)


def test_a_plain_conversation_is_sent_as_it_is():
    turns = (UserTurn(text="Hi."), AssistantTurn(text="Hello."))
    conversation = Conversation(turns=turns, system="Be brief.")
    assert OpenAIChat().request(conversation, model="m", stream=True) == {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."},
        ],
    }


def test_calls_at_once_are_one_message_with_what_is_said():
    extra = {"google": {"thought_signature": "eA=="}}
    calls = [
        ToolTurn(call_id="c0", name="find", text="0", provider_data={"extra_content": extra}),
        ToolTurn(call_id="c1", name="find", text="1", arguments='{"q', provider_data={"x": 1}),
        ToolTurn(call_id="c2", name="find", text="2", round=1),
    ]
    asked = OpenAIChat().request(
        Conversation(
            turns=(AssistantTurn(text="Hm."), *calls), tools=(ToolDefinition(name="find"),)
        ),
        model="m",
        tools=[{"type": "custom"}],
    )
    said, first, second, again, third = asked["messages"]
    assert (said["role"], said["content"]) == ("assistant", "Hm.")
    about = {"type": "function", "function": {"name": "find", "arguments": "{}"}}
    invalid = {"name": "find", "arguments": '{"INVALID_JSON":"{\\"q"}'}
    assert said["tool_calls"] == [
        {"id": "c0", **about, "extra_content": extra},
        {"id": "c1", **about, "function": invalid},
    ]
    assert first == {"role": "tool", "tool_call_id": "c0", "content": "0"}
    assert second == {"role": "tool", "tool_call_id": "c1", "content": "1"}
    assert again == {"role": "assistant", "content": None, "tool_calls": [{"id": "c2", **about}]}
    assert third["tool_call_id"] == "c2"
    function = {"name": "find", "parameters": {"type": "object", "properties": {}}}
    assert asked["tools"] == [{"type": "function", "function": function}, {"type": "custom"}]


def test_calls_that_streamed_are_not_read_again_from_a_message():
    call = {"index": 0, "id": "c", "function": {"name": "find", "arguments": "{}"}}
    last = chunk({"tool_calls": [call]}, "tool_calls")
    last["choices"][0]["message"] = {"tool_calls": [call, {**call, "id": "d"}]}
    *calls, _ = OpenAIChat().decode(last)
    assert [one.call_id for one in calls] == ["c"]
    last["choices"][0]["delta"] = {}
    *calls, _ = OpenAIChat().decode(last)
    assert [one.call_id for one in calls] == ["c", "d"]


def test_material_is_shown_with_markers():
    shown = material("tool", granularity=Granularity.LINE)
    turns = (
        UserTurn(text="Why?", materials=(material(),)),
        ToolTurn(call_id="c1", name="find", arguments={"q": 1}, text=f"1 {A}", materials=(shown,)),
    )
    asked = OpenAIChat().request(Conversation(turns=turns), model="m")
    system, user, call, result = asked["messages"]
    assert system["content"].startswith("# Citing sources")
    assert user["content"].endswith("\n\nWhy?")
    assert "Rents rose." in user["content"]
    function = {"name": "find", "arguments": '{"q":1}'}
    assert call == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert result["content"].startswith("1 \ufffdcite")
    assert format_marker("turn0file0") in result["content"]


# -- the official client


BROKEN = "Connection error|peer closed connection"  # newer clients wrap it, older ones do not


@pytest.fixture
def sdk():
    return pytest.importorskip("openai", reason="the openai SDK is absent")


def client_of(sdk, server, **options):
    return sdk.OpenAI(base_url=server.url, api_key="none", max_retries=0, **options)


def framed(chunks):
    return sse(*chunks, "[DONE]")


def ask(**arguments):
    exchange = OpenAIChat()
    conversation = Conversation(turns=(UserTurn(text="Why?"),))
    return exchange, exchange.request(conversation, model="gpt-5", **arguments)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", CASES)
def test_the_client_streams(sdk, name, cut):
    text, annotations, expected = CASES[name]
    exchange, asked = ask(stream=True)
    pieces = CUTS[cut](framed(streamed(text, annotations, size=9)))
    with Loopback(Reply(headers=SSE, pieces=pieces)) as server:
        message = answer(exchange, client_of(sdk, server).chat.completions.create(**asked))
    assert cited(message) == expected
    assert server.requests[0].body == asked


@pytest.mark.parametrize("name", CASES)
def test_the_client_gets_it_whole(sdk, name):
    text, annotations, expected = CASES[name]
    exchange, asked = ask()
    with Loopback(Reply.json(whole(text, annotations))) as server:
        message = answer(exchange, [client_of(sdk, server).chat.completions.create(**asked)])
    assert cited(message) == expected


def test_the_async_client_streams(sdk):
    text, annotations, expected = CASES["emoji"]
    exchange, asked = ask(stream=True)

    async def main(url):
        async with sdk.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            return [one async for one in await client.chat.completions.create(**asked)]

    pieces = drawn(framed(streamed(text, annotations, first=True)), seed=5)
    with Loopback(Reply(headers=SSE, pieces=pieces)) as server:
        chunks = anyio.run(main, server.url)
    assert cited(answer(exchange, chunks)) == expected


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(sdk):
    exchange, asked = ask(stream=True)
    data = framed(streamed(EMOJI))
    pieces = [data[: data.index("😀".encode()) + 2], b"never sent"]
    chunks = []
    with Loopback(Reply(headers=SSE, pieces=pieces, break_after=1)) as server:
        stream = client_of(sdk, server).chat.completions.create(**asked)
        with pytest.raises(Exception, match=BROKEN):
            chunks.extend(iter(stream))
    text = joined(exchange, chunks)
    assert EMOJI.startswith(text)
    assert text
    assert not any(isinstance(i, AnswerEnd) for c in chunks for i in OpenAIChat().decode(c))


def test_an_error_in_the_stream_is_what_the_client_raises(sdk):
    exchange, asked = ask(stream=True)
    events = [*streamed(EMOJI)[:3], {"error": {"message": "Down.", "code": "x"}}]
    with Loopback(Reply(headers=SSE, pieces=[framed(events)])) as server:
        stream = client_of(sdk, server).chat.completions.create(**asked)
        with pytest.raises(sdk.APIError, match="Down"):
            events_of(exchange, stream)


def test_an_error_status_is_what_the_client_raises(sdk):
    _, asked = ask(stream=True)
    failing = pytest.raises(sdk.InternalServerError, match="Down")
    with Loopback(Reply.json({"error": {"message": "Down."}}, status=503)) as server, failing:
        client_of(sdk, server).chat.completions.create(**asked)


def test_a_slow_sender_is_only_slow_until_the_client_gives_up(sdk):
    text, annotations, expected = CASES["emoji"]
    exchange, asked = ask(stream=True)
    pieces = [sse(one) for one in streamed(text, annotations, size=30)]
    with Loopback(*[Reply(headers=SSE, pieces=pieces, delay=d) for d in (0.02, 0.5)]) as server:
        client = client_of(sdk, server, timeout=sdk.Timeout(1, read=0.3))
        assert cited(answer(exchange, client.chat.completions.create(**asked))) == expected
        exchange, asked = ask(stream=True)
        with pytest.raises(Exception, match="timed out"):
            events_of(exchange, client.chat.completions.create(**asked))
