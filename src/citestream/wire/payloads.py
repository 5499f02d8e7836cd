"""What each kind of event carries, as JSON: one table from the wire's kinds to the payload classes.

``PAYLOADS`` has the kinds with a class; the payload of any other kind passes as ``RAW``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import EncodeError
from ..events import (
    AbortData,
    AssistantIntentData,
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
    AssistantReasoningData,
    AssistantReasoningDeltaData,
    AssistantTurnEndData,
    AssistantTurnStartData,
    AssistantUsageData,
    RawSessionEventData,
    SessionErrorData,
    SessionEventType,
    SessionIdleData,
    SessionResumeData,
    SessionShutdownData,
    SessionStartData,
    SessionWarningData,
    ToolExecutionCompleteData,
    ToolExecutionCompleteResult,
    ToolExecutionStartData,
    UserMessageData,
)
from ..model import NO_EXTRA, CitableSource, Citations
from .build import blank, draft
from .citations import CITATIONS
from .fields import ANYTHING, Kind, array, record
from .tree import Trail, misfit

__all__ = ("CLASSES", "PAYLOADS", "RAW")

CLASSES: Mapping[SessionEventType, type[Any]] = MappingProxyType(
    {
        SessionEventType.SESSION_START: SessionStartData,
        SessionEventType.SESSION_RESUME: SessionResumeData,
        SessionEventType.SESSION_IDLE: SessionIdleData,
        SessionEventType.SESSION_ERROR: SessionErrorData,
        SessionEventType.SESSION_WARNING: SessionWarningData,
        SessionEventType.SESSION_SHUTDOWN: SessionShutdownData,
        SessionEventType.USER_MESSAGE: UserMessageData,
        SessionEventType.ASSISTANT_TURN_START: AssistantTurnStartData,
        SessionEventType.ASSISTANT_TURN_END: AssistantTurnEndData,
        SessionEventType.ASSISTANT_MESSAGE_START: AssistantMessageStartData,
        SessionEventType.ASSISTANT_MESSAGE_DELTA: AssistantMessageDeltaData,
        SessionEventType.ASSISTANT_MESSAGE: AssistantMessageData,
        SessionEventType.ASSISTANT_REASONING: AssistantReasoningData,
        SessionEventType.ASSISTANT_REASONING_DELTA: AssistantReasoningDeltaData,
        SessionEventType.ASSISTANT_USAGE: AssistantUsageData,
        SessionEventType.ASSISTANT_INTENT: AssistantIntentData,
        SessionEventType.TOOL_EXECUTION_START: ToolExecutionStartData,
        SessionEventType.TOOL_EXECUTION_COMPLETE: ToolExecutionCompleteData,
        SessionEventType.ABORT: AbortData,
    }
)
"""The kinds whose payload has a class. Its attrs fields say which keys the wire has."""

_RESULT = record(
    ToolExecutionCompleteResult,
    {tuple[CitableSource, ...]: array(record(CitableSource))},
)
_DELTA = record(AssistantMessageDeltaData)
_DeltaDraft = draft(AssistantMessageDeltaData)


def _decode_delta(tree: Any, trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    # The kind that comes by the hundred per answer has its usual shape read directly.
    if type(tree) is dict and len(tree) == 2:  # noqa: PLR2004 - the two keys below
        message, delta = tree.get("messageId"), tree.get("deltaContent")
        if type(message) is str and type(delta) is str:
            data: Any = blank(_DeltaDraft)
            data.message_id = message
            data.delta_content = delta
            data.parent_tool_call_id = None
            data.extra = NO_EXTRA
            data.__class__ = AssistantMessageDeltaData
            return data
    return _DELTA.decode(tree, trail, unread)


def _encode_delta(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - checked here
    if type(value) is AssistantMessageDeltaData and value.extra is NO_EXTRA:
        message, delta = value.message_id, value.delta_content
        if type(message) is str and type(delta) is str and value.parent_tool_call_id is None:
            return {"messageId": message, "deltaContent": delta}
    return _DELTA.encode(value, trail)


def _decode_raw(tree: Any, _trail: Trail, unread: list[Any]) -> Any:  # noqa: ANN401 - a JSON value
    unread.append(tree)
    return RawSessionEventData(raw=tree)


def _encode_raw(value: Any, trail: Trail) -> Any:  # noqa: ANN401 - a JSON value
    if type(value) is not RawSessionEventData:
        raise misfit(EncodeError, trail, "a value of type RawSessionEventData", value)
    return ANYTHING.encode(value.raw, trail)


RAW = Kind(decode=_decode_raw, encode=_encode_raw)
PAYLOADS: Mapping[SessionEventType, Kind] = MappingProxyType(
    {
        kind: record(cls, {Citations: CITATIONS, ToolExecutionCompleteResult: _RESULT})
        for kind, cls in CLASSES.items()
    }
    | {SessionEventType.ASSISTANT_MESSAGE_DELTA: Kind(decode=_decode_delta, encode=_encode_delta)}
)
