"""What a reader sees of a text with markers: which blanks and lines go together with a marker.

In: the tokens of ``tokenizer``, in order. Out: pieces of visible text, as soon as they are sure.
The filter of a stream and the reading of a whole text both run through here, so they cannot
disagree. The rules (SPEC section 4):

- Blanks before a removed marker go when the end, white space or closing punctuation follows it.
  Emphasis marks between the two are looked through: ``**bold MARK**`` becomes ``**bold**``.
- Of the blanks between two markers only one remains where text follows.
- A line that held only markers goes with its newline.
- Blanks behind a marker stay, so a Markdown hard break stays; but at the beginning of a line, text
  takes the marker's place.

Only a run of ``MAX_BLANKS`` blanks is looked at, so that little is withheld whatever comes.

What is taken out must not make a marker of what stood around it: of ``START ci MARK te DELIM`` the
DELIM goes too.
"""

from collections.abc import Iterable
from typing import TypeAlias

from ..errors import OptionError, brief
from .grammar import Grammar
from .marker import ParsedMarker, PlacedMarker
from .syntax import FamilyKind
from .tokenizer import HighlightMark, PlainText, Token

__all__ = ("MAX_BLANKS", "OTHER_FAMILIES", "VisibleText")

OTHER_FAMILIES = ("display", "strip", "keep")
"""What may become of markers that cite nothing: their words stay, they go, they stay whole."""

MAX_BLANKS = 256
_BLANKS = " \t"
_NEWLINES = "\n\r"
_EMPHASIS = "*_~"
_MAX_EMPHASIS = 3
_NEXT = -2  # a highlight that begins with the next visible character
_CLOSING = frozenset(".,;:!?)]}»”’…%。、，．：；！？）］｝】〕」』》〉؟،؛।")


_Held: TypeAlias = list[tuple[str, int]]
"""Characters not given out yet, each with where it stands in the text."""


def _hold(held: _Held, text: str, at: int) -> None:
    if len(text) == 1:
        held.append((text, at))
    else:
        held.extend([(c, at + i if at >= 0 else at) for i, c in enumerate(text)])


def _behind(text: str, at: int, size: int) -> tuple[str, int]:
    """Return what follows the first ``size`` characters of ``text``, and where it stands."""
    return text[size:], at + size if at >= 0 else at


