"""The vendors of the README's table: what it says there is called, over a server on this machine.

In: the name of a vendor and the url of a server. Out: the provider of the README's row, with the
vendor's own client, which is told nothing but where to ask, with what key, and not to try again.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from citestream import VendorProvider, providers
from providers.calling import WIRES, Call, Wire
from providers.citing import ANSWERS, Piece
from providers.loopback import EVENT_STREAM, SSE, event_stream, sse

__all__ = ("CALL", "KEY", "ROWS", "SIGNATURE", "VENDORS", "Vendor", "alone", "every_vendor")

KEY = "sk-canary"
CALL = Call("call_a1", "search", '{"query": "taxi 🚕"}')
SIGNATURE = "c2lnbmF0dXJl"

_README = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")

ROWS = dict(re.findall(r"^\| ([^|]+) \| `(VendorProvider\([^`]*\))` \|$", _README, re.MULTILINE))
"""What the README says to write, by the name of the vendor there."""


def alone(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Keep what this machine is set to out of the vendors' clients; ``folder`` is an empty one."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(folder / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@attrs.frozen(kw_only=True)
class Vendor:
    """A row of the README's table.

    ``names`` makes what the row names of the vendor's SDK from a url. ``history`` is what the turns
    stand under in a request. ``thoughts`` come before a call and go back with it.
    """

    row: str
    api: str
    sdk: str
    names: Callable[[Any, str], dict[str, Any]]
    history: str = "messages"
    model: str = "m"
    done: bytes = b""
    thoughts: Sequence[Any] = ()

    @property
    def wire(self) -> Wire:
        return WIRES[self.api]

    @property
    def headers(self) -> dict[str, str]:
        return EVENT_STREAM if self.api == "bedrock" else SSE

    def provider(self, url: str) -> VendorProvider:
        """Return what the README's row says."""
        sdk = pytest.importorskip(self.sdk, reason=f"{self.sdk} is not installed")
        row = ROWS[self.row].replace('"..."', repr(self.model))
        known = {"VendorProvider": VendorProvider, "providers": providers}
        return eval(row, known | self.names(sdk, url))  # noqa: S307 - our README

    def framed(self, chunks: Sequence[Any]) -> list[bytes]:
        """Return the bytes of each chunk."""
        if self.api == "bedrock":
            return event_stream(chunks)
        return [sse(one, event=one.get("type")) for one in chunks]

    def calls(self) -> bytes:
        """Return an answer that calls the tool."""
        at, wire = len(self.thoughts) and 1, self.wire
        said = () if self.api == "cohere" else wire.text(at, "Let me look. 🔎")
        cut = [CALL.text[n : n + 5] for n in range(0, len(CALL.text), 5)]
        pieces = [] if wire.piece is None else [wire.piece(at + 1, CALL, one) for one in cut]
        begun = wire.begin(at + 1, CALL)
        if self.api == "gemini":
            begun[0]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = SIGNATURE
        chunks = [*wire.open, *self.thoughts, *said, *begun, *pieces, *wire.end(at + 1, CALL)]
        return b"".join(self.framed([*chunks, *wire.close(wire.done, [CALL])])) + self.done

    def cites(self, body: Any, said: Sequence[Piece]) -> bytes:
        """Return an answer that cites what the request of ``body`` holds."""
        return b"".join(self.framed(ANSWERS[self.api](body, said))) + self.done

    def begins(self, text: str) -> list[bytes]:
        """Return the beginning of an answer in pieces: its text is the last."""
        wire = self.wire
        # What ends a block, or has all of its text, comes later.
        texts = {"anthropic": slice(2), "cohere": slice(2), "bedrock": slice(1), "openai": slice(1)}
        said = wire.text(0, text)[texts.get(self.api, slice(None))]
        return self.framed([*wire.open, *said])


def _openai(sdk: Any, url: str) -> dict[str, Any]:
    return {"AsyncOpenAI": partial(sdk.AsyncOpenAI, base_url=url, api_key=KEY, max_retries=0)}


def _anthropic(sdk: Any, url: str) -> dict[str, Any]:
    client = partial(sdk.AsyncAnthropic, base_url=url, api_key=KEY, max_retries=0)
    return {"AsyncAnthropic": client}


def _gemini(sdk: Any, url: str) -> dict[str, Any]:
    client = partial(sdk.Client, api_key=KEY, http_options={"base_url": url})
    return {"genai": SimpleNamespace(Client=client)}


def _mistral(sdk: Any, url: str) -> dict[str, Any]:
    return {"Mistral": partial(sdk.Mistral, api_key=KEY, server_url=url)}


def _cohere(sdk: Any, url: str) -> dict[str, Any]:
    return {"AsyncClientV2": partial(sdk.AsyncClientV2, KEY, base_url=url, max_retries=0)}


def _bedrock(sdk: Any, url: str) -> dict[str, Any]:
    botocore = pytest.importorskip("botocore.config", reason="botocore is not installed")
    client = partial(
        sdk.client,
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=botocore.Config(retries={"total_max_attempts": 1}),
    )
    return {"boto3": SimpleNamespace(client=client)}


_THINKING = {"type": "thinking", "thinking": "", "signature": ""}
_SIGNED = [{"text": "Taxis?"}, {"signature": SIGNATURE}]

VENDORS = {
    one.api: one
    for one in (
        Vendor(
            row="Anthropic",
            api="anthropic",
            sdk="anthropic",
            names=_anthropic,
            thoughts=[
                {"type": "content_block_start", "index": 0, "content_block": _THINKING},
                *(
                    {"type": "content_block_delta", "index": 0, "delta": delta}
                    for delta in (
                        {"type": "thinking_delta", "thinking": "Taxis?"},
                        {"type": "signature_delta", "signature": SIGNATURE},
                    )
                ),
                {"type": "content_block_stop", "index": 0},
            ],
        ),
        Vendor(row="OpenAI", api="openai", sdk="openai", names=_openai, history="input"),
        Vendor(
            row="Chat Completions",
            api="openai_chat",
            sdk="openai",
            names=_openai,
            done=sse("[DONE]"),
        ),
        Vendor(row="Google", api="gemini", sdk="google.genai", names=_gemini, history="contents"),
        Vendor(
            row="Mistral",
            api="mistral",
            sdk="mistralai.client",
            names=_mistral,
            done=sse("[DONE]"),
        ),
        Vendor(row="Cohere", api="cohere", sdk="cohere", names=_cohere),
        Vendor(
            row="Bedrock",
            api="bedrock",
            sdk="boto3",
            names=_bedrock,
            model="anthropic.claude-x",
            thoughts=[
                {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": one}}}
                for one in _SIGNED
            ],
        ),
    )
}
"""By the names of ``providers.calling.WIRES``."""

every_vendor = pytest.mark.parametrize(
    ("anyio_backend", "vendor"),
    [
        *(pytest.param("asyncio", one, id=name) for name, one in VENDORS.items()),
        # What is sync runs in threads of either; the other clients are made for asyncio.
        pytest.param("trio", VENDORS["bedrock"], id="bedrock on trio"),
    ],
)
