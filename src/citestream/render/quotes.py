"""The words of a source as they stand under its note: lines, cut where they are too many.

In: the exact text of a source and the words of the answer that cite it. Out: its lines, character
by character but for what ``characters`` leaves out, at most ``QUOTE_LENGTH`` in all. Of a longer
text those are shown that hold the end of the cited words, where they are found in it, else the
first; ``…`` stands for what was left out.
Deliberately elsewhere: escaping for a sink (``markdown``).
"""

import re

from .characters import visible

__all__ = ("QUOTE_LENGTH", "quote_lines")

QUOTE_LENGTH = 500
"""Characters of a quote: a long paragraph, more than a claim rests on."""

_BEFORE = 300  # characters shown up to the end of the cited words
_TAILS = (64, 32, 16)  # characters at their end that they are recognised by, the most first
_SEARCHED = 1_000_000  # characters of a source that they are looked for in
_ROOM = 40  # characters that a cut may move by, so as not to cut a word
_BREAK = re.compile("\r\n?|\n")


def quote_lines(text: str, /, *, claim: str) -> tuple[str, ...]:
    r"""Return the lines of ``text`` that are shown for ``claim``; none where nothing is visible.

    >>> quote_lines("  On a journey, meals\n  are paid.\n", claim="Meals are paid.")
    ('On a journey, meals', 'are paid.')
    """
    begin, end = 0, len(text)
    if end > QUOTE_LENGTH:
        begin = _begin(text, claim)
        end = _cut(text, min(end, begin + QUOTE_LENGTH))
    lines = [visible(line).rstrip() for line in _BREAK.split(text[begin:end])]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    if not lines:
        return ()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line)
    lines = [line[indent:] for line in lines]
    if begin:
        lines[0] = "…" + lines[0]
    if end < len(text):
        lines[-1] += "…"
    return tuple(lines)


def _begin(text: str, claim: str) -> int:
    """Return where to begin so that the end of ``claim`` is among what is shown."""
    words = "".join(claim.split())
    tails = (words[-size:] for size in _TAILS)
    patterns = (re.compile(r"\s*".join(map(re.escape, tail))) for tail in tails)
    found = next(filter(None, (p.search(text, 0, _SEARCHED) for p in patterns)), None)
    if found is None or found.end() <= _BEFORE:
        return 0
    begin = found.end() - _BEFORE
    line = _BREAK.search(text, begin, found.start())
    if line is not None:
        return line.end()
    blank = text.find(" ", begin, begin + _ROOM)
    return blank + 1 if blank >= 0 else begin


def _cut(text: str, end: int) -> int:
    """Return ``end``, or a blank shortly before it where that would cut a word."""
    blank = text.rfind(" ", end - _ROOM, end) if end < len(text) else -1
    return blank if blank >= 0 else end
