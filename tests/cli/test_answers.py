import pytest

from citestream import (
    CitationLocationChar,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)
from citestream.cli.answers import AnswerFormat, print_answer

LOCATION = CitationLocationChar(start_index=5, end_index=9)
REFERENCE = CitationReference(source_id="s0", cited_text="memo\x1b[2J", location=LOCATION)
CITATIONS = Citations(
    sources=[CitationSource(id="s0", provider="x", title="Notes")],
    spans=[CitationSpan(start_index=0, end_index=4, references=[REFERENCE])],
)


@pytest.mark.parametrize(
    ("style", "number", "printed"),
    [
        (AnswerFormat.MARKDOWN, 1, "Text[^1]\n\n[^1]: Notes, characters 5-9\n    > memo\\[2J\n"),
        (
            AnswerFormat.MARKDOWN,
            2,
            "\n---\n\nText[^2-1]\n\n[^2-1]: Notes, characters 5-9\n    > memo\\[2J\n",
        ),
        (AnswerFormat.PLAIN, 1, "Text [1]\n\n[1] Notes, characters 5-9\n    > memo[2J\n"),
    ],
)
def test_an_answer_is_printed_with_the_words_of_its_sources(capsysbinary, style, number, printed):
    print_answer("Text\n", CITATIONS, style=style, number=number)
    assert capsysbinary.readouterr().out.decode() == printed.replace("Text[", "Text[")


def test_an_answer_without_citations_is_printed_as_it_is(capsysbinary):
    print_answer("a\x1bb\n\n", None, style=AnswerFormat.PLAIN)
    assert capsysbinary.readouterr().out.decode() == "a\ufffdb\n"
