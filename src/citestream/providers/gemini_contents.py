"""What is sent to Gemini: contents with calls and their results, and the configuration.

In: a conversation, its material shown with markers. Out: keyword arguments of generateContent.
Deliberately elsewhere: what comes back (``gemini``).
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from ..conversation.turns import Conversation, Message, ToolTurn, UserTurn
from .chunks import text
from .tool_calls import decoded

__all__ = ("config_of", "contents_of", "signature_of")

_SIGNATURE = "thoughtSignature"


def contents_of(messages: Iterable[Message], /) -> list[dict[str, Any]]:
    """Return messages as contents; the calls of one, and their results, are one content each."""
    contents = []
    for turn, shown, calls in messages:
        if isinstance(turn, UserTurn):
            contents.append(("user", _texts(_joined(shown, turn.text))))
        else:
            made = [_call(call) for call, _ in calls]
            contents.append(("model", [*_texts(turn.text), *made]))
            contents.append(("user", [_result(call, material) for call, material in calls]))
    return [{"role": role, "parts": parts} for role, parts in contents if parts]


def config_of(
    conversation: Conversation,
    given: Any,  # noqa: ANN401 - a mapping or the SDK's own
    /,
    *,
    system: str | None,
) -> dict[str, Any]:
    """Return ``given``, a configuration of the caller's, with the system prompt and tools added."""
    config = {name: value for name, value in dict(given or {}).items() if value is not None}
    if system:
        config = {"system_instruction": system, **config}
    declared = [
        {**one.named, "parameters_json_schema": dict(one.parameters)} for one in conversation.tools
    ]
    if declared:
        config["tools"] = [{"function_declarations": declared}, *(config.get("tools") or ())]
        # The SDK calls functions itself where it can, and warns where it cannot.
        config.setdefault("automatic_function_calling", {"disable": True})
    return config


def signature_of(signature: object, /) -> dict[str, Any] | None:
    """Return the signature of the thought behind a call as the ``provider_data`` of that call.

    Gemini 3 refuses calls that come back without it.

    >>> signature_of(b"x")
    {'thoughtSignature': 'eA=='}
    """
    if isinstance(signature, bytes):
        signature = b64encode(signature).decode("ascii")
    return {_SIGNATURE: signature} if isinstance(signature, str) and signature else None


def _call(call: ToolTurn) -> dict[str, Any]:
    part = {"function_call": {"id": call.call_id, "name": call.name, "args": call.input}}
    # The SDK wants bytes.
    signature = decoded(text(call.provider_data, _SIGNATURE))
    return {**part, "thought_signature": signature} if signature else part


def _result(call: ToolTurn, material: str) -> dict[str, Any]:
    response = {"result": _joined(call.text, material)}
    return {"function_response": {"id": call.call_id, "name": call.name, "response": response}}


def _texts(words: str) -> list[dict[str, Any]]:
    return [{"text": words}] if words else []  # no part may be empty


def _joined(*texts: str) -> str:
    return "\n\n".join(part for part in texts if part)
