from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import OptionError, SourceRegistry, format_marker
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure
from citestream.providers.perplexity import Perplexity
from citestream.sources import from_text
from providers.exchanges import answer, cited, damaged, events_of, joined
from providers.loopback import CUTS, SSE, Loopback, Reply, sse
from strategies import json_values

A = format_marker("turn0search0")
RESULTS = [
    {
        "title": "City",
        "url": "https://city.example/r",
        "date": "2026-05-01",
        "last_updated": "2026-05-02",
        "snippet": "Rents rose 4 % in May.",
        "source": "web",
    },
    {"title": "Wages", "url": "https://wages.example/"},
    {"title": "", "url": "https://third.example/", "date": None},
]
URLS = [one["url"] for one in RESULTS]


def chunk(text, finish_reason=None, **more):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}
    about = {"id": "p", "object": "chat.completion.chunk", "created": 1, "model": "sonar"}
    return {**about, "choices": [choice], **more}


def streamed(text, size=5, lists="every", **more):
    """Stream ``text`` with the lists on every chunk or only on the last."""
    more = more or {"search_results": RESULTS, "citations": URLS}
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    every = more if lists == "every" else {}
    return [*(chunk(one, **every) for one in deltas), chunk("", "stop", **more)]


def whole(text, **more):
    more = more or {"search_results": RESULTS, "citations": URLS}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "p", "object": "chat.completion", "created": 1, "model": "sonar"}
    return {**about, "choices": [choice], **more}


def with_the_message_so_far(text):
    """As the vendor's own streams are: every chunk calls itself whole, and holds all so far."""
    chunks = streamed(text)
    for number, one in enumerate(chunks):
        one["object"] = "chat.completion"
        one["choices"][0]["message"] = {"content": text[: 5 * (number + 1)]}
    return chunks


