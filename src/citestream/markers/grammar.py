"""How a marker is read: which word makes one, what its fields cite, what of it is prose.

In: the text between delimiters. Out: ParsedMarker. A Grammar is a MarkerSyntax made ready to use;
get it with ``Grammar.of(syntax)``. Where markers begin and end in a text is in ``tokenizer``.

Fields are read further than OpenAI's published helper does (SPEC section 4): every source may have
locators of its own, ``L8-13`` means ``L8-L13``, and a registered source id is an id whatever it
looks like.
"""

import json
import re
from collections.abc import Container, Iterable
from functools import lru_cache

from ..offsets import well_formed
from .marker import MarkerProblem, MarkerTarget, ParsedMarker
from .syntax import FamilyKind, Locator, MarkerSyntax

__all__ = ("NO_SOURCES", "Grammar")

NO_SOURCES: frozenset[str] = frozenset()
"""The registered source ids of a reader that has no registry."""

_FAR = 10**18  # what a number of more than 18 digits is read as: beyond every source
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)("?)', re.DOTALL)
_ARRAY = re.compile(r'\s*+\[(?:[^"\]]|"(?:[^"\\]|\\.)*+")*+\]', re.DOTALL)
_WORD = re.compile(r"[ \t]*\S*")
_BAD_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])|\\')


