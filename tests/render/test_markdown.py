import pytest

from citestream import CitationReference, Citations, CitationSource, CitationSpan, resolve
from citestream.render import markdown

TEXT = "Rents rose. \ue200cite\ue202a\ue202L2\ue201 Wages\ue200cite\ue202b\ue202a\ue201."


def answer(**source):
    return Citations(
        sources=[CitationSource(**{"id": "s0", "provider": "client"} | source)],
        spans=[
            CitationSpan(
                start_index=0, end_index=1, references=[CitationReference(source_id="s0")]
            )
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
