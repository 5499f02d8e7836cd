"""Tools that a model may call: functions with a schema, and running one.

In: functions of the application (``tool``) and calls that a model made (``ToolInvocation``). Out:
``ToolOutcome``: what the model is told, what of it may be cited, and what the log is told. Nothing
that a model writes or a tool raises gets past ``run_tool``; cancellation does. Deliberately
elsewhere: reading signatures (``parameters``), asking for permission (``permissions``),
giving out events and registering sources (the session).
"""

import inspect
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, overload

import attrs
from anyio import get_cancelled_exc_class, to_thread

from ..cancellation import is_cancelled
from ..conversation.tool_definitions import TOOL_NAME, ToolDefinition, no_parameters
from ..errors import ModelError, OptionError, brief
from ..model import CitableSource
from ..wire import encode_json
from .parameters import Parameters, read_parameters

__all__ = ("Tool", "ToolInvocation", "ToolOutcome", "ToolResult", "run_tool", "tool")

_logger = logging.getLogger("citestream.session")
_KEYS = ("id", "content", "title", "url", "path")
_LONGEST = 2000  # characters of a problem: a model may have written what it quotes
_EXITS = (SystemExit, GeneratorExit)
_FAILED = "The tool failed. What went wrong is not shown here."


def _text(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, str):
        raise OptionError(f"{attribute.name}: wanted a string, got {brief(value)}")


