import sys

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
        (AnswerFormat.TERMINAL, 1, "Text [1]\n\n[1] Notes, characters 5-9\n    > memo[2J\n"),
        (
            AnswerFormat.TERMINAL,
            2,
            "\n---\n\nText [1]\n\n[1] Notes, characters 5-9\n    > memo[2J\n",
        ),
        (AnswerFormat.PLAIN, 1, "Text [1]\n\n[1] Notes, characters 5-9\n    > memo[2J\n"),
    ],
)
def test_an_answer_is_printed_with_the_words_of_its_sources(capsysbinary, style, number, printed):
    print_answer("Text\n", CITATIONS, style=style, number=number)
    assert capsysbinary.readouterr().out.decode() == printed.replace("Text[", "Text[")


@pytest.mark.parametrize(
    ("style", "printed"),
    [(AnswerFormat.PLAIN, "a\u241bb\n"), (AnswerFormat.MARKDOWN, "a\ufffdb\n")],
)
def test_an_answer_without_citations_is_printed_but_for_what_steers(capsysbinary, style, printed):
    print_answer("a\x1bb\n\n", None, style=style)
    assert capsysbinary.readouterr().out.decode() == printed


def test_answers_as_html_make_one_page(capsysbinary):
    print_answer("a \x1b<b>", CITATIONS, style=AnswerFormat.HTML)
    print_answer("c", None, style=AnswerFormat.HTML, number=2)
    page = capsysbinary.readouterr().out.decode()
    assert page.startswith('<!doctype html>\n<meta charset="utf-8">\n<title>')
    assert '<p><mark data-sources="1">a &lt;</mark>' in page
    assert page.endswith("</section>\n<hr>\n<p>c</p>\n")
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("is_terminal", "environment", "shown"),
    [
        (True, {}, "Text \x1b[36m[1]\x1b[0m\n\n\x1b[36m[1]\x1b[0m Notes, characters 5-9\n"),
        (False, {}, "Text [1]\n\n[1] Notes, characters 5-9\n"),
        (True, {"NO_COLOR": "1"}, "Text [1]\n\n[1] Notes, characters 5-9\n"),
        (True, {"TERM": "dumb"}, "Text [1]\n\n[1] Notes, characters 5-9\n"),
    ],
)
def test_only_terminals_get_colours(capsysbinary, monkeypatch, is_terminal, environment, shown):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.setenv(name, environment.get(name, ""))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    print_answer("Text", CITATIONS, style=AnswerFormat.TERMINAL)
    assert capsysbinary.readouterr().out.decode().startswith(shown)


@pytest.mark.parametrize(
    ("style", "printed"),
    [
        (AnswerFormat.PLAIN, "> What\n> is it?\n\nText\n"),
        (AnswerFormat.TERMINAL, "> What\n> is it?\n\nText\n"),
    ],
)
def test_a_question_stands_above_its_answer(capsysbinary, style, printed):
    print_answer("Text\n", None, style=style, question="What\r\nis it?")
    assert capsysbinary.readouterr().out.decode() == printed
