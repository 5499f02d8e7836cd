"""A document that may be cited: its text, what names it, and where its parts are.

In: a text, pages or blocks. Out: ``SourceDocument``, a frozen value. Its content is what every
character position counts in, in code points; lone surrogates in it have become U+FFFD. Lines and
paragraph-sized blocks are found when they are first asked for, so that a document which nobody
cites costs nothing.

Deliberately elsewhere: files (``files``, ``file_formats``), ids (``registry``), what a position in
a document becomes (``locating``).
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs

from ..errors import ModelError, brief
from ..model import CitableSource
from ..offsets import well_formed
from .chunks import chunk_ranges
from .limits import DEFAULT_LIMITS, Limits
from .lines import LineTable
from .workspace_paths import file_name, relative_path

__all__ = ("Range", "SourceDocument", "from_blocks", "from_citable", "from_pages", "from_text")

Range: TypeAlias = tuple[int, int]
"""Where something stands in the content: code points, 0-based, half-open."""

_BETWEEN = "\n\n"  # a blank line, so that neither a line nor a paragraph spans two parts


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ModelError(f"a document wants strings, got {brief(value)}")
    return well_formed(value)


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _named() -> Any:  # noqa: ANN401 - an attrs field
    return attrs.field(default=None, converter=_text_or_none, repr=False)


def _shown(ranges: Sequence[Range]) -> str:
    return f"<{len(ranges)}>"


def _ranges(value: Iterable[Iterable[int]]) -> tuple[Range, ...]:
    if isinstance(value, tuple) and not value:
        return value
    return tuple((start, end) for start, end in value)


def _in_order(
    document: "SourceDocument", attribute: "attrs.Attribute[Any]", ranges: tuple[Any, ...]
) -> None:
    position = 0
    for start, end in ranges:
        whole = isinstance(start, int) and isinstance(end, int)
        if not whole or not position <= start <= end <= len(document.content):
            raise ModelError(
                f"{attribute.name}: expected ranges of the content, in order and apart, "
                f"got {brief(start)} to {brief(end)}"
            )
        position = end


@attrs.frozen(kw_only=True)
class SourceDocument:
    """A document with its structure. The functions ``from_...`` make one.

    ``path`` is relative to the workspace root, in POSIX form; ``updated`` is a date as the
    application writes it. ``pages`` holds the range of every page. ``marked_blocks`` holds the
    ranges of the blocks where the caller marked them. Raises ModelError for values that do not fit.
    """

    content: str = attrs.field(converter=_text, repr=False)
    title: str | None = _named()
    url: str | None = _named()
    path: str | None = attrs.field(default=None, converter=_text_or_none)
    updated: str | None = _named()
    pages: tuple[Range, ...] = attrs.field(
        default=(), converter=_ranges, validator=_in_order, repr=_shown
    )
    marked_blocks: tuple[Range, ...] = attrs.field(
        default=(), converter=_ranges, validator=_in_order, repr=_shown
    )

    @path.validator
    def _check_path(self, _attribute: object, path: str | None) -> None:
        if path is not None and relative_path(path) != path:
            raise ModelError(
                "path: expected a path relative to the workspace root in POSIX form, "
                f"got {brief(file_name(path))}"
            )

    @cached_property
    def lines(self) -> LineTable:
        """The lines of the content."""
        return LineTable(self.content)

    @cached_property
    def blocks(self) -> tuple[Range, ...]:
        """The ranges of the blocks: those the caller marked, else paragraph-sized chunks.

        No chunk spans two pages.
        """
        if self.marked_blocks:
            return self.marked_blocks
        if not self.pages:
            return tuple(chunk_ranges(self.content))
        return tuple(
            (first + start, first + end)
            for first, last in self.pages
            for start, end in chunk_ranges(self.content[first:last])
        )

    def says(self, other: "SourceDocument", /) -> bool:
        """Whether the other document has the same text and names, however blocks were marked."""
        return attrs.evolve(self, marked_blocks=()) == attrs.evolve(other, marked_blocks=())

    @property
    def size(self) -> int:
        """The characters that the document keeps in memory, the names included."""
        size = len(self.content)
        for name in (self.title, self.url, self.path, self.updated):
            if name is not None:
                size += len(name)
        return size


def from_text(
    text: str,
    /,
    *,
    title: str | None = None,
    url: str | None = None,
    path: str | None = None,
    updated: str | None = None,
) -> SourceDocument:
    """Make a document of a text. A path that leaves the workspace gives its file name as title.

    Raises ModelError for anything but text.

    >>> from_text("Meals are paid.", path="/home/kim/rules.md")
    SourceDocument(path=None, pages=<0>, marked_blocks=<0>)
    """
    return SourceDocument(content=text, **_names(title, url, path, updated))


def from_citable(source: CitableSource, /) -> SourceDocument:
    """Make a document of what a tool returned; ``source.id`` is for whoever registers it.

    >>> from_citable(CitableSource(id="a", content="Meals.", path="/etc/rules.md")).title
    'rules.md'
    """
    names = _names(source.title, source.url, source.path, None)
    return SourceDocument(content=source.content, **names)


def from_pages(
    pages: Iterable[str],
    /,
    *,
    title: str | None = None,
    url: str | None = None,
    path: str | None = None,
    updated: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SourceDocument:
    r"""Make a document of the texts of its pages; a blank line stands between them in the content.

    Raises LimitError for too many pages or characters, ModelError for anything but text.

    >>> document = from_pages(["First.", "Second."])
    >>> document.content, document.pages
    ('First.\n\nSecond.', ((0, 6), (8, 15)))
    """
    content, ranges = _join(pages, "max_pages", limits)
    return SourceDocument(content=content, pages=ranges, **_names(title, url, path, updated))


def from_blocks(
    blocks: Iterable[str],
    /,
    *,
    title: str | None = None,
    url: str | None = None,
    path: str | None = None,
    updated: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SourceDocument:
    """Make a document of blocks that the caller cut; a blank line stands between them.

    Raises LimitError for too many blocks or characters, ModelError for anything but text.

    >>> from_blocks(["One.", "Two."]).blocks
    ((0, 4), (6, 10))
    """
    content, ranges = _join(blocks, "max_blocks", limits)
    return SourceDocument(
        content=content, marked_blocks=ranges, **_names(title, url, path, updated)
    )


def _join(parts: Iterable[str], limit: str, limits: Limits) -> tuple[str, tuple[Range, ...]]:
    if isinstance(parts, str):
        raise ModelError("expected an iterable of strings, got one string")
    texts: list[str] = []
    ranges: list[Range] = []
    position = 0
    for part in parts:
        limits.check(limit, len(texts) + 1)
        text = _text(part)
        texts.append(text)
        ranges.append((position, position + len(text)))
        limits.check("max_source_chars", position + len(text))
        position += len(text) + len(_BETWEEN)
    return _BETWEEN.join(texts), tuple(ranges)


def _names(
    title: str | None, url: str | None, path: str | None, updated: str | None
) -> dict[str, Any]:
    relative = None if path is None else relative_path(_text(path))
    if path is not None and relative is None and not title:
        title = file_name(path) or None
    return {"title": title, "url": url, "path": relative, "updated": updated}
