import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import format_marker, resolve

A = format_marker("a")
PLACES = {"in_code", "in_emphasis", "alone_on_line"}


def misplaced(text):
    return [issue.kind for issue in resolve(text).issues if issue.kind in PLACES]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"One. {A}", []),
        (f"**One.** {A} *two* {A} _three_ {A} `four` {A}", []),
        (f"**One. {A}** and", ["in_emphasis"]),
        (f"*One {A} two*", ["in_emphasis"]),
        (f"_One {A} two_", ["in_emphasis"]),
        (f"~~One {A} two~~", ["in_emphasis"]),
        (f"2 * 3 {A} * 4", []),
        (f"\\*One {A}\\*", []),
        (f"`one {A} two`", ["in_code"]),
        (f"``one ` {A}``", ["in_code"]),
        (f"`one **two` three {A} four**", []),
        (f"```\none {A}\n```\n", ["in_code"]),
        (f"One.\n{A}\nTwo.", ["alone_on_line"]),
        (f"One.\n\n{A} {A}", ["alone_on_line", "alone_on_line"]),
        (f"One.\r\n  {A}\r\nTwo.", ["alone_on_line"]),
        (f"- {A}", []),
        (f"{A}", ["alone_on_line"]),
        (f"{A} **one**", []),
        (f"| **a** {A} | b {A} |\n|---|---|", []),
        (f"# **One {A} two**", ["in_emphasis"]),
        (f"> `a {A}`", ["in_code"]),
        (f"`open {A}", []),
        (f"**open {A}", []),
        (f"ends ** {A}", []),
        (f"\n\n{A}x `y`", []),
    ],
)
def test_a_marker_that_stands_badly_is_reported(text, kinds):
    assert misplaced(text) == kinds


def test_such_a_marker_cites_all_the_same():
    assert resolve(f"**One. {A}**").citations is not None
    assert resolve(f"**One. {A}**").issues[0].message == "a cite marker stands in emphasis"


def test_names_that_belong_to_the_sentence_are_something_visible():
    assert misplaced(f'One.\n\ue200entity\ue202["x","Ada"]\ue201 {A}') == []


@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "*", "**", "_", "`", "``", "\\", "~~", A, "|", "```\n"])
    )
)
def test_whatever_comes_each_marker_has_at_most_one_issue_of_a_kind(pieces):
    issues = [issue for issue in resolve("".join(pieces)).issues if issue.kind in PLACES]
    assert len(issues) <= 2 * pieces.count(A)
