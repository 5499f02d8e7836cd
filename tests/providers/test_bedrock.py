from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    LimitError,
    MarkerSyntax,
    OptionError,
    SourceRegistry,
    format_marker,
)
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText, AnswerToolCall
from citestream.markers import LINES, PAGES
from citestream.prompts import PromptOptions, instructions, render_context, render_tool_result
from citestream.providers.bedrock import MAX_DOCUMENT_BYTES, Bedrock, is_claude
from citestream.sources import Granularity, from_blocks, from_pages, from_text
from providers.exchanges import answer, damaged, events_of, joined
from providers.loopback import (
    CUTS,
    EVENT_STREAM,
    Loopback,
    Reply,
    bytewise,
    event_frame,
    event_stream,
)

NO_SDK = "boto3 is not installed (extra: bedrock)"
CLAUDE = "eu.anthropic.claude-sonnet-4-20250514-v1:0"
NOVA = "amazon.nova-pro-v1:0"
MEMO = "Rent rose 4 percent. 家賃は上がった。 📎 Wages fell."
QUOTED = "Rent rose 4 percent. "


def char(start, end):
    return CitationLocationChar(start_index=start, end_index=end)


def page(first, last):
    return CitationLocationPage(start_page=first, end_page=last)


def block(start, end):
    return CitationLocationBlock(start_block=start, end_block=end)


def in_document(kind, start, end, *, index=0, **fields):
    place = {"documentIndex": index, "start": start, "end": end}
    return {
        "title": "Memo",
        "sourceContent": [{"text": QUOTED}],
        "location": {f"document{kind}": place},
        **fields,
    }


def in_result(source, start, end, *, index=0, **fields):
    place = {"searchResultIndex": index, "start": start, "end": end}
    return {
        "title": "Guide",
        "source": source,
        "sourceContent": [{"text": "Rent "}, {"text": "rose."}],
        "location": {"searchResultLocation": place},
        **fields,
    }


def on_web(**where):
    return {"title": "City", "sourceContent": [{"text": "Rents"}], "location": {"web": where}}


def said(text, *citations):
    if not citations:
        return {"text": text}
    return {"citationsContent": {"content": [{"text": text}], "citations": list(citations)}}


def words_of(one):
    return one.get("text") or "".join(
        part["text"] for part in one.get("citationsContent", {}).get("content", [])
    )


# -- the same answer, whole and streamed


def whole(blocks):
    return {
        "ResponseMetadata": {"HTTPStatusCode": 200},
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 3, "outputTokens": 9, "totalTokens": 12},
        "metrics": {"latencyMs": 5},
    }


def streamed(blocks, *, text_first=False):
    yield {"messageStart": {"role": "assistant"}}
    for index, one in enumerate(blocks):
        if "toolUse" in one:
            start = {"toolUse": {"toolUseId": "t", "name": "look"}}
            yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
        for delta in _deltas(one, text_first=text_first):
            yield {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": "end_turn"}}
    usage = {"inputTokens": 3, "outputTokens": 9, "totalTokens": 12}
    yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 5}}}


def _deltas(one, *, text_first):
    if "toolUse" in one:
        return [{"toolUse": {"input": "{}"}}]
    if "reasoningContent" in one:
        return [{"reasoningContent": {"text": "hm"}}, {"reasoningContent": {"signature": "s"}}]
    words = words_of(one)
    texts = [{"text": words[n : n + 4]} for n in range(0, len(words), 4)]
    cited = [{"citation": c} for c in one.get("citationsContent", {}).get("citations", [])]
    return [*texts, *cited] if text_first else [*cited, *texts]


def objects(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{name: objects(one) for name, one in value.items()})
    return [objects(one) for one in value] if isinstance(value, list) else value


def answered(chunks, exchange=None, **options):
    return answer(exchange or Bedrock(claude=True), chunks, **options)


def references(message):
    """What each span says, and of each reference: names of its source, quotation, place, rest."""
    sources = {source.id: source for source in message.citations.sources}
    return [
        (
            span.slice(message.content),
            [
                (
                    (s.provider, s.title, s.url, s.path),
                    reference.cited_text,
                    reference.location,
                    reference.provider_metadata,
                )
                for reference in span.references
                for s in [sources[reference.source_id]]
            ],
        )
        for span in message.citations.spans
    ]


