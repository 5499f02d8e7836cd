from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import EncodeError, SourceRegistry
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerText, AnswerToolCall
from citestream.providers.tool_calls import ToolCalls, decoded, function_call, read_arguments
from citestream.sources import from_text
from feeding import same_however_cut
from providers.calling import WIRES, Call, streamed
from providers.exchanges import answer, damaged, events_of
from providers.loopback import (
    CUTS,
    EVENT_STREAM,
    SSE,
    Loopback,
    Reply,
    event_stream,
    sse,
)

every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
in_pieces = pytest.mark.parametrize(
    "wire",
    [wire for wire in WIRES.values() if wire.piece is not None],
    ids=[name for name, wire in WIRES.items() if wire.piece is not None],
)

LOOK = Call("call_a1", "look", '{"q": "家賃 📈 \\"4%\\"", "deep": [{"n": 1.5}, null]}')
FIND = Call("call_b2", "find", '{"where": {"city": "Wien"}}')
PING = Call("call_c3", "ping", "{}")


def called(call, arguments=None):
    given = call.object if arguments is None else arguments
    return AnswerToolCall(call_id=call.id, name=call.name, arguments=given)


def items_of(wire, chunks, exchange=None):
    exchange = exchange or wire.make()
    return [item for chunk in chunks for item in exchange.decode(chunk)]


def spoken(items):
    return "".join(item.text for item in items if isinstance(item, AnswerText))


def calls_in(items):
    return [item for item in items if isinstance(item, AnswerToolCall)]


# -- what every vendor says


@in_pieces
def test_a_call_is_the_same_however_its_arguments_are_cut(wire):
    class Feed:
        def __init__(self):
            self.exchange = wire.make()
            self.first = True

        def feed(self, piece):
            before = [*wire.open, *wire.begin(1, LOOK)] if self.first else []
            self.first = False
            return items_of(wire, [*before, wire.piece(1, LOOK, piece)], self.exchange)

        def finish(self):
            end = [*wire.end(1, LOOK), *wire.close(wire.done, [LOOK])]
            return items_of(wire, end, self.exchange)

    assert same_however_cut(LOOK.text, Feed, view=list) == [
        called(LOOK),
        AnswerEnd(model=wire.model),
    ]


@every_wire
@pytest.mark.parametrize("text", ["", "I shall look. 📈"])
@pytest.mark.parametrize("calls", [[LOOK], [PING], [LOOK, FIND, PING]])
def test_calls_come_in_order_right_before_the_one_end(wire, text, calls):
    wanted = [*map(called, calls), AnswerEnd(model=wire.model)]
    for chunks in (streamed(wire, calls, text=text, foreign=True), [wire.whole(text, calls)]):
        items = items_of(wire, chunks)
        end = [
            AnswerEnd(model=item.model or wire.model) for item in items if type(item) is AnswerEnd
        ]
        assert spoken(items) == text
        assert items[-1 - len(calls) : -1] == wanted[:-1]
        assert (len(end), type(items[-1])) == (1, AnswerEnd)
        assert calls_in(items) == wanted[:-1]


@every_wire
def test_what_the_vendor_runs_itself_is_no_call(wire):
    for chunks in (streamed(wire, [], text="Hi.", foreign=True), [wire.whole("Hi.", [])]):
        items = items_of(wire, chunks)
        assert (calls_in(items), spoken(items)) == ([], "Hi.")


@every_wire
def test_a_stream_that_breaks_off_gives_no_call(wire):
    chunks = streamed(wire, [LOOK, FIND], text="Hm.")
    last = len(chunks) - len(wire.close(wire.done, [LOOK, FIND]))
    for length in range(last + 1):
        items = items_of(wire, chunks[:length])
        assert not [item for item in items if not isinstance(item, AnswerText)]


@every_wire
def test_what_a_broken_stream_left_is_gone_with_the_next_request(wire):
    exchange = wire.make()
    chunks = streamed(wire, [LOOK, FIND], text="Hm.")
    items_of(wire, chunks[: len(chunks) - len(wire.close(wire.done, [LOOK, FIND]))], exchange)
    exchange.request(Conversation(turns=(UserTurn(text="?"),)), model="m")
    assert calls_in(items_of(wire, streamed(wire, [PING]), exchange)) == [called(PING)]


