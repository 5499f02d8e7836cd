"""Asking whether a tool may run, in the words of the Copilot SDK.

In: a handler of the application and a ``PermissionRequest``. Out: a ``PermissionRequestResult``,
settled: approved, or a denial that says whose it was. Nobody to ask, a handler that raises and an
answer that is none are denials too. Here are also the payloads of the two events about it.
Deliberately elsewhere: whether to ask at all, and giving out events (the session).
"""

import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, ClassVar, TypeAlias, TypedDict

import attrs

from ..errors import OptionError, brief

__all__ = (
    "PermissionHandler",
    "PermissionHandlerFunction",
    "PermissionInvocation",
    "PermissionRequest",
    "PermissionRequestResult",
    "ask_permission",
    "completed_payload",
    "requested_payload",
)

_logger = logging.getLogger("citestream.session")
_APPROVED = "approved"
_CANCELLED = "cancelled"
_BY_RULES = "denied-by-rules"
_BY_USER = "denied-interactively-by-user"
_NOBODY = "denied-no-approval-rule-and-could-not-request-from-user"
_SETTLED = {
    **dict.fromkeys(("approve-once", "approve-for-session", "approve-for-location"), _APPROVED),
    **dict.fromkeys(("approved-for-session", "approved-for-location"), _APPROVED),
    "approve-permanently": _APPROVED,
    "reject": _BY_USER,
    "user-not-available": _NOBODY,
    "no-result": _NOBODY,
    **{kind: kind for kind in (_APPROVED, _CANCELLED, _BY_RULES, _BY_USER, _NOBODY)},
}
"""What a handler may answer, and what it comes to."""


@attrs.frozen(kw_only=True)
class PermissionRequest:
    """What a handler is asked. ``args`` is what the model wrote for the tool, any JSON value."""

    kind: ClassVar[str] = "custom-tool"
    tool_name: str
    tool_description: str = ""
    tool_call_id: str | None = None
    args: Any = attrs.field(default=None, repr=False, hash=False)


class PermissionInvocation(TypedDict):
    """Where a request comes from, as the Copilot SDK passes it."""

    session_id: str


def _kind(_instance: object, _attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, str) or value not in _SETTLED:
        raise OptionError(f"kind: wanted approve-once, reject or the like, got {brief(value)}")


def _text_or_none(_instance: object, _attribute: "attrs.Attribute[Any]", value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise OptionError(f"feedback: wanted a string, got {brief(value)}")


@attrs.frozen(kw_only=True)
class PermissionRequestResult:
    """An answer to a request. Handlers say ``approve-once`` or ``reject``, with feedback or not.

    The other kinds: ``user-not-available`` and ``no-result`` where nobody could decide, and what
    the answers come to: ``approved``, ``denied-interactively-by-user``, ``denied-by-rules``,
    ``denied-no-approval-rule-and-could-not-request-from-user`` and ``cancelled``. Those of Copilot
    that approve for longer (``approve-for-session``, ``approve-for-location``,
    ``approve-permanently``) approve one call: the next one is asked for again.
    Raises OptionError for another kind.

    >>> PermissionRequestResult(kind="approve-once").approved
    True
    """

    kind: str = attrs.field(validator=_kind)
    feedback: str | None = attrs.field(default=None, validator=_text_or_none, repr=False)

    @property
    def approved(self) -> bool:
        """Whether the tool may run."""
        return _SETTLED[self.kind] == _APPROVED

    @property
    def content(self) -> str:
        """What the model is told of a denial, feedback included; ``""`` for an approval."""
        told = _TOLD.get(_SETTLED[self.kind], "")
        return f"{told} Feedback: {self.feedback}" if told and self.feedback else told


_TOLD = {
    _CANCELLED: "The tool was not run: the request for permission was cancelled.",
    _BY_RULES: "The tool was not run: the rules of this session do not allow it.",
    _BY_USER: "The tool was not run: the user did not allow it.",
    _NOBODY: "The tool was not run: it needs a permission that nobody could give.",
}

PermissionHandlerFunction: TypeAlias = Callable[
    [PermissionRequest, PermissionInvocation],
    PermissionRequestResult | Awaitable[PermissionRequestResult],
]
"""Decides about a request. One that waits for a person should be async: a sync one stops the loop.

Decisions of the Copilot SDK are understood too: whatever has a ``kind`` that is known.
"""


class PermissionHandler:
    """Handlers that are there already."""

    @staticmethod
    def approve_all(
        _request: PermissionRequest, _invocation: PermissionInvocation
    ) -> PermissionRequestResult:
        """Let every tool run."""
        return PermissionRequestResult(kind="approve-once")


async def ask_permission(
    handler: PermissionHandlerFunction | None,
    request: PermissionRequest,
    invocation: PermissionInvocation,
    /,
) -> PermissionRequestResult:
    """Ask ``handler`` and return its answer, settled: of a kind that the event may carry.

    Without a handler the answer is that nobody could be asked; so it is where the handler raises
    or returns no answer, which is logged. Raises nothing but cancellation.
    """
    if handler is None:
        return PermissionRequestResult(kind=_NOBODY)
    try:
        answer = handler(request, invocation)
        if isawaitable(answer):
            answer = await answer
        return PermissionRequestResult(
            kind=_SETTLED.get(answer.kind, answer.kind),
            feedback=getattr(answer, "feedback", None),
        )
    except Exception:  # a handler that cannot decide has not approved
        _logger.exception("the permission handler of session %s failed", invocation["session_id"])
        return PermissionRequestResult(kind=_NOBODY)


def requested_payload(request: PermissionRequest, /, *, request_id: str) -> dict[str, Any]:
    """Return the ``data`` of a ``permission.requested`` event, as JSON-ready values."""
    asked = {
        "kind": request.kind,
        "toolName": request.tool_name,
        "toolDescription": request.tool_description,
        "toolCallId": request.tool_call_id,
        "args": request.args,
    }
    shown = {key: value for key, value in asked.items() if value is not None}
    return {"requestId": request_id, "permissionRequest": shown}


def completed_payload(
    result: PermissionRequestResult, /, *, request_id: str, tool_call_id: str | None = None
) -> dict[str, Any]:
    """Return the ``data`` of a ``permission.completed`` event, as JSON-ready values."""
    kind = _SETTLED[result.kind]
    answer: dict[str, Any] = {"kind": kind}
    if kind == _BY_RULES:
        answer["rules"] = []
    if kind == _BY_USER and result.feedback is not None:
        answer["feedback"] = result.feedback
    payload = {"requestId": request_id, "toolCallId": tool_call_id, "result": answer}
    return {key: value for key, value in payload.items() if value is not None}
