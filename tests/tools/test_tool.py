import logging
import threading
from dataclasses import dataclass
from typing import Annotated

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitableSource
from citestream.errors import OptionError
from citestream.tools.tool import Tool, ToolInvocation, ToolOutcome, ToolResult, run_tool, tool

pytestmark = pytest.mark.anyio
FAILED = "The tool failed. What went wrong is not shown here."


def call(arguments=None, name="search"):
    return ToolInvocation(session_id="s1", tool_call_id="c1", tool_name=name, arguments=arguments)


@tool
def search(query: Annotated[str, "Words to look for."], limit: int = 3) -> str:
    """Look things up
    in the handbook.

    This is for programmers.
    """
    return f"{query} {limit}"


# -- making tools


def test_a_function_becomes_a_tool_and_stays_a_function():
    assert (search.name, search.skip_permission) == ("search", False)
    assert search.description == "Look things up in the handbook."
    assert search.parameters["properties"]["query"]["description"] == "Words to look for."
    assert search("x", limit=2) == "x 2"
    assert hash(search)


def test_what_the_function_says_can_be_said_otherwise():
    @tool(name="find", description="Find it.", skip_permission=True)
    def search() -> None:
        """Say otherwise."""

    assert (search.name, search.description, search.skip_permission) == ("find", "Find it.", True)

    class Desk:
        def ask(self, who: str) -> str:
            return f"{who}?"

    asked = tool(Desk().ask, name="desk_ask")
    assert (asked.name, asked.description, asked("Kim")) == ("desk_ask", "", "Kim?")


@pytest.mark.parametrize(
    "thing", [int, "search", len, Tool(name="a", handler=print), (n for n in ())]
)
def test_what_is_no_function_is_misuse(thing):
    with pytest.raises(OptionError, match="tool: wanted a function that returns one value"):
        tool(thing)


def test_functions_that_return_many_values_are_misuse():
    def many():
        yield 1

    async def later():
        yield 1

    for function in (many, later):
        with pytest.raises(OptionError, match="tool: wanted a function that returns one value"):
            tool(function)


@pytest.mark.parametrize("name", ["", "a b", "é", "a" * 65, None, 3, "<lambda>"])
def test_names_that_no_vendor_takes_are_misuse(name):
    with pytest.raises(OptionError, match="name: wanted a tool name"):
        Tool(name=name, handler=print)


def test_a_lambda_wants_a_name():
    with pytest.raises(OptionError, match=r"name: wanted a tool name .* got '<lambda>'"):
        tool(lambda: 1)
    assert tool(lambda: 1, name="one").name == "one"


def test_a_tool_made_by_hand_is_checked():
    assert Tool(name="a", handler=print).parameters == {"type": "object", "properties": {}}
    with pytest.raises(OptionError, match="parameters: wanted a JSON schema of an object"):
        Tool(name="a", handler=print, parameters={"type": "string"})
    with pytest.raises(OptionError, match="parameters: wanted a JSON schema of an object, got 3"):
        Tool(name="a", handler=print, parameters=3)
    with pytest.raises(OptionError, match="handler: wanted a callable, got 3"):
        Tool(name="a", handler=3)
    with pytest.raises(OptionError, match="description: wanted a string, got None"):
        Tool(name="a", handler=print, description=None)


# -- results


def test_a_result_is_made_with_its_text_in_either_way():
    assert ToolResult("x") == ToolResult(content="x")
    assert ToolResult("x", error="no").error == "no"
    with pytest.raises(TypeError):
        ToolResult("x", ())


