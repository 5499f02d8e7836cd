from functools import partial

import pytest

from citestream import (
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    OptionError,
    resolve,
)
from citestream.render import html, markdown, plain, speech, terminal
from render.grammars import github_links
from render.hostile import cite

TEXT = "Rents rose. \ue200cite\ue202a\ue202L2\ue201 Wages\ue200cite\ue202b\ue202a\ue201."


def answer(**source):
    return Citations(
        sources=[CitationSource(**{"id": "s0", "provider": "client"} | source)],
        spans=[
            CitationSpan(start_index=0, end_index=1, references=[CitationReference(source_id="s0")])
        ],
    )


def test_footnotes_stand_behind_what_they_support():
    read = resolve(TEXT)
    assert markdown(read.content, read.citations) == (
        "Rents rose.[^1] Wages[^2][^1].\n\n[^1]: a, L2\n[^2]: b"
    )


def test_a_prefix_keeps_several_answers_apart():
    read = resolve(TEXT)
    assert markdown(read.content, read.citations, anchor_prefix="m7-").splitlines()[0] == (
        "Rents rose.[^m7-1] Wages[^m7-2][^m7-1]."
    )


@pytest.mark.parametrize(
    ("text", "prefix", "label"),
    [
        ("Free[^1]. Rents rose.", "", "s1"),
        ("Free[^s1]. Rents rose[^ss].", "", "sss1"),
        ("Free[^S1]. [^1] Rents rose.", "", "ss1"),
        ("Free[^m7-1]. Rents rose.", "m7-", "m7-s1"),
        ("Free[^1]. Rents rose.", "m7-", "m7-1"),
    ],
)
def test_footnotes_of_the_answer_are_never_taken_for_ours(text, prefix, label):
    read = resolve(text + " \ue200cite\ue202a\ue201")
    shown = markdown(read.content, read.citations, anchor_prefix=prefix)
    assert shown == f"{text}[^{label}]\n\n[^{label}]: a"


def test_without_citations_the_content_is_unchanged():
    assert markdown("text\n", None) == "text\n"


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ({"title": "A memo", "url": "https://a.example/x"}, "[A memo](<https://a.example/x>)"),
        ({"title": "Memo", "url": "https://a.example/x"}, "[Memo]( <https://a.example/x>)"),
        ({"url": "https://a.example/x"}, "<https://a.example/x>"),
        ({"title": "M", "url": "javascript:alert(1)"}, "M"),
        ({"title": "a](b) *c* `d` <e>\n# f"}, r"a\](b) \*c\* \`d\` \<e\> \# f"),
        ({"title": "# a"}, r"\# a"),
        ({"title": "- a"}, r"\- a"),
        ({"title": "1986. A year"}, r"1986\. A year"),
        ({"title": "2) a"}, r"2\) a"),
        (
            {"title": "https://e.example www.e.example a@e.example"},
            r"https\://e.example www\.e.example a\@e.example",
        ),
        ({"title": "javascript:alert(1)"}, "the source javascript:alert(1)"),
        ({"title": "//evil.example"}, "the source //evil.example"),
        ({"title": "docs/a.md"}, "docs/a.md"),
        ({"title": 'evil "title"'}, 'the source evil "title"'),
        ({"title": "(evil)"}, "the source (evil)"),
        ({"title": "A 'b' c"}, "A 'b' c"),
        ({"title": "שלום"}, "the source \u2068שלום\u2069"),
        (
            {"url": "https://a.example/?x&copy;=1"},
            r"[https\://a.example/?x\&copy;=1]( <https://a.example/?x&amp;copy;=1>)",
        ),
        (
            {"url": "https://a.example/週"},
            r"[https\://a.example/週]( <https://a.example/%E9%80%B1>)",
        ),
    ],
)
def test_titles_and_urls_cannot_be_markup(source, note):
    assert markdown("x", answer(**source)) == f"x[^1]\n\n[^1]: {note}"


def quoted(*texts, content="x", **source):
    references = [CitationReference(source_id="s0", cited_text=text) for text in texts]
    return Citations(
        sources=[CitationSource(**{"id": "s0", "provider": "client", "title": "T"} | source)],
        spans=[CitationSpan(start_index=0, end_index=len(content), references=references)],
    )


def test_quotes_stand_under_their_footnotes():
    assert markdown("x", quoted("One.\n\nTwo.", "Three."), quotes=True) == (
        "x[^1][^2]\n\n[^1]: T\n    > One.\n    >\n    > Two.\n\n[^2]: T\n    > Three."
    )
    assert markdown("x", quoted("One."), quotes=True, anchor_prefix="2-") == (
        "x[^2-1]\n\n[^2-1]: T\n    > One."
    )
    assert markdown("x", quoted("One.")) == "x[^1]\n\n[^1]: T"


