"""Running the tools that a model asks for: permissions first, then all that may run at once.

In: the ``tool_requests`` of a message. Out: events about permissions and executions, whose results
the model is told next. Deliberately elsewhere: a single tool (``tools``), the question whether it
may run (``permissions``).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias
from uuid import uuid4

import anyio
import attrs

from ..errors import CitestreamError
from ..events import (
    RawSessionEventData,
    SessionEventData,
    SessionEventType,
    ToolExecutionCompleteData,
    ToolExecutionCompleteResult,
    ToolExecutionStartData,
)
from ..tools.permissions import (
    PermissionRequest,
    PermissionRequestResult,
    ask_permission,
    completed_payload,
    requested_payload,
)
from ..tools.tool import Tool, ToolInvocation, ToolOutcome, run_tool
from .backing import Backing

__all__ = ("run_requests",)

_Take: TypeAlias = Callable[[SessionEventType, SessionEventData], Awaitable[None]]


async def run_requests(
    requests: Iterable[Any], /, *, backing: Backing, session_id: str, take: _Take
) -> None:
    """Run what ``requests`` ask for and give what comes of it to ``take``, each as it ends.

    Raises the CitestreamError that ``take`` raises; what runs then is cancelled.
    """
    calls: dict[str, ToolInvocation] = {}
    for request in requests:
        call = _invocation(request, session_id)
        calls.setdefault(call.tool_call_id, call)  # a result could not tell two of one id apart
    settled = [(call, await _settled(call, backing, take)) for call in calls.values()]
    problems: list[CitestreamError] = []

    async def run(call: ToolInvocation, tool: Tool | _Refused) -> None:
        try:
            await _run(call, tool, take)
        except CitestreamError as error:
            problems.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for call, tool in settled:
            tasks.start_soon(run, call, tool)
    if problems:
        raise problems[0]


@attrs.frozen(kw_only=True)
class _Refused:
    """Why a call does not run."""

    outcome: ToolOutcome


def _invocation(request: Any, session_id: str) -> ToolInvocation:  # noqa: ANN401 - of an upstream
    asked = request if isinstance(request, Mapping) else {}
    return ToolInvocation(
        session_id=session_id,
        tool_call_id=str(asked.get("toolCallId")),
        tool_name=str(asked.get("name")),
        arguments=asked.get("arguments"),
    )


async def _settled(call: ToolInvocation, backing: Backing, take: _Take) -> Tool | _Refused:
    """Return the tool that runs, or why none does."""
    tool = backing.tools.get(call.tool_name)
    if tool is None:
        told = f"There is no tool {call.tool_name!r}."
        return _Refused(outcome=ToolOutcome(content=told, code="failure", error=told))
    if tool.skip_permission:
        return tool
    request = PermissionRequest(
        tool_name=tool.name,
        tool_description=tool.description,
        tool_call_id=call.tool_call_id,
        args=call.arguments,
    )
    request_id = str(uuid4())
    asked = RawSessionEventData(raw=requested_payload(request, request_id=request_id))
    await take(SessionEventType.PERMISSION_REQUESTED, asked)
    handler = backing.on_permission_request
    result = await ask_permission(handler, request, {"session_id": call.session_id})
    answered = completed_payload(result, request_id=request_id, tool_call_id=call.tool_call_id)
    await take(SessionEventType.PERMISSION_COMPLETED, RawSessionEventData(raw=answered))
    return tool if result.approved else _Refused(outcome=_denied(result))


def _denied(result: PermissionRequestResult) -> ToolOutcome:
    return ToolOutcome(content=result.content, code="denied", error=result.kind)


async def _run(call: ToolInvocation, tool: Tool | _Refused, take: _Take) -> None:
    start = ToolExecutionStartData(
        tool_call_id=call.tool_call_id, tool_name=call.tool_name, arguments=call.arguments
    )
    await take(SessionEventType.TOOL_EXECUTION_START, start)
    outcome = tool.outcome if isinstance(tool, _Refused) else await run_tool(tool, call)
    error = None if outcome.success else {"message": outcome.content, "code": outcome.code}
    data = ToolExecutionCompleteData(
        tool_call_id=call.tool_call_id,
        success=outcome.success,
        result=ToolExecutionCompleteResult(
            content=outcome.content, citable_sources=outcome.citable_sources or None
        ),
        error=error,
    )
    await take(SessionEventType.TOOL_EXECUTION_COMPLETE, data)
