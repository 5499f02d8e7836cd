"""What vendors send of calls of tools, one ``Wire`` for each, as plain dicts.

In: text, and calls with arguments cut into pieces. Out: chunks of a stream, or a whole answer::

    wire = WIRES["openai_chat"]
    items = [i for chunk in streamed(wire, [Call("c1", "look", '{"q": 1}')]) for i in ...]
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from citestream.providers.anthropic import Anthropic
from citestream.providers.bedrock import Bedrock
from citestream.providers.cohere import Cohere
from citestream.providers.gemini import Gemini
from citestream.providers.mistral import Mistral
from citestream.providers.openai import OpenAIResponses
from citestream.providers.openai_chat import OpenAIChat

__all__ = ("WIRES", "Call", "Wire", "streamed")


@attrs.frozen
class Call:
    """A call as a model writes it: arguments are text."""

    id: str
    name: str
    text: str = "{}"

    @property
    def object(self) -> Any:
        return json.loads(self.text or "{}")


@attrs.frozen(kw_only=True)
class Wire:
    """How one API of a vendor says it. ``at`` is the place of a block or call, from 0.

    ``pieces`` tells whether arguments stream in pieces. ``foreign`` are chunks about tools that the
    vendor runs itself. ``cut`` is the reason to stop at a limit, ``None`` where calls are atomic.
    """

    make: Callable[[], Any]
    text: Callable[[int, str], Sequence[Any]]
    begin: Callable[[int, Call], Sequence[Any]]
    piece: Callable[[int, Call, str], Any] | None
    end: Callable[[int, Call], Sequence[Any]]
    close: Callable[[str | None, Sequence[Call]], Sequence[Any]]
    whole: Callable[[str, Sequence[Call]], Any]
    open: Sequence[Any] = ()
    foreign: Sequence[Any] = ()
    done: str
    cut: str | None
    model: str | None = "m"


def streamed(
    wire: Wire,
    calls: Sequence[Call],
    *,
    text: str = "",
    size: int = 3,
    reason: str | None = None,
    foreign: bool = False,
) -> list[Any]:
    """Stream ``text`` and then ``calls``, their arguments ``size`` characters at a time."""
    chunks = [*wire.open, *(wire.foreign if foreign else ()), *(wire.text(0, text) if text else ())]
    for at, call in enumerate(calls, start=1):
        chunks += wire.begin(at, call)
        if wire.piece is not None:
            pieces = (call.text[n : n + size] for n in range(0, len(call.text) or 1, size))
            chunks += [wire.piece(at, call, piece) for piece in pieces]
        chunks += wire.end(at, call)
    return [*chunks, *wire.close(reason or wire.done, calls)]


def _nothing(*_: object) -> Sequence[Any]:
    return ()


# -- Anthropic


def _block(at: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[Any]:
    start = {"type": "content_block_start", "index": at, "content_block": block}
    between = [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
    return [start, *between, {"type": "content_block_stop", "index": at}]


def _message(content: list[Any], reason: str | None) -> dict[str, Any]:
    about = {"type": "message", "id": "m", "role": "assistant", "model": "m", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**about, "stop_reason": reason, "stop_sequence": None, "usage": usage}


_SERVER_TOOL = {
    "type": "server_tool_use",
    "id": "srv",
    "name": "web_search",
    "input": {"query": "x"},
}
_SERVER_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}

anthropic = Wire(
    make=Anthropic,
    open=[{"type": "message_start", "message": _message([], None)}],
    text=lambda at, words: _block(
        at, {"type": "text", "text": ""}, {"type": "text_delta", "text": words}
    ),
    begin=lambda at, call: _block(
        at, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    )[:1],
    piece=lambda at, _, piece: _block(at, {}, {"type": "input_json_delta", "partial_json": piece})[
        1
    ],
    end=lambda at, _: _block(at, {})[-1:],
    close=lambda reason, _: [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ],
    whole=lambda text, calls: _message(
        [
            _SERVER_TOOL,
            *([{"type": "text", "text": text}] if text else []),
            *(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.object}
                for call in calls
            ),
        ],
        "tool_use",
    ),
    foreign=[
        *_block(8, _SERVER_TOOL, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}),
        *_block(9, _SERVER_RESULT),
    ],
    done="tool_use",
    cut="max_tokens",
)


# -- Bedrock


def _used(call: Call, **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call.id, "name": call.name, **more}}


def _delta(at: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}}


def _start(at: int, start: dict[str, Any]) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": at, "start": start}}


_SEARCH = Call("srv", "nova_grounding")

bedrock = Wire(
    make=lambda: Bedrock(claude=True),
    open=[{"messageStart": {"role": "assistant"}}],
    text=lambda at, words: [
        _delta(at, text=words),
        {"contentBlockStop": {"contentBlockIndex": at}},
    ],
    begin=lambda at, call: [_start(at, _used(call))],
    piece=lambda at, _, piece: _delta(at, toolUse={"input": piece}),
    end=lambda at, _: [{"contentBlockStop": {"contentBlockIndex": at}}],
    close=lambda reason, _: [
        {"messageStop": {"stopReason": reason}},
        {"metadata": {"usage": {"inputTokens": 1}, "metrics": {"latencyMs": 5}}},
    ],
    whole=lambda text, calls: {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    _used(_SEARCH, input={}, type="server_tool_use"),
                    *([{"text": text}] if text else []),
                    *(_used(call, input=call.object) for call in calls),
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 5},
    },
    foreign=[
        _start(8, _used(_SEARCH, type="server_tool_use")),
        _delta(8, toolUse={"input": "{}"}),
        {"contentBlockStop": {"contentBlockIndex": 8}},
    ],
    done="tool_use",
    cut="max_tokens",
    model=None,
)


# -- Chat Completions, and the vendors that resemble it


def _function(call: Call, arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **more}


def _choice(kind: str, message: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, kind: message, "finish_reason": reason}
    stream = ".chunk" if kind == "delta" else ""
    about = {"id": "c", "object": f"chat.completion{stream}", "created": 1, "model": "m"}
    usage = {} if stream else {"usage": _USAGE}
    return {**about, "choices": [choice], **usage}


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _chat_piece(at: int, piece: str) -> dict[str, Any]:
    return _choice("delta", {"tool_calls": [{"index": at - 1, "function": {"arguments": piece}}]})


openai_chat = Wire(
    make=OpenAIChat,
    open=[_choice("delta", {"role": "assistant", "content": None})],
    text=lambda _, words: [_choice("delta", {"content": words})],
    begin=lambda at, call: [_choice("delta", {"tool_calls": [_function(call, "", index=at - 1)]})],
    piece=lambda at, _, piece: _chat_piece(at, piece),
    end=_nothing,
    close=lambda reason, _: [_choice("delta", {}, reason)],
    whole=lambda text, calls: _choice(
        "message",
        {
            "role": "assistant",
            "content": text or None,
            "tool_calls": [_function(call, call.text) for call in calls],
        },
        "tool_calls",
    ),
    done="tool_calls",
    cut="length",
)

mistral = Wire(
    make=Mistral,
    open=[_choice("delta", {"role": "assistant", "content": ""})],
    text=lambda _, words: [_choice("delta", {"content": words})],
    begin=_nothing,
    # All at once from the vendor itself; servers of its models repeat id and name.
    piece=lambda at, call, piece: _choice(
        "delta", {"tool_calls": [_function(call, piece, index=at - 1)]}
    ),
    end=_nothing,
    close=lambda reason, _: [_choice("delta", {"content": ""}, reason)],
    whole=lambda text, calls: _choice(
        "message",
        {
            "role": "assistant",
            "content": text,
            "tool_calls": [_function(call, call.object) for call in calls],
        },
        "tool_calls",
    ),
    done="tool_calls",
    cut="length",
)


def _entry(call: Call, kind: str, arguments: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "id": f"entry_{call.id}",
        "name": call.name,
        "tool_call_id": call.id,
        "arguments": arguments,
    }


_EXECUTED = {"name": "web_search", "arguments": "{}", "id": "srv"}


def _said(words: str) -> dict[str, Any]:
    about = {"type": "message.output", "id": "msg", "model": "m", "role": "assistant"}
    return {**about, "content": words}


mistral_conversations = Wire(
    make=Mistral,
    open=[{"type": "conversation.response.started", "conversation_id": "c"}],
    text=lambda _, words: [{**_said(words), "type": "message.output.delta"}],
    begin=_nothing,
    piece=lambda _, call, piece: _entry(call, "function.call.delta", piece),
    end=_nothing,
    close=lambda _, __: [{"type": "conversation.response.done", "usage": _USAGE}],
    whole=lambda text, calls: {
        "object": "conversation.response",
        "conversation_id": "c",
        "usage": _USAGE,
        "outputs": [
            {"type": "tool.execution", **_EXECUTED},
            *([_said(text)] if text else []),
            *(_entry(call, "function.call", call.object) for call in calls),
        ],
    },
    foreign=[
        {"type": "tool.execution.started", **_EXECUTED},
        {"type": "tool.execution.done", "id": "srv", "name": "web_search"},
    ],
    done="stop",
    cut=None,
    model=None,
)


# -- Cohere


def _cohere(kind: str, at: int, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": at, "delta": {"message": message}}


cohere = Wire(
    make=Cohere,
    open=[
        {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will look."}}},
    ],
    text=lambda at, words: [
        _cohere("content-start", at, content={"type": "text", "text": ""}),
        _cohere("content-delta", at, content={"text": words}),
        {"type": "content-end", "index": at},
    ],
    begin=lambda at, call: [_cohere("tool-call-start", at, tool_calls=_function(call, ""))],
    piece=lambda at, _, piece: _cohere(
        "tool-call-delta", at, tool_calls={"function": {"arguments": piece}}
    ),
    end=lambda at, _: [{"type": "tool-call-end", "index": at}],
    close=lambda reason, _: [{"type": "message-end", "delta": {"finish_reason": reason}}],
    whole=lambda text, calls: {
        "id": "m",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "I will look.",
            "content": [{"type": "text", "text": text}] if text else [],
            "tool_calls": [_function(call, call.text) for call in calls],
        },
    },
    done="TOOL_CALL",
    cut="MAX_TOKENS",
    model=None,
)


# -- Gemini


def _candidate(parts: list[Any], reason: str | None = None) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    ended = {} if reason is None else {"finishReason": reason}
    return {"candidates": [{**candidate, **ended}], "modelVersion": "m"}


def _part(call: Call) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": call.object}}


_CODE = {"executableCode": {"language": "PYTHON", "code": "1"}}

gemini = Wire(
    make=Gemini,
    text=lambda _, words: [_candidate([{"text": words}])],
    begin=lambda _, call: [_candidate([_part(call)])],
    piece=None,
    end=_nothing,
    close=lambda reason, _: [_candidate([{"text": ""}], reason)],
    whole=lambda text, calls: _candidate(
        [_CODE, *([{"text": text}] if text else []), *map(_part, calls)], "STOP"
    ),
    foreign=[_candidate([_CODE])],
    done="STOP",
    cut=None,
)


def _event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"event_type": kind, **fields}


def _step(call: Call, arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": call.id, "name": call.name, "arguments": arguments}


_GOOGLED = {"type": "google_search_call", "id": "srv", "arguments": {"queries": ["x"]}}


def _output(text: str) -> dict[str, Any]:
    return {"type": "model_output", "content": [{"type": "text", "text": text}]}


gemini_interactions = Wire(
    make=Gemini,
    open=[_event("interaction.created", interaction={"id": "i", "status": "in_progress"})],
    text=lambda at, words: [
        _event("step.start", index=at, step={"type": "model_output"}),
        _event("step.delta", index=at, delta={"type": "text", "text": words}),
        _event("step.stop", index=at),
    ],
    begin=lambda at, call: [_event("step.start", index=at, step=_step(call, {}))],
    piece=lambda at, _, piece: _event(
        "step.delta", index=at, delta={"type": "arguments_delta", "arguments": piece}
    ),
    end=lambda at, _: [_event("step.stop", index=at)],
    close=lambda reason, _: [
        _event("interaction.completed", interaction={"id": "i", "status": reason, "model": "m"})
    ],
    whole=lambda text, calls: {
        "id": "i",
        "object": "interaction",
        "status": "requires_action",
        "model": "m",
        "created": "2026-06-01T00:00:00Z",
        "updated": "2026-06-01T00:00:00Z",
        "steps": [
            _GOOGLED,
            *([_output(text)] if text else []),
            *(_step(call, call.object) for call in calls),
        ],
    },
    foreign=[_event("step.start", index=8, step=_GOOGLED), _event("step.stop", index=8)],
    done="requires_action",
    cut="incomplete",
)


# -- OpenAI Responses


def _function_call(call: Call, text: str, status: str = "completed") -> dict[str, Any]:
    about = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id}
    return {**about, "name": call.name, "arguments": text, "status": status}


def _response(output: list[Any], status: str) -> dict[str, Any]:
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status}
    settings = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    return {**about, **settings, "output": output}


def _words(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    about = {"type": "message", "id": "msg", "role": "assistant", "status": "completed"}
    return {**about, "content": [part]}


def _arguments(kind: str, at: int, call: Call, **fields: Any) -> dict[str, Any]:
    about = {"type": f"response.function_call_arguments.{kind}", "item_id": f"fc_{call.id}"}
    return {**about, "output_index": at, **fields}


_SEARCHED = {"type": "web_search_call", "id": "srv", "status": "completed"}
_SEARCHED["action"] = {"type": "search", "query": "x"}


def _done(at: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": at, "item": item}


openai = Wire(
    make=OpenAIResponses,
    open=[{"type": "response.created", "response": _response([], "in_progress")}],
    text=lambda at, words: [
        {
            "type": "response.output_text.delta",
            "item_id": "msg",
            "output_index": at,
            "content_index": 0,
            "delta": words,
            "logprobs": [],
        },
        _done(at, _words(words)),
    ],
    begin=lambda at, call: [
        {
            "type": "response.output_item.added",
            "output_index": at,
            "item": _function_call(call, "", "in_progress"),
        }
    ],
    piece=lambda at, call, piece: _arguments("delta", at, call, delta=piece),
    end=lambda at, call: [
        _arguments("done", at, call, arguments=call.text, name=call.name),
        _done(at, _function_call(call, call.text)),
    ],
    # The final payload has the calls once more.
    close=lambda status, calls: [
        {
            "type": f"response.{status}",
            "response": _response([_function_call(call, call.text) for call in calls], str(status)),
        }
    ],
    whole=lambda text, calls: _response(
        [
            _SEARCHED,
            *([_words(text)] if text else []),
            *(_function_call(call, call.text) for call in calls),
        ],
        "completed",
    ),
    foreign=[_done(8, _SEARCHED)],
    done="completed",
    cut="incomplete",
)

WIRES: dict[str, Wire] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "cohere": cohere,
    "gemini": gemini,
    "gemini_interactions": gemini_interactions,
    "mistral": mistral,
    "mistral_conversations": mistral_conversations,
    "openai": openai,
    "openai_chat": openai_chat,
}
"""By the vendor and, where it has several, its API."""
