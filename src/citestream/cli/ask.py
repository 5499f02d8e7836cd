"""The commands about files to cite: ``ask`` answers from them, ``prompt`` shows them to a model."""

from enum import StrEnum
from typing import Annotated, TypeAlias

import attrs
import typer

from ..events import AssistantMessageData
from ..markers import DEFAULT_SYNTAX
from ..markers.syntax import LINES, PAGES
from ..prompts import PromptOptions, instructions, render_context, render_tool_result
from ..providers import Extractive, ExtractiveOptions
from ..resolver import CitationOptions, Resolver
from ..sources import Granularity, SourceDocument, SourceRegistry
from ..wire import encode_event, encode_json
from .answers import AnswerFormat, print_answer
from .inputs import read_inputs
from .output import complain, printable, write

__all__ = ("Material", "ask", "prompt")

_LOCATORS = (LINES, PAGES)
_PAGED = attrs.evolve(DEFAULT_SYNTAX, locators=_LOCATORS)

_Files: TypeAlias = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Files, folders, globs, or - for standard input."),
]
_By: TypeAlias = Annotated[
    Granularity | None,
    typer.Option(
        help="How finely to cite.", show_default="page for PDF, line for others", metavar="UNIT"
    ),
]


class Material(StrEnum):
    """How ``prompt`` shows files."""

    CONTEXT = "context"
    TOOL = "tool"


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In any language.")],
    files: _Files,
    *,
    granularity: _By = None,
    format: Annotated[  # noqa: A002 - the option's name
        AnswerFormat, typer.Option(help="How to print the answer; json prints every event.")
    ] = AnswerFormat.MARKDOWN,
    top: Annotated[int, typer.Option(min=1, max=100, help="Passages to quote, at most.")] = 3,
) -> None:
    """Answer a question with the passages of files that match best, each with its place.

    Works offline and calls no model. Folders are read with all that is under them; what cannot be
    read there is named on stderr and skipped. Neither in folders nor in globs are links followed.
    Standard input takes text only. Lines of HTML and PDF count the text that was read out of them.
    """
    registry = _registered(files, granularity)
    provider = Extractive(registry, syntax=_PAGED, options=ExtractiveOptions(top=top))
    resolver = Resolver(CitationOptions(syntax=_PAGED), registry=registry)
    for upstream in provider.answer(question):
        for event in resolver.feed(upstream):
            if format is AnswerFormat.JSON:
                write(encode_json(encode_event(event)) + "\n")
            elif isinstance(event.data, AssistantMessageData):
                print_answer(event.data.content, event.data.citations, style=format)


def prompt(
    files: _Files,
    *,
    granularity: _By = None,
    material: Annotated[
        Material, typer.Option(help="Sections of a prompt, or the result of a tool.")
    ] = Material.CONTEXT,
) -> None:
    """Print the rules for citing and the files, to be pasted into a model.

    What it answers is for a Resolver with a registry of the same files in the same order.
    """
    sources = _registered(files, granularity).sources
    granularities = tuple(dict.fromkeys(source.granularity for source in sources))
    options = PromptOptions(
        syntax=_PAGED if Granularity.PAGE in granularities else DEFAULT_SYNTAX,
        material=material.value,
        granularities=granularities,
    )
    render = render_context if material is Material.CONTEXT else render_tool_result
    text = f"{instructions(options)}\n{render(sources, options=options)}\n"
    write(printable(text))


def _registered(files: list[str], granularity: Granularity | None) -> SourceRegistry:
    registry = SourceRegistry()

    def take(document: SourceDocument) -> None:
        usual = Granularity.PAGE if document.pages else Granularity.LINE
        registry.add(document, granularity=granularity or usual)

    read_inputs(files, take=take, skip=lambda line: complain(f"skipped: {line}"), note=complain)
    return registry