IN_MEMO = ("anthropic", "Memo", None, None)
FIRST = {"documentIndex": 0}
IN_GUIDE = ("anthropic", "Guide", None, "docs/g.md")
ODD = [True, "5", 2.5, None, -1, [], {}]

TABLE = {
    "ascii": (
        [said("Yes: "), said("rent rose 4%", in_document("Char", 0, 21)), said(".")],
        [("rent rose 4%", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "emoji": (
        [said("📎 Memo: "), said("rent rose 🚀 4%", in_document("Char", 0, 21)), said(" 📎")],
        [("rent rose 🚀 4%", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "cjk": (
        [said("覚書："), said("家賃は四％上がった。", in_document("Page", 1, 2)), said("以上。")],
        [("家賃は四％上がった。", [(IN_MEMO, QUOTED, page(1, 1), FIRST)])],
    ),
    "chunks": (
        [said("- "), said("Rent rose.", in_document("Chunk", 1, 3)), said("\n- ")],
        [("Rent rose.", [(IN_MEMO, QUOTED, block(1, 3), FIRST)])],
    ),
    "search results": (
        [
            said("A", in_result("https://a.example/g", 0, 1)),
            said("B", in_result("docs/g.md", 1, 2, index=1)),
            said("C", in_result("kb:1", 0, 1, index=2)),
        ],
        [
            (
                "A",
                [
                    (
                        ("anthropic", "Guide", "https://a.example/g", None),
                        "Rent rose.",
                        block(0, 1),
                        {"searchResultIndex": 0},
                    )
                ],
            ),
            ("B", [(IN_GUIDE, "Rent rose.", block(1, 2), {"searchResultIndex": 1})]),
            (
                "C",
                [
                    (
                        ("anthropic", "Guide", None, None),
                        "Rent rose.",
                        block(0, 1),
                        {"searchResultIndex": 2},
                    )
                ],
            ),
        ],
    ),
    "web": (
        [
            said("A", on_web(url="https://a.example/r", domain="a.example")),
            said("B", on_web(url="https://a.example/r")),
            said("C", on_web()),
        ],
        [
            (
                "A",
                [
                    (
                        ("anthropic", "City", "https://a.example/r", None),
                        "Rents",
                        None,
                        {"domain": "a.example"},
                    )
                ],
            ),
            ("B", [(("anthropic", "City", "https://a.example/r", None), "Rents", None, {})]),
            ("C", [(("anthropic", "City", None, None), "Rents", None, {})]),
        ],
    ),
    "overlapping and repeated": (
        [
            said("Rent.", in_document("Char", 0, 21), in_document("Char", 5, 30)),
            said("Pay.", *[in_document("Char", 0, 21)] * 2, in_document("Page", 1, 2)),
        ],
        [
            (
                "Rent.",
                [(IN_MEMO, QUOTED, char(0, 21), FIRST), (IN_MEMO, QUOTED, char(5, 30), FIRST)],
            ),
            (
                "Pay.",
                [(IN_MEMO, QUOTED, char(0, 21), FIRST), (IN_MEMO, QUOTED, page(1, 1), FIRST)],
            ),
        ],
    ),
    "missing fields": (
        [
            said("A", {"title": "Memo"}),
            said("B", {"source": "docs/g.md", "title": "Guide", "sourceContent": None}),
            said("C", {"title": "Memo", "location": {"documentChar": {}}, "sourceContent": [{}]}),
            said("D", {"title": "Memo", "location": {"documentSound": {"start": 1, "end": 2}}}),
        ],
        [
            ("A", [(IN_MEMO, None, None, {})]),
            ("B", [(IN_GUIDE, None, None, {})]),
            ("C", [(IN_MEMO, None, None, {})]),
            ("D", [(IN_MEMO, None, None, {})]),
        ],
    ),
    "reasoning and tools": (
        [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            said("A ", in_document("Char", 0, 21)),
            {"toolUse": {"toolUseId": "t", "name": "look", "input": {}}},
            {"sculpture": {"text": "not for readers"}},
            said("B"),
        ],
        [("A ", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "an empty block": (
        [said("A "), said("", in_document("Char", 0, 21)), said("B")],
        [("", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "impossible numbers": (
        [
            said("A", *[in_document("Char", 9, end) for end in (3, 9, *ODD)]),
            said("B", *[in_document("Page", start, 2) for start in (0, 2, 3, *ODD)]),
            said("C", *[in_document("Chunk", start, 1) for start in (1, 2, *ODD)]),
        ],
        [(words, [(IN_MEMO, QUOTED, None, FIRST)]) for words in "ABC"],
    ),
}


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("shape", [list, objects])
def test_answers(name, shape):
    blocks, expected = TABLE[name]
    given = answered(shape([whole(blocks)]))
    assert given.content == "".join(map(words_of, blocks))
    assert references(given) == expected
    for text_first in (False, True):
        again = answered(shape(list(streamed(blocks, text_first=text_first))))
        assert (again.content, again.citations) == (given.content, given.citations)


def test_a_block_that_never_stops_keeps_its_citation():
    chunks = [c for c in streamed(TABLE["ascii"][0]) if "contentBlockStop" not in c]
    assert references(answered(chunks)) == TABLE["ascii"][1]


def test_a_quotation_may_come_in_pieces():
    rest = {"sourceContent": [{"text": "家賃は"}, {"text": "上がった。"}]}
    chunks = list(streamed([said("Rent.", in_document("Char", 0, 21), rest, rest)]))
    ((_, [(_, cited_text, *_)]),) = references(answered(chunks))
    assert cited_text == QUOTED + "家賃は上がった。" * 2


def test_a_citation_of_nothing_but_a_quotation_is_one():
    chunks = list(streamed([said("A", {"sourceContent": [{"text": "x"}]})]))
    ((_, found),) = references(answered(chunks))
    assert found == [(("anthropic", None, None, None), "x", None, {})]


def test_what_one_exchange_decodes_goes_on():
    """A second response has parts of its own, whole or streamed."""
    first, second = said("A", in_document("Char", 0, 21)), said("B", in_document("Char", 2, 21))
    exchange = Bedrock(claude=True)
    for response in ([whole([first])], streamed([second]), [whole([second])]):
        parts = {
            item.part
            for chunk in response
            for item in exchange.decode(chunk)
            if isinstance(item, AnswerText)
        }
        assert len(parts) == 1
    *_, last = events_of(
        exchange, [*list(streamed([first]))[:3], *streamed([second])]
    )  # the first response broke off
    assert last.data.content == "AB"
    assert [words for words, _ in references(last.data)] == ["A", "B"]


@pytest.mark.parametrize(
    ("exchange", "model", "provider", "location"),
    [
        (Bedrock(), CLAUDE, "anthropic", block(0, 1)),
        (Bedrock(), NOVA, "bedrock", None),
        (Bedrock(), None, "bedrock", None),
        (
            Bedrock(claude=True),
            "arn:aws:bedrock:x:1:application-inference-profile/p",
            "anthropic",
            block(0, 1),
        ),
        (Bedrock(claude=False), CLAUDE, "bedrock", None),
    ],
)
def test_what_nova_counts_in_search_results_is_not_settled(exchange, model, provider, location):
    if model is not None:
        exchange.request(Conversation(turns=()), model=model)
    given = answered([whole([said("A", in_result("kb:1", 0, 1))])], exchange)
    assert given.model == model
    ((_, [(source, _, found, _)]),) = references(given)
    assert (source[0], found) == (provider, location)
    given = answered([whole([said("A", in_document("Char", 0, 21))])], exchange)
    ((_, [(source, _, found, _)]),) = references(given)
    assert (source[0], found) == (provider, char(0, 21))


@pytest.mark.parametrize(
    ("model", "claude"),
    [
        (CLAUDE, True),
        ("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-v2", True),
        (NOVA, False),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", False),
        ("", False),
    ],
)
def test_claude_is_known_by_the_name_of_the_model(model, claude):
    assert is_claude(model) is claude


@pytest.mark.parametrize(
    ("chunk", "failure"),
    [
        ({"throttlingException": {"message": "Slow down"}}, ("Slow down", "throttlingException")),
        ({"newException": {}}, ("newException", "newException")),
    ],
)
def test_an_error_in_the_stream_is_a_failure(chunk, failure):
    (item,) = Bedrock().decode(chunk)
    assert item == AnswerFailure(message=failure[0], error_type=failure[1])


@pytest.mark.parametrize(
    "chunk",
    [None, 7, "text", [], {}, {"metadata": {}}, {"throttlingException": None}, {3: 4}, b"x"],
)
def test_what_is_unknown_says_nothing(chunk):
    assert Bedrock().decode(chunk) == []


# -- whatever comes, the text stays

EVERYTHING = [
    said("αlpha ", in_document("Char", 0, 21), in_document("Page", 1, 2)),
    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
    said("beta ", in_result("docs/g.md", 0, 1), on_web(url="https://a.example/r")),
    said("gamma", in_document("Chunk", 0, 1)),
]
STREAM = list(streamed(EVERYTHING))
TEXTS = [
    (number, text)
    for number, chunk in enumerate(STREAM)
    if (text := chunk.get("contentBlockDelta", {}).get("delta", {}).get("text"))
]


@given(st.data())
def test_any_value_in_any_place_of_a_stream(data):
    chunks = data.draw(damaged(STREAM))
    text = joined(Bedrock(claude=True), chunks)
    for number, piece in TEXTS:
        assert piece in text or chunks[number] != STREAM[number]
    events_of(Bedrock(claude=True), chunks)


@given(damaged(EVERYTHING))
def test_any_value_in_any_place_of_a_message(blocks):
    text = answered([whole(blocks)]).content
    for one, intact in zip(blocks, EVERYTHING, strict=True):
        assert one != intact or words_of(one) in text


@given(damaged([whole(EVERYTHING)]))
def test_any_value_around_a_message(chunks):
    events_of(Bedrock(), chunks)


def calls_in(chunks, exchange=None):
    exchange = exchange or Bedrock()
    items = [item for chunk in chunks for item in exchange.decode(chunk)]
    return [item for item in items if isinstance(item, AnswerToolCall)]


def thought(words, signature="s"):
    return {"reasoningContent": {"reasoningText": {"text": words, "signature": signature}}}


HIDDEN = {"reasoningContent": {"redactedContent": b"\x00\xff"}}


def reasoned(blocks):
    """Stream blocks of reasoning and calls."""
    yield {"messageStart": {"role": "assistant"}}
    for index, one in enumerate(blocks):
        about = {"contentBlockIndex": index}
        deltas = [{"toolUse": {"input": "{}"}}] if "toolUse" in one else [one]
        if "toolUse" in one:
            yield {"contentBlockStart": {**about, "start": one}}
        elif one is not HIDDEN:
            told = one["reasoningContent"]["reasoningText"]
            pieces = ({"text": letter} for letter in told["text"])
            deltas = [{"reasoningContent": p} for p in (*pieces, {"signature": told["signature"]})]
        for delta in deltas:
            yield {"contentBlockDelta": {**about, "delta": delta}}
        yield {"contentBlockStop": about}
    yield {"messageStop": {"stopReason": "tool_use"}}


@pytest.mark.parametrize("streaming", [False, True])
def test_reasoning_goes_with_the_call_that_follows_it(streaming):
    call = {"toolUse": {"toolUseId": "t", "name": "look", "input": {}}}
    blocks = [
        thought("家賃?"),
        HIDDEN,
        thought("no", ""),
        call,
        call,
        thought("And?"),
        call,
        HIDDEN,
    ]
    chunks = list(reasoned(blocks)) if streaming else [whole(blocks)]
    exchange = Bedrock()
    for _ in range(2):
        assert [one.provider_data for one in calls_in(chunks, exchange)] == [
            {"reasoning": [thought("家賃?")["reasoningContent"], {"redactedContent": "AP8="}]},
            None,
            {"reasoning": [thought("And?")["reasoningContent"]]},
        ]


def test_reasoning_goes_back_as_it_came(boto3):
    call = {"toolUse": {"toolUseId": "t", "name": "look", "input": {"q": 1}}}
    [found] = calls_in([whole([thought("Hm."), HIDDEN, call])])
    turn = ToolTurn(
        call_id=found.call_id,
        name=found.name,
        arguments=found.arguments,
        provider_data=found.provider_data,
    )
    body = {name: value for name, value in whole([]).items() if name != "ResponseMetadata"}
    with Loopback(Reply.json(body)) as server:
        client = client_of(boto3, server)
        client.converse(**sent(Conversation(turns=(UserTurn(text="?"), turn))))
        client.close()
    content = server.requests[0].body["messages"][1]["content"]
    hidden = {"reasoningContent": {"redactedContent": "AP8="}}
    assert content == [thought("Hm."), hidden, call]


# -- what is sent


def material(document, *, granularity=Granularity.DOCUMENT, registry=None, **fields):
    registry = SourceRegistry() if registry is None else registry
    return Material(source=registry.add(document, granularity=granularity), **fields)


def asked(*materials, text="What of the rent?"):
    return Conversation(turns=(UserTurn(text=text, materials=materials),))


def sent(conversation, exchange=None, *, model=CLAUDE, **options):
    return (exchange or Bedrock()).request(conversation, model=model, **options)


def one_block(*materials):
    (turn,) = sent(asked(*materials))["messages"]
    return turn["content"][0]


def names(*titles):
    materials = [material(from_text("A", title=title)) for title in titles]
    content = sent(asked(*materials))["messages"][0]["content"]
    return [block["document"]["name"] for block in content if "document" in block]


NO_ARGUMENTS = {"type": "object", "properties": {}}
TALK = (
    UserTurn(text="Hello"),
    AssistantTurn(text="Yes?"),
    ToolTurn(call_id="t1", name="look", arguments={"q": "rent"}, text="It rose."),
    UserTurn(text="And?"),
    AssistantTurn(text=" "),
)


@pytest.mark.parametrize("model", [CLAUDE, NOVA])
def test_the_arguments_of_a_request(model):
    call = {"toolUseId": "t1", "name": "look", "input": {"q": "rent"}}
    result = {"toolUseId": "t1", "content": [{"text": "It rose."}]}
    tools = (ToolDefinition(name="look", description="Looks."),)
    conversation = Conversation(system="Be brief.", turns=TALK, tools=tools)
    spec = {"name": "look", "description": "Looks.", "inputSchema": {"json": NO_ARGUMENTS}}
    assert sent(conversation, model=model, max_tokens=9) == {
        "modelId": model,
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 9},
        "messages": [
            {"role": "user", "content": [{"text": "Hello"}]},
            {"role": "assistant", "content": [{"text": "Yes?"}, {"toolUse": call}]},
            {"role": "user", "content": [{"toolResult": result}, {"text": "And?"}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": spec}]},
    }


def test_what_the_caller_adds_joins_what_is_sent():
    asked = sent(
        Conversation(turns=(), tools=(ToolDefinition(name="look"),)),
        max_tokens=9,
        inferenceConfig={"temperature": 0.5},
        toolConfig={"tools": [{"cachePoint": {"type": "default"}}], "toolChoice": {"any": {}}},
        additionalModelRequestFields={"thinking": {"type": "adaptive"}},
    )
    assert asked.pop("messages") == []
    assert asked == {
        "modelId": CLAUDE,
        "inferenceConfig": {"maxTokens": 9, "temperature": 0.5},
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "look", "inputSchema": {"json": NO_ARGUMENTS}}},
                {"cachePoint": {"type": "default"}},
            ],
            "toolChoice": {"any": {}},
        },
        "additionalModelRequestFields": {"thinking": {"type": "adaptive"}},
    }


def test_what_the_caller_says_of_the_length_counts():
    asked = sent(Conversation(turns=()), max_tokens=9, inferenceConfig={"maxTokens": 5})
    assert asked["inferenceConfig"] == {"maxTokens": 5}


def test_what_is_not_given_is_not_sent():
    assert sent(Conversation(turns=())) == {"modelId": CLAUDE, "messages": []}


@pytest.mark.parametrize("granularity", [Granularity.DOCUMENT, Granularity.LINE])
def test_a_text_is_a_document(granularity):
    assert one_block(material(from_text(MEMO, title="Memo"), granularity=granularity)) == {
        "document": {
            "name": "Memo",
            "format": "txt",
            "source": {"text": MEMO},
            "citations": {"enabled": True},
        }
    }


def test_a_source_that_is_cited_by_block_is_sent_in_blocks():
    document = from_blocks(["One.", " ", "Two."], path="docs/a.md")
    found = one_block(material(document, granularity=Granularity.BLOCK))["document"]
    assert found["source"] == {"content": [{"text": "One."}, {"text": "Two."}]}
    assert found["name"] == "docs-a-md"


def test_a_pdf_is_sent_as_it_is():
    document = from_pages(["One."], title="Plan")
    data = {"data": b"%PDF-1.7", "media_type": "application/pdf"}
    found = one_block(material(document, granularity=Granularity.PAGE, **data))["document"]
    assert (found["format"], found["source"]) == ("pdf", {"bytes": b"%PDF-1.7"})


def test_what_a_tool_returned_is_a_search_result():
    found = material(from_blocks(["One.", "Two."], url="https://a.example/x"), origin="tool")
    call = ToolTurn(call_id="t1", name="look", text="A hit", materials=(found,))
    *_, result = sent(Conversation(turns=(call,)))["messages"]
    text, first = result["content"][0]["toolResult"]["content"]
    assert text == {"text": "A hit"}
    assert first["searchResult"] == {
        "source": "https://a.example/x",
        "title": "https://a.example/x",
        "content": [{"text": "One."}, {"text": "Two."}],
        "citations": {"enabled": True},
    }


def test_what_has_no_text_is_left_out_unless_it_is_a_pdf():
    blank = material(from_text(" \n"))
    scan = material(from_text(""), origin="tool", data=b"%PDF", media_type="application/pdf")
    (turn,) = sent(asked(blank, scan))["messages"]
    assert [list(block) for block in turn["content"]] == [["document"], ["text"]]
    assert sent(asked(blank, text=" "))["messages"] == []


def test_a_message_with_documents_has_text():
    memo, found = material(from_text(MEMO)), material(from_text(MEMO), origin="tool")
    (turn,) = sent(asked(memo, text=" "))["messages"]
    assert turn["content"][-1] == {"text": "See the documents."}
    (turn,) = sent(asked(found, text=""))["messages"]
    assert [list(block) for block in turn["content"]] == [["searchResult"]]


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Memo"], ["Memo"]),
        ([None], ["Document"]),
        (["分基"], ["Document"]),
        (["John's report_v1.pdf"], ["John-s report-v1-pdf"]),
        (["A  b\n\tc"], ["A b c"]),
        (["Plan (2) [x] - y"], ["Plan (2) [x] - y"]),
        (["Memo", "memo", "Memo!"], ["Memo", "memo (2)", "Memo (3)"]),
        (["Memo (2)", "Memo", "Memo"], ["Memo (2)", "Memo", "Memo (3)"]),
        (["x" * 300] * 2, ["x" * 200, "x" * 196 + " (2)"]),
    ],
)
def test_names_of_documents_are_those_that_the_service_takes(titles, expected):
    assert names(*titles) == expected


def test_limits_of_the_service():
    memo = material(from_text(MEMO))
    with pytest.raises(LimitError, match="max_documents: a message may have 5, got 6"):
        sent(asked(*[memo] * 6))
    assert sent(asked(*[memo] * 6), Bedrock(max_documents=6))
    size = len(MEMO.encode())
    assert sent(asked(memo), Bedrock(max_document_bytes=size))
    for granularity in (Granularity.DOCUMENT, Granularity.BLOCK):
        large = material(from_text(MEMO), granularity=granularity)
        with pytest.raises(LimitError, match=f"max_document_bytes: .* got {size}"):
            sent(asked(large), Bedrock(max_document_bytes=size - 1))
    data = {"data": bytes(MAX_DOCUMENT_BYTES + 1), "media_type": "application/pdf"}
    with pytest.raises(LimitError, match="4500001"):
        sent(asked(material(from_text(""), **data)))


def test_a_source_cannot_hand_the_model_a_marker():
    fake = format_marker("turn0file0")
    document = from_text(f"Rent. {fake}", title=f"Memo {fake}", url=f"https://a.example/{fake}")
    for origin in ("attachment", "tool"):
        assert "\ue200" not in str(one_block(material(document, origin=origin)))


# -- models that do not cite natively

OPTIONS = PromptOptions(syntax=MarkerSyntax(locators=(LINES, PAGES)))


def test_other_models_are_shown_attachments_and_the_rules_for_markers():
    memo = material(from_text(MEMO, title="Memo"))
    request = sent(asked(memo), model=NOVA)
    shown = {"text": render_context([memo.source])}
    assert request["messages"][0]["content"] == [shown, {"text": "What of the rent?"}]
    rules = PromptOptions(material="context", granularities=(Granularity.DOCUMENT,))
    assert request["system"] == [{"text": instructions(rules)}]


def test_other_models_are_shown_what_tools_returned():
    pages = material(from_pages(["One."]), granularity=Granularity.PAGE, origin="tool")
    call = ToolTurn(call_id="t1", name="look", text="A hit", materials=(pages,))
    conversation = Conversation(turns=(call,), system="Be brief.")
    request = sent(conversation, model=NOVA, options=OPTIONS)
    *_, result = request["messages"]
    shown = {"text": render_tool_result([pages.source], options=OPTIONS)}
    assert result["content"][0]["toolResult"]["content"] == [{"text": "A hit"}, shown]
    assert request["system"][0]["text"].startswith("Be brief.\n\n# Citing sources")
    with pytest.raises(OptionError, match="locators for pages"):
        sent(conversation, model=NOVA)


def test_the_markers_of_other_models_are_read():
    registry = SourceRegistry()
    memo = material(from_text(MEMO, title="Memo"), registry=registry)
    exchange = Bedrock()
    sent(asked(memo), exchange, model=NOVA)
    blocks = [said(f"It rose. {format_marker('turn0file0')}")]
    given = answered([whole(blocks)], exchange, registry=registry)
    assert [source.title for source in given.citations.sources] == ["Memo"]


# -- what comes back is what was sent


def matched(materials, *citations):
    exchange = Bedrock()
    sent(asked(*materials), exchange)
    given = answered([whole([said("It rose.", *citations)])], exchange)
    return [one for _, found in references(given) for one in found]


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({"title": "Memo"}, 0),
        ({"title": "John-s plan (2)", "index": 2}, 2),
        ({"title": "John-s plan (2)", "index": 0}, 2),
        ({"title": None, "index": 1}, 1),
        ({"title": "John-s plan", "index": None}, 1),
        ({"title": "Other", "index": 1}, None),
        ({"title": None, "index": 3}, None),
    ],
)
def test_documents_are_known_by_number_and_name(fields, number):
    registry = SourceRegistry()
    titles, paths = ["Memo", "John's plan", "John's plan"], ["a.md", "b.md", "c.md"]
    materials = [
        material(from_text(MEMO, title=title, path=path), registry=registry)
        for title, path in zip(titles, paths, strict=True)
    ]
    ((source, _, location, metadata),) = matched(materials, in_document("Char", 0, 21, **fields))
    if number is None:
        assert source == ("anthropic", fields["title"], None, None)
        assert metadata == {"documentIndex": fields["index"]}
    else:
        assert source == ("anthropic", titles[number], None, paths[number])
        assert metadata["citableSourceId"] == f"turn0file{number}"
    assert location == char(0, 21)


def test_a_document_is_known_without_its_place():
    memo = material(from_text(MEMO, title="Memo", path="a.md"))
    ((source, *_),) = matched([memo], {"title": "Memo"})
    assert source == ("anthropic", "Memo", None, "a.md")


def test_search_results_of_tools_are_cited_as_the_client_s():
    registry = SourceRegistry()
    document = from_blocks(["One.", " ", "Two."], title="Guide", path="docs/g.md")
    one = material(document, registry=registry, origin="tool")
    memo = material(from_text(MEMO, title="Memo"), registry=registry)
    first, second, third = matched(
        [memo, one],
        in_result("docs/g.md", 1, 2),
        {"source": "docs/g.md"},
        in_document("Char", 0, 21),
    )
    meta = {"searchResultIndex": 0, "citableSourceId": "turn0file0"}
    assert first == (("client", "Guide", None, "docs/g.md"), "Rent rose.", block(2, 3), meta)
    assert second[0] == first[0]
    assert third[0] == IN_MEMO


# -- the real client, over HTTP

LONG = [
    said("📎 覚書: "),
    said("rent rose 4%", in_document("Char", 0, 21)),
    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
    said(" and 家賃も上がった。", in_result("docs/g.md", 0, 1), on_web(url="https://a.example/r")),
]


@pytest.fixture
def boto3(monkeypatch, tmp_path):
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return pytest.importorskip("boto3", reason=NO_SDK)


def client_of(boto3, server, **options):
    from botocore.config import Config  # noqa: PLC0415 - comes with boto3

    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=server.url,
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - signs for nobody
        config=Config(retries={"total_max_attempts": 1}, **options),
    )


def ask(exchange):
    memo = material(from_text(MEMO, title="Memo", path="docs/memo.md"))
    guide = material(from_text("Guide."), origin="tool")
    call = ToolTurn(call_id="t1", name="look", materials=(guide,))
    pdf = {"data": b"%PDF", "media_type": "application/pdf"}
    plan = material(from_text("x", title="Plan"), **pdf)
    turns = (UserTurn(text="?", materials=(memo, plan)), call, UserTurn(text="And?"))
    return sent(Conversation(turns=turns, system="Be brief."), exchange, max_tokens=9)


@pytest.fixture(scope="module")
def expected():
    exchange = Bedrock()
    ask(exchange)
    given = answered([whole(LONG)], exchange)
    assert [words for words, _ in references(given)] == ["rent rose 4%", " and 家賃も上がった。"]
    assert given.citations.sources[0].path == "docs/memo.md"
    return given.content, given.citations


def content(chunks, exchange):
    given = answered(chunks, exchange)
    return given.content, given.citations


def collect(client, exchange, chunks):
    """Collect what the client gives of a stream, also when it raises; close what it opened."""
    stream = client.converse_stream(**ask(exchange))["stream"]
    try:
        for chunk in stream:
            chunks.append(chunk)
    finally:
        stream.close()
        client.close()


@pytest.mark.parametrize("cut", CUTS)
def test_the_client_streams(boto3, expected, cut):
    exchange, chunks = Bedrock(), []
    pieces = CUTS[cut](b"".join(event_stream(streamed(LONG))))
    with Loopback(Reply(headers=EVENT_STREAM, pieces=pieces)) as server:
        collect(client_of(boto3, server), exchange, chunks)
    assert content(chunks, exchange) == expected
    (request,) = server.requests
    assert request.path.endswith("/converse-stream")
    first, second = (one["document"] for one in request.body["messages"][0]["content"][:2])
    assert first["citations"] == {"enabled": True}
    assert second["source"] == {"bytes": "JVBERg=="}


def test_the_client_gets_it_whole(boto3, expected):
    exchange = Bedrock()
    body = {name: value for name, value in whole(LONG).items() if name != "ResponseMetadata"}
    with Loopback(Reply.json(body)) as server:
        client = client_of(boto3, server)
        assert content([client.converse(**ask(exchange))], exchange) == expected
        client.close()


def test_the_client_streams_from_a_slow_sender(boto3, expected):
    exchange, chunks = Bedrock(), []
    frames = event_stream(streamed(LONG))
    pieces = [b"".join(frames[:3]), b"".join(frames[3:9]), b"".join(frames[9:])]
    with Loopback(Reply(headers=EVENT_STREAM, pieces=pieces, delay=0.03)) as server:
        collect(client_of(boto3, server, read_timeout=5), exchange, chunks)
    assert content(chunks, exchange) == expected


def begun(exchange, chunks):
    kinds = {event.type.value for event in events_of(exchange, chunks)}
    return kinds == {"assistant.message_start", "assistant.message_delta"}


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(boto3):
    exchange, chunks = Bedrock(), []
    frames = event_stream(streamed(LONG))
    pieces = bytewise(b"".join(frames))
    reply = Reply(headers=EVENT_STREAM, pieces=pieces, break_after=len(b"".join(frames[:9])) + 5)
    with (
        Loopback(reply) as server,
        pytest.raises(Exception, match="ended prematurely"),
    ):
        collect(client_of(boto3, server), exchange, chunks)
    assert begun(exchange, chunks)


def test_a_sender_that_is_too_slow_gives_no_message(boto3):
    exchange, chunks = Bedrock(), []
    frames = event_stream(streamed(LONG))
    pieces = [b"".join(frames[:4]), b"".join(frames[4:])]
    reply = Reply(headers=EVENT_STREAM, pieces=pieces, delay=5)
    with Loopback(reply) as server, pytest.raises(Exception, match="timed out"):
        collect(client_of(boto3, server, read_timeout=0.2), exchange, chunks)
    assert not any(isinstance(i, AnswerEnd) for chunk in chunks for i in exchange.decode(chunk))


def test_an_error_in_the_stream_is_what_the_client_raises(boto3):
    exchange, chunks = Bedrock(), []
    error = {"message": "Slow down"}
    last = event_frame(
        error,
        exception_type="throttlingException",
        content_type="application/json",
        message_type="exception",
    )
    pieces = [*event_stream(streamed(LONG))[:6], last]
    with (
        Loopback(Reply(headers=EVENT_STREAM, pieces=pieces)) as server,
        pytest.raises(Exception, match="Slow down") as raised,
    ):
        collect(client_of(boto3, server), exchange, chunks)
    assert begun(exchange, chunks)
    kind = raised.value.response["Error"]["Code"]
    (item,) = exchange.decode({kind: error})
    assert item == AnswerFailure(message="Slow down", error_type="throttlingException")


def test_an_error_status_is_what_the_client_raises(boto3):
    exchange = Bedrock()
    headers = {"x-amzn-ErrorType": "ValidationException"}
    reply = Reply.json({"message": "Too long"}, status=400, headers=headers)
    with Loopback(reply) as server:
        client = client_of(boto3, server)
        with pytest.raises(client.exceptions.ValidationException, match="Too long"):
            client.converse(**ask(exchange))
        client.close()
