"""What a citation marker looks like: delimiters, families, ids, locators and limits, as data.

::

    marker   = START family DELIM field *( DELIM field ) STOP
    field    = source id, or locator
    locator  = prefix digits [ "-" [ prefix ] digits ]      L8, L8-L13

One MarkerSyntax drives everything that writes, reads, checks or hides markers (SPEC section 4).
The defaults are those of OpenAI's guide "Citation Formatting" and of the ChatGPT service; the
families are those that the service has been seen to write. How a marker is read is in ``grammar``.
"""

import re
from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from ..errors import OptionError, brief

__all__ = (
    "BLOCKS",
    "CHARACTERS",
    "DEFAULT_SYNTAX",
    "FAMILIES",
    "LINES",
    "PAGES",
    "Family",
    "FamilyKind",
    "Locator",
    "LocatorPattern",
    "MarkerSyntax",
    "format_marker",
    "locator_form",
)


class FamilyKind(Enum):
    """What becomes of the markers of a family."""

    CITING = "citing"
    """Names sources: becomes citations and leaves the text."""
    NAMED = "named"
    """Wraps a name that is part of the sentence, the second item of a JSON array."""
    LABELLED = "labelled"
    """Wraps a label that is part of the sentence, the first field."""
    WIDGET = "widget"
    """Stands for something that the service draws: leaves the text."""

    @property
    def bears_prose(self) -> bool:
        """Whether part of the marker belongs to the sentence."""
        return self in {FamilyKind.NAMED, FamilyKind.LABELLED}


@attrs.frozen(kw_only=True)
class Family:
    """A family of markers: the word after START and what becomes of such markers."""

    name: str
    kind: FamilyKind


def _families() -> tuple[Family, ...]:
    table = {
        FamilyKind.CITING: "cite filecite link",
        FamilyKind.NAMED: "entity product_entity product",
        FamilyKind.LABELLED: "url video",
        FamilyKind.WIDGET: (
            "businesses_map calculator code entity_metadata explore_more filenavlist finance "
            "forecast genui i image image_group link_title map memcite memory message_reaction "
            "navlist products schedule sports standing weather"
        ),
    }
    return tuple(Family(name=n, kind=kind) for kind, names in table.items() for n in names.split())


FAMILIES = _families()
"""The families that the ChatGPT service writes. Any other word after START is not a marker."""


@attrs.frozen(kw_only=True)
class Locator:
    """A place inside a source as a marker names it.

    ``unit`` is ``line`` or ``page`` (1-based, ``end`` inclusive), ``block`` (as numbered in the
    prompt, ``end`` inclusive) or ``char`` (0-based, ``end`` exclusive). Whether the source has such
    a place is for whoever resolves the locator to see.
    """

    unit: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return self.text


@attrs.frozen(kw_only=True)
class LocatorPattern:
    """How locators of one unit are written: ``prefix`` and digits, alone or as a range."""

    unit: str
    prefix: str


LINES = LocatorPattern(unit="line", prefix="L")
PAGES = LocatorPattern(unit="page", prefix="P")
BLOCKS = LocatorPattern(unit="block", prefix="B")
CHARACTERS = LocatorPattern(unit="char", prefix="C")


# Spelled out, since type checkers cannot tell what ``tuple`` takes as a converter.
def _all_families(families: Iterable[Family]) -> tuple[Family, ...]:
    return tuple(families)


def _all_patterns(patterns: Iterable[LocatorPattern]) -> tuple[LocatorPattern, ...]:
    return tuple(patterns)


