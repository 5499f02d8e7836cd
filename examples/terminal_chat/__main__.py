"""The command: who answers, what is kept, and what the user may choose."""

import argparse
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from anyio.from_thread import start_blocking_portal

from citestream import (
    CitestreamError,
    Client,
    MemoryStore,
    OfflineProvider,
    PermissionHandler,
    Provider,
    SessionOptions,
    SQLiteStore,
    VendorProvider,
    providers,
)
from citestream.session import SessionSettings
from citestream.sources import from_file

from .chat import Chat
from .screen import Screen, one_line
from .search import search_tool

__all__ = ("main",)

HANDBOOK = Path(__file__).parents[1] / "handbook.md"
SYSTEM = "Answer from the user's files: search them before you answer, and cite what you rely on."


@asynccontextmanager
async def open_provider(name: str, model: str) -> AsyncIterator[Provider]:
    """Give what a client asks for answers; a vendor's client finds its key in the environment."""
    if name == "anthropic":
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - only who asks for it needs it

        async with AsyncAnthropic() as anthropic:
            yield VendorProvider(
                providers.Anthropic, anthropic.messages.create, model=model, stream=True
            )
    elif name == "openai":
        from openai import AsyncOpenAI  # noqa: PLC0415 - the same

        async with AsyncOpenAI() as openai:
            yield VendorProvider(
                providers.OpenAIResponses, openai.responses.create, model=model, stream=True
            )
    else:
        yield OfflineProvider()


@asynccontextmanager
async def open_client(options: argparse.Namespace, given: Provider | None) -> AsyncIterator[Client]:
    """Give a client with its provider and its store, all open."""
    store = SQLiteStore(options.store) if options.store else MemoryStore()
    async with AsyncExitStack() as stack:
        if given is None:
            given = await stack.enter_async_context(open_provider(options.provider, options.model))
        yield await stack.enter_async_context(Client(provider=given, store=store))


def main(arguments: Sequence[str] | None = None, /, *, provider: Provider | None = None) -> int:
    """Run the command; ``provider`` answers instead of the one that the arguments name."""
    options = read_options(arguments)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # no byte or character ends the chat
    try:
        documents = [from_file(file) for file in options.files]
        settings = SessionSettings(enable_citations=True, tools=[search_tool(documents)])
        settings["options"] = SessionOptions(system_message=SYSTEM)
        if options.yes:
            settings["on_permission_request"] = PermissionHandler.approve_all
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(open_client(options, provider)) as client,
        ):
            screen = Screen()
            # A model finds with the tool what the offline provider finds in what is registered.
            documents = documents if options.provider == "offline" else []
            chat = Chat(client, portal, screen, settings=settings, documents=documents)
            chat.open(options.resume)
            with suppress(KeyboardInterrupt):
                chat.run()
            if options.store:
                screen.note(f"session {chat.session.session_id}")
    except (CitestreamError, ImportError, OSError) as error:
        print(f"terminal_chat: error: {one_line(str(error))}", file=sys.stderr)
        return 1
    return 0


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m examples.terminal_chat", description="Chat about files, with citations."
    )
    parser.add_argument("files", nargs="*", type=Path, default=[HANDBOOK], metavar="FILE")
    parser.add_argument("--provider", choices=["offline", "anthropic", "openai"], default="offline")
    parser.add_argument("--model", default="", help="of the provider")
    parser.add_argument("--store", type=Path, metavar="DB", help="keep sessions in this file")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="ID", help="go on with a session, or the last"
    )
    parser.add_argument("--yes", action="store_true", help="let tools run without asking")
    options = parser.parse_args(arguments)
    key = f"{options.provider.upper()}_API_KEY"
    if options.provider != "offline" and not (options.model and os.environ.get(key)):
        parser.error(f"--provider {options.provider} wants --model and {key} in the environment")
    if options.resume is not None and options.store is None:
        parser.error("--resume wants --store")
    return options


if __name__ == "__main__":
    sys.exit(main())
