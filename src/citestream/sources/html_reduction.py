"""HTML reduced to its text, without what the page itself says is not to be seen.

In: a page. Out: its text and its title. The parser is justhtml (extra ``html``): it reads whatever
browsers read and needs no compiled code. Only the layout is ours: paragraphs stand apart by a blank
line, list items and table rows on lines of their own, cells are parted by a tab, ``<pre>`` stays as
it is.

What a reader cannot see must not be cited, and is where instructions to models hide. Left out with
all that is in them are scripts, styles, templates, ``<head>``, and elements with ``hidden``, with
``aria-hidden="true"`` or with ``display: none`` or ``visibility: hidden`` in a ``style`` of their
own. Style sheets are not read and scripts not run, so what only they hide is text here, as is what
other styles hide (colours, sizes, places off the screen).
"""

import re
from collections.abc import Mapping

from justhtml import JustHTML, Node, Text

__all__ = ("reduce_html",)

_TAGS = {
    "omitted": "head iframe noscript object script style svg template title",
    "paragraph": "article aside blockquote dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header "
    "main nav ol p pre section table ul",
    "line": "address caption dd details div dt figcaption hr legend li option summary tr",
    "cell": "td th",
}
_ROLES = {tag: role for role, tags in _TAGS.items() for tag in tags.split()}
_SPACE = re.compile("[ \t\n\f\r]+")  # NO-BREAK SPACE is text
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_UNSEEN = re.compile(
    r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))"
    r"\s*(?:!\s*important\s*)?(?:;|\Z)",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_TITLE = 300


def reduce_html(html: str, /) -> tuple[str, str | None]:
    r"""Return the text of ``html`` and its title, None where it has none. Never raises.

    >>> reduce_html("<title>Rules</title><p>Meals are <b>paid</b>.<p>Taxis<br>too.")
    ('Meals are paid.\n\nTaxis\ntoo.', 'Rules')
    """
    # Not sanitized: no markup leaves this function, and the sanitizer drops characters.
    page = JustHTML(html, sanitize=False)
    layout = _Layout()
    # A stack of nodes and ends of nodes, not recursion: pages nest as deep as they like.
    stack: list[Node | Text | str] = [page.root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            layout.boundary(node)
        elif isinstance(node, Text):
            layout.text(node.data or "")
        elif node.name == "br":
            layout.line_break()
        elif _ROLES.get(node.name) != "omitted" and not _hidden(node.attrs or {}):
            layout.boundary(node.name)
            if node.name == "pre":
                layout.preformatted += 1
                stack.append("/pre")
            stack.append(node.name)
            stack.extend(reversed(node.children or ()))
    title = page.query_one("head > title")
    name = _SPACE.sub(" ", title.to_text()).strip() if title else ""
    return layout.finish(), name[:_LONGEST_TITLE] or None


def _hidden(attributes: Mapping[str, str | None]) -> bool:
    """Tell whether an element with these attributes is not to be seen."""
    style = _COMMENT.sub(" ", attributes.get("style") or "")
    spoken = (attributes.get("aria-hidden") or "").strip().lower()
    return "hidden" in attributes or spoken == "true" or _UNSEEN.search(style) is not None


class _Layout:
    """Puts text in lines. ``preformatted`` counts the ``<pre>`` that are open."""

    def __init__(self) -> None:
        self.preformatted = 0
        self._out: list[str] = []
        self._breaks = 0  # line ends owed before the next text
        self._blank = ""  # blank owed before it

    def boundary(self, name: str) -> None:
        """Note that an element begins or ends here."""
        role = _ROLES.get(name)
        if name == "/pre":
            self.preformatted -= 1
        elif role == "paragraph":
            self._breaks = 2
        elif role == "line":
            self._breaks = max(1, self._breaks)
        elif role == "cell":
            self._blank = "\t"

    def line_break(self) -> None:
        """End the line; twice, and a blank line follows."""
        self._breaks = min(2, self._breaks + 1)

    def text(self, text: str) -> None:
        """Add text; blanks in it count once, but for preformatted text."""
        if self.preformatted:
            self._add(text)
            return
        words = _SPACE.sub(" ", text)
        if words[:1] == " ":
            self._blank = self._blank or " "
        if body := words.strip(" "):
            self._add(body)
        if body and words[-1] == " ":
            self._blank = " "

    def _add(self, text: str) -> None:
        if self._out:
            self._out.append("\n" * self._breaks or self._blank)
        self._breaks, self._blank = 0, ""
        self._out.append(text)

    def finish(self) -> str:
        return "".join(self._out).strip("\n")