def test_without_any_text_of_a_source_quotes_change_nothing():
    read = resolve(TEXT)
    assert markdown(read.content, read.citations, quotes=True) == markdown(
        read.content, read.citations
    )
    assert markdown("text", None, quotes=True) == "text"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Paid up to 40 EUR - or 9 % (a | b) #1.", "Paid up to 40 EUR - or 9 % (a | b) #1."),
        ("# Meals #", r"\# Meals #"),
        ("---", r"\---"),
        ("=== ", r"\==="),
        ("| a | b |", "| a | b |"),
        ("|---|:-:|", r"\|---|:-:|"),
        (":-: | -", r"\:-: | -"),
        ("```sh", r"\`\`\`sh"),
        ("~~~", r"\~\~\~"),
        ("</script> <!-- x", r"\</script\> \<!-- x"),
        ("> quote", r"\> quote"),
        ("[^1]: [a](http://x) ![b](c)", r"\[\^1\]: \[a\](http\://x) !\[b\](c)"),
        ("see www.e.example", r"see www\.e.example"),
        ("*a* _b_ \\* $c$ &amp;", r"\*a\* \_b\_ \\\* \$c\$ \&amp;"),
        ("a \ue200cite\ue202b\ue201 \x1b[2J", r"a citeb \[2J"),
    ],
)
def test_a_quote_cannot_be_markup(text, line):
    assert markdown("x", quoted(text), quotes=True).split("\n")[3] == f"    > {line}"


def test_every_line_of_a_quote_stays_in_its_footnote():
    text = "a\n\n# b\r[^9]: c\r\n</b>\u2028d\n    e\n"
    lines = markdown("x", quoted(text), quotes=True).split("\n")[3:]
    assert len(lines) == 6
    assert all(line.startswith("    >") for line in lines)


def test_a_long_quote_is_cut():
    lines = markdown("x", quoted("word " * 1000), quotes=True).split("\n")
    assert len(lines[3]) < 520
    assert lines[3].endswith("…")


URL = "https://a.example/(b)"


def test_links_lead_to_safe_urls_and_a_list_follows():
    content = "Rents rose. Wages fell."
    assert markdown(content, cite(11, title="A memo", url=URL), style="links") == (
        "Rents rose.[1](https://a.example/\\(b\\)) Wages fell.\n\nSources:\n\n"
        "1. [A memo](<https://a.example/(b)>)"
    )
    assert markdown(content, cite(11, url="data:x", title="T"), style="links") == (
        "Rents rose.[1] Wages fell.\n\nSources:\n\n1. T"
    )


def test_a_list_has_plain_numbers():
    read = resolve(TEXT)
    assert markdown(read.content, read.citations, style="list") == (
        "Rents rose.[1] Wages[2][1].\n\nSources:\n\n1. a, L2\n2. b"
    )
    assert markdown("x", quoted("One.", "Two."), style="list", quotes=True) == (
        "x[1][2]\n\nSources:\n\n1. T\n   > One.\n\n2. T\n   > Two."
    )


def test_numbers_of_the_answer_are_never_taken_for_ours():
    assert markdown("As [1] says", cite(11), style="list") == (
        "As [1] says[s1]\n\nSources:\n\n1. s1: T"
    )


@pytest.mark.parametrize(
    ("content", "end", "shown"),
    [
        ("Rose(see)", 4, "Rose[^1] (see)"),
        ("Rose[x](y)", 4, "Rose[^1] [x](y)"),
        ("Rose!", 5, "Rose! [^1]"),
        ("Rose [x]", 8, "Rose [x] [^1]"),
    ],
)
def test_a_mark_is_not_read_together_with_what_stands_beside_it(content, end, shown):
    assert markdown(content, cite(end)).split("\n")[0] == shown


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("Run:\n```\nx", "Run:[^1]\n```\nx\n```"),
        ("Run:\n~~~~sh\nx\n~~~\n", "Run:[^1]\n~~~~sh\nx\n~~~\n~~~~"),
        ("a\n\n<!-- b\n", "a[^1]\n\n<!-- b\n-->"),
        ("a\n\n<script>", "a[^1]\n\n<script>\n</script>"),
        ("a\n\n<?x", "a[^1]\n\n<?x\n?>"),
    ],
)
def test_what_an_answer_leaves_open_does_not_swallow_the_notes(content, shown):
    assert markdown(content, cite(len(content))) == f"{shown}\n\n[^1]: T"


def test_another_style_is_refused():
    with pytest.raises(OptionError, match="wanted footnotes, links or list, got 'html'"):
        markdown("x", None, style="html")


@pytest.mark.parametrize("place", ["(x)", '"x"', "'x'"])
def test_a_place_cannot_make_a_definition_of_a_note(place):
    def note(**source):
        reference = CitationReference(source_id="s0", provider_metadata={"locator": place})
        made = CitationSource(id="s0", provider="client", title="javascript:a", **source)
        spans = [CitationSpan(start_index=0, end_index=1, references=[reference])]
        return markdown("x", Citations(sources=[made], spans=spans)).partition("]: ")[2]

    assert note() == f"the source javascript:a, {place}"
    assert note(url="https://a.example") == f"[javascript:a]( <https://a.example>), {place}"


def test_a_hard_break_behind_a_backslash_stays_one():
    made = markdown("See C:\\temp\\  \nnext line", cite(12))
    assert made.startswith("See C:\\temp\\ [^1]  \nnext line\n")
    assert "br" in github_links(made)[1]


@pytest.mark.parametrize(
    "render", [markdown, partial(markdown, style="links"), html, plain, speech, terminal]
)
@pytest.mark.parametrize("citations", [None, cite(1)])
@pytest.mark.parametrize(("content", "got"), [(None, "None"), (b"x", "b'x'")])
def test_a_content_that_is_no_text_is_refused(render, citations, content, got):
    with pytest.raises(OptionError, match=f"^content: wanted a string, got {got}$"):
        render(content, citations)