class VisibleText:
    """Turns tokens into the text that a reader sees.

    ``length`` counts the code points given out; ``markers`` collects the markers with the place
    where each stood, ``runs`` what of the text passed unchanged, when ``record`` is set. Raises
    OptionError for other ``other_families`` than those of OTHER_FAMILIES.
    """

    def __init__(self, grammar: Grammar, /, *, other_families: str, record: bool = False) -> None:
        if other_families not in OTHER_FAMILIES:
            raise OptionError(
                f"other_families: wanted one of {', '.join(OTHER_FAMILIES)}, "
                f"got {brief(other_families)}"
            )
        self.length: int = 0
        self.markers: list[PlacedMarker] = []
        self.runs: list[tuple[int, int, int]] = []
        self._grammar = grammar
        self._record = record
        self._keep = other_families == "keep"
        self._display = other_families == "display"
        self._out: list[str] = []
        self._first = grammar.syntax.start[0]
        self._window = len(grammar.syntax.start) + grammar.longest_opening
        self._last = ""  # the end of what was given out, at most so long, if a START is in it
        self._last_end = 0  # ... and the length after it
        self._opening: str | None = None  # what stands behind a START before something taken out
        self._blanks: _Held = []  # at the end of what was given out, not given out yet
        self._line_blank = True  # the line has no visible character yet
        self._overflow = False  # ... but blanks of it were given out already
        self._group = False  # a marker was removed after the blanks
        self._group_line = False  # ... and the line held nothing before it
        self._gap = False  # blanks stood between markers of the group
        self._after: _Held = []  # blanks behind the group
        self._emphasis: _Held = []  # emphasis marks behind the group
        self._skip_lf = False  # a line went with its CR, an LF may follow
        self._open = -1  # where a highlight began
        self._highlight: tuple[int, int] | None = None

    @property
    def idle(self) -> bool:
        """Whether plain text that begins and ends in a visible character passes as it is."""
        return not (
            self._blanks
            or self._group
            or self._skip_lf
            or self._open == _NEXT
            or self._opening is not None
        )

    def passes(self, text: str, /) -> None:
        """Note that ``text`` was given out as it is; allowed only while ``idle``."""
        self.length += len(text)
        self._note_line(text)

    def add_text(self, text: str, at: int, /) -> list[str]:
        """Take plain text that stands at ``at`` and return what becomes visible."""
        self._text(text, at)
        return self._drain()

    def add(self, tokens: Iterable[Token], /) -> list[str]:
        """Take tokens and return what they make visible."""
        for token in tokens:
            if isinstance(token, PlainText):
                self._text(token.text, token.start)
                continue
            self._note_opening()
            if isinstance(token, HighlightMark):
                self._mark(token)
            else:
                self._marker(token)
        return self._drain()

    def finish(self) -> list[str]:
        """Say that no token follows and return what is still visible."""
        if self._group_line:
            self._drop_group()
        elif self._group:
            self._end_group(closes=True)
        self._emit_held(self._blanks)
        return self._drain()

    def _drain(self) -> list[str]:
        out = self._out
        self._out = []
        return out

    # -- giving out

    def _emit(self, text: str, at: int) -> None:
        """Give out ``text`` that stands at ``at`` in the text, -1 for words of ours."""
        if self._opening is not None:
            text, at = self._break_opening(self._opening, text, at)
        if not text:
            return
        if self._record and at >= 0:
            self._add_run(at, len(text))
        if self._last or self._first in text:
            joins = self._last_end == self.length
            tail = (self._last if joins else "") + text[-self._window :]
            self._last = tail[-self._window :] if self._first in tail else ""
            self._last_end = self.length + len(text)
        self.length += len(text)
        self._out.append(text)

    def _emit_held(self, held: _Held) -> None:
        if self._record or len(held) == 1:
            for character, at in held:
                self._emit(character, at)
        else:
            self._emit("".join([character for character, _ in held]), 0)
        held.clear()

    def _add_run(self, at: int, size: int) -> None:
        if self.runs:
            start, end, place = self.runs[-1]
            if end == at and place + end - start == self.length:
                self.runs[-1] = (start, at + size, place)
                return
        self.runs.append((at, at + size, self.length))

    def _note_opening(self) -> None:
        """Remember a START given out as text that something taken out follows."""
        if self._opening is None and self._last_end == self.length:
            start = self._grammar.syntax.start
            _, found, behind = self._last.rpartition(start)
            if found and behind in self._grammar.cut_openings:
                self._opening = behind

    def _break_opening(self, before: str, text: str, at: int) -> tuple[str, int]:
        """Give out ``text`` without what would make a marker of a START and ``before``."""
        self._opening = None
        for index, character in enumerate(text):
            if self._grammar.opening.fullmatch(before + character) is None:
                self._emit(*_behind(text[: index + 1], at, index))
                before += character
                if before not in self._grammar.cut_openings:
                    return _behind(text, at, index + 1)
        self._opening = before
        return "", at

    # -- markers

    def _mark(self, mark: HighlightMark) -> None:
        if mark is HighlightMark.PLACEHOLDER:
            self._remove()
        elif mark is HighlightMark.OPEN:
            if self._emphasis:
                self._end_group(closes=False)
            self._open = _NEXT
        else:
            if self._emphasis:
                self._end_group(closes=True)
            if 0 <= self._open < self.length:
                self._highlight = (self._open, self.length)
            self._open = -1

    def _marker(self, marker: ParsedMarker) -> None:
        if marker.kind is not FamilyKind.CITING:
            if self._keep:
                self._text(marker.raw, marker.start)
                return
            if self._display and marker.label:
                self._text(marker.label, -1)
                self._place(marker)
                return
        self._remove()
        self._place(marker)

    def _place(self, marker: ParsedMarker) -> None:
        if self._record:
            claim = self._highlight
            if claim is not None and claim[1] != self.length:
                claim = None
            self.markers.append(PlacedMarker(marker=marker, position=self.length, claim=claim))

    def _remove(self) -> None:
        """Take note of a removed marker."""
        self._skip_lf = False
        if self._emphasis:
            self._end_group(closes=True)
        if self._group:
            self._gap = self._gap or bool(self._after)
            self._after.clear()
        else:
            self._group = True
            self._group_line = self._line_blank and not self._overflow
            self._gap = False

    # -- text

    def _text(self, text: str, at: int) -> None:
        if self._skip_lf:
            self._skip_lf = False
            if text[0] == "\n":
                text, at = _behind(text, at, 1)
        while self._group and text:
            text, at = self._behind_group(text, at)
        if text:
            self._plain(text, at)

    def _plain(self, text: str, at: int) -> None:
        """Give out text that no removed marker stands before, but for the blanks at its end."""
        body = text.rstrip(_BLANKS)
        if body:
            if self._blanks:
                self._emit_held(self._blanks)
            if self._open == _NEXT:
                self._open = self.length
            self._emit(body, at)
            self._note_line(body)
        size = len(body)
        if size < len(text):
            self._hold_blanks(text[size:], at + size if at >= 0 else at)

    def _hold_blanks(self, blanks: str, at: int) -> None:
        surplus = len(self._blanks) + len(blanks) - MAX_BLANKS
        if surplus > 0:
            self._overflow = True
            released = self._blanks[:surplus]
            del self._blanks[:surplus]
            surplus -= len(released)
            self._emit_held(released)
            self._emit(blanks[:surplus], at)
            blanks, at = _behind(blanks, at, surplus)
        _hold(self._blanks, blanks, at)

    def _note_line(self, text: str) -> None:
        """Remember whether the line that ``text`` ends in holds anything visible."""
        newline = max(text.rfind("\n"), text.rfind("\r"))
        if newline >= 0:
            self._line_blank = not text[newline + 1 :].strip(_BLANKS)
            self._overflow = False
        elif self._line_blank:
            self._line_blank = not text.strip(_BLANKS)

    def _behind_group(self, text: str, at: int) -> tuple[str, int]:
        """Take from the beginning of ``text`` what decides about the group; return the rest."""
        first = text[0]
        if self._emphasis:
            return self._behind_emphasis(text, at)
        if first in _BLANKS:
            return self._blanks_behind(text, at)
        if first in _NEWLINES and self._group_line:
            self._drop_group()
            self._skip_lf = first == "\r" and len(text) == 1
            return _behind(text, at, 2 if text.startswith("\r\n") else 1)
        if first in _EMPHASIS and not (
            self._after or self._group_line or self._open == _NEXT or at < 0
        ):
            size = len(text) - len(text.lstrip(_EMPHASIS))
            size = min(size, _MAX_EMPHASIS + 1)
            _hold(self._emphasis, text[:size], at)
            return _behind(text, at, size)
        self._end_group(closes=first in _CLOSING or first.isspace())
        return text, at

    def _blanks_behind(self, text: str, at: int) -> tuple[str, int]:
        size = len(text) - len(text.lstrip(_BLANKS))
        size = min(size, MAX_BLANKS - len(self._after))
        if not size:
            self._end_group(closes=False)
            return text, at
        _hold(self._after, text[:size], at)
        return _behind(text, at, size)

    def _behind_emphasis(self, text: str, at: int) -> tuple[str, int]:
        """Decide about emphasis marks behind the group by what follows them."""
        first = text[0]
        if first in _EMPHASIS and len(self._emphasis) <= _MAX_EMPHASIS:
            _hold(self._emphasis, first, at)
            return _behind(text, at, 1)
        closes = first in _CLOSING or first == "|" or first.isspace()
        self._end_group(closes=closes and len(self._emphasis) <= _MAX_EMPHASIS)
        return text, at

    def _end_group(self, *, closes: bool) -> None:
        """Decide which blanks around the group stay; ``closes`` says that no word follows it."""
        if self._group_line:
            self._emit_held(self._blanks)
            if closes:
                self._emit_held(self._after)
        elif self._after:
            self._emit_held(self._after)
        elif self._gap and not closes:
            self._emit(" ", -1)
        elif not closes:
            self._emit_held(self._blanks)
        if self._emphasis:
            self._emit_held(self._emphasis)
            self._line_blank = False
        self._drop_group()

    def _drop_group(self) -> None:
        """Forget the group and the blanks around it."""
        self._group = self._group_line = self._gap = False
        self._blanks.clear()
        self._after.clear()
