import pytest
from hypothesis import given
from hypothesis import strategies as st
from justhtml import JustHTML

from citestream import (
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    OptionError,
    resolve,
)
from citestream.render import html
from render.grammars import checked_html
from render.hostile import PAYLOADS, URLS, answers, cite

NUMBER = (
    '<sup class="citation"><a id="ref-1-{0}" href="#source-1" aria-label="Source 1: T">1</a></sup>'
)
ONE = NUMBER.format(1)
CHEMIST = "👩\u200d🔬"
BACKSLASH = "a\\"
HEAD = '<th class="center">'
PY = '<code class="language-py">'


def body(content, *ends, **options):
    return html(content, cite(*ends), **options).partition('<section class="sources"')[0]


def marked(words):
    return f'<mark data-sources="1">{words}</mark>'


@pytest.mark.parametrize(
    ("content", "end", "shown"),
    [
        ("Rents rose. Wages", 11, f"<p>{marked('Rents rose.')}{ONE} Wages</p>\n"),
        ("**Rents** rose", 9, f"<p><strong>{marked('Rents')}</strong>{ONE} rose</p>\n"),
        (
            "a *b c* d",
            5,
            f"<p>{marked('a ')}<em>{marked('b ')}c</em>{ONE} d</p>\n",
        ),
        ("a `b` c", 5, f"<p>{marked('a ')}<code>{marked('b')}</code>{ONE} c</p>\n"),
        ("a &amp; b", 7, f"<p>{marked('a &amp;')}{ONE} b</p>\n"),
        ("a\nb", 3, f"<p>{marked('a')}\n{marked('b')}{ONE}</p>\n"),
        ("a\\\nb", 1, f"<p>{marked('a')}{ONE}<br>\nb</p>\n"),
        ("a\\  \nb", 2, f"<p>{marked(BACKSLASH)}{ONE}<br>\nb</p>\n"),
        (f"{CHEMIST} a", 2, f"<p>{marked(CHEMIST)}{ONE} a</p>\n"),
        ("# a", 3, f"<h1>{marked('a')}{ONE}</h1>\n"),
        ("- a\n- b", 3, f"<ul>\n<li>{marked('a')}{ONE}\n</li>\n<li>b\n</li>\n</ul>\n"),
        ("3. a", 4, f'<ol start="3">\n<li>{marked("a")}{ONE}\n</li>\n</ol>\n'),
        ("> a", 3, f"<blockquote>\n<p>{marked('a')}{ONE}</p>\n</blockquote>\n"),
        (
            "| a |\n|:-:|",
            3,
            f"<table>\n<thead>\n<tr>\n{HEAD}{marked('a')}{ONE}</th>\n</tr>\n</thead>\n</table>\n",
        ),
        (
            "a\n```py x\nb<\n```",
            12,
            f"<p>{marked('a')}{ONE}</p>\n<pre>{PY}{marked('b&lt;')}\n</code></pre>\n",
        ),
        ("    a\n", 5, f"<pre><code>{marked('a')}\n</code></pre>\n<p>{ONE}</p>\n"),
        ("```<x>\na", 3, f"<pre><code>a</code></pre>\n<p>{ONE}</p>\n"),
        ("---\n\na", 6, f"<hr>\n<p>{marked('a')}{ONE}</p>\n"),
        ("a <b>c</b>", 6, f"<p>{marked('a &lt;b&gt;c')}{ONE}&lt;/b&gt;</p>\n"),
        ("a ![b *c*](/d) e", 14, f"<p>{marked('a b c')}{ONE} e</p>\n"),
        ("", 0, f"<p>{ONE}</p>\n"),
        ("~~a~~ b", 5, f"<p><s>{marked('a')}</s>{ONE} b</p>\n"),
    ],
)
def test_what_is_cited_is_marked_and_numbered(content, end, shown):
    assert body(content, end) == shown


def test_links_lead_to_safe_urls_only():
    link = 'rel="noopener noreferrer nofollow"'
    assert body("[a](https://b.example/?x=1&y=2) [c](javascript:d) [e](/f)") == (
        f'<p><a href="https://b.example/?x=1&amp;y=2" {link}>a</a> c e</p>\n'
    )
    assert body("<https://b.example> <mailto:a@b.example>") == (
        f'<p><a href="https://b.example" {link}>https://b.example</a> '
        f'<a href="mailto:a@b.example" {link}>mailto:a@b.example</a></p>\n'
    )


