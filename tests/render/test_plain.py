from citestream import CitationReference, Citations, CitationSource, CitationSpan, resolve
from citestream.render import plain


def test_numbers_stand_behind_what_they_support_and_sources_follow():
    read = resolve("Rents rose. \ue200cite\ue202a\ue202L2\ue201 Wages\ue200cite\ue202b\ue201.")
    assert plain(read.content, read.citations) == ("Rents rose. [1] Wages [2].\n\n[1] a, L2\n[2] b")


def test_urls_are_shown_once():
    def listed(**source):
        citations = Citations(
            sources=[CitationSource(id="s0", provider="client", **source)],
            spans=[
                CitationSpan(
                    start_index=0, end_index=1, references=[CitationReference(source_id="s0")]
                )
            ],
        )
        return plain("x", citations).splitlines()[-1]

    assert listed(title="T", url="https://u.example") == "[1] T, https://u.example"
    assert listed(url="https://u.example") == "[1] https://u.example"


def test_without_citations_the_content_is_unchanged():
    assert plain("text\n", None) == "text\n"


def test_quotes_stand_under_their_numbers():
    references = [
        CitationReference(source_id="s0", cited_text=text) for text in ("One.\n\n*Two*", "Three.")
    ]
    citations = Citations(
        sources=[CitationSource(id="s0", provider="client", title="T", url="https://u.example")],
        spans=[CitationSpan(start_index=0, end_index=1, references=references)],
    )
    assert plain("x", citations, quotes=True) == (
        "x [1] [2]\n\n[1] T, https://u.example\n    > One.\n    >\n    > *Two*\n\n"
        "[2] T, https://u.example\n    > Three."
    )
    assert plain("x", citations) == "x [1]\n\n[1] T, https://u.example"
