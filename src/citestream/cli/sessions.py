"""The commands about sessions that are kept: list, show, import, export and delete them.

They are those of ``--store``, of ``CITESTREAM_STORE``, or of one file of the user. Sessions that
someone is writing can be shown and exported; nobody is kept from writing.
"""

import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, TypeAlias, TypeVar

import anyio
import typer

from ..errors import CitestreamError, OptionError
from ..events import SessionEvent
from ..resolver import CitationOptions
from ..session import Client, SessionMetadata
from ..session.follow import read_all
from ..session.reading import Reading
from ..session.transfer import ImportedSession
from ..sources import SourceRegistry
from ..store import SQLiteStore, StoredEvent
from ..wire import encode_json
from .answers import AnswerFormat, ListFormat
from .logs import opened, print_events, read_log
from .output import bar, complain, printable, write

__all__ = ("delete", "export", "import_logs", "list_sessions", "sessions", "show")

_T = TypeVar("_T")
_Store: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        envvar="CITESTREAM_STORE",
        help="The file that keeps the sessions.",
        show_default="citestream/sessions.db in XDG_STATE_HOME or ~/.local/state",
    ),
]
_Session: TypeAlias = Annotated[str, typer.Argument(metavar="SESSION", help="The id of a session.")]

sessions: typer.Typer = typer.Typer(
    name="sessions",
    help="List, show, import, export and delete sessions that are kept.",
    rich_markup_mode=None,
)


@sessions.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        write(context.get_help() + "\n")


@sessions.command("list")
def list_sessions(
    *,
    store: _Store = None,
    format: Annotated[  # noqa: A002 - the option's name
        ListFormat, typer.Option(help="Columns separated by tabs, or one JSON object a session.")
    ] = ListFormat.TEXT,
) -> None:
    """List the sessions, the last written first: id, when that was (UTC), first question."""
    for one in _with_client(_kept(store), Client.list_sessions):
        write((_json if format is ListFormat.JSON else _columns)(one) + "\n")


@sessions.command()
def show(
    session: _Session,
    *,
    store: _Store = None,
    format: Annotated[  # noqa: A002 - the option's name
        AnswerFormat, typer.Option(help="How to print answers; json prints every event.")
    ] = AnswerFormat.MARKDOWN,
) -> None:
    """Print the questions and answers of a session, with their citations.

    They are read anew from what was kept. An answer that was cut off is shown as far as it goes.
    """
    kept = _kept(store)

    async def read(_client: Client) -> list[StoredEvent]:
        return await read_all(kept, session)

    events = _read_again(_with_client(kept, read))
    print_events(session, events, style=format, questions=True)


@sessions.command("import")
def import_logs(
    logs: Annotated[
        list[str], typer.Argument(metavar="LOG", help="Event logs, or - for standard input.")
    ],
    *,
    store: _Store = None,
    session_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="SESSION",
            help="The id to give it, for a single log.",
            show_default="the one in the log",
        ),
    ] = None,
) -> None:
    """Import event logs, each as a session, and print the id of each.

    Reads live streams, the logs that the Copilot CLI keeps (events.jsonl) and what ``export``
    wrote. What is damaged is named on stderr; everything else is kept. A log that cannot be
    imported leaves nothing behind and keeps no other from it.
    """
    if session_id is not None and len(logs) > 1:
        raise OptionError(f"--id: wanted a single log, got {len(logs)}")
    failed = False

    async def import_one(client: Client, log: str) -> ImportedSession:
        with opened(log) as (stream, size), bar(size) as progress:
            events = read_log(log, stream, progress=progress)
            return await client.import_session(events, session_id=session_id)

    async def import_all(client: Client) -> None:
        nonlocal failed
        for log in logs:
            try:
                imported = await import_one(client, log)
            except CitestreamError as error:
                failed = True
                complain(f"citestream: error: {log}: {error}")
            except OSError as error:
                failed = True
                complain(f"citestream: error: {log}: {error.strerror or error}")
            else:
                write(f"{imported.session_id}\n")
                if imported.renamed:
                    complain(f"{log}: events that got ids of their own: {imported.renamed}")

    _with_client(SQLiteStore(_path(store)), import_all)
    if failed:
        raise typer.Exit(1)


@sessions.command()
def export(
    session: _Session,
    *,
    store: _Store = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="A file, or - for standard output."),
    ] = "-",
) -> None:
    """Write a session as an event log, as the Copilot CLI keeps them (events.jsonl)."""
    kept = _kept(store)

    async def write_lines(client: Client) -> None:
        await kept.get(session)  # before a file is made
        with _created(output) as file:
            async for line in client.export_session(session):
                file.write(f"{line}\n".encode("ascii"))
            file.flush()

    _with_client(kept, write_lines)


@sessions.command()
def delete(
    ids: Annotated[list[str], typer.Argument(metavar="SESSION", help="The ids of sessions.")],
    *,
    store: _Store = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete sessions and everything that was kept of them, after asking."""
    kept = _kept(store)
    chosen = list(dict.fromkeys(ids))

    async def delete_all(client: Client) -> None:
        for one in chosen:
            await kept.get(one)
        if not yes and not _agreed(f"Delete {' and '.join(chosen)}?"):
            raise OptionError("delete: nothing was deleted, as nobody said yes")
        for one in chosen:
            await client.delete_session(one)

    _with_client(kept, delete_all)


def _with_client(store: SQLiteStore, work: Callable[[Client], Awaitable[_T]]) -> _T:
    async def run() -> _T:
        async with Client(store=store) as client:
            return await work(client)

    return anyio.run(run)


def _path(store: str | None) -> Path:
    if store:
        return Path(store)
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise OptionError("--store: wanted a path, as there is no home folder") from error
    return Path(state) / "citestream" / "sessions.db"


def _kept(store: str | None) -> SQLiteStore:
    """Return a store that is there: reading must not make one."""
    path = _path(store)
    if not path.is_file():
        raise OptionError(f"{path}: there is no such file, so no session is kept in it")
    return SQLiteStore(path)


def _read_again(past: list[StoredEvent]) -> Iterator[SessionEvent]:
    reading = Reading(CitationOptions(), sources=SourceRegistry(), enable_citations=True)
    for stored in past:
        yield from reading.recall_stored(stored)
    yield from reading.finish()


def _columns(one: SessionMetadata) -> str:
    modified = one.modified_time.isoformat(timespec="seconds")
    return "\t".join(
        " ".join(printable(cell).split()) for cell in (one.session_id, modified, one.summary or "")
    )


def _json(one: SessionMetadata) -> str:
    return encode_json(
        {
            "sessionId": one.session_id,
            "startTime": one.start_time.isoformat(),
            "modifiedTime": one.modified_time.isoformat(),
            "summary": one.summary,
        }
    )


def _created(output: str) -> "nullcontext[BinaryIO] | BinaryIO":
    return nullcontext(sys.stdout.buffer) if output == "-" else Path(output).open("wb")


def _agreed(question: str) -> bool:
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
