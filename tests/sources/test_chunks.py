import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.sources.chunks import _CUTS, LONGEST, SHORT, chunk_ranges
from citestream.sources.lines import LineTable

words = st.sampled_from(
    ["a", "word ", "漢。", "📎", " ", "\n", "\n\n", "\r\n", "\r", "\u2028", "\f"]
)
texts = st.lists(words, max_size=60).map("".join) | st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(words, max_size=8),
    st.integers(1, 600),
)
LONG = "This paragraph is long enough to stand alone as a block."


def blocks_of(text):
    return [text[start:end] for start, end in chunk_ranges(text)]


@given(texts)
def test_blocks_are_in_order_and_leave_out_nothing_but_white_space(text):
    position = 0
    for start, end in chunk_ranges(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end].strip()
        assert not text[end - 1].isspace()
        position = end
    assert not text[position:].strip()


@given(texts)
def test_no_block_is_long_and_few_are_short(text):
    blocks = blocks_of(text)
    assert all(len(block) <= LONGEST for block in blocks)
    # Cutting may leave a short rest; a paragraph alone never does, but at the end.
    if len(text) < LONGEST:
        for block in blocks[:-1]:
            assert len(block) >= SHORT


@given(texts.filter(lambda text: len(text) < LONGEST))
def test_a_block_begins_and_ends_with_lines(text):
    lines = list(LineTable(text))
    starts = {start for start, _ in lines}
    for start, end in chunk_ranges(text):
        assert start in starts
        assert any(first < end <= last and not text[end:last].strip() for first, last in lines)


@given(texts.filter(lambda text: "\r" not in text))
def test_both_patterns_for_blank_lines_agree(text):
    # A CR in front of a text is one more blank line.
    assert [(s - 1, e - 1) for s, e in chunk_ranges("\r" + text)] == chunk_ranges(text)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_blocks(line_end):
    text = f"# One\n\n{LONG}\n{LONG}\n \n\n{LONG}\n"
    assert blocks_of(text.replace("\n", line_end)) == [
        f"# One\n\n{LONG}\n{LONG}".replace("\n", line_end),
        LONG,
    ]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        (" \n\t\n", []),
        ("a", ["a"]),
        (f"\n \n  {LONG} \n \n\n{LONG}\n", [f"  {LONG}", LONG]),
        (f"# One\n\n## Two\n\n{LONG}\n\n{LONG}", [f"# One\n\n## Two\n\n{LONG}", LONG]),
        (f"{LONG}\n\n# Last", [LONG, "# Last"]),
        (f"{LONG}\nand\nmore\n\n{LONG}", [f"{LONG}\nand\nmore", LONG]),
        ("a\r\rb", ["a\r\rb"]),
    ],
)
def test_a_block_is_a_paragraph_with_its_headings(text, blocks):
    assert blocks_of(text) == blocks


def test_short_paragraphs_do_not_pile_up_for_ever():
    blocks = blocks_of("Yes.\n\n" * 1000)
    assert len(blocks) > 20
    assert max(map(len, blocks)) < 5 * SHORT


@pytest.mark.parametrize("mark", _CUTS)
def test_a_long_paragraph_is_cut_where_it_hurts_least(mark):
    text = ("x" * 1500 + mark) * 4
    blocks = blocks_of(text)
    assert len(blocks) == 4
    assert {len(block.rstrip("。.")) for block in blocks} == {1500}


def test_a_paragraph_without_any_blank_is_cut_anyway():
    assert [len(block) for block in blocks_of("x" * 4500)] == [LONGEST, LONGEST, 500]


def test_blanks_longer_than_a_block_are_nothing_to_cite():
    assert blocks_of("a" + " " * 3 * LONGEST + "b") == ["a", "b"]
    assert blocks_of(" " * 3 * LONGEST + "b") == ["b"]