def _text_or_none(instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if value is not None:
        _text(instance, attribute, value)


@attrs.frozen(kw_only=True)
class ToolInvocation:
    """A call of a tool as the model made it. ``arguments`` is what it wrote: any JSON value."""

    session_id: str
    tool_call_id: str
    tool_name: str
    arguments: Any = attrs.field(default=None, repr=False, hash=False)


def _citable(values: Iterable[CitableSource | Mapping[str, Any]]) -> tuple[CitableSource, ...]:
    return tuple(_citable_source(value, number) for number, value in enumerate(values))


def _citable_source(value: CitableSource | Mapping[str, Any], number: int) -> CitableSource:
    if isinstance(value, CitableSource):
        return value
    where = f"citable_sources[{number}]"
    if not isinstance(value, Mapping):
        raise OptionError(f"{where}: wanted a CitableSource or a mapping, got {brief(value)}")
    for key in value:
        if key not in _KEYS:
            raise OptionError(f"{where}: wanted the keys {', '.join(_KEYS)}, got {brief(key)}")
    try:
        return CitableSource(**{key: value.get(key) for key in _KEYS})  # type: ignore[arg-type]
    except ModelError as error:
        raise OptionError(f"{where}: {error}") from error


@attrs.frozen(kw_only=True, init=False)
class ToolResult:
    """What a tool returns when text alone does not do.

    ``content`` is what the model reads. ``citable_sources`` is what of it may be cited, with ids
    that the model can repeat (letters, digits, ``-`` and ``_``): values, or mappings with the keys
    ``id``, ``content``, ``title``, ``url`` and ``path``. ``error`` says, to the log, that the tool
    failed; the model still reads ``content``. Raises OptionError for anything else.

    >>> ToolResult("Two found.", citable_sources=[{"id": "a", "content": "Rent rose."}]).error
    """

    content: str = attrs.field(validator=_text, repr=False)
    citable_sources: tuple[CitableSource, ...] = attrs.field(converter=_citable, repr=False)
    error: str | None = attrs.field(validator=_text_or_none, repr=False)

    def __init__(
        self,
        content: str,
        *,
        citable_sources: Iterable[CitableSource | Mapping[str, Any]] = (),
        error: str | None = None,
    ) -> None:
        self.__attrs_init__(content=content, citable_sources=citable_sources, error=error)


@attrs.frozen(kw_only=True)
class ToolOutcome:
    """What came of a call.

    ``content`` is what the model is told. ``code`` is None where the tool did its work, else the
    kind of failure, and ``error`` says to the log what went wrong.
    """

    content: str = attrs.field(repr=False)
    citable_sources: tuple[CitableSource, ...] = attrs.field(default=(), repr=False)
    code: Literal["invalid_arguments", "failure", "denied"] | None = None
    error: str | None = attrs.field(default=None, repr=False)

    @property
    def success(self) -> bool:
        """Whether the tool did its work."""
        return self.code is None


@attrs.frozen(kw_only=True)
class Tool:
    """A function that a model may call. ``tool`` makes one of a function with type hints.

    Made by hand, ``parameters`` is a JSON schema of type ``object`` and ``handler`` is called with
    one argument, the mapping that the model wrote, which nobody has checked::

        Tool(name="add", parameters={...}, handler=lambda arguments: sum(arguments["numbers"]))

    ``name`` has up to 64 letters, digits, ``_`` and ``-``. With ``skip_permission`` nobody is asked
    before it runs. A handler may be async; one that is not runs in a thread of its own.
    Calling a tool calls its function. Raises OptionError for values that do not fit.
    """

    name: str = attrs.field()
    description: str = attrs.field(default="", validator=_text)
    parameters: dict[str, Any] = attrs.field(factory=no_parameters, repr=False, hash=False)
    handler: Callable[..., Any] = attrs.field(repr=False)
    skip_permission: bool = False
    _reads: Parameters | None = attrs.field(default=None, eq=False, repr=False)

    @name.validator
    def _check_name(self, _attribute: object, name: object) -> None:
        if not isinstance(name, str) or TOOL_NAME.fullmatch(name) is None:
            raise OptionError(
                f"name: wanted a tool name of 1 to 64 letters, digits, _ and -, got {brief(name)}"
            )

    @parameters.validator
    def _check_parameters(self, _attribute: object, schema: object) -> None:
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise OptionError(f"parameters: wanted a JSON schema of an object, got {brief(schema)}")

    @handler.validator
    def _check_handler(self, _attribute: object, handler: object) -> None:
        if not callable(handler):
            raise OptionError(f"handler: wanted a callable, got {brief(handler)}")

    @property
    def definition(self) -> ToolDefinition:
        """What a conversation says of it."""
        return ToolDefinition(
            name=self.name, description=self.description, parameters=self.parameters
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of the function
        """Call the function itself, as if it were no tool."""
        return self.handler(*args, **kwargs)

    def _arguments(self, invocation: ToolInvocation) -> partial[Any] | str:
        """Return the call that ``invocation`` asks for, or in words why there is none."""
        arguments = {} if invocation.arguments is None else invocation.arguments
        if not isinstance(arguments, Mapping):
            return f"Expected a JSON object, got {brief(arguments)}"
        if self._reads is None:
            return partial(self.handler, arguments)
        bound = self._reads.bind(arguments, given=invocation)
        return bound if isinstance(bound, str) else partial(self.handler, **bound)


@overload
def tool(
    function: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    skip_permission: bool = False,
) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    skip_permission: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    skip_permission: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool, as a decorator with or without arguments.

    ``name`` is that of the function where none is given, ``description`` the first paragraph of its
    docstring. What it takes follows from its type hints: ``Annotated[str, "what it is"]`` describes
    a parameter, and one of type ``ToolInvocation`` gets the call itself. It returns a text, a
    ``ToolResult``, None, or a value of JSON, dataclasses and the like included.

    Raises OptionError for what is no function and for parameters that a model cannot fill.

    >>> @tool
    ... def double(number: int) -> int:
    ...     "Double a number."
    ...     return 2 * number
    >>> double.description, double.parameters["required"], double(4)
    ('Double a number.', ['number'], 8)
    """
    if function is None:
        return partial(tool, name=name, description=description, skip_permission=skip_permission)
    plain = inspect.isfunction(function) or inspect.ismethod(function)
    if not plain or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise OptionError(f"tool: wanted a function that returns one value, got {brief(function)}")
    reads = read_parameters(function, given=ToolInvocation)
    return Tool(
        name=function.__name__ if name is None else name,
        description=_first_paragraph(function) if description is None else description,
        parameters=reads.schema,
        handler=function,
        skip_permission=skip_permission,
        reads=reads,
    )


def _first_paragraph(function: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


async def run_tool(tool: Tool, invocation: ToolInvocation, /) -> ToolOutcome:
    """Run ``tool`` and return what came of it, whatever the model wrote and the tool raises.

    An async function is awaited; another one runs in a worker thread, which goes on by itself when
    the call is cancelled. The model is told which argument does not fit and why, but not what a
    tool raises: that is logged, and in ``error``.
    """
    try:
        call = tool._arguments(invocation)  # noqa: SLF001 - the other half of this room
        if isinstance(call, str):
            problem = f"Invalid arguments: {call[:_LONGEST]}"
            return ToolOutcome(content=problem, code="invalid_arguments", error=problem)
        return _outcome(await _called(call))
    except Exception as error:  # whatever a tool raises must not end the session
        _logger.exception("tool %s failed, call %s", tool.name, invocation.tool_call_id)
        told = "".join(traceback.format_exception_only(error)).strip()
        return ToolOutcome(content=_FAILED, code="failure", error=told[:_LONGEST])


async def _called(call: partial[Any]) -> Any:  # noqa: ANN401 - what a tool returns
    try:
        if inspect.iscoroutinefunction(call.func):
            return await call()
        (result,) = await to_thread.run_sync(partial(_boxed, call), abandon_on_cancel=True)
        return await result if inspect.isawaitable(result) else result
    except get_cancelled_exc_class() as error:
        if is_cancelled():
            raise
        raise RuntimeError("cancelled from inside") from error
    except _EXITS as error:
        raise RuntimeError(f"raised {type(error).__name__}") from error


def _boxed(call: partial[Any]) -> tuple[Any]:
    try:
        # In a box, since trio lets no coroutine out of a thread.
        return (call(),)
    except _EXITS as error:  # a loop would take it for its own end
        raise RuntimeError(f"raised {type(error).__name__}") from error


def _outcome(result: object) -> ToolOutcome:
    if not isinstance(result, ToolResult):
        return ToolOutcome(content=_content(result))
    if result.error is None:
        return ToolOutcome(content=result.content, citable_sources=result.citable_sources)
    return ToolOutcome(
        content=result.content or _FAILED,
        citable_sources=result.citable_sources,
        code="failure",
        error=result.error,
    )


def _content(result: object) -> str:
    if result is None:
        return ""
    if isinstance(result, str):
        return result
    import msgspec  # noqa: PLC0415 - who has no tools does not pay for it

    return encode_json(msgspec.to_builtins(result, str_keys=True))