@every_wire
def test_an_exchange_goes_on_with_the_next_answer(wire):
    exchange = wire.make()
    for calls in ([LOOK, FIND], [LOOK], [], [PING]):
        exchange.request(Conversation(turns=(UserTurn(text="?"),)), model="m")
        items = items_of(wire, streamed(wire, calls), exchange)
        assert calls_in(items) == [called(one) for one in calls]


NOT_OBJECTS = ['{"q": "re', "[1]", '"q"', "null", "4", '{"q": 1}}', "{'q': 1}", '{"a": NaN}', "no"]


@in_pieces
@pytest.mark.parametrize("text", NOT_OBJECTS)
def test_arguments_that_are_no_object_stay_text(wire, text):
    calls = [Call("c1", "look", text), PING]
    items = items_of(wire, streamed(wire, calls))
    assert calls_in(items) == [called(calls[0], text), called(PING)]


@in_pieces
@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_no_arguments_are_an_object_without_members(wire, text):
    call = Call("c1", "look", text)
    assert calls_in(items_of(wire, streamed(wire, [call]))) == [called(call, {})]


@pytest.mark.parametrize("last", ['{"q": "re', "", "{}"])
@pytest.mark.parametrize(
    "wire", [wire for wire in WIRES.values() if wire.cut], ids=[n for n in WIRES if WIRES[n].cut]
)
def test_a_call_that_a_limit_cut_is_none(wire, last):
    cut_off = streamed(wire, [LOOK, Call("c9", "find", last)], reason=wire.cut)
    assert calls_in(items_of(wire, cut_off)) == [called(LOOK)]
    complete = streamed(wire, [LOOK, FIND], reason=wire.cut)
    assert calls_in(items_of(wire, complete)) == [called(LOOK), called(FIND)]


@every_wire
def test_a_message_requests_tools_as_copilot_s_do(wire):
    for chunks in (streamed(wire, [LOOK, PING], text="Hm."), [wire.whole("Hm.", [LOOK, PING])]):
        message = answer(wire.make(), chunks)
        assert message.content == "Hm."
        assert list(message.tool_requests) == [
            {
                "toolCallId": one.id,
                "name": one.name,
                "arguments": one.object,
                "type": "function",
            }
            for one in (LOOK, PING)
        ]
    assert answer(wire.make(), streamed(wire, [], text="Hm.")).tool_requests is None


def objects(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{name: objects(one) for name, one in value.items()})
    return [objects(one) for one in value] if isinstance(value, list) else value


@in_pieces
def test_objects_read_as_mappings_do(wire):
    chunks = map(objects, streamed(wire, [LOOK, FIND], text="Hm."))
    assert calls_in(items_of(wire, chunks)) == [called(LOOK), called(FIND)]


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
@given(st.data())
def test_no_damage_raises(wire, data):
    events_of(wire.make(), data.draw(damaged(streamed(wire, [LOOK, FIND], text="Hm.", size=9))))
    events_of(wire.make(), data.draw(damaged([wire.whole("Hm.", [LOOK, FIND])])))


# -- what goes back


