"""The real Copilot runtime, offline: where it is, how it is started, and replies for it to read.

In: an npm folder with ``@github/copilot`` and the package ``github-copilot-sdk``. Out: a client of
it whose model is a server of the tests. Nothing is downloaded here, and nothing leaves the machine:
the runtime gets a proxy that does not answer, a home of its own and a key that opens nothing.

It is looked for in ``COPILOT_CLI_PATH`` (the executable itself), in the folder that
``CITESTREAM_NODE_MODULES`` names, in ``node_modules`` and in ``.ci/env-node/node_modules``::

    npm install --no-audit --no-fund --prefix .ci/env-node @github/copilot@1.0.102
"""

import asyncio
import contextlib
import os
import platform
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from providers.loopback import SSE, Reply, drawn, sse

__all__ = (
    "ANTHROPIC",
    "OPENAI",
    "anthropic_events",
    "find",
    "openai_events",
    "reply",
    "started",
)

ROOT = Path(__file__).parents[2]
_SECONDS = 25
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
_MACHINES = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64", "aarch64": "arm64"}

ANTHROPIC = {"type": "anthropic", "model_id": "claude-sonnet-4.5", "wire_model": "m"}
"""What ``provider`` of a session says of a model that speaks as Anthropic does."""

OPENAI = {"type": "openai", "wire_api": "responses", "model_id": "gpt-5", "wire_model": "m"}
"""The same for one that speaks as OpenAI Responses does."""


def find() -> str | None:
    """Return the path of the runtime, None where there is none."""
    named = os.environ.get("COPILOT_CLI_PATH")
    if named:
        return named if Path(named).exists() else None
    folders = [
        os.environ.get("CITESTREAM_NODE_MODULES"),
        "node_modules",
        ".ci/env-node/node_modules",
    ]
    kind = f"{_SYSTEMS.get(sys.platform)}-{_MACHINES.get(platform.machine())}"
    for folder in filter(None, folders):
        package = ROOT / folder / "@github" / f"copilot-{kind}"
        for name in ("copilot", "copilot.exe"):
            if (package / name).is_file():
                return str(package / name)
    return None


@asynccontextmanager
async def started(sdk: Any, path: str, home: Path) -> AsyncIterator[Any]:
    """Run the runtime at ``path``; whatever happens, its process is gone afterwards."""
    kept = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ
    }
    nowhere = "http://127.0.0.1:9"
    env = {
        **kept,
        "HOME": str(home),
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1",
    }
    client = sdk.CopilotClient(
        connection=sdk.StdioRuntimeConnection(path=path),
        env=env,
        base_directory=str(home / "copilot"),
        working_directory=str(home),
        use_logged_in_user=False,
    )
    process = None
    try:
        async with asyncio.timeout(_SECONDS):
            await client.start()
        process = client._cli_process  # noqa: SLF001 - to be sure that it ends
        yield client
    finally:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_SECONDS):
                await client.stop()
        if process is not None:
            _end(process)


def _end(process: Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait(5)
    for pipe in (process.stdin, process.stdout, process.stderr):  # which the SDK leaves open
        if pipe is not None:
            pipe.close()


def reply(events: list[dict[str, Any]]) -> Reply:
    """Make a reply of ``events`` in pieces that respect no border."""
    framed = b"".join(sse(event, event=event["type"]) for event in events)
    return Reply(headers=SSE, pieces=drawn(framed, seed=1))


def anthropic_events(*blocks: tuple[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Script the events of an answer: blocks of text, each with its citations."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (text, citations) in enumerate(blocks):
        block = {"type": "text", "text": "", **({"citations": []} if citations else {})}
        deltas = [{"type": "citations_delta", "citation": citation} for citation in citations]
        half = len(text) // 2
        deltas += [{"type": "text_delta", "text": part} for part in (text[:half], text[half:])]
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 20}})
    return [*events, {"type": "message_stop"}]


def openai_events(text: str, *annotations: dict[str, Any]) -> list[dict[str, Any]]:
    """Script the events of an answer of one part, with what is noted in it."""
    at = {"item_id": "item_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    item = {"id": "item_1", "type": "message", "role": "assistant", "status": "completed"}
    item |= {"content": [part]}
    tokens = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30}
    tokens |= {"input_tokens_details": {"cached_tokens": 0}}
    tokens |= {"output_tokens_details": {"reasoning_tokens": 0}}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": []}
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
    ]
    events += [
        {"type": "response.output_text.delta", **at, "delta": text[start : start + 9]}
        for start in range(0, len(text), 9)
    ]
    events += [
        {
            "type": "response.output_text.annotation.added",
            **at,
            "annotation_index": number,
            "annotation": annotation,
        }
        for number, annotation in enumerate(annotations)
    ]
    done = {**response, "status": "completed", "output": [item], "usage": tokens}
    events += [
        {"type": "response.output_text.done", **at, "text": text},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
