"""Tools that a model may call: what a conversation says of them, and how requests list them.

In: definitions, and the arguments that a caller adds to a request. Out: the arguments with the
tools of both. Deliberately elsewhere: calls in an answer (``tool_calls``), calls of before
(``conversation``).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..errors import OptionError, brief

__all__ = ("TOOL_NAME", "ToolDefinition", "function_tools", "no_parameters", "with_tools")

TOOL_NAME: re.Pattern[str] = re.compile("[A-Za-z0-9_-]{1,64}")
"""The names that all vendors take."""


def _name(_instance: object, _attribute: object, value: Any) -> None:  # noqa: ANN401 - checked here
    if not isinstance(value, str) or not TOOL_NAME.fullmatch(value):
        raise OptionError(
            f"ToolDefinition.name: wanted 1 to 64 of A-Z, a-z, 0-9, _ and -, got {brief(value)}"
        )


def _parameters(_instance: object, _attribute: object, value: Any) -> None:  # noqa: ANN401 - checked here
    if not isinstance(value, Mapping) or value.get("type") != "object":
        raise OptionError(
            "ToolDefinition.parameters: wanted a JSON schema whose type is 'object', "
            f"got {brief(value)}"
        )


def no_parameters() -> dict[str, Any]:
    """Return the JSON schema of a tool that takes nothing."""
    return {"type": "object", "properties": {}}


@attrs.frozen(kw_only=True)
class ToolDefinition:
    """A tool that the model may call.

    ``name`` is 1 to 64 of A-Z, a-z, 0-9, ``_`` and ``-``, which all vendors take. ``parameters`` is
    the JSON schema of an object, by default of one without members. Raises OptionError for others.
    """

    name: str = attrs.field(validator=_name)
    description: str = ""
    parameters: Mapping[str, Any] = attrs.field(
        factory=no_parameters, validator=_parameters, hash=False
    )

    @property
    def named(self) -> dict[str, Any]:
        """Name and description, without a blank one, which some vendors refuse."""
        described = {"description": self.description} if self.description.strip() else {}
        return {"name": self.name, **described}


def function_tools(tools: Iterable[ToolDefinition], /) -> list[dict[str, Any]]:
    """List ``tools`` as Chat Completions take them, and the vendors that resemble it.

    >>> function_tools([ToolDefinition(name="look")])[0]["function"]["name"]
    'look'
    """
    return [
        {"type": "function", "function": {**tool.named, "parameters": dict(tool.parameters)}}
        for tool in tools
    ]


def with_tools(
    asked: Mapping[str, Any], arguments: Mapping[str, Any], /, *, tools: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """Return a request with the ``arguments`` that the caller adds; tools of both are sent.

    >>> with_tools({"model": "m"}, {"tools": [{"type": "web_search"}]}, tools=[{"name": "look"}])
    {'model': 'm', 'tools': [{'name': 'look'}, {'type': 'web_search'}]}
    """
    both = [*tools, *(arguments.get("tools") or ())]
    return {**asked, **arguments, **({"tools": both} if both else {})}