TOOLS = (
    ToolDefinition(
        name="look",
        description="Looks for rents.",
        parameters={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    ),
    ToolDefinition(name="find"),
)


def talk():
    """Return a conversation with two calls at once, another round, and sources everywhere."""
    registry = SourceRegistry()

    def material(text, origin):
        return Material(source=registry.add(from_text(text)), origin=origin)

    return Conversation(
        system="Be brief.",
        tools=TOOLS,
        turns=(
            UserTurn(text="Why?", materials=(material("A memo.", "attachment"),)),
            AssistantTurn(text="I shall look."),
            ToolTurn(
                call_id="call_a1",
                name="look",
                arguments={"q": "rents"},
                text="One hit.",
                materials=(material("Rents rose.", "tool"),),
                round=1,
            ),
            ToolTurn(call_id="call_b2", name="find", text="Nothing.", round=1),
            ToolTurn(call_id="call_c3", name="gone", arguments='{"q', text="Bad.", round=2),
        ),
    )


def leaves(tree):
    """Give everything in a tree that has nothing below it."""
    members = tree.values() if isinstance(tree, dict) else tree
    if isinstance(tree, dict | list | tuple):
        for one in members:
            yield from leaves(one)
    else:
        yield tree


@every_wire
def test_a_request_tells_tools_calls_and_results(wire):
    asked = wire.make().request(talk(), model="m")
    said = [one for one in leaves(asked) if isinstance(one, str)]
    for name in ("look", "find", "Looks for rents."):
        assert name in said
    order = [said.index(one) for one in ("call_a1", "call_b2", "call_c3")]
    assert order == sorted(order)
    for call_id in ("call_a1", "call_b2", "call_c3"):
        assert said.count(call_id) == 2
    # The calls of one message come before any of its results.
    first, second = [n for n, one in enumerate(said) if one == "call_a1"]
    assert first < said.index("call_b2") < second < said.index("call_c3")
    assert any("INVALID_JSON" in str(one) for one in (said, asked))


@every_wire
def test_what_came_with_a_call_of_another_vendor_is_not_sent(wire):
    foreign = {"someone": ["SECRET"]}
    turn = ToolTurn(call_id="c", name="look", provider_data=foreign)
    asked = wire.make().request(Conversation(turns=(UserTurn(text="?"), turn)), model="m")
    assert "SECRET" not in str(asked)


@every_wire
@pytest.mark.parametrize("junk", [None, 5, "x", ["x"], {"x": 1}], ids=repr)
def test_what_comes_back_with_a_call_need_not_be_right(wire, junk):
    names = ("thinking", "reasoning", "thoughtSignature", "extra_content")
    turn = ToolTurn(call_id="c", name="look", provider_data=dict.fromkeys(names, junk))
    assert wire.make().request(Conversation(turns=(UserTurn(text="?"), turn)), model="m")


def test_arguments_that_json_cannot_say_are_the_caller_s():
    with pytest.raises(EncodeError):
        function_call(ToolTurn(call_id="c", name="f", arguments={"x": {1}}))


# -- reading arguments


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("-_8=", b"\xfb\xff"),
        ("+/8=", b"\xfb\xff"),
        ("AA==", b"\0"),
        ("AA", None),
        ("A A=", None),
        ("家賃", None),
        ("", None),
        (None, None),
    ],
    ids=repr,
)
def test_bytes_come_back_from_text(text, data):
    assert decoded(text) == data


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ({}, {}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ('{"a": 1}', {"a": 1}),
        (' {"a": "\\ud83d"} ', {"a": "\ud83d"}),
        ("{", "{"),
        ({"a": {1}}, "an object with 1 keys"),
        ([1], "an array of 1"),
        (5, "5"),
    ],
)
def test_arguments_are_an_object_or_text(given, expected):
    assert read_arguments(given) == expected


def test_arguments_that_nest_too_deeply_stay_text():
    text = '{"a":' * 600 + "1" + "}" * 600
    assert read_arguments(text) == text


def test_an_object_of_the_vendor_s_is_not_shared():
    mine = {"a": [1]}
    read = read_arguments(mine)
    assert read == mine
    assert read["a"] is not mine["a"]


# -- pieces in the form of Chat Completions


def piece(arguments=None, *, name=None, **about):
    return {**about, "function": {"name": name, "arguments": arguments}}


GATHERED = {
    "by index": (
        [piece("", index=0, id="a", name="f"), piece("{}", index=0)],
        [("a", "f", {})],
    ),
    "in turns": (
        [
            piece('{"n"', index=0, id="a", name="f"),
            piece('{"m"', index=1, id="b", name="g"),
            piece(":1}", index=0),
            piece(":2}", index=1),
        ],
        [("a", "f", {"n": 1}), ("b", "g", {"m": 2})],
    ),
    "all of the same index": (
        [piece("{}", index=0, id="a", name="f"), piece("{}", index=0, id="b", name="g")],
        [("a", "f", {}), ("b", "g", {})],
    ),
    "ids and names repeated": (
        [piece('{"n"', index=0, id="a", name="f"), piece(":1}", index=0, id="a", name="f")],
        [("a", "f", {"n": 1})],
    ),
    "without index": (
        [piece('{"n"', id="a", name="f"), piece(":1}"), piece("{}", id="b", name="g")],
        [("a", "f", {"n": 1}), ("b", "g", {})],
    ),
    "without index after the first": (
        [piece('{"n"', index=3, id="a", name="f"), piece(":1}")],
        [("a", "f", {"n": 1})],
    ),
    "the id comes late": (
        [piece('{"n"', index=0, name="f"), piece(":1}", index=0, id="a")],
        [("a", "f", {"n": 1})],
    ),
    "the name comes late": (
        [piece(None, index=0, id="a"), piece("{}", index=0, name="f")],
        [("a", "f", {})],
    ),
    "whole objects": (
        [piece({"n": 1}, index=0, id="a", name="f")],
        [("a", "f", {"n": 1})],
    ),
    "no function": ([{"index": 0, "id": "a", "custom": {"name": "x"}}, None, 5], []),
}


