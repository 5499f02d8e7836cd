"""The Markdown parser: CommonMark with tables and strikethrough; its tokens say where they stand.

In: options. Out: a ``MarkdownIt`` that parses blocks only; what stands in a block is parsed by
``inline_tokens`` where somebody asks. Links are taken as they are written, whatever they name.
Deliberately elsewhere: what may become a link (``urls``), and what the places mean (``structure``).

Only functions import this module: who renders nothing does not pay for the parser's import.
"""

import functools
import string
from collections.abc import Callable
from typing import Any, TypeAlias

from markdown_it import MarkdownIt, rules_block, rules_inline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

__all__ = ("Token", "block_tokens", "inline_tokens")

_NESTING = 100  # containers and marks of emphasis in each other; what is deeper is text or left out
_ESCAPED = frozenset(f"{string.punctuation}\n")
_Rule: TypeAlias = Callable[[StateInline, bool], bool]


def _escape(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the shape of rules
    # The rule takes two characters even where nothing is escaped, and so a blank of a hard break.
    behind = state.src[state.pos + 1 : state.pos + 2]
    return behind in _ESCAPED and rules_inline.escape(state, silent)


# Rules that make one token from one stretch of text, and the character that this begins with. The
# stretches of others follow from these.
_PLACED: tuple[tuple[str, str, _Rule], ...] = (
    ("newline", "\n", rules_inline.newline),
    ("escape", "\\", _escape),
    ("backticks", "`", rules_inline.backtick),
    ("link", "[", rules_inline.link),
    ("image", "!", rules_inline.image),
    ("autolink", "<", rules_inline.autolink),
    ("html_inline", "<", rules_inline.html_inline),
    ("entity", "&", rules_inline.entity),
)


class _Markdown(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 - its name there
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - its name there
        return link

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - its name there
        return True


def block_tokens(text: str, environment: dict[str, Any], /, *, html: bool) -> list[Token]:
    """Return the tokens of the blocks of ``text``, whose lines end in line feeds.

    What is defined for links goes into ``environment``. Rows of tables say in ``meta["at"]`` where
    they begin, in code points. With ``html`` raw HTML is HTML, else it is text.
    """
    return _parser(html=html).parse(text, environment)


def inline_tokens(text: str, environment: dict[str, Any], /, *, html: bool) -> list[Token]:
    """Return the tokens of the content of a block, some with their range in ``meta["at"]``."""
    parser = _parser(html=html)
    return parser.inline.parse(text, parser, environment, [])


@functools.cache
def _parser(*, html: bool) -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": html, "maxNesting": _NESTING})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    for name, first, rule in _PLACED:
        parser.inline.ruler.at(name, _placed(rule, first))
    return parser


def _placed(rule: _Rule, first: str) -> _Rule:
    def placed(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the shape of rules
        start = state.pos
        if state.src[start] != first:
            return False
        count = len(state.tokens)
        if not rule(state, silent):
            return False
        if len(state.tokens) > count:
            state.tokens[-1].meta["at"] = (start, state.pos)
        return True

    return placed


def _table(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - as above
    count = len(state.tokens)
    if not rules_block.table(state, first, last, silent):
        return False
    for token in state.tokens[count:]:
        if token.type == "tr_open" and token.map:
            line = token.map[0]
            token.meta["at"] = state.bMarks[line] + state.tShift[line]
    return True