@attrs.frozen(kw_only=True, cache_hash=True)
class MarkerSyntax:
    """The whole syntax of markers, one value for prompt, parser, validator and filter.

    ``highlight`` is the pair of characters that wraps the text a marker supports and the
    placeholder character of the service; all three always leave the text, and None leaves them in
    it. ``id_pattern`` is a regular expression for a whole source id. ``max_length`` bounds a marker
    from START to STOP, in code points, and so what a stream may withhold; 4,096 holds every marker
    seen.

    Raises OptionError for delimiters that are empty or that cannot be told apart.
    """

    start: str = "\ue200"
    delimiter: str = "\ue202"
    stop: str = "\ue201"
    highlight: tuple[str, str, str] | None = ("\ue203", "\ue204", "\ue206")
    families: tuple[Family, ...] = attrs.field(default=FAMILIES, converter=_all_families)
    id_pattern: str = "[A-Za-z0-9_-]+"
    locators: tuple[LocatorPattern, ...] = attrs.field(default=(LINES,), converter=_all_patterns)
    max_length: int = 4096

    def __attrs_post_init__(self) -> None:
        marks = (self.start, self.delimiter, self.stop, *(self.highlight or ()))
        if not all(marks):
            raise OptionError("a marker syntax wants delimiters that are not empty")
        if any(mark != mark.strip() for mark in marks):
            raise OptionError("a marker syntax wants delimiters without blanks around them")
        pairs = [(a, b) for i, a in enumerate(marks) for j, b in enumerate(marks) if i != j]
        if any(_overlap(a, b) for a, b in pairs):
            raise OptionError(
                f"a marker syntax wants delimiters that do not overlap each other, got {marks!a}"
            )
        if self.highlight and any(len(mark) != 1 for mark in self.highlight):
            raise OptionError("a marker syntax wants highlight marks of one character each")
        if len({family.name for family in self.families}) != len(self.families):
            raise OptionError("a marker syntax wants family names that differ")
        shortest = len(self.start) + len(self.delimiter) + len(self.stop) + 2
        if self.max_length < shortest:
            raise OptionError(f"max_length: wanted {shortest} or more, got {self.max_length}")
        self._check_patterns()

    def _check_patterns(self) -> None:
        try:
            pattern = re.compile(self.id_pattern)
        except re.error as error:
            raise OptionError(f"id_pattern: not a regular expression: {error}") from error
        if pattern.groups or pattern.match(""):
            raise OptionError(
                "id_pattern: wanted no capturing groups and no match of the empty string"
            )


def _overlap(a: str, b: str) -> bool:
    """Tell whether ``b`` can begin inside ``a``."""
    return b in a or any(b.startswith(a[i:]) for i in range(1, len(a)))


DEFAULT_SYNTAX = MarkerSyntax()
"""The syntax that OpenAI's models write."""


def format_marker(
    *source_ids: str,
    locator: Locator | str | None = None,
    family: str = "cite",
    syntax: MarkerSyntax = DEFAULT_SYNTAX,
) -> str:
    r"""Write a marker that cites ``source_ids``; ``locator`` belongs to the last of them.

    Raises OptionError when a reader that knows the sources would not read it back as written.

    >>> format_marker("turn0file0", locator="L8-L13")
    '\ue200cite\ue202turn0file0\ue202L8-L13\ue201'
    """
    _check_citing(family, syntax.families)
    if not source_ids:
        raise OptionError("a marker wants at least one source id")
    for source_id in source_ids:
        if re.fullmatch(syntax.id_pattern, source_id) is None:
            raise OptionError(
                f"a source id wants the form {syntax.id_pattern}, got {brief(source_id)}"
            )
    fields = [family, *source_ids]
    if locator is not None:
        _check_locator(str(locator), syntax.locators)
        fields.append(str(locator))
    marker = syntax.start + syntax.delimiter.join(fields) + syntax.stop
    if len(marker) > syntax.max_length:
        raise OptionError(f"a marker wants at most {syntax.max_length} characters: {len(marker)}")
    _check_fields(marker, fields, syntax)
    return marker


def _check_citing(name: str, families: Iterable[Family]) -> None:
    if not any(f.name == name and f.kind is FamilyKind.CITING for f in families):
        raise OptionError(f"family: wanted a citing family of the syntax, got {brief(name)}")


def _check_locator(text: str, patterns: Iterable[LocatorPattern]) -> None:
    if not any(re.fullmatch(locator_form(pattern), text) for pattern in patterns):
        raise OptionError(f"a locator wants the form L8 or L8-L13, got {brief(text)}")
    first, *last = re.findall("[0-9]+(?=-|$)", text)
    if last and int(last[0]) < int(first):
        raise OptionError(f"a locator wants an end at or after its start, got {brief(text)}")


def _check_fields(marker: str, fields: Sequence[str], syntax: MarkerSyntax) -> None:
    """Check that the delimiters of ``marker`` are found where they were put."""
    head = len(syntax.start) + len(fields[0])
    end = len(marker) - len(syntax.stop)
    inside = marker[len(syntax.start) : end].split(syntax.delimiter)
    if (
        inside != list(fields)
        or marker.find(syntax.stop, head) != end
        or syntax.start in marker[head:]
        or any(field != field.strip() for field in fields)
    ):
        raise OptionError(
            f"a source id wants no delimiters and no blanks around it, got {brief(marker)}"
        )


def locator_form(pattern: LocatorPattern, /) -> str:
    """Return the regular expression, without groups, for the locators of ``pattern``."""
    prefix = re.escape(pattern.prefix)
    return f"{prefix}[0-9]+(?:-{prefix}[0-9]+)?"
