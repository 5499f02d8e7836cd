import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.render.placement import normal
from citestream.render.structure import read, read_text
from render.hostile import contents


def leaves(text, *, html=True):
    return [(leaf.kind, text[leaf.start : leaf.end]) for leaf in read(text, html=html).leaves]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Rents\nrose.", [("paragraph", "Rents\nrose.")]),
        ("  a  \n   b  \n", [("paragraph", "a  \n   b")]),
        ("# Rents #\n## x", [("heading", "Rents"), ("heading", "x")]),
        ("#\n", [("heading", "#")]),
        ("Rents\nrose\n===\n", [("heading", "Rents\nrose")]),
        ("> - # a\n> - b\n>   c", [("heading", "a"), ("paragraph", "b\n>   c")]),
        ("> a\nb", [("paragraph", "a\nb")]),
        ("a\n\n---\n\nb", [("paragraph", "a"), ("rule", "---\n"), ("paragraph", "b")]),
        ("```py\nx\n```\ny", [("solid", "```py\nx\n```\n"), ("paragraph", "y")]),
        ("    x\n\n    y\nz", [("solid", "    x\n\n    y\n"), ("paragraph", "z")]),
        ("<div>\nx\n\ny", [("solid", "<div>\nx\n"), ("paragraph", "y")]),
        ("[a]: /b\n\n[a]", [("paragraph", "[a]")]),
        (
            "| a | b |\n|---|---|\n| c | |\n| d",
            [
                ("cell", "a"),
                ("cell", "b"),
                ("cell", "c"),
                ("cell", ""),
                ("cell", "d"),
                ("cell", ""),
            ],
        ),
        ("a | b\n--|--\n", [("cell", "a"), ("cell", "b")]),
        ("> a | b\\|c\n> -|-\n", [("cell", "a"), ("cell", "b\\|c")]),
        ("- | a |\n  |---|\n  | b |", [("cell", "a"), ("cell", "b")]),
        ("", []),
    ],
)
def test_leaves_stand_where_they_are_read(text, found):
    assert leaves(text) == found


def test_without_html_tags_are_words():
    assert leaves("<div>\nx\n", html=False) == [("paragraph", "<div>\nx")]


@given(st.integers(0, 10**6))
def test_every_character_of_a_leaf_is_found_in_the_text(seed):
    for content in contents(seed, 5, pieces=12):
        text = normal(content)
        for html in (True, False):
            for leaf in read(text, html=html).leaves:
                for inner, outer, size in zip(leaf.inner, leaf.outer, leaf.lengths, strict=True):
                    assert text[outer : outer + size] == leaf.content[inner : inner + size]
                for offset in range(1, len(leaf.content) if leaf.outer else 0):
                    behind = leaf.behind(offset)
                    assert leaf.start < behind <= leaf.end
                    if not leaf.content[offset - 1].isspace() and leaf.content[offset - 1] != "|":
                        assert leaf.to_inner(behind) in {offset, offset + 1}


def test_a_leaf_that_is_not_found_has_no_stretches():
    (leaf,) = read("-\t\t\tx\n", html=True).leaves  # a tab is cut into blanks
    assert (leaf.kind, leaf.content, leaf.outer) == ("solid", "  \tx\n", ())


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("```\nx\n```", ""),
        ("```\nx", "\n```"),
        ("```\nx\n", "```"),
        ("```", "\n```"),
        ("~~~~\n~~~", "\n~~~~"),
        ("```\n    ```", "\n```"),
        ("```\n```` ", ""),
        ("> ```\n> x", ""),
        ("- ```\n  x", ""),
        ("<!-- x", "\n-->"),
        ("<!-- x -->", ""),
        ("<?x\n", "?>"),
        ("<!A x", "\n>"),
        ("<![CDATA[ x", "\n]]>"),
        ("<pre>\n\nx", "\n</pre>"),
        ("<Script>x", "\n</Script>"),
        ("<script>x</style>", ""),
        ("<div>\nx", ""),
        ("x", ""),
        ("", ""),
    ],
)
def test_what_is_left_open_can_be_closed(text, closing):
    assert read(text, html=True).closing == closing


def test_containers_and_outermost_blocks_are_counted():
    found = read("a\n\n- b\n\n  > c\n- d\n\ne\n", html=True)
    assert [leaf.top for leaf in found.leaves] == [0, 1, 1, 1, 2]
    assert [len(leaf.path) for leaf in found.leaves] == [0, 1, 2, 1, 0]
    assert found.leaves[2].path[0] == found.leaves[1].path[0] != found.leaves[3].path[0]
    assert found.text[: found.tops[0]] == "a\n"
    assert found.tops[-1] == len(found.text)


def test_text_is_one_leaf_of_lines():
    found = read_text("a *b*\n\nc")
    tokens, ranges = found.inline("a *b*\n\nc")
    assert [token.type for token in tokens] == ["text", "hardbreak", "hardbreak", "text"]
    assert ranges == [(0, 5), (5, 6), (6, 7), (7, 8)]
    assert read_text("\na").inline("\na")[1] == [(0, 1), (1, 2)]
