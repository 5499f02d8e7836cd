"""HTML from the tokens of Markdown: the few elements that answers need, and nothing else.

In: tokens, and how to write a stretch of the text. Out: HTML in which every character of the
content is text: raw HTML and images are words, links lead to safe URLs only, and no attribute
holds what a stranger wrote, but for ``href`` and the language of code.
"""

import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from .urls import safe_url

if TYPE_CHECKING:
    from .parser import Token

__all__ = ("LINK", "block_html", "inline_html", "text_html", "words")

LINK = 'rel="noopener noreferrer nofollow"'
"""What every link to elsewhere says: tell it nothing and vouch for nothing."""

_SPECIAL = re.compile("[&<>\"'\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # HTML has no place for them
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_-]{1,30}")
_ALIGN = re.compile("text-align:(left|center|right)")
_LINES = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th"))  # hold words


def text_html(text: str, /) -> str:
    """Return ``text`` as it stands in HTML, in an element or an attribute."""
    return escape(_CONTROLS.sub("", text)) if _SPECIAL.search(text) else text


def block_html(token: "Token", code: str = "", /) -> str:
    """Return the HTML of a token of a block; ``code`` is that of what a block of code holds."""
    if token.hidden:  # a paragraph of a tight list
        return "\n" if token.nesting < 0 else ""
    if token.nesting < 0:
        return f"</{token.tag}>\n"
    if token.nesting == 0:
        return "<hr>\n" if token.type == "hr" else _code(token.info.split(), code)
    attributes = ""
    if token.attrs:
        align = _ALIGN.fullmatch(str(token.attrs.get("style")))
        start = token.attrs.get("start")
        attributes = f' class="{align[1]}"' if align else f' start="{start:d}"'
    return f"<{token.tag}{attributes}>" if token.tag in _LINES else f"<{token.tag}{attributes}>\n"


def _code(info: list[str], code: str) -> str:
    language = info[0] if info and _LANGUAGE.fullmatch(info[0]) else ""
    kind = f' class="language-{language}"' if language else ""
    return f"<pre><code{kind}>{code}</code></pre>\n"


def inline_html(
    tokens: "list[Token]",
    found: list[tuple[int, int]] | None,
    write: Callable[[str, int, int], str],
    between: Callable[[int], str] | None,
) -> str:
    """Return the HTML of inline tokens, whose ranges are ``found``.

    ``write`` gives the HTML of words that stand in a range, ``between`` that of what stands before
    an offset where nothing is open, if there is anything.
    """
    pieces = []
    links: list[bool] = []
    for index, token in enumerate(tokens):
        start, end = found[index] if found else (0, 0)
        kind = token.type
        if kind in {"text", "text_special", "html_inline"}:
            pieces.append(write(token.content, start, end))
        elif kind == "code_inline":
            pieces.append(f"<code>{write(token.content, start, end)}</code>")
        elif kind == "image":
            pieces.append(write(words(token.children or []), start, end))
        elif kind == "softbreak":
            pieces.append("\n")
        elif kind == "hardbreak":
            pieces.append("<br>\n")
        elif kind == "link_open":
            url = safe_url(str(token.attrs.get("href", "")))
            links.append(url is not None)
            pieces.append(f'<a href="{escape(url)}" {LINK}>' if url else "")
        elif kind == "link_close":
            pieces.append("</a>" if links.pop() else "")
        else:
            pieces.append(f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>")
        if between:
            pieces.append(between(end))
    return "".join(pieces)


def words(tokens: "list[Token]", /) -> str:
    """Return what is said by inline tokens, without any markup."""
    return "".join(
        words(token.children or [])
        if token.type == "image"
        else " "
        if token.type in {"softbreak", "hardbreak"}
        else token.content
        for token in tokens
    )
