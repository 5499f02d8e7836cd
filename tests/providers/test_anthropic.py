import base64
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
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
from citestream.events import AnswerFailure, AnswerText, AnswerToolCall
from citestream.providers.anthropic import Anthropic
from citestream.sources import Granularity, from_blocks, from_pages, from_text
from providers.exchanges import answer, damaged, events_of, joined
from providers.loopback import CUTS, SSE, Loopback, Reply, bytewise, drawn, sse

NO_SDK = "the anthropic SDK is not installed (extra: anthropic)"
MEMO = "Rent rose 4 percent. 家賃は上がった。 📎 Wages fell."


def char(start, end):
    return CitationLocationChar(start_index=start, end_index=end)


def page(first, last):
    return CitationLocationPage(start_page=first, end_page=last)


def block(start, end):
    return CitationLocationBlock(start_block=start, end_block=end)


def in_document(kind, start, end, **fields):
    names = {"char": "char_index", "page": "page_number", "content_block": "block_index"}
    return {
        "type": f"{kind}_location",
        "cited_text": "Rent rose 4 percent. ",
        "document_index": 0,
        "document_title": "Memo",
        "file_id": None,
        f"start_{names[kind]}": start,
        f"end_{names[kind]}": end,
        **fields,
    }


def in_result(source, start, end, **fields):
    return {
        "type": "search_result_location",
        "cited_text": "Rent rose.",
        "search_result_index": 0,
        "source": source,
        "title": "Guide",
        "start_block_index": start,
        "end_block_index": end,
        **fields,
    }


def on_web(url, **fields):
    shown = {"cited_text": "Rents rose ...", "title": "City", "encrypted_index": "Eo8B", **fields}
    return {"type": "web_search_result_location", "url": url, **shown}


def said(text, *citations):
    return {"type": "text", "text": text, "citations": list(citations) or None}


# -- the same answer, whole and streamed


def whole(blocks, stop_reason="end_turn"):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 9},
    }


def streamed(blocks, stop_reason="end_turn", *, text_first=False):
    start = {**whole([]), "stop_reason": None}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, one in enumerate(blocks):
        yield from _streamed_block(index, one, text_first=text_first)
    usage = {"output_tokens": 9}
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": usage}
    yield {"type": "message_stop"}


