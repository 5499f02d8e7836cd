"""Numbers in brackets that cite, taken out of a text that comes in pieces.

In: pieces of a text. Out: the text without its citations, and what they cite and where they stood.
``[1]``, ``[1][2]``, ``[1, 2]`` and ``[1-3]`` are citations, by their form and by what stands around
them, for what the numbers mean may come after the text. What stays:

- what stands in code, in the text of a link (``[1](url)``, ``[[1]](url)``), escaped;
- footnotes (``[^1]``), ``[0]``, years, and labels, which begin a line that goes on;
- an index behind a name (``arr[1]``, ``row_sums[1]``, ``x[1]``) or of what is assigned to. A plain
  word may be a name too, but ``rose[1]`` is how Perplexity cites;
- an interval or a list (``in [1, 10]``, ``= [1]``).

Deliberately elsewhere: the blanks around what is taken out (``markers.visible``), as with markers.
"""

import re
import sys
from functools import lru_cache

from ..markers import DEFAULT_SYNTAX, FamilyKind, ParsedMarker
from ..markers.grammar import Grammar
from ..markers.tokenizer import PlainText, Token
from ..markers.visible import VisibleText
from ..offsets import is_high_surrogate, well_formed

__all__ = ("NumberFilter",)

_FAMILY = "number"
_AHEAD = 256  # characters behind a number that may decide about it
_BEHIND = 48  # ... and before it
_MANY = 50  # sources of a range
_N = "[1-9][0-9]{0,2}"
_BODY = re.compile(r"\[[0-9 ,;\u2013-]{0,40}")
_NUMBERS = re.compile(rf"\[ ?{_N}(?: ?[,;\u2013-] ?{_N})* ?\]")
_ITEM = re.compile(rf"({_N})(?: ?[\u2013-] ?({_N}))?")
_NAME = re.compile(  # of one letter, of code
    r"(?:(?<![^\W_])[a-z]|\b(?:arr|args|argv|buf|idx|ptr|tmp|vec)|[\w$]_\w*[^\W_]|\$\w+)\Z"
)
_NO_TEXT = frozenset("\\[]")
_SIGNS = frozenset("=\u2208\u2229\u222a+^<")
_NO_SEVERAL = re.compile(
    r"(?:[(,]|\b(?:array|between|from|in|interval|is|list|of|range|returns?|to|tuple|vector)) ?\Z",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:[ \t\r]|\[[0-9 ,;\u2013-]{1,40}\])*")
_TOKENS = re.compile(r"`+|~+|\n|[^`~\n]+")
_OPENING = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t>]*)?")
_FENCE = 3  # marks


class NumberFilter:
    """Hides the citations of a text that comes in pieces, and remembers them.

    What it gives out does not depend on how the text is cut.

    >>> hide = NumberFilter()
    >>> hide.feed("Rents rose [1"), hide.feed("][2]. And [0]"), hide.finish(), hide.found
    ('Rents rose', '. And [0]', '', [(10, (1, 2))])
    """

    def __init__(self) -> None:
        grammar = Grammar.of(DEFAULT_SYNTAX)
        self._visible = VisibleText(grammar, other_families="display", record=True)
        self._markdown = _Markdown()
        self._held = ""  # not decided yet
        self._at = 0  # where that stands in the text
        self._before = ""
        self._cited = False  # what stands right before is a citation

    @property
    def found(self) -> list[tuple[int, tuple[int, ...]]]:
        """The citations: where each stood in what was given out, and the numbers in it."""
        merged: dict[int, dict[int, None]] = {}
        for one in self._visible.markers:
            merged.setdefault(one.position, {}).update(dict.fromkeys(_cited(one.marker.raw)))
        return [(position, tuple(numbers)) for position, numbers in merged.items()]

    def feed(self, piece: str, /) -> str:
        """Take the next piece and return the text that is now sure to be visible."""
        text = self._held + piece
        half = text[-1] if is_high_surrogate(text) else ""
        self._held = ""
        return self._take(well_formed(text[: len(text) - len(half)]), last=False, half=half)

    def finish(self) -> str:
        """Say that the text ends here and return what is still visible."""
        held, self._held = self._held, ""
        given = self._take(well_formed(held), last=True, half="")
        return given + "".join(self._visible.finish())

    def _take(self, text: str, *, last: bool, half: str) -> str:
        tokens: list[Token] = []
        begin = position = 0
        group = -1  # where the brackets before ``begin`` start, which are one marker
        while (at := text.find("[", position)) >= 0:
            if position < at:
                self._pass(text[position:at])
            numbers = self._read(text, at, last=last)
            if numbers is None:
                break
            if not numbers:
                position = at + 1
                self._pass("[")
                continue
            if group >= 0 and begin < at:
                tokens.append(_marker(text[group:begin], self._at + group))
                group = -1
            if group < 0:
                self._plain(text, begin, at, tokens)
                group = at
            self._cited = True
            begin = position = text.index("]", at) + 1
        else:
            at = len(text)
            self._pass(text[position:])
        if group >= 0:
            tokens.append(_marker(text[group:begin], self._at + group))
        self._plain(text, begin, at, tokens)
        self._at += at
        self._held = text[at:] + half
        return "".join(self._visible.add(tokens))

    def _plain(self, text: str, begin: int, end: int, tokens: list[Token]) -> None:
        if begin < end:
            tokens.append(PlainText(text=text[begin:end], start=self._at + begin))

    def _pass(self, text: str) -> None:
        """Take note of text that is no citation."""
        if text:
            self._markdown.pass_by(text)
            self._before = (text if len(text) >= _BEHIND else self._before + text)[-_BEHIND:]
            self._cited = False

    def _read(self, text: str, at: int, *, last: bool) -> tuple[int, ...] | None:
        """Return the numbers that the bracket at ``at`` cites; None while that is undecided."""
        if not self._cited and self._markdown.in_code:
            return ()
        end = _reach(_BODY, text, at)
        if end == len(text):
            return () if last else None
        numbers = _numbers(text[at : end + 1])
        if not numbers or (not self._cited and self._forbids(numbers)):
            return ()
        follows = self._follows(text, end + 1, last=last)
        return None if follows is None else numbers if follows else ()

    def _forbids(self, numbers: tuple[int, ...]) -> bool:
        """Tell whether after what stands before a bracket no citation can come."""
        before = self._before
        last = before[-1:]
        sign = before[-2:-1] if last == " " else last
        if last in _NO_TEXT or sign in _SIGNS or (last.isalnum() and _is_name(before)):
            return True
        return len(numbers) > 1 and _NO_SEVERAL.search(before) is not None

    def _follows(self, text: str, end: int, *, last: bool) -> bool | None:
        """Tell whether what follows may follow a citation; None while that is undecided."""
        if self._markdown.bare:
            return self._stands_alone(text, end, last=last)
        ahead = text[end : end + 2]
        if not last and (not ahead or ahead in {" ", "."}):
            return None
        if ahead.startswith(("(", "=")) or ahead == " =":
            return False
        glued = self._before[-1:].isalnum() and not self._cited
        return not (glued and ahead[:1] == "." and (ahead[1:].islower() or ahead[1:] == "_"))

    def _stands_alone(self, text: str, end: int, *, last: bool) -> bool | None:
        """Tell whether nothing but citations stands on the line: text behind makes it a label."""
        after = _reach(_ALONE, text, end, end + _AHEAD)
        if text.startswith("\n", after) or (last and after == len(text)):
            return True
        cut = after == len(text) or _BODY.fullmatch(text, after) is not None
        return None if cut and not last and len(text) - end < _AHEAD else False