@pytest.mark.parametrize("name", GATHERED)
def test_pieces_are_put_together(name):
    pieces, expected = GATHERED[name]
    calls = ToolCalls()
    for one in pieces:
        calls.gather([one])
    assert calls
    assert [(c.call_id, c.name, c.arguments) for c in calls.take()] == expected
    assert not calls
    assert calls.take() == []


def test_calls_without_an_id_get_one_each():
    calls = ToolCalls()
    calls.gather([piece("{}", id="null", name="f"), piece("{}", name="f")])
    calls.note([piece({}, name="f"), piece({}, id="null", name="f")])
    ids = [call.call_id for call in calls.take()]
    assert len(set(ids)) == 4
    assert all(one.startswith("call_") and len(one) <= 64 for one in ids)


def test_a_piece_of_a_call_that_never_began_is_nothing():
    calls = ToolCalls()
    calls.add(3, "{}")
    assert (bool(calls), 3 in calls, calls.take()) == (False, False, [])


def test_calls_are_forgotten():
    calls = ToolCalls()
    calls.gather([piece("{", index=0, id="a", name="f")])
    calls.clear()
    calls.gather([piece("}", index=0)])
    assert calls.take() == []


def test_what_gemini_adds_to_a_chat_s_call_goes_along():
    calls = ToolCalls()
    extra = {"google": {"thought_signature": "eA=="}}
    calls.gather([piece("{}", index=0, id="a", name="f", extra_content=extra)])
    calls.note([piece("{}", id="b", name="f", extra_content="no object")])
    first, second = calls.take()
    assert (first.provider_data, second.provider_data) == ({"extra_content": extra}, None)


# -- the vendors' clients