class Grammar:
    """A marker syntax made ready to read with."""

    def __init__(self, syntax: MarkerSyntax, /) -> None:
        self.syntax = syntax
        self.kinds: dict[str, FamilyKind] = {family.name: family.kind for family in syntax.families}
        names = sorted(self.kinds, key=len, reverse=True)
        openings = [name + mark for name in names for mark in (syntax.delimiter, syntax.stop)]
        self.longest_opening: int = max(map(len, openings), default=0)
        self.cut_openings: set[str] = {o[:size] for o in openings for size in range(len(o))}
        """What a text that ends right after it may still make the beginning of a marker."""
        ends = f"{re.escape(syntax.delimiter)}|{re.escape(syntax.stop)}"
        families = "|".join(map(re.escape, names)) or "(?!)"
        self.head: re.Pattern[str] = re.compile(f"({families})(?={ends})")
        """A family of the syntax with the delimiter that must follow it."""
        self.opening: re.Pattern[str] = re.compile(f"(?:{families})(?:{ends})")
        """The same, with the delimiter: what makes a marker of a START before it."""
        marks = (syntax.delimiter, syntax.stop)
        cut_marks = "|".join(re.escape(m[:size]) for m in marks for size in range(1, len(m)))
        self._cut_body = re.compile(
            rf"(?:[ \t]*{re.escape(syntax.delimiter)}[ \t]*(?:{syntax.id_pattern})?)*"
            rf"(?:(?:{cut_marks or '(?!)'})\Z)?"
        )
        self.special: re.Pattern[str] = re.compile(
            f"{re.escape(syntax.start)}|[{re.escape(''.join(syntax.highlight or ''))}\ud800-\udfff]"
        )
        """Where anything but plain text may begin."""
        self._id = re.compile(syntax.id_pattern)
        self._locators = tuple(
            (
                pattern.unit,
                re.compile(
                    rf"{re.escape(pattern.prefix)}([0-9]+)"
                    rf"(?:[-\u2013](?:{re.escape(pattern.prefix)})?([0-9]+))?",
                    re.IGNORECASE,
                ),
            )
            for pattern in syntax.locators
        )
        self._marks = (syntax.start, syntax.delimiter, syntax.stop, *(syntax.highlight or ()))

    @staticmethod
    @lru_cache(maxsize=64)
    def of(syntax: MarkerSyntax, /) -> "Grammar":
        """Return the grammar of ``syntax``; the same syntax gives the same grammar."""
        return Grammar(syntax)

    def read(
        self, raw: str, /, *, family: str, start: int, closed: bool, known: Container[str]
    ) -> ParsedMarker:
        """Read the marker ``raw`` that stands at ``start``; ``closed`` says that it has its STOP.

        ``known`` holds the registered source ids. What cannot be used is reported in ``problems``.
        """
        kind = self.kinds[family]
        head = len(self.syntax.start) + len(family)
        body = raw[head : -len(self.syntax.stop)] if closed else raw[head:]
        body = body.removeprefix(self.syntax.delimiter)
        targets: tuple[MarkerTarget, ...] = ()
        label = ""
        problems: list[MarkerProblem] = []
        if kind is FamilyKind.CITING:
            targets = tuple(self.targets(self.fields(body), problems, known=known))
            if not targets and not problems:
                problems.append(MarkerProblem(kind="malformed_marker", message="names no source"))
        elif kind.bears_prose:
            label = self.label(body, kind)
            if not label:
                problems.append(MarkerProblem(kind="malformed_marker", message="has no label"))
        if not closed:
            problems.append(MarkerProblem(kind="malformed_marker", message="has no end"))
        return ParsedMarker(
            raw=raw,
            family=family,
            kind=kind,
            start=start,
            end=start + len(raw),
            targets=targets,
            label=label,
            problems=tuple(problems),
        )

    def cut(self, raw: str, family: str, /) -> str:
        """Return what of ``raw``, a marker of ``family`` without STOP, is surely no prose.

        That is the names and numbers that may be fields; of other families than citing ones all of
        an array or of the last field, else the rest of the line.
        """
        kind = self.kinds[family]
        head = len(self.syntax.start) + len(family)
        match: re.Match[str] | None = None
        if kind is FamilyKind.CITING:
            match = self._cut_body.match(raw, head)
        elif kind is FamilyKind.NAMED:
            match = _ARRAY.match(raw, head + len(self.syntax.delimiter))
        elif raw.count(self.syntax.delimiter, head) > 1 and kind is FamilyKind.LABELLED:
            match = _WORD.match(raw, raw.rfind(self.syntax.delimiter) + len(self.syntax.delimiter))
        return raw[: match.end()] if match else raw.partition("\n")[0]

    def fields(self, body: str, /) -> list[str]:
        """Split the part of a marker after its family; fields are trimmed, empty ones ignored."""
        return [field for part in body.split(self.syntax.delimiter) if (field := part.strip())]

    def targets(
        self, fields: Iterable[str], problems: list[MarkerProblem], /, *, known: Container[str]
    ) -> list[MarkerTarget]:
        """Read the fields of a citing marker; what cannot be used goes to ``problems``."""
        found: dict[MarkerTarget, None] = {}
        bare: str | None = None  # the last id, while no locator of its own has come
        source_id: str | None = None
        for field in fields:
            locator = None if field in known else self.locator(field)
            if locator is None:
                if bare is not None:
                    self._add(found, MarkerTarget(source_id=bare), problems)
                bare = source_id = None
                if self._id.fullmatch(field) is None:
                    problems.append(_malformed(f"{field!a} is not a source id"))
                else:
                    bare = source_id = field
            elif source_id is None:
                problems.append(_malformed(f"locator {field!a} has no source id before it"))
            else:
                bare = None
                if locator.end < locator.start:
                    problems.append(
                        MarkerProblem(
                            kind="reversed_range", message=f"{field} ends before it starts"
                        )
                    )
                else:
                    target = MarkerTarget(source_id=source_id, locator=locator)
                    self._add(found, target, problems)
        if bare is not None:
            self._add(found, MarkerTarget(source_id=bare), problems)
        return list(found)

    @staticmethod
    def _add(
        found: dict[MarkerTarget, None], target: MarkerTarget, problems: list[MarkerProblem]
    ) -> None:
        if target in found:
            where = f" at {target.locator}" if target.locator else ""
            problems.append(
                MarkerProblem(
                    kind="duplicate_reference", message=f"names {target.source_id}{where} twice"
                )
            )
        found[target] = None

    def locator(self, field: str, /) -> Locator | None:
        """Read a locator, None where ``field`` is not one. ``L8-13`` and ``l8`` are read too."""
        for unit, pattern in self._locators:
            match = pattern.fullmatch(field)
            if match is not None:
                start = _number(match[1])
                end = _number(match[2]) if match[2] else start
                return Locator(unit=unit, start=start, end=end, text=field)
        return None

    def label(self, body: str, kind: FamilyKind, /) -> str:
        """Return the words of a marker that belong to the sentence, free of marker characters."""
        if kind is FamilyKind.LABELLED:
            label, *_ = body.split(self.syntax.delimiter, maxsplit=1)
        else:
            label = _second_string(body)
        label = " ".join(well_formed(label).splitlines())
        while any(mark in label for mark in self._marks):
            for mark in self._marks:
                label = label.replace(mark, "")
        return label.strip()


def _malformed(message: str) -> MarkerProblem:
    return MarkerProblem(kind="malformed_marker", message=message)


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= len(str(_FAR)) - 1 else _FAR


def _second_string(body: str) -> str:
    """Return the second string of a JSON array, also of one that is cut or not quite JSON.

    Models write LaTeX and table pipes with single backslashes, which JSON does not know.
    """
    strings = [text for text, closing in _STRING.findall(body) if closing]
    if len(strings) < 2:  # noqa: PLR2004 - the name is the second string
        return ""
    quoted = _BAD_ESCAPE.sub(lambda m: m[0] if m[1] else r"\\", strings[1])
    return str(json.loads(f'"{quoted}"', strict=False))
