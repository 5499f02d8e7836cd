import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import format_marker
from citestream.providers.bracket_numbers import NumberFilter
from texts import texts

A = format_marker("turn0search0")


def hidden(pieces):
    hide = NumberFilter()
    given = [hide.feed(piece) for piece in pieces]
    return "".join([*given, hide.finish()]), hide.found


@pytest.mark.parametrize(
    "text",
    [
        "Write `a[1]` and ``b` [2]`` in code.",
        "```python\nrow[1]\n```\n",
        "~~~\nrow [1]\n```\nrow [2]\n~~~\n",
        "````\n``` \nrow[1]\n````` \n",
        "- ```\n  row[1]\n  ```\n",
        "```\nrow[1]\n``` no end\nrow[2]\n",
        "``` a`[1]` ``` is code.",
        "An open `code span [1] goes on\nto here [2].",
        "See [1](https://a.example), ![2](x) and [[3]](https://b.example).",
        "See [the city][1], \\[1] and [x[1]].",
        "A note[^1].\n\n[^1]: Text.",
        "[1]: https://a.example",
        "[1] Reuters, May\n[2] AP, June\n",
        "- [1] Reuters\n> [2] AP\n2. [3] dpa",
        "[1] says so.",
        "arr[0], arr[1], row_sums[1], $rows[2] and x[1][2].",
        "rows[1] = 3, rows[2]= 3 and rows[1].name or rows[1]._x",
        "It is in [1, 10], between [2-4], x = [1], x ∈ [3] and f([1, 2], [3, 4]).",
        "In [2024], [0], [01], [1.5], [-1], [1000], [9-1], [1-99] and [1 2].",
        "[",
        "a [1",
        "a [1, ",
        "a [111111111111111111111111111111111111111111111111111111]",
        "[1]" + " " * 300 + "x",
        "[1]" * 100 + " x",
    ],
)
def test_what_is_no_citation_stays(text):
    assert hidden([text]) == (text, [])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("It rose[1].Then", "It rose.Then"),
        ("It rose [1]...", "It rose..."),
        ("It rose [1] (much).", "It rose (much)."),
        ("It rose ([1]).", "It rose ()."),
        ("Use `x` [1], ``y`` [2] and \\`z [3].", "Use `x`, ``y`` and \\`z."),
        ("An open `span\n\nends here [1].", "An open `span\n\nends here."),
        ("```\ncode\n```\nIt rose [1].", "```\ncode\n```\nIt rose."),
        ("~~~ ```\ncode\n~~~~\nIt rose [1].", "~~~ ```\ncode\n~~~~\nIt rose."),
        ("It ~~fell~~ rose [1].", "It ~~fell~~ rose."),
        ("Vitamin C[1] and _it_[2] and f(x)[1].", "Vitamin C and _it_ and f(x)."),
        ("It rose: [1]: see.", "It rose:: see."),
        ("It rose [1]\t[2] more.", "It rose more."),
        ("It rose. [ 1 ]", "It rose."),
        ("It rose.\n[1]", "It rose.\n"),
        ("A 3.5[1], 日本[2] and “it”[3].", "A 3.5, 日本 and “it”."),
    ],
)
def test_what_is_a_citation_is_hidden(text, content):
    assert hidden([text])[0] == content


PIECES = st.sampled_from(
    [
        *("[1]", "[2]", "[1, 2]", "[1-3]", "[0]", "[", "]", "(u)", "[1", "2]", ",", "=", ".", ":"),
        *(" ", "\n", "\n\n", "\r\n", "\t", "|", "- ", "> ", "**", "\\", "`", "```", "~~~"),
        *("x", "rose", "a_b", "in ", "📎", "\ud83d", "\udcce", "家賃", A, A[:3]),
    ]
)
numbered = st.lists(PIECES, max_size=25).map("".join)


@given(numbered | texts, st.data())
def test_cuts_change_nothing(text, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert hidden(pieces) == hidden([text]) == hidden(list(text))


@given(numbered)
def test_only_blanks_and_citations_go(text):
    content, found = hidden([text])
    rest = iter(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    assert all(character in rest for character in content)
    assert all(0 <= place <= len(content) for place, _ in found)


@given(texts)
def test_text_without_brackets_is_not_touched(text):
    text = text.replace("[", "(")
    content, found = hidden([text])
    assert (content, found) == (
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
        [],
    )


def test_little_is_held():
    hide = NumberFilter()
    held = 0
    for piece in ("[1]" * 200, "It rose", "[" * 300, "[1, 2", " " * 1_000, "`" * 1_000, "x"):
        held += len(piece) - len(hide.feed(piece))
        assert held < 1_300  # citations that were hidden included
