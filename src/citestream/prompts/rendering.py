"""Sources as a model sees them: with their markers or ids, numbered where they are cited by number.

In: registered sources. Out: text for a tool result or a prompt. Their content, titles and urls are
made harmless first (``neutral``): nothing in a source creates a citation, ends its section or
shifts a number. Lines are those of ``sources.lines``, so a number that the model reads means the
same line when it comes back. Deliberately elsewhere: the rules for citing (``instructions``).
"""

from collections.abc import Callable, Iterable, Iterator

from ..sources import Granularity, RegisteredSource, SourceDocument
from .neutral import attribute, neutralise, one_line
from .prompt_options import DEFAULT_OPTIONS, PromptOptions
from .shown_markers import show_marker

__all__ = ("render_context", "render_tool_result")

_LABELS = {"title": "Title", "url": "URL", "path": "Path", "updated": "Updated"}


def render_tool_result(
    sources: Iterable[RegisteredSource], /, *, options: PromptOptions = DEFAULT_OPTIONS
) -> str:
    r"""Return the text of a tool result that holds ``sources``: each with its Citation Marker.

    A source that is cited by block has a marker for every block, under one header.
    Raises OptionError where the syntax lacks the locators or does not read the ids.

    >>> from ..sources import SourceRegistry, from_text
    >>> rules = from_text("Meals are paid.\nTaxis are not.", title="Rules")
    >>> source = SourceRegistry().add(rules, granularity=Granularity.LINE)
    >>> print(render_tool_result([source]).replace("\ue200", "<").replace("\ue201", ">"))
    Citation Marker: <cite\ue202turn0file0>
    Title: Rules
    <BLANKLINE>
    [L1] Meals are paid.
    [L2] Taxis are not.
    """
    return "\n\n".join(part for source in sources for part in _tool_parts(source, options))


def render_context(
    sources: Iterable[RegisteredSource], /, *, options: PromptOptions = DEFAULT_OPTIONS
) -> str:
    r"""Return ``sources`` as sections of a prompt: ``<BLOCK id="...">`` and its end.

    A source that is cited by block has a section for every block. Errors are those of
    ``render_tool_result``.

    >>> from ..sources import SourceRegistry, from_text
    >>> print(render_context([SourceRegistry().add(from_text("Meals are paid.", title="Rules"))]))
    <BLOCK id="turn0block0" title="Rules">
    Meals are paid.
    </BLOCK>
    """
    return "\n".join(part for source in sources for part in _sections(source, options))


def _tool_parts(source: RegisteredSource, options: PromptOptions) -> Iterator[str]:
    """Give what stands apart by blank lines in a tool result."""
    fields = [
        f"{_LABELS[name]}: {one_line(value, syntax=options.syntax)}"
        for name, value in _fields(source.document)
    ]
    if _has_block_ids(source, options):
        if fields:
            yield "\n".join(fields)
        for block_id, text in _blocks(source, options):
            yield f"{_marker_line(block_id, options)}\n{text}"
    else:
        yield "\n".join([_marker_line(source.id, options), *fields])
        if body := _body(source, options):
            yield body


def _sections(source: RegisteredSource, options: PromptOptions) -> Iterator[str]:
    names = [
        f' {name}="{attribute(value, syntax=options.syntax)}"'
        for name, value in _fields(source.document)
    ]
    if not _has_block_ids(source, options):
        yield _section(source.id, "".join(names), _body(source, options), options)
        return
    for block_id, text in _blocks(source, options):
        yield _section(block_id, "".join(names), text, options)
        # The other blocks repeat the title only: the rest is where their source begins.
        names = [name for name in names if name.startswith(" title=")]


def _section(source_id: str, names: str, text: str, options: PromptOptions) -> str:
    # Written to be thrown away: it raises where the answer could not cite this id.
    show_marker((source_id, None), options=options)
    return f'<BLOCK id="{source_id}"{names}>\n{text}\n</BLOCK>'


def _fields(document: SourceDocument) -> list[tuple[str, str]]:
    values = {name: getattr(document, name) for name in _LABELS}
    return [(name, value) for name, value in values.items() if value]


def _marker_line(source_id: str, options: PromptOptions) -> str:
    return f"Citation Marker: {show_marker((source_id, None), options=options)}"


def _has_block_ids(source: RegisteredSource, options: PromptOptions) -> bool:
    return source.granularity is Granularity.BLOCK and options.blocks == "ids"


def _blocks(source: RegisteredSource, options: PromptOptions) -> Iterator[tuple[str, str]]:
    document = source.document
    for block_id, (start, end) in zip(source.block_ids, document.blocks, strict=True):
        yield block_id, neutralise(document.content[start:end], syntax=options.syntax)


def _body(source: RegisteredSource, options: PromptOptions) -> str:
    """Return the content, numbered as the granularity wants it."""
    document = source.document
    unit = options.unit(source.granularity)
    if unit is None:
        return neutralise(document.content, syntax=options.syntax)
    parts, mark, between = _NUMBERED[unit]
    prefix = options.prefix(unit)
    return between.join(
        f"[{prefix}{number}]{mark}{neutralise(document.content[start:end], syntax=options.syntax)}"
        for number, (start, end) in enumerate(parts(document), start=1)
    )


_Parts = Callable[[SourceDocument], Iterable[tuple[int, int]]]
# What is numbered, what stands behind a number, and what between two parts.
_NUMBERED: dict[str, tuple[_Parts, str, str]] = {
    "line": (lambda document: document.lines, " ", "\n"),
    "page": (lambda document: document.pages, "\n", "\n\n"),
    "block": (lambda document: document.blocks, " ", "\n\n"),
}
