import pytest

from citestream import CitationReference, Citations, CitationSource, CitationSpan, resolve
from citestream.render import markdown

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
        ("Free[^s1]. Rents rose.[^ss]", "", "sss1"),
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
        ({"title": "Memo", "url": "https://a.example/x"}, "[Memo](<https://a.example/x>)"),
        ({"url": "https://a.example/x"}, "<https://a.example/x>"),
        ({"title": "M", "url": "javascript:alert(1)"}, "M"),
        ({"title": "a](b) *c* `d` <e>\n# f"}, r"a\](b) \*c\* \`d\` \<e\> \# f"),
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
        ("[^1]: [a](http://x) ![b](c)", r"\[\^1\]: \[a\](http://x) !\[b\](c)"),
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
