from itertools import pairwise

import pytest

from citestream import SourceRegistry
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.providers.anthropic import Anthropic
from citestream.providers.anthropic_messages import THINKING, AnthropicMessages
from citestream.sources import from_text


def text(words):
    return {"type": "text", "text": words}


def used(name, **arguments):
    return {"type": "tool_use", "id": name, "name": f"{name}.name", "input": arguments}


def result(name, *content):
    about = {"type": "tool_result", "tool_use_id": name}
    return {**about, "content": list(content)} if content else about


def call(name, **fields):
    return ToolTurn(call_id=name, name=f"{name}.name", **fields)


def thought(words):
    return {"type": "thinking", "thinking": words, "signature": "s"}


def thinking(*blocks):
    return {THINKING: list(blocks)}


def messages(*turns):
    made = AnthropicMessages(Conversation(turns=turns)).messages
    roles = [one["role"] for one in made]
    assert all(one != next_ for one, next_ in pairwise(roles))
    return [one["content"] for one in made]


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
            [
                [text("Hm."), used("a"), used("b")],
                [result("a"), result("b"), text("So?")],
            ],
        ),
        (
            [call("a"), call("b", round=1), AssistantTurn(text="So."), call("c", round=1)],
            [
                [used("a")],
                [result("a")],
                [used("b")],
                [result("b")],
                [text("So."), used("c")],
                [result("c")],
            ],
        ),
        ([call("a", arguments="{")], [[used("a", INVALID_JSON="{")], [result("a")]]),
        (
            [
                AssistantTurn(text="Hm."),
                call("a", provider_data=thinking(thought("1"), thought("2"))),
                call("b", provider_data=thinking(thought("3"))),
                call("c", provider_data={"thoughtSignature": "x"}),
            ],
            [
                [
                    *map(thought, "12"),
                    text("Hm."),
                    used("a"),
                    thought("3"),
                    used("b"),
                    used("c"),
                ],
                [result("a"), result("b"), result("c")],
            ],
        ),
    ],
)
def test_calls_at_once_are_one_message_and_their_results_another(turns, contents):
    assert messages(*turns) == contents


def test_material_is_numbered_as_it_is_sent():
    registry = SourceRegistry()

    def material(words, origin="tool"):
        return Material(source=registry.add(from_text(words)), origin=origin)

    sent = AnthropicMessages(
        Conversation(
            turns=(
                UserTurn(text="?", materials=(material("A", "attachment"),)),
                call("a", materials=(material("B"),)),
                call("b", materials=(material("C"), material("D", "attachment"))),
            )
        )
    )
    shown = [sent.documents.get(n).source.document.content for n in range(2)]
    assert shown == ["A", "D"]
    assert [sent.results.get(n).source.document.content for n in range(2)] == ["B", "C"]
    assert [one["tool_use_id"] for one in sent.messages[-1]["content"]] == ["a", "b"]


def test_nothing_is_sent_of_no_conversation():
    sent = AnthropicMessages()
    assert (sent.messages, sent.documents.get(0), sent.results.get(0)) == ([], None, None)
    assert Anthropic().request(Conversation(turns=()), model="m")["messages"] == []
