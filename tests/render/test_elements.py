import pytest
from markdown_it.token import Token

from citestream.render.elements import block_html, inline_html, text_html, words
from citestream.render.parser import inline_tokens


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "a"),
        ("<a b=\"c\" d='e'>&", "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;"),
        ("a\x1b\x00\x9b\tb\n", "a\tb\n"),
    ],
)
def test_text_is_text_in_elements_and_attributes(text, shown):
    assert text_html(text) == shown


@pytest.mark.parametrize(
    ("info", "shown"),
    [
        ("", "<pre><code>x</code></pre>\n"),
        ("c++ y", '<pre><code class="language-c++">x</code></pre>\n'),
        ('"><b>', "<pre><code>x</code></pre>\n"),
        ("a" * 31, "<pre><code>x</code></pre>\n"),
    ],
)
def test_only_names_are_languages(info, shown):
    assert block_html(Token("fence", "code", 0, info=info), "x") == shown


def test_tight_lists_have_no_paragraphs():
    assert block_html(Token("paragraph_open", "p", 1, hidden=True)) == ""
    assert block_html(Token("paragraph_close", "p", -1, hidden=True)) == "\n"


def test_tokens_whose_place_is_unknown_are_still_shown():
    tokens = inline_tokens("a *b* [c](javascript:d)", {}, html=False)
    assert inline_html(tokens, None, lambda text, *_: text, None) == "a <em>b</em> c"


def test_words_are_what_is_said():
    assert words(inline_tokens("a *b*\n`c` ![d ![e](f)](g)", {}, html=False)) == "a b c d e"
