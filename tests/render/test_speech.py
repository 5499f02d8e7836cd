import re

import pytest

from citestream import resolve
from citestream.render import speech
from render.hostile import answers, cite


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("**Rents** *rose* by ~~3~~ `4` %.", "Rents rose by 3 4 %."),
        ("# Rents\n\nThey\nrose\\\nmuch.", "Rents\nThey rose much."),
        ("- a\n- b\n  1. c\n\n> d", "a\nb\n1. c\nd"),
        (
            "3. a\n\n   b\n3. ```\n   x\n   ```\n   - c\n   - d\n3. 7) e",
            "3. a\nb\n4. c\nd\n5. 7. e",
        ),
        ("| a | b |\n|---|---|\n| c | |\n| d | e |", "a, b\nc\nd, e"),
        ("See [the report](https://a.example/x) ![of 1986](/b).", "See the report of 1986."),
        ("See https://www.a.example/b/c?d=e.", "See a.example."),
        ("See www.a.example, or <https://b.example:80/c>", "See a.example, or b.example"),
        ("See http://[::1]:80/x, http://[fe80::1].", "See ::1, fe80::1."),
        ("See [:https://a.example", "See [:a.example"),
        ("See ftp://u:p@a.example/x or file:///etc/x", "See a.example or"),
        (
            "To mailto:ada@a.example?subject=x, mailto: or b@c.example",
            "To a.example, mailto: or b@c.example",
        ),
        ("See https:// or not", "See or not"),
        ("Run:\n\n```\nrm -r x\n```\n\n    y\n\nDone.", "Run:\nDone."),
        ("a <b>c</b>\n\n<div>\nd\n</div>\n\n---", "a c"),
        ("Tom &amp; Ada \\* 2", "Tom & Ada * 2"),
        ("a\u202eb\x1b[2J  c", "ab[2J c"),
        ("", ""),
    ],
)
def test_only_words_are_read(content, said):
    assert speech(content, None) == said


def test_code_may_be_announced():
    assert speech("Run:\n```\nx\n```\n", None, code="Code.") == "Run:\nCode."


def test_marks_are_not_read_but_sources_may_be():
    read = resolve(
        "Rents rose \ue200cite\ue202a\ue201 \ue200cite\ue202a\ue202L2\ue201.\n\nWages fell!"
    )
    assert speech(read.content, read.citations) == "Rents rose.\nWages fell!"
    assert speech(read.content, read.citations, attribution=True) == (
        "Rents rose. According to a.\nWages fell!"
    )
    cited = cite(5, title=None, url="https://www.a.example/b")
    assert speech("Rents", cited, attribution=True) == "Rents. According to a.example."
    assert speech("Rents", cite(0), attribution=True) == "Rents. According to T."
    assert speech("", cite(0), attribution=True) == ""


def test_nothing_but_words_is_read_of_what_strangers_wrote():
    for content, citations in answers(5, 500):
        said = speech(content, citations, attribution=True)
        assert "  " not in said
        assert not re.search("https?://|[\x00-\x09\x0b-\x1f\ue200-\ue206]", said)
