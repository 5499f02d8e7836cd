"""The commands of ``citestream``: what each takes and what it prints.

``replay``, ``extract`` and ``strip`` are here, ``ask`` and ``prompt`` in ``ask``, and those about
sessions that are kept in ``sessions``.
"""

import logging
import os
import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from typer.exceptions import TyperException

from .. import __version__
from ..errors import CitestreamError, DecodeError
from ..events import SessionEvent
from ..markers import MarkedText, ParsedMarker, parse_markers
from ..resolver import Resolver
from ..wire import encode_json
from .answers import AnswerFormat, ListFormat
from .ask import ask, prompt
from .logs import opened, print_events, read_log
from .output import bar, complain, write
from .sessions import sessions

__all__ = ("citestream", "extract", "replay", "run", "strip")


app: typer.Typer = typer.Typer(
    name="citestream",
    help="Show answers of assistants together with their citations.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_File = Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")]


@app.callback(invoke_without_command=True)
def citestream(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Show answers of assistants together with their citations."""
    if version:
        write(f"citestream {__version__}\n")
    elif context.invoked_subcommand is None:
        write(context.get_help() + "\n")


app.command()(ask)
app.command()(prompt)
app.add_typer(sessions)


@app.command()
def replay(
    file: _File,
    *,
    format: Annotated[  # noqa: A002 - the option's name
        AnswerFormat, typer.Option(help="How to print answers; json prints every event.")
    ] = AnswerFormat.MARKDOWN,
) -> None:
    """Print the answers of an event log with their citations.

    Reads live streams and the logs that the Copilot CLI keeps (events.jsonl). Damaged lines are
    named on stderr and skipped. An answer that was cut off is shown as far as it goes.
    """
    count = 0
    with opened(file) as (stream, size), bar(size) as progress:

        def events() -> Iterator[SessionEvent]:
            nonlocal count
            resolver = Resolver()
            for event in read_log(file, stream, progress=progress):
                count += 1
                yield from resolver.feed(event)
            yield from resolver.finish()

        print_events(file, events(), style=format)
    if not count:
        complain(f"citestream: error: {file}: holds no events")
        raise typer.Exit(1)


@app.command()
def extract(
    file: _File = "-",
    *,
    format: Annotated[  # noqa: A002 - the option's name
        ListFormat, typer.Option(help="Columns separated by tabs, or one JSON object a marker.")
    ] = ListFormat.TEXT,
) -> None:
    """List the citation markers of a text: start and end (code points), family, sources.

    Malformed markers are named on stderr.
    """
    for placed in _read_marked(file).markers:
        marker = placed.marker
        for problem in marker.problems:
            complain(f"{file}:{marker.start}: a {marker.family or 'cut'} marker {problem.message}")
        if marker.targets:
            write((_json if format is ListFormat.JSON else _columns)(marker) + "\n")


@app.command()
def strip(file: _File = "-") -> None:
    """Print a text without its markers, and nothing else changed."""
    write(_read_marked(file).content)


def _columns(marker: ParsedMarker) -> str:
    sources = " ".join(
        f"{target.source_id} {target.locator}" if target.locator else target.source_id
        for target in marker.targets
    )
    return f"{marker.start}\t{marker.end}\t{marker.family}\t{sources}"


def _json(marker: ParsedMarker) -> str:
    sources = [
        {"id": target.source_id, "locator": target.locator and target.locator.text}
        for target in marker.targets
    ]
    return encode_json(
        {
            "start": marker.start,
            "end": marker.end,
            "family": marker.family,
            "sources": sources,
            "raw": marker.raw,
        }
    )


def _read_marked(file: str) -> MarkedText:
    with opened(file) as (stream, _):
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DecodeError(
                path=f"{file}, byte {error.start}", expected="UTF-8", got=error.reason
            ) from error
    return parse_markers(text)


def run(arguments: list[str], /) -> int:
    """Run the command line ``arguments`` and return the exit status."""
    # What it cannot read of a file is said in our one line about that file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    command = typer.main.get_command(app)
    try:
        status = command.main(args=arguments, prog_name="citestream", standalone_mode=False)
    except TyperException as error:
        complain(f"citestream: error: {error.format_message()}")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone, as with ``| head``: nothing must be flushed again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CitestreamError as error:
        complain(f"citestream: error: {error}")
        return 1
    except OSError as error:
        complain(f"citestream: error: {error.filename or 'input'}: {error.strerror or error}")
        return 1
    return int(status or 0)
