"""What may come out of a sink, checked with the sink's own parser."""

import re
from html.parser import HTMLParser
from string import punctuation

import cmarkgfm
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from markdown_it.rules_inline import escape

__all__ = (
    "TERMINAL",
    "blocks",
    "checked_html",
    "frames",
    "github_links",
    "links",
    "unmarked",
)

_VOID = {"br", "hr"}
_ELEMENTS = {
    "a": {"href", "rel", "id", "aria-label", "class"},
    "sup": {"class"},
    "mark": {"data-sources"},
    "section": {"class", "aria-label"},
    "ol": {"start"},
    "li": {"id"},
    "blockquote": {"dir"},
    "code": {"class"},
    "td": {"class"},
    "th": {"class"},
} | dict.fromkeys(
    "p h1 h2 h3 h4 h5 h6 ul pre em strong s br hr table thead tbody tr bdi".split(),  # noqa: SIM905
    frozenset(),
)
_INLINE = {"a", "sup", "mark", "code", "em", "strong", "s", "bdi"}
_WEB = re.compile(r"(?:https?://|mailto:)[\x21-\x7e]+", re.IGNORECASE)


class _Checker(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.ids = []
        self.hrefs = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        assert tag in _ELEMENTS, tag
        names = [name for name, _ in attrs]
        assert set(names) <= _ELEMENTS[tag], (tag, attrs)
        assert len(names) == len(set(names))
        values = dict(attrs)
        assert not (tag == "mark" and "mark" in self.open)
        assert not (tag == "a" and "a" in self.open)
        if tag not in _INLINE and tag != "br":
            assert not _INLINE.intersection(self.open) or "pre" in self.open, (tag, self.open)
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            self.hrefs.append(values["href"])
            if not values["href"].startswith("#"):
                assert _WEB.fullmatch(values["href"])
                assert values["rel"] == "noopener noreferrer nofollow"
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def checked_html(html):
    """Return the links to elsewhere and the words of ``html`` when it keeps to what is allowed."""
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open
    assert len(checker.ids) == len(set(checker.ids))
    inner = [href[1:] for href in checker.hrefs if href.startswith("#")]
    assert set(inner) <= set(checker.ids)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", html)
    return [href for href in checker.hrefs if not href.startswith("#")], "".join(checker.text)


_SGR = r"\x1b\[(?:36|2|0)m"
_OSC = r"\x1b\]8;;(?:(?:https?://|mailto:)[\x21-\x7e]+)?\x1b\\"
TERMINAL = re.compile(
    f"(?:[\t\n\x20-\x7e\xa0-\u2029\u202f-\ud7ff\ue000-\U0010ffff]|{_SGR}|{_OSC})*", re.IGNORECASE
)
"""Everything that may reach a terminal: words, line feeds, tabs, our colours and our links."""


def _escape(state, silent):
    # As released, it takes a blank behind a backslash with it, and so the hard break behind that,
    # against the specification: https://spec.commonmark.org/0.31.2/#backslash-escapes.
    behind = state.src[state.pos + 1 : state.pos + 2]
    return bool(behind) and behind in f"{punctuation}\n" and escape(state, silent)


_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_MARKDOWN.inline.ruler.at("escape", _escape)
_MARKDOWN.normalizeLink = _MARKDOWN.normalizeLinkText = lambda url: url
_MARKDOWN.validateLink = lambda _: True


def blocks(text):
    """Return the blocks of Markdown: what they are, how they nest, and what stands in them."""
    return [
        (
            token.type,
            token.level,
            token.hidden,
            token.info,
            tuple(token.attrs.items()),
            _inline(token.children) if token.type == "inline" else token.content,
        )
        for token in _MARKDOWN.parse(text)
    ]


def _inline(tokens):
    """Return what stands in a block; runs of text are one, without blanks."""
    found = []
    for token in tokens:
        if token.type == "text":
            words = re.sub(r"\s+", "", token.content)
            if found and found[-1][0] == "text":
                found[-1] = ("text", found[-1][1] + words)
            else:
                found.append(("text", words))
        else:
            content = _inline(token.children or []) if token.type == "image" else token.content
            found.append((token.type, token.markup, tuple(token.attrs.items()), content))
    return found


def unmarked(found, mark, urls=()):
    """Return blocks without marks: text like the pattern ``mark``, numbers linked to ``urls``."""
    kept = []
    for block in found:
        if block[0] == "inline":
            block = (*block[:5], _unmarked(block[5], mark, urls))  # noqa: PLW2901 - the same block
        elif block[0] in {"html_block", "fence"}:
            # A blank line may end them that did not stand there before.
            block = (*block[:5], block[5].rstrip("\n"))  # noqa: PLW2901 - the same block
        if block[:2] == ("paragraph_close", 0) and kept[-1][5] == []:
            del kept[-2:]
        else:
            kept.append(block)
    return kept


def _unmarked(items, mark, urls):
    kept = []
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        if item[0] == "link_open" and dict(item[2])["href"] in urls:
            assert items[position][0] == "text"
            assert re.fullmatch("s*[0-9]+", items[position][1])
            assert items[position + 1][0] == "link_close"
            position += 2
            item = ("text", "")
        elif item[0] == "text":
            item = ("text", re.sub(mark, "", item[1]))
        if item[0] == "text" and kept and kept[-1][0] == "text":
            item = ("text", kept.pop()[1] + item[1])
        if item != ("text", ""):
            kept.append(item)
    return kept


def links(text):
    """Return the targets of links, and the numbers of images and pieces of HTML, in Markdown."""
    hrefs, images, html = [], 0, 0
    pending = _MARKDOWN.parse(text)
    while pending:
        token = pending.pop()
        pending += token.children or []
        if token.type == "link_open":
            hrefs.append(token.attrs["href"])
        images += token.type == "image"
        html += token.type.startswith("html_")
    return sorted(hrefs), images, html


class _Links(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.hrefs = []
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        values = dict(attrs)
        if tag == "a" and not values["href"].startswith("#fn"):
            self.hrefs.append(values["href"])


def github_links(text):
    """Return the targets of links, and all elements, of Markdown as GitHub's parser reads it."""
    html = cmarkgfm.markdown_to_html_with_extensions(
        text,
        options=Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE,
        extensions=["table", "strikethrough", "autolink", "tagfilter"],
    )
    parser = _Links()
    parser.feed(html)
    return sorted(parser.hrefs), parser.tags


def frames(stream):
    """Parse an event stream as the HTML Standard says; return its events."""
    events = []
    data, kind, last = [], "", None
    for line in re.split("\r\n|\r|\n", stream.removeprefix("\ufeff")):
        if not line:
            if data:
                events.append({"data": "\n".join(data), "event": kind or "message", "id": last})
            data, kind = [], ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            kind = value
        elif field == "id" and "\0" not in value:
            last = value
    return events
