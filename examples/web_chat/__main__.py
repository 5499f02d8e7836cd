"""The command: ``python -m examples.web_chat [FILES...]`` serves a chat about the files."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import uvicorn

from citestream import CitestreamError, OptionError, Provider, SQLiteStore
from citestream.sources import SourceDocument, from_file

from .app import LOCAL_HOSTS, create_app
from .providers import KEYS, Paced, vendor
from .server import Server

_HANDBOOK = Path(__file__).parents[1] / "handbook.md"
_SUGGESTIONS = (
    "May I restart the ingest service?",
    "How fast must an S1 be answered?",
    "Is alcohol paid for?",
)
_OFFLINE = "Offline: answers quote the documents, no model is asked."


def main(arguments: Sequence[str] | None = None, /) -> int:
    """Serve the chat until it is interrupted. Returns the status of the process."""
    chosen = _parser().parse_args(arguments)
    try:
        documents = [_read(path) for path in chosen.files or [_HANDBOOK]]
        provider = _provider(chosen.provider, chosen.model)
    except (CitestreamError, OSError) as error:
        print(f"web_chat: {error}", file=sys.stderr)
        return 1
    app = create_app(
        provider=provider,
        store=SQLiteStore(chosen.store),
        documents=documents,
        answered_by=_OFFLINE if chosen.provider == "offline" else f"Answered by {chosen.model}.",
        suggestions=() if chosen.files else _SUGGESTIONS,
        hosts=(*LOCAL_HOSTS, chosen.host),
        shared_store=chosen.shared,
    )
    config = uvicorn.Config(
        app,
        host=chosen.host,
        port=chosen.port,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
    print(f"http://{chosen.host}:{chosen.port}  (sessions are kept in {chosen.store})")
    with suppress(KeyboardInterrupt):
        asyncio.run(Server(app, config).serve())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="web_chat", description="A chat about files.")
    parser.add_argument("files", nargs="*", type=Path, help="text, Markdown, HTML or PDF")
    parser.add_argument("--provider", choices=("offline", *KEYS), default="offline")
    parser.add_argument("--model", help="the vendor's name of the model")
    parser.add_argument("--store", type=Path, default=_state() / "chats.db", metavar="FILE")
    parser.add_argument("--shared", action="store_true", help="other servers use the store too")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    return parser


def _state() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "citestream-web-chat"


def _read(path: Path) -> SourceDocument:
    return from_file(path, title=path.name)


def _provider(name: str, model: str | None) -> Provider:
    if name == "offline":
        return Paced()
    if not model:
        raise OptionError(f"--provider {name}: wanted --model too")
    return vendor(name, model=model)


if __name__ == "__main__":
    sys.exit(main())
