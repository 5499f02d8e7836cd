"""Answers for people: content and citations in, text for one kind of reader out.

All renderers are pure functions of ``(content, citations)``. ``notes`` has what they share:
numbers, labels, places; ``quotes`` has the words of a source, ``characters`` says what is shown of
any text. Nothing that a stranger wrote can be
markup, a link or a control character there.
"""

from .markdown import markdown
from .notes import Note, marked_pieces, notes, one_line, safe_url
from .plain import plain
from .quotes import QUOTE_LENGTH, quote_lines

__all__ = (
    "QUOTE_LENGTH",
    "Note",
    "markdown",
    "marked_pieces",
    "notes",
    "one_line",
    "plain",
    "quote_lines",
    "safe_url",
)
