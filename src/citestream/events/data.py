"""What a session event carries, one frozen value per typed kind (SPEC section 3).

The fields are those that a chat client reads; whatever else the upstream sent is in ``extra``
under its wire name. Kinds without a class here travel as ``RawSessionEventData``.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from ..model import NO_EXTRA, CitableSource, Citations, Extra

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
    "SessionEventData",
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


def _extra() -> Any:  # noqa: ANN401 - an attrs field
    return attrs.field(default=NO_EXTRA, repr=False, hash=False)


@attrs.frozen(kw_only=True)
class SessionStartData:
    """A session began. ``start_time`` is the upstream's own text."""

    session_id: str
    start_time: str | None = None
    producer: str | None = None
    version: int | None = None
    selected_model: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class SessionResumeData:
    """A session was taken up again. ``resume_time`` is the upstream's own text."""

    event_count: int | None = None
    resume_time: str | None = None
    selected_model: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class SessionIdleData:
    """The session has nothing left to do; ``aborted`` says whether it was stopped."""

    aborted: bool | None = None
    mode: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class SessionErrorData:
    """The session failed."""

    message: str
    error_type: str | None = None
    error_code: str | None = None
    status_code: int | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class SessionWarningData:
    """Something went wrong that does not stop the session.

    Warnings of this package have ``warning_type`` ``decode_error`` or ``citation.`` and the kind of
    an issue; their ``extra`` holds the details.
    """

    message: str
    warning_type: str
    url: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class SessionShutdownData:
    """The session ended."""

    shutdown_type: str | None = None
    error_reason: str | None = None
    current_model: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class UserMessageData:
    """What the user said."""

    content: str
    message_id: str | None = None
    attachments: tuple[Any, ...] | None = attrs.field(default=None, hash=False)
    turn_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantTurnStartData:
    """One call of the model began."""

    turn_id: str
    model: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantTurnEndData:
    """One call of the model ended."""

    turn_id: str
    model: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantMessageStartData:
    """A message begins to stream."""

    message_id: str
    phase: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantMessageDeltaData:
    """The next piece of a message that streams."""

    message_id: str
    delta_content: str
    parent_tool_call_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantMessageData:
    """A message, whole. ``citations`` is None when nothing was cited.

    ``chunk_index`` and ``chunk_count`` are set when the upstream split one model call.
    """

    content: str
    message_id: str
    citations: Citations | None = None
    model: str | None = None
    turn_id: str | None = None
    phase: str | None = None
    chunk_index: int | None = None
    chunk_count: int | None = None
    parent_tool_call_id: str | None = None
    reasoning_text: str | None = None
    tool_requests: tuple[Any, ...] | None = attrs.field(default=None, hash=False)
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantReasoningData:
    """The model's reasoning, whole."""

    content: str
    reasoning_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantReasoningDeltaData:
    """The next piece of the model's reasoning."""

    delta_content: str
    reasoning_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantUsageData:
    """What one call of the model cost, in tokens."""

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AssistantIntentData:
    """What the assistant says it is about to do."""

    intent: str
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class ToolExecutionStartData:
    """A tool begins to run. ``arguments`` is any JSON value."""

    tool_call_id: str
    tool_name: str
    arguments: Any = attrs.field(default=None, hash=False)
    turn_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class ToolExecutionCompleteResult:
    """What a tool returned, and what of it the model may cite."""

    content: str
    detailed_content: str | None = None
    citable_sources: tuple[CitableSource, ...] | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class ToolExecutionCompleteData:
    """A tool has run. ``error`` is any JSON value."""

    tool_call_id: str
    success: bool
    result: ToolExecutionCompleteResult | None = None
    error: Any = attrs.field(default=None, hash=False)
    turn_id: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class AbortData:
    """The work in progress was stopped."""

    reason: str | None = None
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class RawSessionEventData:
    """The payload of a kind that has no class, as the JSON value that came."""

    raw: Any = attrs.field(hash=False)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return ``raw[key]``; raises KeyError where the payload has no such key."""
        if isinstance(self.raw, Mapping) and key in self.raw:
            return self.raw[key]
        raise KeyError(key)


SessionEventData: TypeAlias = (
    SessionStartData
    | SessionResumeData
    | SessionIdleData
    | SessionErrorData
    | SessionWarningData
    | SessionShutdownData
    | UserMessageData
    | AssistantTurnStartData
    | AssistantTurnEndData
    | AssistantMessageStartData
    | AssistantMessageDeltaData
    | AssistantMessageData
    | AssistantReasoningData
    | AssistantReasoningDeltaData
    | AssistantUsageData
    | AssistantIntentData
    | ToolExecutionStartData
    | ToolExecutionCompleteData
    | AbortData
    | RawSessionEventData
)
