import pytest

from citestream.render.parser import inline_tokens
from citestream.render.runs import places, ranges


def read(content, *, html=True):
    tokens = inline_tokens(content, {"references": {"REF": {"href": "/r", "title": ""}}}, html=html)
    return tokens, ranges(tokens, content)


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        ("a", ["a"]),
        ("a *b* c", ["a ", "*", "b", "*", " c"]),
        ("**a *b***", ["", "**", "a ", "*", "b", "*", "**", ""]),
        ("a ~~b~~", ["a ", "~~", "b", "~~"]),
        ("5 * 3 _x", ["5 * 3 _x"]),
        ("~~~a~~~ b", ["~", "~~", "a", "~~", "~ b"]),
        ("a `b` c", ["a ", "`b`", " c"]),
        ("a\\*b&amp;c", ["a", "\\*", "b", "&amp;", "c"]),
        ("a  \nb\nc\\\nd", ["a", "\n", "b", "\n", "c", "\\\n", "d"]),
        ("a [b](/c 'd') e", ["a ", "[", "b", "](/c 'd')", " e"]),
        ("a [ref] [b][ref]", ["a ", "[", "ref", "]", " ", "[", "b", "][ref]"]),
        ("<https://a.b> x", ["<", "https://a.b", ">", " x"]),
        ("a ![b](/c) d", ["a ", "![b](/c)", " d"]),
        ("a <b>c</b>", ["a ", "<b>", "c", "</b>"]),
    ],
)
def test_every_token_has_its_range(content, pieces):
    _, found = read(content)
    assert [content[start:end] for start, end in found] == pieces


def test_what_is_not_there_is_not_found():
    tokens, _ = read("a *b*")
    assert ranges(tokens, "c *b*") is None
    assert ranges(tokens, "a _b_") is None
    tokens, _ = read("a `b`")
    tokens[1].meta["at"] = (0, 1)
    assert ranges(tokens, "a `b`") is None


@pytest.mark.parametrize(
    ("content", "allowed"),
    [
        ("ab", "-++"),
        ("a *b* c", "-++--+++"),
        ("a `b` c", "-++--+++"),
        ("a\nbc", "-+-++"),
        ("a  \nb", "-+---+"),
        ("*a\nb* c", "-----+++"),
        ("`a`\nb", "---+-+"),
        ("[a](/b)c", "-------++"),
        ("<https://a.b>c", "-------------++"),
        ("&amp;\\*", "-----+-+"),
        ("<b>c</b>d", "--------++"),
        ("<br>c</b><i>d", "----++---+--++"),
        ("<b>c</b><b>d", "--------+--++"),
        ("<b/>c</b>", "----++---+"),
        ("<i><b>c</i>d</b>e", "-----------++---++"),
    ],
)
def test_marks_stand_behind_what_they_must_not_cut(content, allowed):
    made = places(*read(content))
    ways = range(len(content) + 1)
    shown = "".join(
        "+" if any(a <= at <= b for a, b in zip(made.lows, made.highs, strict=True)) else "-"
        for at in ways
    )
    assert shown == allowed[: len(content) + 1]


@pytest.mark.parametrize(
    ("content", "offset", "nearest"),
    [
        ("a `b` c", 3, 5),
        ("a `b` c", 0, 1),
        ("a  \nb", 3, 1),
        ("a  \nb", 4, 1),
        ("a  \nb", 5, 5),
        ("a\n`b` c", 3, 5),
        ("a *b* c", 4, 5),
        ("a <b>c</b>", 4, 10),
    ],
)
def test_a_mark_goes_forward_but_back_at_the_end_of_a_line(content, offset, nearest):
    assert places(*read(content)).nearest(offset) == nearest


def test_there_may_be_no_place():
    assert places([], []).nearest(1) is None
    made = places(*read("<!-- a"))
    assert made.nearest(99) == 6
    assert made.stretch(3) == (1, 6)
