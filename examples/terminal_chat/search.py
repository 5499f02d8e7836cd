"""A tool that a model searches the user's files with; what it finds may be cited."""

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Annotated

from citestream import Tool, ToolResult, tool
from citestream.sources import SourceDocument

__all__ = ("search_tool",)

MOST = 4  # sections that are found at once
HEADING = re.compile("^(?=#+ )", re.MULTILINE)


def search_tool(documents: Sequence[SourceDocument]) -> Tool:
    """Make the tool for ``documents``."""
    known = [section for document in documents for section in sections(document)]

    @tool
    def search_files(query: Annotated[str, "words that the section holds"]) -> ToolResult:
        """Find the sections of the user's files that hold most of the words of a query."""
        wanted = words(query)
        found = [(title, text) for title, text in known if wanted & words(text)]
        found.sort(key=lambda section: -len(wanted & words(section[1])))
        # The same section has the same id whenever it is found.
        sources = [
            {"id": f"s{zlib.crc32((title + text).encode()):08x}", "title": title, "content": text}
            for title, text in found[:MOST]
        ]
        return ToolResult(f"{len(sources)} sections found.", citable_sources=sources)

    return search_files


def sections(document: SourceDocument) -> Iterator[tuple[str, str]]:
    """Give the titles and texts of the sections of a Markdown document, else the whole of it."""
    name = document.title or document.path or "file"
    for text in HEADING.split(document.content):
        heading, _, body = text.partition("\n")
        if not HEADING.match(text):
            if text.strip():
                yield name, text
        elif body.strip():
            yield f"{name}: {heading.lstrip('# ')}", text


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
