"""What was sent to be cited natively, and what a vendor means that cites it.

In: material of a conversation, in the order in which a vendor numbers it, and what the vendor says
of a place in it. Out: facts of the source, the place in it, and its words to the letter.

Deliberately elsewhere: what a conversation is (``conversation``), places in the answer
(``resolver``).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

from ..conversation.turns import Material
from ..events import OffsetUnit, SourceFacts, TextRange
from ..model import (
    CitationLocation,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
)
from ..prompts import neutralise
from ..resolver.ranges import RangeFinder
from ..sources import Granularity, RegisteredSource
from ..sources.workspace_paths import relative_path

__all__ = (
    "CitedPiece",
    "SentMaterial",
    "SourcePieces",
    "cited_pieces",
    "page_location",
    "pieces_of",
    "shown_text",
    "url_or_path",
)


@attrs.frozen(kw_only=True)
class SourcePieces:
    """A source as pieces of text, for vendors that cite by piece.

    ``numbers`` tells which blocks (or pages, for ``by_page``) of the document they are, from 0:
    blank ones are left out, since vendors refuse them.
    """

    texts: tuple[str, ...]
    numbers: tuple[int, ...]
    by_page: bool


def shown_text(source: RegisteredSource, /) -> str:
    """Return the text of ``source`` as vendors are shown it: harmless, every character in place."""
    return neutralise(source.document.content)


def pieces_of(source: RegisteredSource, /) -> SourcePieces:
    """Cut ``source`` into its pages where it is cited by page, else into its blocks."""
    by_page = source.granularity is Granularity.PAGE
    text, document = shown_text(source), source.document
    ranges = document.pages if by_page else document.blocks
    kept = [(n, text[a:b]) for n, (a, b) in enumerate(ranges) if text[a:b].strip()]
    if not kept:  # the text stands outside of what was marked: all of it is one piece, of no number
        return SourcePieces(texts=(text,), numbers=(), by_page=by_page)
    return SourcePieces(
        texts=tuple(piece for _, piece in kept),
        numbers=tuple(number for number, _ in kept),
        by_page=by_page,
    )


@attrs.frozen(kw_only=True)
class CitedPiece:
    """What is sent to be cited as a whole, and what that means.

    ``name`` tells the pieces of a source apart, "" for all of it. ``characters`` is where the piece
    stands, from 0, with an exclusive end. All but ``shown`` is None for the source as a whole.
    """

    shown: str
    name: str = ""
    characters: tuple[int, int] | None = None
    cited_text: str | None = None
    location: CitationLocation | None = None


def cited_pieces(source: RegisteredSource, /) -> Iterator[CitedPiece]:
    """Cut ``source`` for vendors that cite by what they were sent, not by a place in it.

    Into pages or blocks, where it is cited so. Where it is cited by line into blocks too, as a line
    is too short to be understood alone; their place is a range of characters, as that of lines.
    """
    pieces = pieces_of(source)
    if source.granularity is Granularity.DOCUMENT or not pieces.numbers:
        yield CitedPiece(shown=shown_text(source))
        return
    document = source.document
    for place, shown in zip(pieces.numbers, pieces.texts, strict=True):
        start, end = (document.pages if pieces.by_page else document.blocks)[place]
        location: CitationLocation = CitationLocationBlock(start_block=place, end_block=place + 1)
        if pieces.by_page:
            location = CitationLocationPage(start_page=place + 1, end_page=place + 1)
        elif source.granularity is Granularity.LINE:
            location = CitationLocationChar(start_index=start, end_index=end)
        yield CitedPiece(
            shown=shown,
            name=f"{'page' if pieces.by_page else 'block'}{place}",
            characters=(start, end),
            cited_text=document.content[start:end],
            location=location,
        )


def page_location(start: int | None, end: int | None, /) -> CitationLocationPage | None:
    """Return the pages that a vendor means which counts from 1 and whose ``end`` is exclusive.

    Ours is inclusive, as the schema of the Copilot SDK says (its runtime copies the exclusive one).

    >>> page_location(1, 2), page_location(0, 2)
    (CitationLocationPage(start_page=1, end_page=1), None)
    """
    if start is None or end is None or not 1 <= start < end:
        return None
    return CitationLocationPage(start_page=start, end_page=end - 1)


_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_WEB = re.compile("https?://.", re.IGNORECASE)


def url_or_path(source: str, /) -> tuple[str | None, str | None]:
    """Return what a free text that names a source is: a url, a relative path, or neither.

    A word without a slash or a dot is taken for an id.

    >>> url_or_path("https://a.example/x"), url_or_path("docs/plan.md"), url_or_path("kb:1")
    (('https://a.example/x', None), (None, 'docs/plan.md'), (None, None))
    """
    if _WEB.match(source):
        return source, None
    if _SCHEME.match(source) or not ("/" in source or "." in source):
        return None, None
    return None, relative_path(source)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


class SentMaterial:
    """What was sent to be cited natively, in the order in which a vendor numbers it.

    ``name`` is what a vendor repeats of what is sent to it (a title, a url).
    """

    def __init__(self, materials: Iterable[Material] = (), /) -> None:
        self._materials = list(materials)
        self._names: dict[int, str] = {}
        self._by_name: dict[str, list[int]] = {}
        self._shown: dict[int, str] = {}
        self._finders: dict[int, RangeFinder] = {}
        self._pieces: dict[int, SourcePieces] = {}

    def add(self, material: Material, /, *, name: str | None = None) -> int:
        """Note that ``material`` is sent next and return its number, from 0."""
        number = len(self._materials)
        self._materials.append(material)
        if name is not None:
            self._names[number] = name
            self._by_name.setdefault(_plain(name), []).append(number)
        return number

    def get(self, number: object, /) -> Material | None:
        """Return what was sent as ``number``, None for what was not."""
        if isinstance(number, int) and 0 <= number < len(self._materials):
            return self._materials[number]
        return None

    def find(self, number: int | None, /, *, name: str | None = None) -> int | None:
        """Return the number of what a vendor cites as ``number`` and calls ``name``.

        Where the two do not fit, the name decides if it is that of one thing only: a vendor may
        number what it fetched itself too. None for what was not sent from here.
        """
        if name is None:
            return None if self.get(number) is None else number
        if number in self._names and self._names[number] == name:
            return number
        named = self._by_name.get(_plain(name), [])
        if number in named:
            return number
        return named[0] if len(named) == 1 else None

    def facts(
        self, number: object, /, *, provider: str, kind: str, title: str | None = None
    ) -> SourceFacts:
        """Return what is known of the source that a vendor cites as ``number``.

        ``kind`` names what is numbered (``document``, ``search_result``); ``title`` is what the
        vendor says, for what was not sent from here. A tool's source is cited as ``client``.
        """
        material = self.get(number)
        if material is None:
            return SourceFacts(provider=provider, key=(kind, number, title), title=title)
        document = material.source.document
        return SourceFacts(
            provider="client" if material.origin == "tool" else provider,
            key=("citableSourceId", material.source.id),
            title=document.title or title,
            url=document.url,
            path=document.path,
        )

    def location(
        self,
        number: int | None,
        /,
        *,
        unit: Literal["char", "page", "block"],
        start: int | None,
        end: int | None,
        cited_text: str | None = None,
    ) -> CitationLocation | None:
        """Return the place that a vendor cites of ``number``, None for what cannot be right.

        ``char`` and ``block`` count from 0, ``page`` from 1, ``end`` is exclusive. Characters are
        checked against ``cited_text`` where the text is known; blocks are the pieces that were
        sent, and so become pages where those were.
        """
        if start is None or end is None or start >= end:
            return None
        if unit == "char":
            return self._characters(number, start, end, cited_text)
        if unit == "block":
            return self._blocks(number, start, end)
        location = page_location(start, end)
        material = self.get(number)
        pages = 0 if material is None else len(material.source.document.pages)
        if location is not None and 0 < pages < location.end_page:
            return None
        return location

    def _characters(
        self, number: int | None, start: int, end: int, cited_text: str | None
    ) -> CitationLocation | None:
        """Return a range of characters; what was cited decides what the vendor counts in."""
        material = self.get(number)
        if number is None or material is None:
            return CitationLocationChar(start_index=start, end_index=end)
        shown = self._shown.get(number)
        if shown is None:
            shown = self._shown[number] = shown_text(material.source)
        if shown[start:end] != cited_text:
            finder = self._finders.get(number)
            if finder is None:
                finder = self._finders[number] = RangeFinder(shown)
            unit = OffsetUnit.CODE_POINT
            found = finder.find(TextRange(start=start, end=end, unit=unit, expected=cited_text))
            if found is not None:
                start, end = found.start, found.end
            elif end > len(shown):
                return None
        return CitationLocationChar(start_index=start, end_index=end)

    def _blocks(self, number: int | None, start: int, end: int) -> CitationLocation | None:
        material = self.get(number)
        if number is None or material is None:
            return CitationLocationBlock(start_block=start, end_block=end)
        pieces = self._pieces.get(number)
        if pieces is None:
            pieces = self._pieces[number] = pieces_of(material.source)
        if end > len(pieces.numbers):
            return None
        first, last = pieces.numbers[start], pieces.numbers[end - 1]
        if pieces.by_page:
            return CitationLocationPage(start_page=first + 1, end_page=last + 1)
        return CitationLocationBlock(start_block=first, end_block=last + 1)

    def exact_text(self, number: int | None, cited_text: str | None, /) -> str | None:
        """Return ``cited_text`` as it stands in ``number`` itself, which was shown harmless."""
        material = self.get(number)
        if material is None or not cited_text or "\ufffd" not in cited_text:
            return cited_text
        at = shown_text(material.source).find(cited_text)
        content = material.source.document.content
        return content[at : at + len(cited_text)] if at >= 0 else cited_text
