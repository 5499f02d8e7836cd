import pytest

from citestream import MarkerSyntax, OptionError, SourceRegistry
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
    add_blocks,
    messages_of,
    render_turns,
)
from citestream.markers import LINES, PAGES
from citestream.prompts import PromptOptions, instructions, render_context, render_tool_result
from citestream.sources import Granularity, from_pages, from_text


def material(document, *, granularity=Granularity.BLOCK, **fields):
    return Material(source=SourceRegistry().add(document, granularity=granularity), **fields)


# -- values


def test_material_says_where_it_is_from():
    with pytest.raises(OptionError, match="origin"):
        material(from_text("A"), origin="moon")


@pytest.mark.parametrize(
    ("data", "media_type", "pdf"),
    [
        (b"%PDF", "application/pdf", b"%PDF"),
        (b"%PDF", "text/plain", None),
        (b"", "application/pdf", None),
        (None, "application/pdf", None),
    ],
)
def test_material_that_is_a_pdf(data, media_type, pdf):
    assert material(from_text("A"), data=data, media_type=media_type).pdf == pdf


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"title": "A", "url": "https://a.example/", "path": "a.md"}, ("https://a.example/", "A")),
        ({"path": "a.md"}, ("a.md", "a.md")),
        ({"title": " "}, ("turn0file0", "turn0file0")),
    ],
)
def test_material_has_names_for_a_vendor(names, expected):
    assert material(from_text("A", **names)).names == expected


def test_material_that_is_blank_has_no_text():
    assert [material(from_text(text)).has_text for text in ("A", " \n", "")] == [True, False, False]


def test_all_material_of_a_conversation_in_order():
    first, second = material(from_text("A")), material(from_text("B"))
    turns = (
        UserTurn(text="?", materials=(first,)),
        AssistantTurn(text="!"),
        ToolTurn(call_id="c", name="n", materials=(second,)),
    )
    assert list(Conversation(turns=turns).materials()) == [first, second]


def test_neighbours_of_one_role_are_one_message():
    messages = []
    for role, blocks in [("user", [{"a": 1}]), ("user", []), ("user", [{"b": 2}])]:
        add_blocks(messages, role, blocks)
    add_blocks(messages, "assistant", [{"c": 3}])
    assert messages == [
        {"role": "user", "content": [{"a": 1}, {"b": 2}]},
        {"role": "assistant", "content": [{"c": 3}]},
    ]


# -- what vendors are shown


OPTIONS = PromptOptions(syntax=MarkerSyntax(locators=(LINES, PAGES)))


def test_turns_without_material_are_left_alone():
    turns = (UserTurn(text="?"), AssistantTurn(text="!"))
    system, shown = render_turns(Conversation(turns=turns, system="S"), options=OPTIONS)
    assert (system, shown) == ("S", [(turns[0], ""), (turns[1], "")])


def test_attachments_are_shown_as_context():
    attached = material(from_text("Rent rose."))
    turns = (UserTurn(text="?", materials=(attached,)), AssistantTurn(text="!"))
    system, shown = render_turns(Conversation(turns=turns, system="S"), options=OPTIONS)
    assert shown[0][1] == render_context([attached.source], options=OPTIONS)
    assert shown[1][1] == ""
    assert system.startswith("S\n\n# Citing sources")
    syntax = OPTIONS.syntax
    assert system.endswith(instructions(PromptOptions(syntax=syntax, material="context")))


def test_results_of_tools_make_all_material_results():
    attached = material(from_text("Rent rose."), granularity=Granularity.LINE)
    found = material(from_pages(["Wages fell."]), granularity=Granularity.PAGE, origin="tool")
    turns = (
        UserTurn(text="?", materials=(attached,)),
        ToolTurn(call_id="c", name="n", materials=(found,)),
    )
    system, shown = render_turns(Conversation(turns=turns), options=OPTIONS)
    for (_, text), one in zip(shown, (attached, found), strict=True):
        assert text == render_tool_result([one.source], options=OPTIONS)
    assert system == instructions(
        PromptOptions(syntax=OPTIONS.syntax, granularities=(Granularity.LINE, Granularity.PAGE))
    )


# -- calls of tools


def test_the_tools_of_a_conversation_have_different_names():
    look, find = ToolDefinition(name="look"), ToolDefinition(name="find")
    assert Conversation(turns=()).tools == ()
    assert Conversation(turns=(), tools=(look, find)).tools == (look, find)
    with pytest.raises(OptionError, match=r"tools: wanted names that differ, got 'look' twice"):
        Conversation(turns=(), tools=(look, find, look))


def test_arguments_that_are_no_object_are_a_member_of_one():
    assert ToolTurn(call_id="c", name="n", arguments={"q": 1}).input == {"q": 1}
    assert ToolTurn(call_id="c", name="n", arguments='{"q').input == {"INVALID_JSON": '{"q'}


USER, SAID = UserTurn(text="?"), AssistantTurn(text="!")


def call(name, number=0):
    return ToolTurn(call_id=name, name=name, round=number)


@pytest.mark.parametrize(
    ("turns", "messages"),
    [
        ([], []),
        ([USER, SAID], [("?", ""), ("!", "")]),
        ([SAID, SAID, call("a")], [("!", ""), ("!", "a")]),
        ([USER, call("a"), call("b"), SAID], [("?", ""), ("", "ab"), ("!", "")]),
        ([call("a", 1), call("b", 1), call("c", 2)], [("", "ab"), ("", "c")]),
        ([SAID, call("a", 1), call("b", 2), SAID], [("!", "a"), ("", "b"), ("!", "")]),
        (
            [call("a"), SAID, call("b"), USER, call("c")],
            [("", "a"), ("!", "b"), ("?", ""), ("", "c")],
        ),
    ],
)
def test_calls_of_one_round_go_with_what_is_said_before_them(turns, messages):
    made = messages_of((turn, turn.text + "+") for turn in turns)
    assert [
        (turn.text, "".join(one.name for one, _ in calls)) for turn, _, calls in made
    ] == messages
    assert all(shown == (turn.text + "+" if turn.text else "") for turn, shown, _ in made)
    assert all(shown == "+" for _, _, calls in made for _, shown in calls)
    assert all(type(turn) is UserTurn or type(turn) is AssistantTurn for turn, _, _ in made)
