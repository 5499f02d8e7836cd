from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.providers.passages import LONGEST_HEADING, LONGEST_PASSAGE, passages

HANDBOOK = (Path(__file__).parents[1] / "data" / "handbook.md").read_text(encoding="utf-8")


def texts(content):
    return [passage.text for passage in passages(content)]


def placed(content):
    return [
        (
            [heading.text for heading in passage.headings],
            [content[start:end] for start, end in passage.ranges],
        )
        for passage in passages(content)
    ]


def test_sentences_stand_under_their_headings():
    assert placed("# Rules\n\nIntro here.\n\n## Meals\n\nPaid. Not\nwine.\n\n# End #\n\nBye.") == [
        (["Rules"], ["Intro here."]),
        (["Rules", "Meals"], ["Paid."]),
        (["Rules", "Meals"], ["Not\nwine."]),
        (["End"], ["Bye."]),
    ]


def test_what_is_wrapped_becomes_one_line():
    assert texts("Meals are\r\n  paid for.\n\n食事代は\n支給する。") == [
        "Meals are paid for.",
        "食事代は支給する。",
    ]


def test_a_row_is_read_with_the_head_of_its_table():
    table = "| day | pay |\n|---|--:|\n| Mon | 5 |\n| Tue | |\n| Wed | 7 | 8 |\n\n| x | y |\n"
    assert texts(table) == ["day: Mon; pay: 5", "day: Tue", "day: Wed; pay: 7; 8", "x; y"]
    assert placed(table)[0] == ([], ["day | pay", "Mon | 5"])


def test_a_table_ends_with_the_next_blank_line_heading_or_paragraph():
    assert texts("| day |\n|---|\n| Mon |\n# Next\n| a |\n")[1:] == ["a"]
    head = "| day |\n|---|\n| Mon |\n\n"
    assert texts(f"{head}# Next\n\n| a | b |")[1:] == ["a; b"]
    assert texts(f"{head}Some prose.\n\n| a | b |")[1:] == ["Some prose.", "a; b"]


def test_items_and_lines_of_code_are_passages():
    assert placed(
        "# Do\n\n- Say it\n- Undo it\n  quickly\n\n```sh\ndrain --wait\n\nrestart\n```\n"
    ) == [
        (["Do"], ["Say it"]),
        (["Do"], ["Undo it\n  quickly"]),
        (["Do"], ["drain --wait"]),
        (["Do"], ["restart"]),
    ]


def test_a_line_that_its_author_ended_is_not_run_into_the_next():
    content = "第二章　経費\n出張中の食事代は一日六千円まで支給する。\n宿泊費は別に定める。"
    assert placed(content) == [
        (["第二章 経費"], ["出張中の食事代は一日六千円まで支給する。"]),
        (["第二章 経費"], ["宿泊費は別に定める。"]),
    ]
    content = (
        "Bring to every visit of the gauge: the key,\na lamp\nand whatever else the manual names."
    )
    assert texts(content) == [
        "Bring to every visit of the gauge: the key, a lamp",
        "and whatever else the manual names.",
    ]


def test_a_heading_with_nothing_under_it_is_a_passage():
    assert placed("Door code 1234\n\nAlarm code 99\n\n# Top\n\n## Sub") == [
        ([], ["Door code 1234"]),
        ([], ["Alarm code 99"]),
        (["Top"], ["Sub"]),
    ]


def test_what_would_open_a_block_is_left_out():
    assert texts("A sentence here. - Another one. ```x``` ends.\n\n- ~~~ b\n- > # c\n- - -\n") == [
        "A sentence here.",
        "Another one.",
        "x``` ends.",
        "b",
        "c",
    ]


def test_a_line_of_nothing_but_marks_is_no_passage():
    assert texts("~~~\n```\n~~~") == []


@pytest.mark.parametrize("word", ["meals ", "食事代", "meals"])
def test_what_has_no_sentences_is_cut(word):
    content = word * 2000
    found = list(passages(content))
    pieces = [content[start:end] for passage in found for start, end in passage.ranges]
    assert all(len(passage.text) <= LONGEST_PASSAGE for passage in found)
    assert "".join("".join(pieces).split()) == "".join(content.split())
    assert word != "meals " or all(piece.endswith("meals") for piece in pieces)


def test_sentences_are_found_beyond_a_window():
    content = "Meals are paid up to 48 EUR a day. " * 400
    assert texts(content) == ["Meals are paid up to 48 EUR a day."] * 400


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2028", "\u2009", "\x85"])
def test_any_blank_may_stand_before_a_full_stop(blank):
    assert texts(f"Up to 9{blank}EUR. Plan A{blank}. Then B.") == [
        "Up to 9 EUR.",
        "Plan A .",
        "Then B.",
    ]


def test_a_long_blank_is_nothing():
    assert texts(f"Meals are{' ' * 9000}paid.") == ["Meals are", "paid."]


def test_headings_rows_and_lines_of_code_are_shortened():
    long = "x" * 1000
    (passage,) = passages(f"# {long}\n\nBody.")
    assert passage.headings[0].text == "x" * (LONGEST_HEADING - 1) + "…"
    assert [len(text) for text in texts(f"| {long} | b |\n\n```\n{long}\n```")] == [
        LONGEST_PASSAGE
    ] * 2


def test_the_handbook_is_read_whole():
    found = list(passages(HANDBOOK))
    assert len(found) > 40
    assert found[0].headings[0].text == "Tidewater Instruments: team handbook"
    assert any("answer within: 5 minutes" in passage.text for passage in found)


@given(
    st.lists(
        st.sampled_from(
            ["# ", "- ", "| ", "|---|", "\n", "\r\n", "\n\n", "```", "食事。", "meals", ". ", " "]
        )
        | st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
    ).map("".join)
)
def test_any_text_gives_ranges_of_it(content):
    for passage in passages(content):
        assert passage.text == " ".join(passage.text.split())
        assert passage.text
        for start, end in (*passage.ranges, *((h.start, h.end) for h in passage.headings)):
            assert 0 <= start < end <= len(content)
            assert content[start:end] == content[start:end].strip()
