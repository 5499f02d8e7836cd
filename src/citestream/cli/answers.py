"""Printing answers as Markdown or plain text, with what they cite and the words of the sources."""

from enum import StrEnum

from ..model import Citations
from ..render import markdown, plain
from .output import printable, write

__all__ = ("AnswerFormat", "print_answer")


class AnswerFormat(StrEnum):
    """How answers are printed."""

    MARKDOWN = "markdown"
    PLAIN = "plain"
    JSON = "json"


def print_answer(
    content: str, citations: Citations | None, /, *, style: AnswerFormat, number: int = 1
) -> None:
    """Print an answer with its citations; ``number`` counts the answers of one output from 1."""
    if number > 1:
        write("\n---\n\n")
    if style is AnswerFormat.PLAIN:
        text = plain(content, citations, quotes=True)
    else:
        prefix = "" if number == 1 else f"{number}-"
        text = markdown(content, citations, anchor_prefix=prefix, quotes=True)
    write(printable(text).rstrip("\n") + "\n")