def test_citable_sources_may_be_mappings():
    source = CitableSource(id="a", content="Rent rose.", url="https://a.example")
    given_as = {"id": "a", "content": "Rent rose.", "url": "https://a.example", "path": None}
    assert ToolResult("x", citable_sources=[given_as, source]).citable_sources == (source, source)


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ([3], r"citable_sources\[0\]: wanted a CitableSource or a mapping, got 3"),
        ("a", r"citable_sources\[0\]: wanted a CitableSource or a mapping, got 'a'"),
        ([{"id": "a"}], r"citable_sources\[0\]: CitableSource.content: expected a string"),
        (
            [CitableSource(id="a", content="b"), {"id": "a", "content": "b", "titel": "c"}],
            r"citable_sources\[1\]: wanted the keys id, content, title, url, path, got 'titel'",
        ),
    ],
)
def test_citable_sources_of_another_form_are_misuse(sources, problem):
    with pytest.raises(OptionError, match=problem):
        ToolResult("x", citable_sources=sources)


@pytest.mark.parametrize("values", [{"content": 3}, {"content": "x", "error": 3}])
def test_results_hold_texts(values):
    with pytest.raises(OptionError, match="wanted a string, got 3"):
        ToolResult(**values)


def test_nothing_that_was_read_or_written_shows_in_a_repr():
    secret = "k3y"  # noqa: S105 - a canary
    source = CitableSource(id="a", content=secret)
    for value in (
        call({"q": secret}),
        ToolResult(secret, citable_sources=[source], error=secret),
        ToolOutcome(content=secret, citable_sources=(source,), error=secret),
    ):
        assert secret not in repr(value)


# -- running


async def test_sync_functions_run_in_another_thread():
    @tool
    def where() -> str:
        """Say where."""
        return str(threading.get_ident())

    outcome = await run_tool(where, call())
    assert outcome.success
    assert outcome.content != str(threading.get_ident())


async def test_async_functions_are_awaited_here():
    @tool
    async def where(call: ToolInvocation) -> str:
        await anyio.lowlevel.checkpoint()
        return f"{threading.get_ident()} {call.tool_call_id} {call.arguments}"

    outcome = await run_tool(where, call({}))
    assert outcome.content == f"{threading.get_ident()} c1 {{}}"


async def test_arguments_are_converted():
    assert (await run_tool(search, call({"query": "x", "limit": "7"}))).content == "x 7"


@dataclass
class Hit:
    title: str
    score: float


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (None, ""),
        ("", ""),
        ("text", "text"),
        (3, "3"),
        (True, "true"),
        ([1, None], "[1,null]"),
        ({"a": {"b": 1}}, '{"a":{"b":1}}'),
        ([Hit("Rent", 0.5)], '[{"title":"Rent","score":0.5}]'),
        ({1: "x"}, '{"1":"x"}'),
    ],
)
async def test_results_become_text(result, content):
    outcome = await run_tool(Tool(name="a", handler=lambda _arguments: result), call({}))
    assert outcome == ToolOutcome(content=content)
    assert outcome.success


async def test_results_carry_what_may_be_cited():
    source = CitableSource(id="a", content="Rent rose.")
    found = ToolResult("One found.", citable_sources=[source])
    outcome = await run_tool(Tool(name="a", handler=lambda _arguments: found), call({}))
    assert outcome == ToolOutcome(content="One found.", citable_sources=(source,))


@pytest.mark.parametrize(("content", "told"), [("Try later.", "Try later."), ("", FAILED)])
async def test_a_tool_may_say_that_it_failed(content, told):
    failed = ToolResult(content, error="503")
    outcome = await run_tool(Tool(name="a", handler=lambda _arguments: failed), call({}))
    assert outcome == ToolOutcome(content=told, code="failure", error="503")
    assert not outcome.success


async def test_a_handler_made_by_hand_gets_the_mapping_that_the_model_wrote():
    async def handler(arguments):
        return arguments

    by_hand = Tool(name="a", handler=handler)
    assert (await run_tool(by_hand, call({"q": "x"}))).content == '{"q":"x"}'
    assert (await run_tool(by_hand, call())).content == "{}"


class Later:
    async def __call__(self, arguments):
        return f"{len(arguments)} keys"


def sooner(arguments):
    return Later()(arguments)


