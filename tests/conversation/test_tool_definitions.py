import pytest

from citestream import OptionError
from citestream.conversation.tool_definitions import ToolDefinition, function_tools, with_tools

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.mark.parametrize("name", ["a", "get_rent-2", "A" * 64])
def test_names_that_every_vendor_takes(name):
    assert ToolDefinition(name=name).name == name


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "A" * 65, "a\n", None, 1])
def test_other_names_are_refused(name):
    with pytest.raises(OptionError, match=r"ToolDefinition\.name: wanted 1 to 64"):
        ToolDefinition(name=name)


@pytest.mark.parametrize("parameters", [None, "object", [], {}, {"type": "string"}])
def test_parameters_are_the_schema_of_an_object(parameters):
    with pytest.raises(OptionError, match=r"ToolDefinition\.parameters: wanted a JSON schema"):
        ToolDefinition(name="look", parameters=parameters)


def test_a_tool_without_parameters_takes_an_object_without_members():
    first, second = ToolDefinition(name="a"), ToolDefinition(name="a")
    assert first.parameters == {"type": "object", "properties": {}}
    assert first.parameters is not second.parameters
    assert (first, hash(first)) == (second, hash(second))


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_description_is_left_out(blank):
    assert ToolDefinition(name="a", description=blank).named == {"name": "a"}
    told = ToolDefinition(name="a", description="Looks.").named
    assert told == {"name": "a", "description": "Looks."}


def test_tools_as_functions():
    look = ToolDefinition(name="look", description="Looks.", parameters=SCHEMA)
    [listed] = function_tools([look])
    assert listed == {
        "type": "function",
        "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA},
    }


MINE, THEIRS = {"name": "look"}, {"type": "web_search"}


@pytest.mark.parametrize(
    ("tools", "arguments", "expected"),
    [
        ([], {}, {"model": "m"}),
        ([], {"n": 1}, {"model": "m", "n": 1}),
        ([], {"model": "x"}, {"model": "x"}),
        ([], {"tools": []}, {"model": "m", "tools": []}),
        ([], {"tools": None}, {"model": "m", "tools": None}),
        ([], {"tools": (THEIRS,)}, {"model": "m", "tools": [THEIRS]}),
        ([MINE], {}, {"model": "m", "tools": [MINE]}),
        ([MINE], {"tools": None}, {"model": "m", "tools": [MINE]}),
        ([MINE], {"tools": [THEIRS], "n": 1}, {"model": "m", "n": 1, "tools": [MINE, THEIRS]}),
    ],
)
def test_tools_of_both_are_sent(tools, arguments, expected):
    given = dict(arguments)
    assert with_tools({"model": "m"}, arguments, tools=tools) == expected
    assert arguments == given
