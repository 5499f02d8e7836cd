from types import SimpleNamespace

import pytest

from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    ToolTurn,
    UserTurn,
    messages_of,
)
from citestream.providers.gemini_contents import config_of, contents_of, signature_of


def used(name, args=None, **more):
    return {"function_call": {"id": name, "name": f"{name}_name", "args": args or {}}, **more}


def result(name, words=""):
    response = {"result": words}
    return {"function_response": {"id": name, "name": f"{name}_name", "response": response}}


def call(name, **fields):
    return ToolTurn(call_id=name, name=f"{name}_name", **fields)


def contents(*turns):
    made = contents_of(messages_of((turn, "") for turn in turns))
    return [(one["role"], one["parts"]) for one in made]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([], []),
        ([UserTurn(text=""), AssistantTurn(text="")], []),
        (
            [call("a", arguments={"q": 1}, text="1"), call("b", text="2")],
            [
                ("model", [used("a", {"q": 1}), used("b")]),
                ("user", [result("a", "1"), result("b", "2")]),
            ],
        ),
        (
            [AssistantTurn(text="Hm."), call("a"), call("b", round=1), UserTurn(text="So?")],
            [
                ("model", [{"text": "Hm."}, used("a")]),
                ("user", [result("a")]),
                ("model", [used("b")]),
                ("user", [result("b")]),
                ("user", [{"text": "So?"}]),
            ],
        ),
        (
            [call("a", arguments="{")],
            [("model", [used("a", {"INVALID_JSON": "{"})]), ("user", [result("a")])],
        ),
        (
            [
                call("a", provider_data={"thoughtSignature": "-_8="}),
                call("b", provider_data={"thoughtSignature": "+/8="}),
                call("c", provider_data={"thoughtSignature": 5}),
                call("d", provider_data={"thinking": []}),
            ],
            [
                (
                    "model",
                    [
                        used("a", thought_signature=b"\xfb\xff"),
                        used("b", thought_signature=b"\xfb\xff"),
                        used("c"),
                        used("d"),
                    ],
                ),
                ("user", [result(one) for one in "abcd"]),
            ],
        ),
    ],
)
def test_calls_at_once_are_one_content_and_their_results_another(turns, expected):
    assert contents(*turns) == expected


@pytest.mark.parametrize(
    ("signature", "data"),
    [
        (b"\xfb\xff", {"thoughtSignature": "+/8="}),
        ("abc=", {"thoughtSignature": "abc="}),
        (b"", None),
        ("", None),
        (None, None),
        (5, None),
    ],
    ids=repr,
)
def test_a_signature_is_kept_as_text(signature, data):
    assert signature_of(signature) == data


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
LOOK = ToolDefinition(name="look", description="Looks.", parameters=SCHEMA)
DECLARED = {
    "function_declarations": [
        {"name": "look", "description": "Looks.", "parameters_json_schema": SCHEMA}
    ]
}
SEARCH = {"google_search": {}}


class Config(SimpleNamespace):
    """Gives its fields as the SDK's own does."""

    def __iter__(self):
        yield from vars(self).items()


@pytest.mark.parametrize("shape", [dict, Config])
def test_the_caller_s_configuration_joins_what_is_sent(shape):
    given = shape(temperature=0.5, tools=[SEARCH], top_k=None)
    conversation = Conversation(turns=(), tools=(LOOK,))
    assert config_of(conversation, given, system="S") == {
        "system_instruction": "S",
        "temperature": 0.5,
        "tools": [DECLARED, SEARCH],
        "automatic_function_calling": {"disable": True},
    }


def test_a_configuration_has_what_is_given_and_nothing_else():
    nothing = Conversation(turns=())
    assert config_of(nothing, None, system=None) == {}
    assert config_of(nothing, {"tools": [SEARCH]}, system="") == {"tools": [SEARCH]}
    assert config_of(nothing, {"system_instruction": "T"}, system="S") == {
        "system_instruction": "T"
    }
    listed = Conversation(turns=(), tools=(LOOK,))
    mine = {"automatic_function_calling": {"maximum_remote_calls": 1}}
    assert config_of(listed, mine, system=None) == {**mine, "tools": [DECLARED]}
