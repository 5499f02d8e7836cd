"""Session events: what an upstream sends and what a session gives out (SPEC section 3).

``types`` has the names, ``data`` the payloads, ``envelope`` the event; ``native`` has what
providers hand on of a vendor's answer, before it becomes events. JSON is in ``wire``.
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
from .native import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerItem,
    AnswerText,
    AnswerToolCall,
    OffsetUnit,
    SourceFacts,
    TextRange,
)
from .types import SessionEventType

__all__ = (
    "AbortData",
    "AnswerCitation",
    "AnswerEnd",
    "AnswerFailure",
    "AnswerItem",
    "AnswerText",
    "AnswerToolCall",
    "AssistantIntentData",
    "AssistantMessageData",
    "AssistantMessageDeltaData",
    "AssistantMessageStartData",
    "AssistantReasoningData",
    "AssistantReasoningDeltaData",
    "AssistantTurnEndData",
    "AssistantTurnStartData",
    "AssistantUsageData",
    "OffsetUnit",
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
    "SourceFacts",
    "TextRange",
    "ToolExecutionCompleteData",
    "ToolExecutionCompleteResult",
    "ToolExecutionStartData",
    "UserMessageData",
)