class _Markdown:
    """Tells of a text that comes in pieces where it has come to: into code, or how far on a line.

    It looks back only, so a code span that never closes counts as code to the end of its paragraph.
    """

    def __init__(self) -> None:
        self._line = ""  # how the line begins
        self._run = ""  # backticks or tildes at the end, which may go on
        self._fence = ""  # the run that opened a block of code
        self._info = False  # the line is still that of the fence
        self._closing = False  # the line holds the run that closes the fence
        self._ticks = 0  # backticks that opened a code span
        self._escaping = False  # a backslash stands at the end

    @property
    def in_code(self) -> bool:
        """Whether what comes next is code."""
        self._end_run()
        return bool(self._fence or self._ticks)

    @property
    def bare(self) -> bool:
        """Whether the line holds nothing yet but bullets and the like."""
        # Most citations stand behind a word.
        return not self._line[-1:].isalnum() and _OPENING.fullmatch(self._line) is not None

    def pass_by(self, text: str) -> None:
        """Take the next piece."""
        for words in _TOKENS.findall(text):
            if words[0] in "`~":
                if words[0] != self._run[:1]:
                    self._end_run()
                self._run = (self._run + words)[:_AHEAD]  # however long a text makes it
                continue
            self._end_run()
            if words == "\n":
                self._end_line()
            else:
                self._line = (self._line + words)[:_BEHIND]
                self._closing = self._closing and not words.strip()
            self._escaping = words[-1] == "\\"

    def _end_line(self) -> None:
        if self._closing:
            self._fence = ""
        if not self._line.strip():
            self._ticks = 0  # a paragraph ends, and so do code spans that it left open
        self._info = self._closing = False
        self._line = ""

    def _end_run(self) -> None:
        run, self._run = self._run, ""
        if not run:
            return
        opening = self.bare and len(run) >= _FENCE
        escaped, self._escaping = self._escaping, False
        self._line = (self._line + run)[:_BEHIND]
        if self._fence:
            if not (self._info and run[0] == self._fence[0] == "`"):
                same = run[0] == self._fence[0] and len(run) >= len(self._fence)
                self._closing = opening and same and not self._info
                return
            # No fence of backticks has one behind it on its line: it was a code span.
            self._ticks, self._fence = len(self._fence), ""
        if self._ticks:
            if run == "`" * self._ticks:
                self._ticks = 0
        elif opening:
            self._fence, self._info = run, True
        elif run[0] == "`" and not escaped:
            self._ticks = len(run)


def _is_name(before: str) -> bool:
    """Tell whether ``before`` ends in what may be a name in code."""
    return _NAME.search(before.rsplit(None, 1)[-1]) is not None


def _reach(pattern: re.Pattern[str], text: str, start: int, end: int = sys.maxsize) -> int:
    """Return where what ``pattern`` matches at ``start`` ends."""
    match = pattern.match(text, start, end)
    return start if match is None else match.end()


@lru_cache(maxsize=256)
def _numbers(raw: str) -> tuple[int, ...]:
    """Return the numbers in a bracket, none where it is no citation."""
    found: dict[int, None] = {}
    if _NUMBERS.fullmatch(raw):
        for first, last in _ITEM.findall(raw):
            low, high = int(first), int(last or first)
            if high < low or high - low >= _MANY:
                return ()
            found.update(dict.fromkeys(range(low, high + 1)))
    return tuple(found)


@lru_cache(maxsize=256)
def _cited(raw: str) -> tuple[int, ...]:
    """Return the numbers in brackets that stand side by side."""
    return tuple(number for one in raw[:-1].split("]") for number in _numbers(f"{one}]"))


def _marker(raw: str, at: int) -> ParsedMarker:
    return ParsedMarker(
        raw=raw, family=_FAMILY, kind=FamilyKind.CITING, start=at, end=at + len(raw)
    )