@pytest.fixture
def clients(monkeypatch, tmp_path):
    """Return what gives the method of a vendor's client that asks a server."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    closing = []

    def keep(client, close="close"):
        closing.append(getattr(client, close))
        return client

    def make(name, server, *, stream):
        return CLIENTS[name](server.url, keep, stream)

    yield make
    for close in closing:
        close()


def sdk_of(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def anthropic_client(url, keep, _stream):
    sdk = sdk_of("anthropic")
    client = keep(sdk.Anthropic(base_url=url, api_key="none", max_retries=0))
    return client.messages.create


def bedrock_client(url, keep, stream):
    sdk = sdk_of("boto3")
    client = keep(
        sdk.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=url,
            aws_access_key_id="none",
            aws_secret_access_key="none",  # noqa: S106 - signs for nobody
        )
    )
    if not stream:
        return client.converse
    return lambda **asked: keep(client.converse_stream(**asked)["stream"])


def cohere_client(url, keep, stream):
    sdk, httpx = sdk_of("cohere"), sdk_of("httpx")
    http = keep(httpx.Client(trust_env=False, timeout=20))
    client = sdk.ClientV2("none", base_url=url, httpx_client=http)
    return client.chat_stream if stream else client.chat


def gemini_client(url, keep, stream):
    sdk = sdk_of("google.genai")
    client = keep(sdk.Client(api_key="none", http_options={"base_url": url}))
    models = client.models
    return models.generate_content_stream if stream else models.generate_content


def interactions_client(url, keep, stream):
    sdk = sdk_of("google.genai")
    client = keep(sdk.Client(api_key="none", http_options={"base_url": url}))
    return lambda **_: client.interactions.create(model="m", input="?", stream=stream)


def mistral_client(url, _keep, stream):
    sdk = sdk_of("mistralai.client")
    chat = sdk.Mistral(api_key="none", server_url=url).chat
    return chat.stream if stream else chat.complete


def conversations_client(url, _keep, stream):
    sdk = sdk_of("mistralai.client")
    conversations = sdk.Mistral(api_key="none", server_url=url).beta.conversations
    start = conversations.start_stream if stream else conversations.start
    return lambda **_: start(inputs="?", model="m")


def openai_client(url, keep, _stream):
    sdk = sdk_of("openai")
    return keep(sdk.OpenAI(base_url=url, api_key="none", max_retries=0)).responses.create


def chat_client(url, keep, _stream):
    sdk = sdk_of("openai")
    client = keep(sdk.OpenAI(base_url=url, api_key="none", max_retries=0))
    return client.chat.completions.create


CLIENTS = {
    "anthropic": anthropic_client,
    "bedrock": bedrock_client,
    "cohere": cohere_client,
    "gemini": gemini_client,
    "gemini_interactions": interactions_client,
    "mistral": mistral_client,
    "mistral_conversations": conversations_client,
    "openai": openai_client,
    "openai_chat": chat_client,
}
STREAMED_BY_ARGUMENT = {"anthropic", "openai", "openai_chat"}
OWN_REQUEST = {"gemini_interactions", "mistral_conversations"}


def framed(name, chunks):
    if name == "bedrock":
        return EVENT_STREAM, b"".join(event_stream(chunks))
    kind = {"gemini_interactions": "event_type"}.get(name, "type")
    events = b"".join(sse(one, event=one.get(kind)) for one in chunks)
    return SSE, events + (sse("[DONE]") if name in {"openai_chat", "mistral"} else b"")


def ask(name, exchange, *, stream):
    arguments = {"stream": True} if stream and name in STREAMED_BY_ARGUMENT else {}
    model = "anthropic.claude-x" if name == "bedrock" else "m"
    return exchange.request(talk(), model=model, **arguments)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", WIRES)
def test_the_client_streams_calls(name, cut, clients):
    wire = WIRES[name]
    exchange = wire.make()
    asked = ask(name, exchange, stream=True)
    headers, data = framed(name, streamed(wire, [LOOK, FIND], text="Hm. 📈", foreign=True))
    with Loopback(Reply(headers=headers, pieces=CUTS[cut](data))) as server:
        chunks = list(clients(name, server, stream=True)(**asked))
    items = items_of(wire, chunks, exchange)
    assert (spoken(items), calls_in(items)) == ("Hm. 📈", [called(LOOK), called(FIND)])
    assert [type(item) for item in items].count(AnswerEnd) == 1
    if name not in OWN_REQUEST:
        said = str(server.requests[0].body)
        assert all(one in said for one in ("call_a1", "call_c3", "Looks for rents.", "required"))


@pytest.mark.parametrize("name", WIRES)
def test_the_client_gets_calls_whole(name, clients):
    wire = WIRES[name]
    exchange = wire.make()
    asked = ask(name, exchange, stream=False)
    with Loopback(Reply.json(wire.whole("Hm.", [LOOK, FIND]))) as server:
        complete = clients(name, server, stream=False)(**asked)
    items = items_of(wire, [complete], exchange)
    assert (spoken(items), calls_in(items)) == ("Hm.", [called(LOOK), called(FIND)])
    assert type(items[-1]) is AnswerEnd


@pytest.mark.parametrize("name", sorted(set(WIRES) - OWN_REQUEST))
def test_the_loop_of_tools_goes_round(name, clients):
    """What is asked, called, told and answered, with what the vendor wants back with a call."""
    wire = WIRES[name]
    headers, data = framed(name, streamed(wire, [LOOK, FIND], text="Hm."))
    _, last = framed(name, streamed(wire, [], text="Rents rose.", reason=wire.done))
    replies = [Reply(headers=headers, pieces=[one]) for one in (data, last)]
    model = "anthropic.claude-x" if name == "bedrock" else "m"
    more = {"stream": True} if name in STREAMED_BY_ARGUMENT else {}
    turns, answers = [UserTurn(text="Why?")], []
    with Loopback(*replies) as server:
        for _ in replies:
            exchange = wire.make()
            asked = exchange.request(
                Conversation(turns=tuple(turns), tools=TOOLS), model=model, **more
            )
            message = answer(exchange, clients(name, server, stream=True)(**asked))
            answers.append(message.content)
            turns.append(AssistantTurn(text=message.content))
            turns += [
                ToolTurn(
                    call_id=one["toolCallId"],
                    name=one["name"],
                    arguments=one["arguments"],
                    provider_data=one.get("providerData"),
                    text="4 %",
                )
                for one in message.tool_requests or ()
            ]
    assert answers == ["Hm.", "Rents rose."]
    said = [one for one in leaves(server.requests[1].body) if isinstance(one, str)]
    assert said.count(LOOK.id) == said.count(FIND.id) == 2
    assert any("家賃" in one or "\\u5bb6\\u8cc3" in one for one in said)