@pytest.mark.parametrize("handler", [Later(), sooner], ids=["object", "function"])
async def test_what_can_be_awaited_is_awaited(handler):
    assert (await run_tool(Tool(name="a", handler=handler), call({"q": 1}))).content == "1 keys"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("query: x", "Invalid arguments: Expected a JSON object, got 'query: x'"),
        ([1], "Invalid arguments: Expected a JSON object, got an array of 1"),
        ({}, "Invalid arguments: Object missing required field `query`"),
        (None, "Invalid arguments: Object missing required field `query`"),
        ({"query": 1}, "Invalid arguments: Expected `str`, got `int` - at `$.query`"),
    ],
)
async def test_the_model_is_told_which_arguments_do_not_fit(arguments, problem):
    outcome = await run_tool(search, call(arguments))
    assert outcome == ToolOutcome(content=problem, code="invalid_arguments", error=problem)


async def test_what_the_model_wrote_is_told_back_only_in_part():
    outcome = await run_tool(search, call({"query": "x", "y" * 100_000: 1}))
    assert len(outcome.content) < 2100


def raising(error):
    def handler(_arguments):
        raise error

    return handler


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("k3y"), "RuntimeError: k3y"),
        (StopIteration("k3y"), "StopIteration"),
        (ExceptionGroup("two", [ValueError(1), KeyError(2)]), "ExceptionGroup: two (2 sub-"),
        (MuteError(), "MuteError: <exception str() failed>"),
    ],
)
async def test_the_log_is_told_what_a_tool_raised_and_the_model_is_not(caplog, error, told):
    outcome = await run_tool(Tool(name="a", handler=raising(error)), call({}))
    assert (outcome.content, outcome.code) == (FAILED, "failure")
    assert told in outcome.error
    (record,) = caplog.records
    assert (record.levelno, record.message) == (logging.ERROR, "tool a failed, call c1")
    assert record.exc_info[1] is not None


async def test_async_tools_may_raise_as_well(caplog):
    @tool
    async def broken() -> str:
        raise LookupError("no such table")

    outcome = await run_tool(broken, call())
    assert (outcome.content, outcome.error) == (FAILED, "LookupError: no such table")
    assert caplog.records


@pytest.mark.parametrize(
    "result", [object(), {1, object()}, float("nan"), b"".join, {"a": ToolResult("x").__init__}]
)
async def test_results_that_are_no_json_are_failures(caplog, result):
    outcome = await run_tool(Tool(name="a", handler=lambda _arguments: result), call({}))
    assert (outcome.content, outcome.code) == (FAILED, "failure")
    assert caplog.records


async def test_cancelling_passes_through_an_async_tool():
    started = anyio.Event()

    @tool
    async def slow() -> None:
        started.set()
        await anyio.sleep_forever()

    outcomes = []

    async def run():
        outcomes.append(await run_tool(slow, call()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert outcomes == []


async def test_cancelling_does_not_wait_for_a_sync_tool():
    started, release = anyio.Event(), threading.Event()

    @tool
    def slow() -> None:
        anyio.from_thread.run_sync(started.set)
        release.wait(timeout=30)

    outcomes = []

    async def run():
        outcomes.append(await run_tool(slow, call()))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await started.wait()
            tasks.cancel_scope.cancel()
    release.set()
    assert outcomes == []


@given(st.text(), st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers())))
def test_whatever_the_model_writes_something_is_told(text, arguments):
    outcomes = [
        anyio.run(run_tool, search, call(arguments)),
        anyio.run(run_tool, search, call({"query": text})),
    ]
    assert outcomes[1].content == f"{text} 3"
    assert not outcomes[0].success


async def test_a_function_that_returns_a_coroutine_is_awaited():
    async def later():
        return "late"

    made = Tool(name="later", handler=lambda _arguments: later())
    asked = ToolInvocation(session_id="s", tool_call_id="c", tool_name="later", arguments={})
    assert (await run_tool(made, asked)).content == "late"
