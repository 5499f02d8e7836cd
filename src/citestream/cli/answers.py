"""Printing answers for a terminal, as Markdown, HTML or plain text, with what they cite.

In: a content and its citations. Out: text on stdout, with the words of the sources.
"""

from enum import StrEnum

from ..model import Citations
from ..render import html, markdown, plain, terminal
from .output import decorated, printable, write

__all__ = ("AnswerFormat", "ListFormat", "print_answer")

_PAGE = '<!doctype html>\n<meta charset="utf-8">\n<title>citestream</title>\n'


class AnswerFormat(StrEnum):
    """How answers are printed."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"
    PLAIN = "plain"
    JSON = "json"


class ListFormat(StrEnum):
    """How lists are printed."""

    TEXT = "text"
    JSON = "json"


def print_answer(
    content: str,
    citations: Citations | None,
    /,
    *,
    style: AnswerFormat,
    number: int = 1,
    question: str | None = None,
) -> None:
    """Print an answer with its citations, below the ``question`` where one is given.

    ``number`` counts the answers of one output from 1.
    """
    prefix = "" if number == 1 else f"{number}-"
    if style is AnswerFormat.HTML:
        text = html(content, citations, anchor_prefix=prefix, quotes=True)
        if question is not None:
            text = f"<blockquote>\n{html(question, None, markup='text')}</blockquote>\n{text}"
        write(("<hr>\n" if prefix else _PAGE) + printable(text))
        return
    if prefix:
        write("\n---\n\n")
    if style is AnswerFormat.TERMINAL:
        shown = decorated()
        text = terminal(content, citations, color=shown, links=shown, quotes=True)
    elif style is AnswerFormat.PLAIN:
        text = printable(plain(content, citations, quotes=True))
    else:
        text = printable(markdown(content, citations, anchor_prefix=prefix, quotes=True))
    if question is not None:
        quoted = "".join(f"> {line}\n" for line in printable(question).splitlines())
        text = f"{quoted}\n{text}"
    write(text.rstrip("\n") + "\n")
