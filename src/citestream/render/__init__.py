"""Answers for people: content and citations in, text for one kind of reader out.

All renderers are pure functions of ``(content, citations)``: ``markdown``, ``html``, ``terminal``,
``plain`` and ``speech``; ``answer`` is for notebooks, ``sse`` for browsers that read events,
``TerminalFilter`` for deltas. What they share: ``notes`` (numbers, names, places), ``placement``
(where marks go; ``structure``, ``runs`` and ``parser`` read the Markdown), ``quotes`` (the words of
a source), ``labels``, ``characters`` and ``urls`` (what is shown of a stranger's text, and what may
be a link). Nothing that a stranger wrote can be markup, a link or a control character there.
"""

from . import sse
from .answer import Answer, Answered, answer
from .html import Markup, html
from .markdown import MarkdownStyle, markdown
from .notes import Note, notes
from .plain import plain
from .quotes import QUOTE_LENGTH, quote_lines
from .speech import speech
from .terminal import TerminalFilter, terminal
from .urls import MAX_URL_LENGTH, safe_url

__all__ = (
    "MAX_URL_LENGTH",
    "QUOTE_LENGTH",
    "Answer",
    "Answered",
    "MarkdownStyle",
    "Markup",
    "Note",
    "TerminalFilter",
    "answer",
    "html",
    "markdown",
    "notes",
    "plain",
    "quote_lines",
    "safe_url",
    "speech",
    "sse",
    "terminal",
)
