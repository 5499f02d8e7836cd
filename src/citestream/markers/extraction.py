"""The compatible pair: what OpenAI's published citation helper finds and strips, in linear time.

The results are those of the helper on every text in which no START occurs inside a marker; there
the helper loses the next valid marker, and this restarts at the inner START. Digits in locators
are ASCII. Sessions read further, with ``parse_markers``.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import attrgetter, le

import attrs

from ..errors import OptionError, brief
from .syntax import DEFAULT_SYNTAX, MarkerSyntax, locator_form

__all__ = ("Marker", "MarkerBody", "extract_citations", "strip_citations")

_MEMO_SIZE = 4096  # bodies remembered for one syntax and choice of families
_MEMO_LENGTH = 256  # of at most this many characters each


@attrs.frozen(kw_only=True)
class MarkerBody:
    """What a citation marker says, wherever it stands."""

    raw: str
    family: str
    source_ids: tuple[str, ...]
    locator: str | None


@attrs.frozen(kw_only=True)
class Marker:
    """A valid citation marker and where it stands: code points, half-open.

    Markers that say the same share their ``body``.
    """

    body: MarkerBody
    start: int
    end: int

    @property
    def raw(self) -> str:
        """The marker as it is written, delimiters and all."""
        return self.body.raw

    @property
    def family(self) -> str:
        """The word after START."""
        return self.body.family

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The sources that are cited, as written."""
        return self.body.source_ids

    @property
    def locator(self) -> str | None:
        """The place in the last source, as written."""
        return self.body.locator


_new = object.__new__
# Frozen values pay for every field that __init__ sets; a marker has nothing to validate, so the
# code below fills the slots itself (half the time for a text full of markers).
_set_body, _set_start, _set_end = (vars(Marker)[name].__set__ for name in ("body", "start", "end"))
_set_raw, _set_family, _set_ids, _set_locator = (
    vars(MarkerBody)[name].__set__ for name in ("raw", "family", "source_ids", "locator")
)


class _Fields(dict[str, tuple[str, bool, bool]]):
    """Fields as they are written: trimmed, whether each is an id, whether it is a locator."""

    def __init__(self, syntax: MarkerSyntax) -> None:
        super().__init__()
        self._id = re.compile(syntax.id_pattern).fullmatch
        locators = "|".join(locator_form(pattern) for pattern in syntax.locators) or "(?!)"
        self._locator = re.compile(locators).fullmatch

    def __missing__(self, part: str) -> tuple[str, bool, bool]:
        field = part.strip()
        read = field, self._id(field) is not None, self._locator(field) is not None
        if len(part) <= _MEMO_LENGTH:
            if len(self) >= _MEMO_SIZE:
                self.clear()
            self[part] = read
        return read


class _Reader:
    """Reads what stands between START and STOP, remembering what it read.

    Whole bodies recur from answer to answer, single ids within one.
    """

    def __init__(self, syntax: MarkerSyntax, families: tuple[str, ...]) -> None:
        self._syntax = syntax
        self._heads = tuple((family, family + syntax.delimiter) for family in families)
        self._fields = _Fields(syntax)
        self.memo: dict[str, MarkerBody | None] = {}

    def read(self, text: str) -> MarkerBody | None:
        body = self._read(text)
        if len(text) <= _MEMO_LENGTH:
            if len(self.memo) >= _MEMO_SIZE:
                self.memo.clear()
            self.memo[text] = body
        return body

    def _read(self, text: str) -> MarkerBody | None:
        for family, head in self._heads:
            if text.startswith(head):
                parts = text[len(head) :].split(self._syntax.delimiter)
                return self._body(text, family, parts)
        return None

    def _body(self, text: str, family: str, parts: list[str]) -> MarkerBody | None:
        fields = [read for read in map(self._fields.__getitem__, parts) if read[0]]
        locator = fields.pop()[0] if fields and fields[-1][2] else None
        source_ids = tuple([field for field, is_id, _ in fields if is_id])
        if not source_ids or len(source_ids) < len(fields):
            return None
        body = _new(MarkerBody)
        _set_raw(body, f"{self._syntax.start}{text}{self._syntax.stop}")
        _set_family(body, family)
        _set_ids(body, source_ids)
        _set_locator(body, locator)
        return body


_reader = lru_cache(maxsize=64)(_Reader)


def extract_citations(
    text: str,
    /,
    *,
    families: Sequence[str] = ("cite",),
    syntax: MarkerSyntax = DEFAULT_SYNTAX,
) -> list[Marker]:
    r"""Find the valid citation markers of ``text``, in order.

    A malformed marker is left alone. A locator counts only as the last field. Raises OptionError
    for ``families`` that are one string.

    >>> found = extract_citations("Rents rose. \ue200cite\ue202turn0file0\ue202L8-L13\ue201")
    >>> found[0].source_ids, found[0].locator, found[0].start, found[0].end
    (('turn0file0',), 'L8-L13', 12, 36)
    """
    if isinstance(families, str):
        raise OptionError(f"families: wanted names, not one text, got {brief(families)}")
    start_mark, stop_mark = syntax.start, syntax.stop
    start_size, stop_size = len(start_mark), len(stop_mark)
    find, rfind = text.find, text.rfind
    reader = _reader(syntax, tuple(families))
    memo, read = reader.memo, reader.read
    markers: list[Marker] = []
    position = 0
    while (stop := find(stop_mark, position)) >= 0:
        start = rfind(start_mark, position, stop)
        position = stop + stop_size
        if start < 0:
            position = find(start_mark, position)
            if position < 0:
                break
            continue
        inside = text[start + start_size : stop]
        try:
            body = memo[inside]
        except KeyError:
            body = read(inside)
        if body is not None:
            marker = _new(Marker)
            _set_body(marker, body)
            _set_start(marker, start)
            _set_end(marker, position)
            markers.append(marker)
    return markers


def strip_citations(text: str, markers: Iterable[Marker], /) -> str:
    r"""Return ``text`` without ``markers``; every other character stays.

    Raises OptionError for markers that are not those of ``text``.

    >>> text = "Rents rose.\ue200cite\ue202turn0file0\ue201 Wages fell."
    >>> strip_citations(text, extract_citations(text))
    'Rents rose. Wages fell.'
    """
    ordered = list(markers)
    starts, ends = [m.start for m in ordered], [m.end for m in ordered]
    if not _apart(text, starts, ends):
        ordered.sort(key=attrgetter("start", "end"))
        starts, ends = [m.start for m in ordered], [m.end for m in ordered]
        if not _apart(text, starts, ends):
            raise OptionError("markers: wanted ranges of the text that do not overlap")
    pieces = [text[end:start] for end, start in zip([0, *ends], [*starts, None], strict=True)]
    return "".join(pieces)


def _apart(text: str, starts: list[int], ends: list[int]) -> bool:
    """Tell whether the ranges stand in ``text`` in order and do not overlap."""
    return all(map(le, starts, ends)) and all(map(le, [0, *ends], [*starts, len(text)]))
