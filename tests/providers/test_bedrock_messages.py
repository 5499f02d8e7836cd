from itertools import pairwise

import pytest

from citestream import LimitError, SourceRegistry
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.prompts.prompt_options import DEFAULT_OPTIONS
from citestream.providers.bedrock_messages import (
    REASONING,
    BedrockMessages,
    DocumentLimits,
    tool_config,
)
from citestream.sources import from_text

LIMITS = DocumentLimits(count=1, size=99)


def text(words):
    return {"text": words}


def used(name, **arguments):
    return {"toolUse": {"toolUseId": name, "name": f"{name}_name", "input": arguments}}


def result(name, *content):
    return {"toolResult": {"toolUseId": name, "content": list(content)}}


def call(name, **fields):
    return ToolTurn(call_id=name, name=f"{name}_name", **fields)


def thought(words):
    return {"reasoningText": {"text": words, "signature": "s"}}


def reasoned(words):
    return {"reasoningContent": thought(words)}


def filled(conversation, *, native):
    made = BedrockMessages(limits=LIMITS)
    if native:
        made.add_native(conversation)
    else:
        made.add_shown(conversation, options=DEFAULT_OPTIONS)
    return made


def messages(*turns, native):
    made = filled(Conversation(turns=turns, system="S"), native=native)
    assert made.system == "S"
    roles = [one["role"] for one in made.messages]
    assert all(one != next_ for one, next_ in pairwise(roles))
    return [one["content"] for one in made.messages]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("turns", "contents"),
    [
        ([], []),
        (
            [call("a", arguments={"q": 1}, text="1"), call("b", text="2")],
            [[used("a", q=1), used("b")], [result("a", text("1")), result("b", text("2"))]],
        ),
        (
            [AssistantTurn(text="Hm."), call("a"), call("b"), UserTurn(text="So?")],
            [[text("Hm."), used("a"), used("b")], [result("a"), result("b"), text("So?")]],
        ),
        (
            [call("a"), call("b", round=1)],
            [[used("a")], [result("a")], [used("b")], [result("b")]],
        ),
        ([call("a", arguments="{")], [[used("a", INVALID_JSON="{")], [result("a")]]),
        (
            [
                AssistantTurn(text="Hm."),
                call("a", provider_data={REASONING: [thought("1"), {"redactedContent": "AP8="}]}),
                call("b", provider_data={REASONING: [thought("2")]}),
                call("c", provider_data={"thoughtSignature": "x"}),
            ],
            [
                [
                    reasoned("1"),
                    {"reasoningContent": {"redactedContent": b"\x00\xff"}},
                    text("Hm."),
                    used("a"),
                    reasoned("2"),
                    used("b"),
                    used("c"),
                ],
                [result("a"), result("b"), result("c")],
            ],
        ),
    ],
)
def test_calls_at_once_are_one_message_and_their_results_another(turns, contents, native):
    assert messages(*turns, native=native) == contents


def test_results_of_tools_count_as_documents_of_one_message():
    registry = SourceRegistry()
    one, two = (Material(source=registry.add(from_text(words))) for words in "AB")
    turns = (call("a", materials=(one,)), call("b", materials=(two,)))
    shown = filled(Conversation(turns=(call("a", materials=(one,)),)), native=True)
    assert "document" in shown.messages[1]["content"][0]["toolResult"]["content"][0]
    with pytest.raises(LimitError, match="max_documents: a message may have 1, got 2"):
        filled(Conversation(turns=(UserTurn(text="?", materials=(one, two)),)), native=True)
    assert len(filled(Conversation(turns=turns), native=True).messages) == 2


NOTHING = {"json": {"type": "object", "properties": {}}}
LOOK = ToolDefinition(name="look", description="Looks.")
SPEC = {"toolSpec": {"name": "look", "description": "Looks.", "inputSchema": NOTHING}}
CACHE = {"cachePoint": {"type": "default"}}
USED = (call("a"), call("b"), call("a"))


def test_a_conversation_without_tools_has_no_configuration():
    assert tool_config(Conversation(turns=()), {}) == {}


@pytest.mark.parametrize("turns", [(), USED])
def test_tools_of_both_are_sent(turns):
    conversation = Conversation(turns=turns, tools=(LOOK,))
    assert tool_config(conversation, {}) == {"tools": [SPEC]}
    given = {"tools": [CACHE], "toolChoice": {"auto": {}}}
    assert tool_config(conversation, given) == {**given, "tools": [SPEC, CACHE]}
    assert tool_config(Conversation(turns=turns), given) == given


def test_calls_of_before_without_tools_are_listed_as_gone():
    specs = [one["toolSpec"] for one in tool_config(Conversation(turns=USED), {})["tools"]]
    assert [one["name"] for one in specs] == ["a_name", "b_name"]
    for one in specs:
        assert one["description"].startswith("This tool is not available")
        assert one["inputSchema"] == NOTHING
