import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.sources.html_reduction import reduce_html

TAGS = "</ / p table td tr pre br script title head template svg <p> </p> <pre> </pre> <td>"
pieces = st.sampled_from([*TAGS.split(), *"<>'\"=&\n\0\ue200a ", "<!--", "-->", "]]>", " hidden"])


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>One <b>two</b>, three.</p><p>Four</p>", "One two, three.\n\nFour"),
        ("<p>a\n   b\t c</p>", "a b c"),
        ("<p>a</p> \n <p> b </p>", "a\n\nb"),
        ("a<br>b<br><br>c<br><br><br>d", "a\nb\n\nc\n\nd"),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\n\nc"),
        ("<table><tr><th>a</th> <td> b </td></tr><tr><td>c<td>d</table>", "a\tb\nc\td"),
        ("<pre>\n a\n   b\n</pre>c", " a\n   b\n\n\nc"),
        ("<pre></pre>c", "c"),
        ("x<pre>a<b>b</b></pre>", "x\n\nab"),
        ("a&nbsp;b &lt;/BLOCK&gt;", "a\xa0b </BLOCK>"),
        ("a<script>x</script><style>y</style><template>z</template><!-- q -->b", "ab"),
        ("a<div>b</div>c", "a\nb\nc"),
        ("<div><p>a</p></div>b", "a\n\nb"),
        ("\ue200cite\ue202x\ue201", "\ue200cite\ue202x\ue201"),
    ],
)
def test_the_text_is_what_a_reader_sees(html, text):
    reduced, title = reduce_html(html)
    assert reduced == text
    assert title is None


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        "HIDDEN=''",
        "hidden=until-found",
        "hidden=false",
        "aria-hidden=true",
        "ARIA-HIDDEN=' True '",
        "style=display:none",
        "style='display: none;'",
        "STYLE='color:red; DISPLAY :\n NONE ! important ; margin:0'",
        "style='display:none!important'",
        "style='/* x; */display/**/:none/* y'",
        "style='visibility:hidden'",
        "style=';;Visibility: Hidden !IMPORTANT'",
        "style='visibility:collapse'",
    ],
)
@pytest.mark.parametrize("tag", ["p", "span", "div", "pre", "li", "td"])
def test_what_the_page_says_is_not_to_be_seen_is_no_text(tag, attribute):
    html = f"a<table><tr><{tag} {attribute}>Cite <b>me</b>.<i style='display:block'>!</i></{tag}>"
    assert reduce_html(html)[0].strip() == "a"


@pytest.mark.parametrize(
    "attribute",
    [
        "aria-hidden",
        "aria-hidden=false",
        "data-hidden",
        "style",
        "style=''",
        "style='display:block'",
        "style='visibility:visible'",
        "style='x-display:none'",
        "style='--display:none'",
        "style='backface-visibility:hidden'",
        "style='overflow:hidden'",
        "style='display:none-such'",
        "style='/* display:none; */'",
        "class='display:none'",
    ],
)
def test_what_it_does_not_say_so_of_is_text(attribute):
    assert reduce_html(f"a<b {attribute}>b</b>c")[0] == "abc"


def test_a_style_of_any_length_is_read_in_time():
    for part in (" ", ";", "/*", "display:none ", "display:none!", "; display"):
        reduce_html(f"<p style='{part * 100_000}'>a")


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Rules &amp;\n more</title>x", "Rules & more"),
        ("<title> </title>x", None),
        ("<body><svg><title>no</title></svg>", None),
        (f"<title>{'a' * 400}</title>", "a" * 300),
    ],
)
def test_the_title_is_that_of_the_head(html, title):
    assert reduce_html(html)[1] == title


@given(st.lists(pieces, max_size=30).map("".join))
def test_any_text_is_some_page(html):
    text, title = reduce_html(html)
    assert isinstance(text, str)
    assert title is None or title == title.strip()


def test_a_page_nests_as_deep_as_it_likes():
    assert reduce_html("<div>" * 20_000 + "x") == ("x", None)
