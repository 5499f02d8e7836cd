import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitationReference, Citations, CitationSource, CitationSpan
from citestream.render.placement import marked, normal, positions, with_marks
from citestream.render.structure import read
from render.hostile import cite


def shown(content, *ends, **options):
    text = marked(content, cite(*ends), **options)
    return with_marks(text, lambda mark, _: "^" * len(mark.numbers))


def at(content):
    """Return ``content`` without its carets, marked where these stood."""
    pieces = content.split("^")
    before = ["".join(pieces[:count]) for count in range(1, len(pieces))]
    return shown("".join(pieces), *(len(text.encode("utf-16-le")) // 2 for text in before))


@pytest.mark.parametrize(
    ("content", "placed"),
    [
        ("Rents rose.^ Wages fell.^", "Rents rose.^ Wages fell.^"),
        ("Rents rose. ^Wages", "Rents rose.^ Wages"),
        ("Rents rose.\n\n^Wages", "Rents rose.^\n\nWages"),
        ("Rents rose.\n^Wages", "Rents rose.^\nWages"),
        ("Rents rose.  ^\nWages", "Rents rose.^  \nWages"),
        ("Rents rose.\\^\nWages", "Rents rose.^\\\nWages"),
        ("a `co^de` b", "a `code`^ b"),
        ("a `code^` b", "a `code`^ b"),
        ("**Rents rose.^** b", "**Rents rose.**^ b"),
        ("**Ren^ts rose.** b", "**Rents rose.**^ b"),
        ("*a **b^** c* d", "*a **b** c*^ d"),
        ("~~a^~~ b", "~~a~~^ b"),
        ("[the re^port](/x_y) b", "[the report](/x_y)^ b"),
        ("[a](/x^_y) b", "[a](/x_y)^ b"),
        ("![a^](/x) b", "![a](/x)^ b"),
        ("<https://a.ex^ample> b", "<https://a.example>^ b"),
        ("see https://a.exa^mple/x_y, b", "see https://a.example/x_y, ^ b"),
        ("see https://a.example/^*x* b", "see https://a.example/*x* ^ b"),
        ("see www.a.example^ b", "see www.a.example ^ b"),
        ("mail team@a^.example, b", "mail team@a.example^, b"),
        ("mail te^am@a.example.", "mail team@a.example^."),
        ("mail <b@c.d>e^@a.example now", "mail <b@c.d>e@a.example^ now"),
        ("(a.b@c.example)^ d", "(a.b@c.example)^ d"),
        ("a@b.example,c^d", "a@b.example,c^d"),
        ("a@b^ c", "a@b^ c"),
        ("at https://a.example or b^ c", "at https://a.example or b^ c"),
        ("a <b>c^</b> d", "a <b>c</b>^ d"),
        ("a <br^> d", "a <br>^ d"),
        ("a &am^p; d", "a &amp;^ d"),
        ("a \\^* d", "a \\*^ d"),
        ("# Ren^ts\n\nx", "# Ren^ts\n\nx"),
        ("# Rents ##^\nx", "# Rents^ ##\nx"),
        ("Rents\n=^==\nx", "Rents^\n===\nx"),
        ("- a^\n- b^", "- a^\n- b^"),
        ("- a\n-^ b", "- a^\n- b"),
        ("> a\n> ^b", "> a^\n> b"),
        ("| a^ | b |\n|---|---|\n| c ^ | d |", "| a^ | b |\n|---|---|\n| c^  | d |"),
        ("| a | b |\n|--^-|---|\n", "| a | b^ |\n|---|---|\n"),
        ("| a \\|^ b | c |\n|---|---|\n", "| a \\|^ b | c |\n|---|---|\n"),
        ("| a^\\| b | c |\n|---|---|\n", "| a^\\| b | c |\n|---|---|\n"),
        ("Run:\n\n```\nco^de\n```\nThen", "Run:^\n\n```\ncode\n```\nThen"),
        ("Run:\n\n    co^de\n\n    a^", "Run:^\n\n    code\n\n    a"),
        ("Run:\n\n---\n\n```\nco^de\n```\n", "Run:^\n\n---\n\n```\ncode\n```\n"),
        ("1. Run:\n   ```\n   co^de\n   ```\n", "1. Run:^\n   ```\n   code\n   ```\n"),
        ("Run:\n- ```\n  co^de\n  ```\n", "Run:^\n- ```\n  code\n  ```\n"),
        ("a\n\n<div>\n^b\n</div>", "a^\n\n<div>\nb\n</div>"),
        ("a\n\n---^\n\nb", "a^\n\n---\n\nb"),
        ("a\n\n[x]: /y^\n", "a^\n\n[x]: /y\n"),
        ("a!^ b", "a! ^ b"),
        ("a]^ b", "a] ^ b"),
        ("a\\^", "a\\ ^"),
        ("See C:\\temp\\^  \nx", "See C:\\temp\\ ^  \nx"),
        ("See C:\\temp\\  ^\nx", "See C:\\temp\\ ^  \nx"),
        ("C:\\t^emp", "C:\\t^emp"),
        ("👍^🏽 1^\ufe0f\u20e3 a", "👍🏽^ 1\ufe0f\u20e3^ a"),
        ("a |" + "^" + " " * 4096 + "b", "a^ |" + " " * 4096 + "b"),
        ("e^\u0301a", "e\u0301^a"),
        ("👩^\u200d🔬 a", "👩\u200d🔬^ a"),
        ("週次報告。^次", "週次報告。^次"),
        ("週次　^報告", "週次^　報告"),
        ("a^* b", "a^* b"),
        ("**a**^b**", "**a**^b**"),
        ("``a^`` b", "``a``^ b"),
        ("```foo`^`", "```foo`` ^"),
        ("[a](^<b>c)", "[a](<b>c) ^"),
        ("- x\n1.^ a | b\n--|--", "- x\n1. a ^ | b\n--|--"),
        (". |^ \n|---|---|\nx", ".^ | \n|---|---|\nx"),
        ("a^^^ b", "a^ b"),
    ],
)
def test_marks_stand_where_they_break_nothing(content, placed):
    assert at(content) == placed


@pytest.mark.parametrize(
    ("content", "placed"),
    [
        ("```\nco^de\n```\nThen", "```\ncode\n```\n\n^\n\nThen"),
        ("```\nco^de\n```\n\nThen", "```\ncode\n```\n\n^\n\nThen"),
        ("```\nco^de\n```\n\n\nThen", "```\ncode\n```\n\n^\n\n\nThen"),
        ("```\nco^de\n```", "```\ncode\n```\n\n^"),
        ("## Run\n\n```\nco^de\n```\n    x", "## Run\n\n```\ncode\n```\n\n^\n\n    x"),
        ("- a\n- ```\n  co^de\n  ```\n- b^\n", "- a\n- ```\n  code\n  ```\n- b^\n\n^"),
        ("^Rents", "Rents\n\n^"),
        ("^", "^"),
        ("[x]: /y^", "[x]: /y\n\n^"),
        ("[x]:^", "[x]:\n\n^"),
        ("a\n\n[x]: ^", "a\n\n[x]: \n\n^"),
        ("|^", "|\n\n^"),
        ("*|^", "*|\n\n^"),
        ("---^", "---\n\n^"),
    ],
)
def test_where_no_words_lead_to_it_a_mark_has_a_line_of_its_own(content, placed):
    assert at(content) == placed


def test_a_mark_stands_behind_what_closes_the_content():
    assert shown("```\nx", 5, closed=True) == "```\nx\n```\n\n^"


def test_a_block_that_cannot_be_found_has_its_marks_below():
    assert shown("-\t\t\tx\n\ny", 5) == "-\t\t\tx\n\n^\n\ny"


def test_numbers_at_one_place_come_once_in_order():
    def span(start, end, *ids):
        references = [CitationReference(source_id=i) for i in ids]
        return CitationSpan(start_index=start, end_index=end, references=references)

    both = [CitationSource(id=i, provider="client") for i in ("s0", "s1", "s2")]
    spans = [span(0, 3, "s1", "s0", "s1"), span(1, 3, "s0", "s2"), span(0, 2, "s0"), span(0, 1)]
    made = marked("📎 ab", Citations(sources=both, spans=spans))
    assert [(mark.offset, mark.numbers) for mark in made.marks] == [(1, (1, 2, 3))]


@given(st.lists(st.sampled_from(["a", "📎", "\r\n", "\r", "\n", "\ud83d", "\udcce", "\0"])))
def test_positions_are_those_of_the_normal_text(pieces):
    content = "".join(pieces)
    text = normal(content)
    assert "\r" not in text
    units = len(content.encode("utf-16-le", "surrogatepass")) // 2
    found = positions(content, range(units + 1))
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] == len(text)


@pytest.mark.parametrize("unit", ["`a` ", "*a* ", "~~a~~ ", "a _b_ **c** "])
def test_a_mark_behind_what_closes_is_not_tried_out(unit):
    content = unit * 40
    structure = read(content, html=True)
    asked = []

    def inline(text):
        asked.append(text)
        return structure.inline(text)

    counted = attrs.evolve(structure, inline=inline)
    ends = [len(unit) * number for number in range(1, 41)]
    assert len(marked(content, cite(*ends), structure=counted).marks) == 40
    assert asked == [content.rstrip()]