def _streamed_block(index, one, *, text_first):
    bare = {**one}
    deltas = []
    if one["type"] == "text":
        citations = one.get("citations") or []
        bare = {"type": "text", "text": "", **({"citations": []} if citations else {})}
        words = one["text"]
        texts = [{"type": "text_delta", "text": words[n : n + 4]} for n in range(0, len(words), 4)]
        cited = [{"type": "citations_delta", "citation": citation} for citation in citations]
        deltas = [*texts, *cited] if text_first else [*cited, *texts]
    elif one["type"] == "thinking":
        bare = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": one["thinking"]},
            {"type": "signature_delta", "signature": one["signature"]},
        ]
    elif one["type"] == "tool_use":
        bare["input"] = {}
        deltas = [{"type": "input_json_delta", "partial_json": "{}"}]
    yield {"type": "content_block_start", "index": index, "content_block": bare}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def objects(value):
    """What an SDK might hand out: attributes instead of keys."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: objects(one) for name, one in value.items()})
    return [objects(one) for one in value] if isinstance(value, list) else value


# -- from chunks to citations


def answered(chunks, exchange=None, **options):
    return answer(exchange or Anthropic(), chunks, **options)


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


QUOTED = "Rent rose 4 percent. "
IN_MEMO = ("anthropic", "Memo", None, None)
ON_A = ("anthropic", "City", "https://a.example/r#x", None)
FIRST = {"documentIndex": 0}
TOKEN = {"encryptedIndex": "Eo8B"}
ODD = [True, "5", 2.5, None, -1, [], {}]

TABLE = {
    "ascii": (
        [said("Yes: "), said("rent rose 4%", in_document("char", 0, 21)), said(".")],
        [("rent rose 4%", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "emoji": (
        [said("📎 Memo: "), said("rent rose 🚀 4%", in_document("char", 0, 21)), said(" 📎")],
        [("rent rose 🚀 4%", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "cjk": (
        [said("覚書："), said("家賃は四％上がった。", in_document("page", 2, 4)), said("以上。")],
        [("家賃は四％上がった。", [(IN_MEMO, QUOTED, page(2, 3), FIRST)])],
    ),
    "one page": (
        [said("Rent rose.", in_document("page", 1, 2))],
        [("Rent rose.", [(IN_MEMO, QUOTED, page(1, 1), FIRST)])],
    ),
    "content blocks": (
        [said("- "), said("Rent rose.", in_document("content_block", 1, 3)), said("\n- ")],
        [("Rent rose.", [(IN_MEMO, QUOTED, block(1, 3), FIRST)])],
    ),
    "search result that is a page": (
        [said("Rent rose.", in_result("https://a.example/g", 0, 1))],
        [
            (
                "Rent rose.",
                [
                    (
                        ("anthropic", "Guide", "https://a.example/g", None),
                        "Rent rose.",
                        block(0, 1),
                        {"searchResultIndex": 0},
                    )
                ],
            )
        ],
    ),
    "search results that are a file and an id": (
        [
            said("A", in_result("docs/g.md", 0, 1)),
            said("B", in_result("kb:1", 0, 2, search_result_index=1, title=None)),
            said("C", in_result("../up.md", 0, 1, search_result_index=2)),
        ],
        [
            (
                "A",
                [
                    (
                        ("anthropic", "Guide", None, "docs/g.md"),
                        "Rent rose.",
                        block(0, 1),
                        {"searchResultIndex": 0},
                    )
                ],
            ),
            (
                "B",
                [
                    (
                        ("anthropic", None, None, None),
                        "Rent rose.",
                        block(0, 2),
                        {"searchResultIndex": 1},
                    )
                ],
            ),
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
    "web, the same page twice": (
        [
            said("Rents rose", on_web("https://a.example/r#x")),
            said(" and ", on_web("https://A.example/r", title=None, encrypted_index="Zz")),
        ],
        [
            ("Rents rose", [(ON_A, "Rents rose ...", None, TOKEN)]),
            (" and ", [(ON_A, "Rents rose ...", None, {"encryptedIndex": "Zz"})]),
        ],
    ),
    "overlapping and repeated": (
        [
            said("Rent.", in_document("char", 0, 21), in_document("char", 5, 30)),
            said("Pay.", *[in_document("char", 0, 21)] * 2, in_document("page", 1, 2)),
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
    "nothing but the kind": (
        [
            said("A", {"type": "char_location"}, {"type": "search_result_location"}),
            said("B", {"type": "web_search_result_location", "url": "", "cited_text": ""}),
        ],
        [
            (
                "A",
                [(("anthropic", None, None, None), None, None, {})] * 2,
            ),
            ("B", [(("anthropic", None, None, None), None, None, {})]),
        ],
    ),
    "a file of the vendor": (
        [
            said("A", in_document("char", 0, 4, file_id="file_1")),
            said("B", in_document("char", 0, 4, file_id="file_1", document_index=None)),
        ],
        [
            ("A", [(IN_MEMO, QUOTED, char(0, 4), {"documentIndex": 0, "fileId": "file_1"})]),
            ("B", [(IN_MEMO, QUOTED, char(0, 4), {"fileId": "file_1"})]),
        ],
    ),
    "unknown kinds": (
        [
            said("A", {"type": "sound_location", "cited_text": "x"}, {}, None, 7, "x"),
            said("B", in_document("char", 0, 21)),
            {"type": "sculpture", "text": "not for readers", "citations": [{}]},
        ],
        [("B", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "thinking and tools": (
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            said("A ", in_document("char", 0, 21)),
            {"type": "tool_use", "id": "t", "name": "look", "input": {}},
            {"type": "server_tool_use", "id": "u", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "u", "content": []},
            said("B"),
        ],
        [("A ", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "an empty block": (
        [said("A "), said("", in_document("char", 0, 21)), said("B")],
        [("", [(IN_MEMO, QUOTED, char(0, 21), FIRST)])],
    ),
    "impossible numbers": (
        [
            said("A", *[in_document("char", 9, end) for end in (3, 9, *ODD)]),
            said("B", *[in_document("page", start, 2) for start in (0, 2, 3, *ODD)]),
            said("C", *[in_document("content_block", start, 1) for start in (1, 2, *ODD)]),
        ],
        [(words, [(IN_MEMO, QUOTED, None, FIRST)]) for words in "ABC"],
    ),
}


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("shape", [list, objects])
def test_answers(name, shape):
    blocks, expected = TABLE[name]
    given = answered(shape([whole(blocks)]))
    assert given.content == "".join(one["text"] for one in blocks if one["type"] == "text")
    assert given.model == "claude-x"
    assert references(given) == expected
    for text_first in (False, True):
        again = answered(shape(list(streamed(blocks, text_first=text_first))))
        assert (again.content, again.citations) == (given.content, given.citations)


def test_the_place_of_an_empty_block_is_where_it_stands():
    given = answered([whole(TABLE["an empty block"][0])])
    assert [(s.start_index, s.end_index) for s in given.citations.spans] == [(2, 2)]


def test_source_ids_are_given_once():
    given = answered([whole(TABLE["overlapping and repeated"][0])])
    assert [source.id for source in given.citations.sources] == ["s0"]


def test_text_and_citations_may_come_with_the_start_of_a_block():
    first, *rest = streamed([said("", in_document("char", 0, 21))])
    rest[1]["content_block"] = said("Rent ", in_document("char", 0, 5))
    late = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "rose."}}
    given = answered([first, *rest[:2], late, *rest[2:]])
    assert given.content == "Rent rose."
    places = [ref.location for ref in given.citations.spans[0].references]
    assert places == [char(0, 5), char(0, 21)]


def test_a_delta_without_its_number_belongs_to_the_block_before():
    exchange = Anthropic()
    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "A"}}
    assert exchange.decode({**delta, "index": 3}) == exchange.decode(delta)
    assert exchange.decode({**delta, "index": None}) == [AnswerText(text="A", part=3)]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_paused_turn_goes_on_in_the_next_response(streaming):
    def response(*args):
        return list(streamed(*args)) if streaming else [whole(*args)]

    first = response([said("Rent rose, ", in_document("char", 0, 21))], "pause_turn")
    second = response([said("and 🚀 "), said("wages fell.", in_document("char", 21, 30))])
    given = answered([*first, *second])
    assert given.content == "Rent rose, and 🚀 wages fell."
    assert [words for words, _ in references(given)] == ["Rent rose, ", "wages fell."]


def calls_in(chunks, exchange=None):
    exchange = exchange or Anthropic()
    items = [item for chunk in chunks for item in exchange.decode(chunk)]
    return [item for item in items if isinstance(item, AnswerToolCall)]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_before_a_pause_comes_with_the_end(streaming):
    def response(*args):
        return list(streamed(*args)) if streaming else [whole(*args)]

    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    exchange = Anthropic()
    assert calls_in(response([call], "pause_turn"), exchange) == []
    more = response([said("So."), {**call, "id": "u"}], "tool_use")
    assert [one.call_id for one in calls_in(more, exchange)] == ["t", "u"]


def thought(words, signature="s"):
    return {"type": "thinking", "thinking": words, "signature": signature}


HIDDEN = {"type": "redacted_thinking", "data": "x"}


@pytest.mark.parametrize("streaming", [False, True])
def test_thinking_goes_with_the_call_that_follows_it(streaming):
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    blocks = [
        thought("What of 家賃 📈?"),
        HIDDEN,
        thought("unsigned", ""),
        said("Hm."),
        call,
        call,
        thought("And?"),
        call,
        thought("Too late."),
    ]
    chunks = list(streamed(blocks)) if streaming else [whole(blocks)]
    exchange = Anthropic()
    for _ in range(2):
        assert [one.provider_data for one in calls_in(chunks, exchange)] == [
            {"thinking": [thought("What of 家賃 📈?"), HIDDEN]},
            None,
            {"thinking": [thought("And?")]},
        ]


def test_a_null_reason_does_not_take_back_a_pause():
    chunks = list(streamed([said("A")], "pause_turn"))
    chunks.insert(-1, {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {}})
    exchange = Anthropic()
    items = [item for chunk in chunks for item in exchange.decode(chunk)]
    assert [type(item) for item in items] == [AnswerText, AnswerText]


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"type": "overloaded_error", "message": "Busy"}, ("Busy", "overloaded_error")),
        ({"type": "overloaded_error"}, ("overloaded_error", "overloaded_error")),
        (None, ("the vendor reported an error", "provider")),
    ],
)
def test_an_error_in_the_stream_is_a_failure(error, failure):
    (item,) = Anthropic().decode({"type": "error", "error": error})
    assert item == AnswerFailure(message=failure[0], error_type=failure[1])


@pytest.mark.parametrize("chunk", [None, 7, "text", [], {}, {"type": "text"}, {"type": []}, b"x"])
def test_what_is_unknown_says_nothing(chunk):
    assert Anthropic().decode(chunk) == []


# -- whatever comes, the text stays

EVERYTHING = [
    said("αlpha ", in_document("char", 0, 21), in_document("page", 1, 2)),
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    said("beta ", in_result("docs/g.md", 0, 1), on_web("https://a.example/r")),
    said("gamma", in_document("content_block", 0, 1)),
]


STREAM = list(streamed(EVERYTHING))
TEXTS = [
    (number, chunk["delta"]["text"])
    for number, chunk in enumerate(STREAM)
    if chunk.get("delta", {}).get("type") == "text_delta"
]


@given(st.data())
def test_any_value_in_any_place_of_a_stream(data):
    chunks = data.draw(damaged(STREAM))
    text = joined(Anthropic(), chunks)
    for number, piece in TEXTS:
        assert piece in text or chunks[number] != STREAM[number]
    events_of(Anthropic(), chunks)


@given(damaged(EVERYTHING))
def test_any_value_in_any_place_of_a_message(blocks):
    text = answered([whole(blocks)]).content
    for block, whole_block in zip(blocks, EVERYTHING, strict=True):
        if "text" in whole_block and block == whole_block:
            assert block["text"] in text


@given(damaged([whole(EVERYTHING)]))
def test_any_value_around_a_message(chunks):
    events_of(Anthropic(), chunks)


# -- what is sent


def material(document, *, granularity=Granularity.DOCUMENT, registry=None, **fields):
    registry = SourceRegistry() if registry is None else registry
    return Material(source=registry.add(document, granularity=granularity), **fields)


def asked(*materials, text="What of the rent?"):
    return Conversation(turns=(UserTurn(text=text, materials=materials),))


def sent(conversation, exchange=None, **options):
    return (exchange or Anthropic()).request(conversation, model="claude-x", **options)


def one_block(*materials):
    (turn,) = sent(asked(*materials))["messages"]
    return turn["content"][0]


def test_the_arguments_of_a_request():
    conversation = Conversation(
        system="Be brief.",
        turns=(
            UserTurn(text="Hello"),
            AssistantTurn(text="Yes?"),
            ToolTurn(call_id="t1", name="look", arguments={"q": "rent"}, text="It rose."),
            UserTurn(text="And?"),
            AssistantTurn(text=" "),
        ),
    )
    assert sent(conversation, max_tokens=9) == {
        "model": "claude-x",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Yes?"},
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "rent"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "It rose."}],
                    },
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }


def test_tools_and_what_the_caller_adds_are_sent():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    look = ToolDefinition(name="look", description="Looks.", parameters=schema)
    search = {"type": "web_search_20260318", "name": "web_search"}
    conversation = Conversation(turns=(), tools=(look, ToolDefinition(name="ping")))
    assert sent(conversation, stream=True, temperature=0.5, tools=[search]) == {
        "model": "claude-x",
        "max_tokens": 4096,
        "messages": [],
        "stream": True,
        "temperature": 0.5,
        "tools": [
            {"name": "look", "description": "Looks.", "input_schema": schema},
            {"name": "ping", "input_schema": {"type": "object", "properties": {}}},
            search,
        ],
    }


def test_a_tool_that_returned_nothing_has_no_content():
    call = ToolTurn(call_id="t1", name="look")
    *_, result = sent(Conversation(turns=(call,)))["messages"]
    assert result["content"] == [{"type": "tool_result", "tool_use_id": "t1"}]
    assert "system" not in sent(Conversation(turns=(call,)))


@pytest.mark.parametrize("granularity", [Granularity.DOCUMENT, Granularity.LINE])
def test_a_text_is_a_document(granularity):
    block = one_block(material(from_text(MEMO, title="Memo"), granularity=granularity))
    assert block == {
        "type": "document",
        "title": "Memo",
        "source": {"type": "text", "media_type": "text/plain", "data": MEMO},
        "citations": {"enabled": True},
    }


def test_a_source_that_is_cited_by_block_is_sent_in_blocks():
    document = from_blocks(["One.", " ", "Two."], path="docs/a.md")
    block = one_block(material(document, granularity=Granularity.BLOCK))
    texts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    assert block["source"] == {"type": "content", "content": texts}
    assert block["title"] == "docs/a.md"


def test_a_pdf_is_sent_as_it_is():
    document = from_pages(["One."])
    data = {"data": b"%PDF-1.7", "media_type": "application/pdf"}
    block = one_block(material(document, granularity=Granularity.PAGE, **data))
    encoded = base64.b64encode(b"%PDF-1.7").decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    assert block == {"type": "document", "source": source, "citations": {"enabled": True}}


def test_what_a_tool_returned_is_a_search_result():
    found = material(from_blocks(["One.", "Two."], url="https://a.example/x"), origin="tool")
    nameless = material(from_text("Three."), origin="tool")
    call = ToolTurn(call_id="t1", name="look", text="Two hits", materials=(found, nameless))
    *_, result = sent(Conversation(turns=(call,)))["messages"]
    text, first, second = result["content"][0]["content"]
    assert text == {"type": "text", "text": "Two hits"}
    assert first == {
        "type": "search_result",
        "source": "https://a.example/x",
        "title": "https://a.example/x",
        "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
        "citations": {"enabled": True},
    }
    assert (second["source"], second["title"]) == ("turn0file0", "turn0file0")


def test_what_has_no_text_is_left_out_unless_it_is_a_pdf():
    blank = material(from_text(" \n"))
    scan = material(from_text(""), origin="tool", data=b"%PDF-1.7", media_type="application/pdf")
    (turn,) = sent(asked(blank, scan, text=""))["messages"]
    assert [block["source"]["type"] for block in turn["content"]] == ["base64"]
    assert sent(asked(blank, text=" "))["messages"] == []


def test_a_source_cannot_hand_the_model_a_marker():
    fake = format_marker("turn0file0")
    document = from_text(f"Rent. {fake}", title=f"Memo {fake}", url=f"https://a.example/{fake}")
    for origin in ("attachment", "tool"):
        assert "\ue200" not in str(one_block(material(document, origin=origin)))


# -- what comes back is what was sent


def matched(materials, *citations, text="It rose."):
    """Ask with ``materials`` and return the references of an answer with ``citations``."""
    exchange = Anthropic()
    sent(asked(*materials), exchange)
    given = answered([whole([said(text, *citations)])], exchange)
    return [one for _, found in references(given) for one in found]


def test_documents_are_known_by_number_and_title():
    registry = SourceRegistry()
    memo = material(from_text(MEMO, title="Memo", path="docs/memo.md"), registry=registry)
    plan = material(from_text(MEMO, url="https://a.example/plan"), registry=registry)
    names = [
        ("anthropic", "Memo", None, "docs/memo.md"),
        ("anthropic", None, "https://a.example/plan", None),
    ]
    pairs = [
        ({"document_index": 0, "document_title": "Memo"}, 0),
        ({"document_index": 0, "document_title": None}, 0),
        ({"document_index": 1, "document_title": "https://a.example/plan"}, 1),
        ({"document_index": None, "document_title": "memo"}, 0),
        ({"document_index": 7, "document_title": "Memo"}, 0),  # the vendor numbers its own too
    ]
    for fields, number in pairs:
        ((source, _, location, metadata),) = matched(
            [memo, plan], in_document("char", 0, 21, **fields)
        )
        assert source == names[number]
        assert location == char(0, 21)
        assert metadata["citableSourceId"] == f"turn0file{number}"


@pytest.mark.parametrize(
    "fields",
    [
        {"document_index": 1, "document_title": "Other"},
        {"document_index": 2, "document_title": None},
        {"document_index": 5, "document_title": "Twin"},
    ],
)
def test_a_document_that_does_not_fit_is_a_stranger(fields):
    twins = [material(from_text(MEMO, title="Twin", path="a.md")) for _ in range(2)]
    ((source, *_, metadata),) = matched(twins, in_document("char", 0, 21, **fields))
    assert source == ("anthropic", fields["document_title"], None, None)
    assert metadata == {"documentIndex": fields["document_index"]}


def test_search_results_of_tools_are_cited_as_the_client_s():
    registry = SourceRegistry()
    document = from_blocks(["One.", " ", "Two."], title="Guide", path="docs/g.md")
    one = material(document, registry=registry, origin="tool")
    two = material(from_text("Three."), registry=registry, origin="tool")
    results = [
        in_result("docs/g.md", 1, 2, cited_text="Two."),
        in_result("turn0file1", 0, 1, search_result_index=1, title="turn0file1"),
    ]
    first, second = matched([one, two], *results)
    meta = {"searchResultIndex": 0, "citableSourceId": "turn0file0"}
    assert first == (("client", "Guide", None, "docs/g.md"), "Two.", block(2, 3), meta)
    assert second[0] == ("client", None, None, None)


def test_documents_and_search_results_are_numbered_apart():
    registry = SourceRegistry()
    paths = ["a.md", "b.md", "c.md", "d.md"]
    origins = ["attachment", "tool", "tool", "attachment"]
    materials = [
        material(from_text(MEMO, path=path), registry=registry, origin=origin)
        for path, origin in zip(paths, origins, strict=True)
    ]
    found = matched(
        materials,
        in_document("char", 0, 21, document_index=1, document_title=None),
        in_result("c.md", 0, 1, search_result_index=1),
    )
    assert [source[3] for source, *_ in found] == ["d.md", "c.md"]


def test_numbers_count_over_all_turns_and_start_anew_with_each_request():
    registry = SourceRegistry()
    first, second = (
        material(from_text(MEMO, path=path), registry=registry) for path in ("a.md", "b.md")
    )
    exchange = Anthropic()
    turns = (
        UserTurn(text="?", materials=(first,)),
        ToolTurn(call_id="t", name="look", materials=(second,)),
    )
    for _ in range(2):
        sent(Conversation(turns=turns), exchange)
    citation = in_document("char", 0, 21, document_index=1, document_title=None)
    ((_, [(source, *_)]),) = references(answered([whole([said("A", citation)])], exchange))
    assert source[3] == "b.md"


def test_markers_and_citations_of_one_source_are_merged():
    registry = SourceRegistry()
    found = material(from_text(MEMO), registry=registry, origin="tool")
    exchange = Anthropic()
    sent(asked(found), exchange)
    text = f"Rent rose. {format_marker('turn0file0')}"
    blocks = [said(text, in_result("turn0file0", 0, 1))]
    given = answered([whole(blocks)], exchange, registry=registry)
    assert len(given.citations.sources) == 1
    assert [len(span.references) for span in given.citations.spans] == [2]


# -- the real client, over HTTP

LONG = [
    said("📎 覚書: "),
    said("rent rose 4%", in_document("char", 0, 21)),
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    said(" and 家賃も上がった。", in_result("docs/g.md", 0, 1), on_web("https://a.example/r")),
]


def framed(blocks=LONG, **fields):
    return b"".join(sse(one, event=one["type"]) for one in streamed(blocks, **fields))


@pytest.fixture(scope="module")
def sdk():
    return pytest.importorskip("anthropic", reason=NO_SDK)


def client_of(sdk, server, **options):
    return sdk.Anthropic(base_url=server.url, api_key="none", max_retries=0, **options)


def ask(exchange):
    memo = material(from_text(MEMO, title="Memo", path="docs/memo.md"))
    return sent(asked(memo), exchange)


@pytest.fixture(scope="module")
def expected():
    exchange = Anthropic()
    ask(exchange)
    given = answered([whole(LONG)], exchange)
    assert [words for words, _ in references(given)] == ["rent rose 4%", " and 家賃も上がった。"]
    assert given.citations.sources[0].path == "docs/memo.md"
    return given.content, given.citations


def content(chunks, exchange):
    given = answered(chunks, exchange)
    return given.content, given.citations


def collect(stream, chunks):
    for chunk in stream:
        chunks.append(chunk)


@pytest.mark.parametrize("cut", CUTS)
def test_the_client_streams(sdk, expected, cut):
    exchange = Anthropic()
    with (
        Loopback(Reply(headers=SSE, pieces=CUTS[cut](framed()))) as server,
        client_of(sdk, server) as client,
        client.messages.create(**ask(exchange), stream=True) as stream,
    ):
        assert content(stream, exchange) == expected
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.body["messages"][0]["content"][0]["citations"] == {"enabled": True}


def test_the_helper_of_the_client_repeats_nothing(sdk, expected):
    exchange = Anthropic()
    with (
        Loopback(Reply(headers=SSE, pieces=[framed()])) as server,
        client_of(sdk, server) as client,
        client.messages.stream(**ask(exchange)) as stream,
    ):
        events = list(stream)
        final = stream.get_final_message()
    assert {"text", "citation"} <= {event.type for event in events}
    assert content(events, exchange) == expected
    assert content([final], exchange) == expected


def test_the_client_gets_it_whole(sdk, expected):
    exchange = Anthropic()
    with Loopback(Reply.json(whole(LONG))) as server, client_of(sdk, server) as client:
        assert content([client.messages.create(**ask(exchange))], exchange) == expected


@pytest.mark.anyio
@pytest.mark.usefixtures("anyio_backend")
async def test_the_async_client_streams_from_a_slow_sender(sdk, expected):
    exchange = Anthropic()
    pieces = drawn(framed(), count=12)
    with Loopback(Reply(headers=SSE, pieces=pieces, delay=0.005)) as server:
        async with (
            sdk.AsyncAnthropic(base_url=server.url, api_key="none", max_retries=0) as client,
            await client.messages.create(**ask(exchange), stream=True) as stream,
        ):
            chunks = [chunk async for chunk in stream]
    assert content(chunks, exchange) == expected


def test_a_stream_that_breaks_off_gives_its_text_and_no_message(sdk):
    exchange, chunks = Anthropic(), []
    cut = framed().index(b"content_block_stop")
    with (
        Loopback(Reply(headers=SSE, pieces=bytewise(framed()), break_after=cut)) as server,
        client_of(sdk, server) as client,
        client.messages.create(**ask(exchange), stream=True) as stream,
        pytest.raises(Exception, match=r"closed|incomplete|peer"),
    ):
        collect(stream, chunks)
    kinds = {event.type.value for event in events_of(exchange, chunks)}
    assert kinds == {"assistant.message_start", "assistant.message_delta"}


def test_a_sender_that_is_too_slow_gives_no_message(sdk):
    exchange, chunks = Anthropic(), []
    pieces = [framed()[:900], framed()[900:]]
    with (
        Loopback(Reply(headers=SSE, pieces=pieces, delay=5)) as server,
        client_of(sdk, server, timeout=0.1) as client,
        client.messages.create(**ask(exchange), stream=True) as stream,
        pytest.raises(Exception, match="timed out"),
    ):
        collect(stream, chunks)
    assert events_of(exchange, chunks) == []


def test_an_error_in_the_stream_is_what_the_client_raises(sdk):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    first = framed().split(b"event: content_block_stop", 1)[0]
    exchange, chunks = Anthropic(), []
    with (
        Loopback(Reply(headers=SSE, pieces=[first, sse(error, event="error")])) as server,
        client_of(sdk, server) as client,
        client.messages.create(**ask(exchange), stream=True) as stream,
        pytest.raises(sdk.APIStatusError) as raised,
    ):
        collect(stream, chunks)
    *_, last = events_of(exchange, [*chunks, raised.value.body])
    assert (last.data.message, last.data.error_type) == ("Busy", "overloaded_error")


def test_an_error_status_is_what_the_client_raises(sdk):
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}}
    exchange = Anthropic()
    with (
        Loopback(Reply.json(error, status=429)) as server,
        client_of(sdk, server) as client,
        pytest.raises(sdk.RateLimitError) as raised,
    ):
        client.messages.create(**ask(exchange))
    (item,) = exchange.decode(raised.value.body)
    assert item == AnswerFailure(message="Slow down", error_type="rate_limit_error")


def test_requests_are_what_the_sdk_declares(sdk):
    pydantic = pytest.importorskip("pydantic", reason="the anthropic SDK brings pydantic")
    registry = SourceRegistry()
    pages = from_pages(["One.", "Two."], title="Plan")
    materials = [
        material(from_text(MEMO, title="Memo"), registry=registry),
        material(pages, granularity=Granularity.PAGE, registry=registry),
        material(
            pages,
            granularity=Granularity.PAGE,
            registry=registry,
            data=b"%PDF",
            media_type="application/pdf",
        ),
        material(from_text(MEMO), registry=registry, origin="tool"),
    ]
    turns = (
        UserTurn(text="?", materials=tuple(materials)),
        ToolTurn(call_id="t", name="look", materials=tuple(materials)),
        AssistantTurn(text="Yes."),
    )
    request = sent(Conversation(turns=turns, system="Be brief."))
    adapter = pydantic.TypeAdapter(sdk.types.MessageParam)
    for one in request["messages"]:
        adapter.validate_python(one, strict=False)
