"""Session events: what an assistant's upstream sends and what a session gives out (SPEC section 3).

``types`` has the names, ``data`` the payloads, ``envelope`` the event. JSON is in ``wire``.
"""

from .data import (
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
    SessionEventData,
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
from .envelope import SessionEvent
from .types import SessionEventType

__all__ = (
    "AbortData",
    "AssistantIntentData",
    "AssistantMessageData",
    "AssistantMessageDeltaData",
    "AssistantMessageStartData",
    "AssistantReasoningData",
    "AssistantReasoningDeltaData",
    "AssistantTurnEndData",
    "AssistantTurnStartData",
    "AssistantUsageData",
    "RawSessionEventData",
    "SessionErrorData",
    "SessionEvent",
    "SessionEventData",
    "SessionEventType",
    "SessionIdleData",
    "SessionResumeData",
    "SessionShutdownData",
    "SessionStartData",
    "SessionWarningData",
    "ToolExecutionCompleteData",
    "ToolExecutionCompleteResult",
    "ToolExecutionStartData",
    "UserMessageData",
)
