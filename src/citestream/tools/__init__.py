"""Tools that a model may call, and whether they may run: functions of the application.

``tool`` makes one of a function and runs it, ``parameters`` reads its signature, ``permissions``
asks whoever decides. The loop that runs what a model asks for is in ``citestream.session``.
"""

from .permissions import (
    PermissionHandler,
    PermissionHandlerFunction,
    PermissionInvocation,
    PermissionRequest,
    PermissionRequestResult,
)
from .tool import Tool, ToolInvocation, ToolOutcome, ToolResult, tool

__all__ = (
    "PermissionHandler",
    "PermissionHandlerFunction",
    "PermissionInvocation",
    "PermissionRequest",
    "PermissionRequestResult",
    "Tool",
    "ToolInvocation",
    "ToolOutcome",
    "ToolResult",
    "tool",
)
