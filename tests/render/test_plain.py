from functools import partial

import pytest

from citestream import CitationReference, Citations, CitationSource, CitationSpan, resolve
from citestream.render import plain, terminal
from render.hostile import cite


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


def test_numbers_of_the_answer_are_never_taken_for_ours():
    assert plain("As [1] says.", cite(12)) == "As [1] says. [s1]\n\n[s1] T"
    assert plain("As [1] and [s1] say.", cite(20)) == "As [1] and [s1] say. [ss1]\n\n[ss1] T"
    assert plain("xs[i] = 0", cite(9)) == "xs[i] = 0 [1]\n\n[1] T"


def test_marks_stay_out_of_markdown():
    text = "Call `rise()` in **bold words** or\n\n```\ncode\n```"
    shown = plain(text, cite(8, 20, len(text)))
    assert shown == ("Call `rise()` [1] in **bold words** [1] or [1]\n\n```\ncode\n```\n\n[1] T")


def test_a_mark_without_words_is_a_line_of_its_own():
    text = "```\ncode"
    assert plain(text, cite(len(text))) == "```\ncode\n\n[1]\n\n[1] T"


def test_names_from_right_to_left_turn_nothing_around():
    assert plain("x", cite(1, title="שלום")) == "x [1]\n\n[1] \u2068שלום\u2069"


@pytest.mark.parametrize("citations", [None, cite(2)])
def test_nothing_steers_the_terminal_that_it_is_printed_to(citations):
    shown = plain("a\tb\x1b[2J\a\u202ec\x9bd\n", citations).partition("\n")[0]
    assert shown.replace(" [s1]", "") == "a\tb␛[2Jcd"
    assert plain("x", cite(1, title="a\x1b[2J\u202eb")).endswith("[1] a[2Jb")


@pytest.mark.parametrize("render", [plain, partial(terminal, color=False, links=False)])
def test_what_is_left_out_forges_no_number(render):
    assert render("As [\x071] says.", cite(13)).startswith("As [1] says. [s1]\n")


def test_line_ends_become_line_feeds():
    assert plain("a\r\nb\rc\0", cite(4)) == "a\nb [1]\nc\ufffd\n\n[1] T"
