from citestream import resolve
from citestream.events import AssistantMessageData
from citestream.render import Answer, answer, html, markdown, plain
from render.grammars import checked_html
from render.hostile import cite

CONTENT = "Rents rose."
CITED = cite(11, url="https://a.example/")


def test_what_has_a_content_and_citations_shows_itself():
    data = AssistantMessageData(content=CONTENT, message_id="m", citations=CITED)
    shown = answer(data)
    assert shown == Answer(content=CONTENT, citations=CITED)
    bundle = shown._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == str(shown) == plain(CONTENT, CITED)
    assert bundle["text/markdown"] == shown._repr_markdown_()
    assert bundle["text/markdown"] == markdown(CONTENT, CITED, style="links")
    assert bundle["text/html"] == shown._repr_html_()
    checked_html(bundle["text/html"])


def test_answers_on_one_page_have_ids_of_their_own():
    both = Answer(content=CONTENT, citations=CITED), Answer(content="Wages fell.", citations=CITED)
    checked_html("".join(each._repr_html_() for each in both))
    prefix = both[0]._repr_html_().partition('id="')[2].partition("ref")[0]
    assert both[0]._repr_html_() == html(CONTENT, CITED, anchor_prefix=prefix)


def test_one_text_with_other_sources_has_other_ids():
    titles = (Answer(content=CONTENT, citations=cite(11, title=title)) for title in "AB")
    spans = (Answer(content=CONTENT, citations=cite(end)) for end in (5, 11))
    checked_html("".join(each._repr_html_() for each in (*titles, *spans)))


def test_an_answer_may_cite_nothing():
    assert str(answer(resolve("\ud83d"))) == "\ufffd"
    assert answer(resolve("a"))._repr_html_() == "<p>a</p>\n"
    assert repr(Answer(content="secret")) == "Answer()"
