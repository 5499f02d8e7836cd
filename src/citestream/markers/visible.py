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
"""

from collections.abc import Iterable

from .marker import ParsedMarker, PlacedMarker
from .syntax import FamilyKind
from .tokenizer import HighlightMark, PlainText, Token

__all__ = ("MAX_BLANKS", "VisibleText")

MAX_BLANKS = 256
_BLANKS = " \t"
_NEWLINES = "\n\r"
_EMPHASIS = "*_~"
_MAX_EMPHASIS = 3
_NEXT = -2  # a highlight that begins with the next visible character
_CLOSING = frozenset(".,;:!?)]}»”’…%。、，．：；！？）］｝】〕」』》〉؟،؛।")


class VisibleText:
    """Turns tokens into the text that a reader sees.

    ``length`` counts the code points given out; ``markers`` collects the markers with the place
    where each stood, ``runs`` what of the text passed unchanged, when ``record`` is set.
    """

    def __init__(self, *, other_families: str, record: bool = False) -> None:
        self.length = 0
        self.markers: list[PlacedMarker] = []
        self.runs: list[tuple[int, int, int]] = []
        self._record = record
        self._keep = other_families == "keep"
        self._display = other_families == "display"
        self._out: list[str] = []
        self._blanks = ""  # at the end of what was given out, not given out yet
        self._blanks_at = 0  # where they stand in the text
        self._line_blank = True  # the line has no visible character yet
        self._overflow = False  # ... but blanks of it were given out already
        self._group = False  # a marker was removed after the blanks
        self._group_line = False  # ... and the line held nothing before it
        self._gap = False  # blanks stood between markers of the group
        self._after = ""  # blanks behind the group
        self._after_at = 0
        self._emphasis = ""  # emphasis marks behind the group
        self._emphasis_at = 0
        self._skip_lf = False  # a line went with its CR, an LF may follow
        self._open = -1  # where a highlight began
        self._highlight: tuple[int, int] | None = None

    @property
    def idle(self) -> bool:
        """Whether plain text that begins and ends in a visible character passes as it is."""
        return not (self._blanks or self._group or self._skip_lf or self._open == _NEXT)

    def passes(self, text: str, /) -> None:
        """Note that ``text`` was given out as it is; allowed only while ``idle``."""
        self.length += len(text)
        self._note_line(text)

    def add(self, tokens: Iterable[Token], /) -> list[str]:
        """Take tokens and return what they make visible."""
        for token in tokens:
            if isinstance(token, PlainText):
                self._text(token.text, token.start)
            elif isinstance(token, HighlightMark):
                self._mark(token)
            else:
                self._marker(token)
        return self._drain()

    def finish(self) -> list[str]:
        """Say that no token follows and return what is still visible."""
        if self._group:
            if self._group_line:
                self._drop_group()
            else:
                self._end_group(self._emphasis, "")
        if self._blanks:
            self._emit(self._blanks, self._blanks_at)
            self._blanks = ""
        return self._drain()

    def _drain(self) -> list[str]:
        out = self._out
        self._out = []
        return out

    def _emit(self, text: str, at: int) -> None:
        """Give out ``text`` that stands at ``at`` in the text, -1 for words of ours."""
        if self._record and at >= 0:
            self.runs.append((at, at + len(text), self.length))
        self.length += len(text)
        self._out.append(text)

    # -- markers

    def _mark(self, mark: HighlightMark) -> None:
        if mark is HighlightMark.OPEN:
            self._open = _NEXT
        elif mark is HighlightMark.PLACEHOLDER:
            self._remove()
        else:
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
            self._end_group(self._emphasis, "")
        if self._group:
            self._gap = self._gap or bool(self._after)
            self._after = ""
        else:
            self._group = True
            self._group_line = self._line_blank and not self._overflow
            self._gap = False

    # -- text

    def _text(self, text: str, at: int) -> None:
        if self._skip_lf:
            self._skip_lf = False
            if text[0] == "\n":
                text, at = text[1:], at + 1
        while self._group and text:
            text, at = self._behind_group(text, at)
        if text:
            self._plain(text, at)

    def _plain(self, text: str, at: int) -> None:
        """Give out text that no removed marker stands before, but for the blanks at its end."""
        body = text.rstrip(_BLANKS)
        if self._blanks and body:
            self._emit(self._blanks, self._blanks_at)
            self._blanks = ""
        if body:
            if self._open == _NEXT:
                self._open = self.length
            self._emit(body, at)
            self._note_line(body)
        blanks = text[len(body) :]
        if blanks:
            if not self._blanks:
                self._blanks_at = at + len(body) if at >= 0 else -1
            self._blanks += blanks
            self._release_blanks()

    def _release_blanks(self) -> None:
        surplus = len(self._blanks) - MAX_BLANKS
        if surplus > 0:
            self._emit(self._blanks[:surplus], self._blanks_at)
            self._blanks = self._blanks[surplus:]
            self._blanks_at += surplus
            self._overflow = True

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
            size = 2 if text.startswith("\r\n") else 1
            return text[size:], at + size
        if first in _EMPHASIS and not (self._after or self._group_line or at < 0):
            self._emphasis_at = at
            size = len(text) - len(text.lstrip(_EMPHASIS))
            size = min(size, _MAX_EMPHASIS + 1)
            self._emphasis = text[:size]
            return text[size:], at + size
        closes = first in _NEWLINES or first in _CLOSING or first.isspace()
        self._end_group("", "" if closes else first)
        return text, at

    def _blanks_behind(self, text: str, at: int) -> tuple[str, int]:
        size = len(text) - len(text.lstrip(_BLANKS))
        size = min(size, MAX_BLANKS - len(self._after))
        if not size:
            self._end_group("", text[0])
            return text, at
        if not self._after:
            self._after_at = at
        self._after += text[:size]
        return text[size:], at + size if at >= 0 else at

    def _behind_emphasis(self, text: str, at: int) -> tuple[str, int]:
        """Decide about emphasis marks behind the group by what follows them."""
        first = text[0]
        if first in _EMPHASIS and len(self._emphasis) <= _MAX_EMPHASIS:
            self._emphasis += first
            return text[1:], at + 1
        opens = len(self._emphasis) > _MAX_EMPHASIS or not (
            first.isspace() or first in _CLOSING or first == "|"
        )
        self._end_group(self._emphasis, first if opens else "")
        return text, at

    def _end_group(self, emphasis: str, follows: str) -> None:
        """Decide which blanks around the group stay; ``follows`` is the text that follows, if any."""
        blanks, self._blanks = self._blanks, ""
        if self._group_line:
            self._emit_blanks(blanks, self._blanks_at)
            if not follows:
                self._emit_blanks(self._after, self._after_at)
        elif self._after:
            self._emit_blanks(self._after, self._after_at)
        elif follows and self._gap:
            self._emit_blanks(" ", -1)
        elif follows:
            self._emit_blanks(blanks, self._blanks_at)
        if emphasis:
            self._emit(emphasis, self._emphasis_at)
            self._line_blank = False
        self._group = self._gap = False
        self._after = self._emphasis = ""

    def _emit_blanks(self, blanks: str, at: int) -> None:
        if blanks:
            self._emit(blanks, at)

    def _drop_group(self) -> None:
        """Drop the line that held only markers."""
        self._blanks = self._after = self._emphasis = ""
        self._group = self._gap = False