CASES = {
    "ascii": (
        "Rents rose 4% [1][2]. Wages fell [2].",
        "Rents rose 4%. Wages fell.",
        [("Rents rose 4%", ["City", "Wages"]), ("Wages fell", ["Wages"])],
    ),
    "cjk": (
        "家賃は4%上がりました[1]。賃金は下がりました。[3]",
        "家賃は4%上がりました。賃金は下がりました。",
        [("家賃は4%上がりました", ["City"]), ("賃金は下がりました。", [URLS[2]])],
    ),
    "emoji": (
        "📎 Rents 😀 rose.[1] 📎 Wages fell.[2]",
        "📎 Rents 😀 rose. 📎 Wages fell.",
        [("📎 Rents 😀 rose.", ["City"]), ("📎 Wages fell.", ["Wages"])],
    ),
    "repeated and beyond the list": (
        "It rose[1]. Then [1][1][9] it fell[1].",
        "It rose. Then it fell.",
        [("It rose", ["City"]), ("Then", ["City"]), ("it fell", ["City"])],
    ),
    "several in one": (
        "It rose [1, 2]. It fell [1-3]. It stayed [2–3; 1].",
        "It rose. It fell. It stayed.",
        [
            ("It rose", ["City", "Wages"]),
            ("It fell", ["City", "Wages", URLS[2]]),
            ("It stayed", ["Wages", URLS[2], "City"]),
        ],
    ),
    "alone on a line": (
        "It rose.\n[1][2]\nIt fell.",
        "It rose.\nIt fell.",
        [("It rose.", ["City", "Wages"])],
    ),
    "a list and a table": (
        "- It **rose [1]**\n- It fell [2]\n\n| a [1] | b |\n",
        "- It **rose**\n- It fell\n\n| a | b |\n",
        [("It **rose", ["City"]), ("It fell", ["Wages"]), ("a", ["City"])],
    ),
    "our markers too": (
        f"It rose. {A} It fell [1].",
        "It rose. It fell.",
        [("It rose.", [None]), ("It fell", ["City"])],
    ),
    "none": ("It rose. (a) {b} [c] []", "It rose. (a) {b} [c] []", []),
}
SHAPES = {
    "streamed": streamed,
    "in single characters": lambda text: streamed(text, size=1),
    "lists at the end": lambda text: streamed(text, lists="last"),
    "with the message so far": with_the_message_so_far,
    "whole": lambda text: [whole(text)],
    "urls alone": lambda text: [whole(text, citations=URLS)],
    "objects": lambda text: [
        SimpleNamespace(
            choices=[SimpleNamespace(**choice) for choice in one["choices"]],
            search_results=[SimpleNamespace(**result) for result in RESULTS],
            model="sonar",
        )
        for one in streamed(text)
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_answers(name, shape):
    text, content, expected = CASES[name]
    message = answer(Perplexity(), SHAPES[shape](text))
    assert (message.content, message.model) == (content, "sonar")
    if shape == "urls alone":
        titles = {one["title"]: one["url"] for one in RESULTS}
        expected = [(words, [titles.get(n, n) for n in names]) for words, names in expected]
    assert cited(message) == expected


def test_what_is_told_of_a_result_is_no_quote_of_it():
    message = answer(Perplexity(), streamed("It rose [1]."))
    [source], [span] = message.citations.sources, message.citations.spans
    assert (source.provider, source.title, source.url) == ("perplexity", "City", URLS[0])
    [reference] = span.references
    assert reference.cited_text is None
    assert reference.provider_metadata == {
        "number": 1,
        "date": "2026-05-01",
        "lastUpdated": "2026-05-02",
        "snippet": "Rents rose 4 % in May.",
    }


@pytest.mark.parametrize(
    ("lists", "names"),
    [
        ({"citations": URLS[:1]}, [URLS[0]]),
        (
            {"citations": [{"url": URLS[0], "title": "A"}, "https://b.example"]},
            ["A", "https://b.example"],
        ),
        ({"search_results": RESULTS[:1], "citations": URLS}, ["City", URLS[1]]),
        ({"search_results": [{"title": "Offline"}, None]}, ["Offline"]),
        ({"search_results": [], "citations": None}, []),
        ({"search_results": [{"url": 5, "title": []}], "citations": [7, {"url": ""}]}, []),
        ({"search_results": "none", "citations": {"1": "x"}}, []),
    ],
)
def test_lists_of_every_kind(lists, names):
    message = answer(Perplexity(), streamed("It rose [1][2].", **lists))
    assert message.content == "It rose."
    assert cited(message) == ([("It rose", names)] if names else [])


def test_the_last_lists_that_are_not_empty_count():
    first, last = {"search_results": RESULTS[:1]}, {"search_results": RESULTS[1:]}
    chunks = [
        chunk("It rose [1].", **first),
        chunk("", **last),
        chunk("", search_results=[]),
        chunk("", "stop"),
    ]
    assert cited(answer(Perplexity(), chunks)) == [("It rose", ["Wages"])]


# -- other chunks


def test_an_error_is_a_failure_that_keeps_the_text():
    items = Perplexity().decode(chunk("Half [1", error={"message": "Down."}))
    assert items[0].text == "Half [1"
    assert items[1:] == [AnswerFailure(message="Down.")]


@pytest.mark.parametrize(
    "unknown", [None, "x", {}, {"choices": [{}]}, {"object": "chat.reasoning"}]
)
def test_what_is_unknown_or_empty_says_nothing(unknown):
    exchange = Perplexity()
    assert exchange.decode(unknown) == []
    assert exchange.decode(chunk("", "stop")) == [AnswerEnd(model="sonar")]
    assert exchange.decode(chunk("x", "stop")) == []


DAMAGED = streamed("📎 It rose [1]. It fell [2].", size=12)
STRUCTURE = {"choices", "delta", "content", "index", "finish_reason", "error"}


@given(damaged(DAMAGED, keep=lambda p: p[-1] in STRUCTURE or (len(p) < 4 and p[-1] in range(9))))
def test_no_damage_around_the_text_loses_it(chunks):
    assert answer(Perplexity(), chunks).content == "📎 It rose. It fell."


@given(damaged(DAMAGED), st.lists(json_values, max_size=3))
def test_no_damage_and_no_value_raises(chunks, values):
    events_of(Perplexity(), chunks)
    events_of(Perplexity(), values)
    events_of(Perplexity(), [chunk("[1]", "stop", search_results=values, citations=values)])


# -- asking


def test_turns_alternate_and_material_is_shown_with_markers():
    source = SourceRegistry().add(from_text("Rents rose.", title="Memo"))
    turns = (
        UserTurn(text="Why?"),
        ToolTurn(call_id="c", name="find", text=f"1 {A}", materials=(Material(source=source),)),
        AssistantTurn(text="So."),
        UserTurn(text="Oh."),
    )
    asked = Perplexity().request(Conversation(turns=turns), model="sonar", stream=True)
    assert asked.keys() == {"model", "messages", "stream"}
    system, question, *rest = asked["messages"]
    assert system["content"].startswith("# Citing sources")
    assert question["content"].startswith("Why?\n\n1 \ufffdcite")
    assert question["content"].endswith("Rents rose.")
    assert rest == [{"role": "assistant", "content": "So."}, {"role": "user", "content": "Oh."}]


def test_tools_are_refused():
    conversation = Conversation(turns=(), tools=(ToolDefinition(name="look"),))
    with pytest.raises(OptionError, match="tools: wanted none, since Perplexity calls none, got 1"):
        Perplexity().request(conversation, model="m")


def test_without_material_there_are_no_rules():
    conversation = Conversation(turns=(UserTurn(text="Hi."),), system="Be brief.")
    exchange = Perplexity()
    assert exchange.request(conversation, model="sonar")["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
    ]
    bare = Conversation(turns=(UserTurn(text="Hi."),))
    assert joined(exchange, [whole("It rose [1].")] * 2) == "It rose."
    assert [m["role"] for m in exchange.request(bare, model="sonar")["messages"]] == ["user"]
    assert joined(exchange, [whole("It rose [1].")]) == "It rose."


# -- a real client


BROKEN = "Connection error|peer closed connection"  # newer clients wrap it, older ones do not


@pytest.fixture
def sdk():
    return pytest.importorskip("openai", reason="the openai SDK is absent")


def client_of(sdk, server):
    return sdk.OpenAI(base_url=server.url, api_key="none", max_retries=0)


ASKED = {"model": "sonar", "messages": [{"role": "user", "content": "Why?"}]}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("lists", ["every", "last"])
@pytest.mark.parametrize("name", ["emoji", "cjk", "several in one"])
def test_the_client_streams(sdk, name, lists, cut):
    text, content, expected = CASES[name]
    data = sse(*streamed(text, size=7, lists=lists), "[DONE]")
    with Loopback(Reply(headers=SSE, pieces=CUTS[cut](data))) as server:
        stream = client_of(sdk, server).chat.completions.create(**ASKED, stream=True)
        message = answer(Perplexity(), stream)
    assert (message.content, cited(message)) == (content, expected)


def test_the_client_gets_it_whole(sdk):
    text, content, expected = CASES["emoji"]
    with Loopback(Reply.json(whole(text))) as server:
        message = answer(Perplexity(), [client_of(sdk, server).chat.completions.create(**ASKED)])
    assert (message.content, cited(message)) == (content, expected)


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(sdk):
    data = sse(*streamed("It rose [1]. It fell.", size=10))
    chunks = []
    with Loopback(Reply(headers=SSE, pieces=[data[:-90], b"x"], break_after=1)) as server:
        stream = client_of(sdk, server).chat.completions.create(**ASKED, stream=True)
        with pytest.raises(Exception, match=BROKEN):
            chunks.extend(iter(stream))
    events = events_of(Perplexity(), chunks)
    deltas = [e.data.delta_content for e in events if e.type.value == "assistant.message_delta"]
    assert "".join(deltas) == "It rose. It fell."
    assert not any(e.type.value == "assistant.message" for e in events)
