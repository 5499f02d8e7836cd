"""An answer that shows itself: in notebooks, and wherever a value with citations is to be rendered.

In: anything that has a content and citations, such as the data of a final message or what
``resolve`` returns. Out: a value that notebooks display as HTML or Markdown.
"""

import hashlib
from typing import Any, Protocol

import attrs

from ..model import Citations
from .html import html
from .markdown import markdown
from .plain import plain

__all__ = ("Answer", "Answered", "answer")


class Answered(Protocol):
    """What has a content and citations: a message's data, a Resolution."""

    @property
    def content(self) -> str:
        """The text that the spans of the citations count in."""

    @property
    def citations(self) -> Citations | None:
        """What is cited, None where nothing is."""


@attrs.frozen(kw_only=True)
class Answer:
    """A content and its citations, displayed by notebooks with its sources below."""

    content: str = attrs.field(repr=False)
    citations: Citations | None = attrs.field(default=None, repr=False)

    def __str__(self) -> str:
        return plain(self.content, self.citations)

    def _repr_html_(self) -> str:
        # Answers in one notebook share a page, so that their ids must differ.
        shown = f"{self.content}\0{self.citations!r}"
        digest = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()
        return html(self.content, self.citations, anchor_prefix=f"a{digest[:12]}-")

    def _repr_markdown_(self) -> str:
        return markdown(self.content, self.citations, style="links")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:  # noqa: ANN401 - as notebooks call it
        return {
            "text/html": self._repr_html_(),
            "text/markdown": self._repr_markdown_(),
            "text/plain": str(self),
        }


def answer(message: Answered, /) -> Answer:
    r"""Return what shows ``message`` in a notebook.

    >>> from citestream.resolver import resolve
    >>> print(answer(resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")))
    Rents rose. [1]
    <BLANKLINE>
    [1] turn0file0, L8
    """
    return Answer(content=message.content, citations=message.citations)