def test_spans_that_overlap_name_all_their_sources():
    def span(start, end, source_id):
        return CitationSpan(
            start_index=start, end_index=end, references=[CitationReference(source_id=source_id)]
        )

    both = [CitationSource(id=i, provider="client", title=i) for i in ("s0", "s1")]
    made = html(
        "abcdef",
        Citations(sources=both, spans=[span(0, 4, "s0"), span(2, 6, "s1"), span(2, 4, "s0")]),
    )
    assert made.startswith(
        '<p><mark data-sources="1">ab</mark><mark data-sources="1 2">cd</mark>'
        '<sup class="citation">'
        '<a id="ref-1-1" href="#source-1" aria-label="Source 1: s0">1</a></sup>'
        '<mark data-sources="2">ef</mark><sup class="citation">'
        '<a id="ref-2-1" href="#source-2" aria-label="Source 2: s1">2</a></sup></p>\n'
    )


def test_sources_lead_back_and_quote():
    read = Citations(
        sources=[CitationSource(id="s0", provider="client", title="<T>", url="https://a.example/")],
        spans=[
            CitationSpan(
                start_index=0,
                end_index=1,
                references=[CitationReference(source_id="s0", cited_text="One & two.\nThree.")],
            )
        ]
        * 2,
    )
    assert html("a", read, anchor_prefix="m1-", quotes=True) == (
        '<p><mark data-sources="1">a</mark><sup class="citation"><a id="m1-ref-1-1" '
        'href="#m1-source-1" aria-label="Source 1: &lt;T&gt;">1</a></sup></p>\n'
        '<section class="sources" aria-label="Sources">\n<ol>\n<li id="m1-source-1">'
        '<a href="https://a.example/" rel="noopener noreferrer nofollow"><bdi>&lt;T&gt;</bdi></a> '
        '<a href="#m1-ref-1-1" class="back" aria-label="Back to reference 1">↩</a>\n'
        '<blockquote dir="auto">One &amp; two.<br>\nThree.</blockquote>\n</li>\n</ol>\n</section>\n'
    )


def test_text_is_shown_character_by_character():
    assert body("*a*\n\n<b> [1]", 3, markup="text") == (
        f"<p>{marked('*a*')}{ONE}<br>\n<br>\n&lt;b&gt; [1]</p>\n"
    )
    assert html("a\x1b\x00b", None, markup="text") == "<p>a\ufffdb</p>\n"


def test_without_citations_there_are_no_sources():
    assert html("a", None) == "<p>a</p>\n"
    assert html("", None) == ""
    with pytest.raises(OptionError, match="wanted markdown or text, got 'html'"):
        html("a", None, markup="html")


@pytest.mark.parametrize("payload", [text for family in PAYLOADS.values() for text in family])
def test_nothing_of_a_stranger_is_markup(payload):
    for field in ("title", "path", "url", "id"):
        links, words = checked_html(html("x", cite(1, **{"title": None, field: payload})))
        assert not links
        assert len(words) >= 3
    reference = CitationReference(
        source_id="s0", cited_text=payload, provider_metadata={"locator": payload}
    )
    cited = Citations(
        sources=[CitationSource(id="s0", provider="client", title=payload)],
        spans=[CitationSpan(start_index=0, end_index=1, references=[reference])],
    )
    assert checked_html(html("x", cited, quotes=True, anchor_prefix=payload))[0] == []
    checked_html(html(payload, cite(1)))
    assert checked_html(html(payload, cite(1), markup="text"))[0] == []


@pytest.mark.parametrize("url", URLS)
def test_unsafe_urls_are_words(url):
    links, _ = checked_html(html(f"[a]({url}) <{url}>", cite(1, url=url)))
    assert all(link.startswith(("https://", "http://", "mailto:")) for link in links)


def test_a_browser_reads_the_same_elements():
    for content, citations in answers(7, 200):
        made = html(content, citations, quotes=True)
        checked_html(made)
        tree = JustHTML(made, fragment=True, sanitize=False)
        names = {node.name for node in tree.query("*")}
        assert names.isdisjoint({"script", "img", "iframe", "style", "svg", "math", "form"})


@given(st.text(), st.integers(0, 9))
def test_any_text_is_shown_in_words(text, end):
    _, words = checked_html(html(text, cite(end), markup="text"))
    assert words.startswith("".join(c for c in text.splitlines()[:1])[:0])


def test_marks_do_not_cost_a_stack_frame_each():
    read = resolve("Rents rose. \ue200cite\ue202a\ue201 " * 2000)
    links, _ = checked_html(html(read.content, read.citations))
    assert links == []


def test_what_is_cited_begins_and_ends_with_whole_characters():
    def span(start, end):
        references = [CitationReference(source_id="s0")]
        return CitationSpan(start_index=start, end_index=end, references=references)

    source = CitationSource(id="s0", provider="client", title="T")
    for start, end in ((2, 3), (0, 2), (3, 5)):
        shown = html(
            f"{CHEMIST} a", Citations(sources=[source], spans=[span(start, end)]), markup="text"
        )
        assert shown.startswith(f"<p>{marked(CHEMIST)}{ONE} a</p>")
    empty = html("e\u0301", Citations(sources=[source], spans=[span(1, 1)]))
    assert empty.startswith(f"<p>e\u0301{ONE}</p>")
