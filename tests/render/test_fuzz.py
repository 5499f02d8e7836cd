"""Hostile answers by the thousand, for every sink: what comes out is what the sink allows.

``FUZZ_RENDERS=100000 pytest tests/render/test_fuzz.py`` draws so many for each sink, in parts; the
seeds are named, so that every run draws the same.
"""

import json
import os
import re
from urllib.parse import unquote

import pytest

from citestream.render import TerminalFilter, html, markdown, notes, plain, speech, sse, terminal
from citestream.render.characters import harmless
from citestream.render.labels import free_prefix
from citestream.render.placement import normal
from citestream.render.structure import read
from render.grammars import (
    TERMINAL,
    blocks,
    checked_html,
    frames,
    github_links,
    links,
    unmarked,
)
from render.hostile import answers

RENDERS = int(os.environ.get("FUZZ_RENDERS", "1000"))
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
END = "\n\nthe-end\n"


PARTS = range(4)
STYLES = ("footnotes", "links", "list")


@pytest.fixture(params=PARTS)
def drawn(request):
    """Draw hostile answers for the test that asks, as many as its part of the renders."""

    def draw(*, share=1, **options):
        count = RENDERS // len(PARTS) // share
        return enumerate(answers(request.node.name, count, pieces=4, **options))

    return draw


def test_html(drawn):
    for index, (content, citations) in drawn():
        markup = "text" if index % 8 == 0 else "markdown"
        checked_html(html(content, citations, quotes=index % 2 == 0, markup=markup))


def test_terminal(drawn):
    for index, (content, citations) in drawn():
        assert TERMINAL.fullmatch(terminal(content, citations, quotes=index % 2 == 0))


def test_terminal_without_colours(drawn):
    for _, (content, citations) in drawn():
        shown = terminal(content, citations, color=False, links=False)
        assert TERMINAL.fullmatch(shown)
        assert "\x1b" not in shown


def test_deltas_to_a_terminal(drawn):
    for index, (content, _) in drawn():
        cut = index % (len(content) + 1)
        safe = TerminalFilter()
        shown = [*safe.feed(content[:cut]), *safe.feed(content[cut:]), *safe.finish()]
        assert "".join(shown) == terminal(content, None)
        assert all(TERMINAL.fullmatch(piece) and "\x1b" not in piece for piece in shown)


def test_plain(drawn):
    for _, (content, citations) in drawn():
        text = harmless(normal(content))
        shown = plain(content, citations)
        prefix = free_prefix(text, before="[", prefix="", digits=True)
        sign = re.compile(rf"\[{prefix}[0-9]+\]")
        assert not sign.search(text)
        assert TERMINAL.fullmatch(shown)
        assert "\x1b" not in shown
        body = shown[: shown.rindex(f"\n\n[{prefix}1] ")]
        assert re.sub(r"\s", "", sign.sub("", body)) == re.sub(r"\s", "", text)


def test_speech(drawn):
    for _, (content, citations) in drawn():
        said = speech(content, citations, attribution=True)
        assert "  " not in said
        assert not re.search("https?://|[\x00-\x09\x0b-\x1f\x7f-\x9f\ue200-\ue206]", said)


def test_frames(drawn):
    for index, (content, citations) in drawn():
        value = {"content": content, "title": citations.sources[0].title}
        event = citations.sources[0].path or "x"
        frame = sse.frame(json.dumps(value, ensure_ascii=index % 2 == 0), id=index, event=event)
        (read_back,) = frames(frame)
        assert json.loads(read_back["data"]) == json.loads(json.dumps(value))  # joins surrogates
        assert read_back["id"] == str(index)


@pytest.mark.parametrize("style", STYLES)
def test_markdown_links_to_registered_urls_only(drawn, style):
    for index, (content, citations) in drawn(share=len(STYLES), benign=True):
        quotes = index % 2 == 0
        made = markdown(content, citations, style=style, quotes=quotes)
        found, images, elements = links(made)
        on_github, tags = github_links(made)
        listed = notes(citations, quoted_in=content if quotes else None)
        urls = {note.url for note in listed if note.url}
        assert images == elements == 0
        assert "img" not in tags
        # GitHub makes links of mail addresses wherever they stand: they lead where they say.
        web = {unquote(url) for url in on_github if not url.startswith("mailto:")}
        if style == "footnotes":
            # Those without a reference are left out by GitHub; others read definitions of links.
            body = made[: made.rindex("\n\n[^1]: ")]
            cited = set(map(int, re.findall(r"\[\^([0-9]+)\]", body)))
            assert all(url in urls or PATH.fullmatch(url) for url in found)
            urls = {note.url for note in listed if note.url and note.number in cited}
        else:
            assert set(found) == urls
        assert web == {unquote(url) for url in urls if not url.startswith("mailto:")}


@pytest.mark.parametrize("style", STYLES)
def test_markdown_stays_what_it_was(drawn, style):
    for _, (content, citations) in drawn(share=len(STYLES)):
        structure = read(normal(content), html=True)
        text = structure.text + structure.closing
        made = markdown(content, citations, style=style)
        if style == "footnotes":
            prefix = free_prefix(text, before="[^", prefix="", digits=False)
            body = made[: made.rindex(f"\n\n[^{prefix}1]: ")]
            sign = rf"\[\^{prefix}[0-9]+\]"
        else:
            prefix = free_prefix(text, before="[", prefix="", digits=True)
            body = made[: made.rindex("\n\nSources:\n\n1. ")]
            sign = rf"\[{prefix}[0-9]+\]"
        urls = {note.url for note in notes(citations)}
        assert unmarked(blocks(body + END), sign, urls) == unmarked(blocks(text + END), "\0"), text
