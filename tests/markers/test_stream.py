import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citestream import errors
from citestream.markers import DEFAULT_SYNTAX, FAMILIES, MarkerFilter, parse_markers
from citestream.markers.visible import MAX_BLANKS
from citestream.offsets import well_formed
from feeding import cuts, feed_all, same_however_cut, split
from texts import (
    CLOSE,
    DELIM,
    OPEN,
    PARIS,
    PLACEHOLDER,
    START,
    STOP,
    SYNTAXES,
    cite,
    marker,
    marker_texts,
    prose,
)

MODES = ["display", "strip", "keep"]
KNOWN = "|".join(family.name for family in FAMILIES)
WHOLE_MARKER = re.compile(f"{START}(?:{KNOWN})(?:{DELIM}[^{START}{STOP}]*)?{STOP}")


@pytest.mark.parametrize("name", SYNTAXES)
@given(st.data(), st.sampled_from(MODES), cuts)
def test_deltas_joined_are_the_content_for_every_cut(name, data, mode, drawn):
    syntax = SYNTAXES[name]
    text = data.draw(marker_texts(syntax) | prose)
    content = same_however_cut(
        text, lambda: MarkerFilter(syntax=syntax, other_families=mode), drawn=drawn
    )
    assert content == parse_markers(text, syntax=syntax, other_families=mode).content


@given(marker_texts(max_size=60), cuts)
def test_long_texts_too(text, drawn):
    assert (
        same_however_cut(text, MarkerFilter, drawn=drawn, every=False)
        == parse_markers(text).content
    )


@pytest.mark.parametrize("mode", ["display", "strip"])
@given(text=marker_texts(max_size=30))
@example(text=f"{START}ci{cite('a')}te{DELIM}b{STOP}")
@example(text=f"{START}{OPEN}cite{DELIM}b{STOP}")
@example(text=f"{START}memcite{cite('a')}{STOP}")
@example(text=f"{START}{marker('url', 'ci', 'a')}te{DELIM}b{STOP}")
@example(text=f"{START}cite{CLOSE}{DELIM}{DELIM}{cite('a')}{DELIM}{STOP}")
def test_no_marker_and_no_highlight_is_ever_left(mode, text):
    content = parse_markers(text, other_families=mode).content
    assert not set(content) & {OPEN, CLOSE, PLACEHOLDER}
    assert WHOLE_MARKER.search(content) is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"{START}ci{cite('a')}te{DELIM}b{STOP}.", f"{START}citeb{STOP}."),
        (f"{START}mem{OPEN}cite{STOP}.", f"{START}memcite."),
        (f"{START}ci{cite('a')}te b", f"{START}cite b"),
        (f"{START}{marker('url', 'cite')}{DELIM}{DELIM}b", f"{START}citeb"),
        (f"{START}ci{cite('a')}", f"{START}ci"),
        (f"{START} {cite('a')} cite{DELIM}b", f"{START} cite{DELIM}b"),
    ],
)
def test_what_goes_makes_no_marker_of_what_stays(text, content):
    assert same_however_cut(text, MarkerFilter) == content
    assert parse_markers(text).content == content


HELD = 2 * MAX_BLANKS + 4  # blanks before and behind markers, emphasis marks


@pytest.mark.parametrize("name", ["default", "short", "ascii"])
@given(st.data(), st.sampled_from(["", " " * 600, f"x{START}cite{DELIM}" + "a " * 2100]))
def test_what_is_held_is_bounded(name, data, stuffing):
    syntax = SYNTAXES[name]
    text = "".join(
        [data.draw(marker_texts(syntax)), stuffing, data.draw(marker_texts(syntax)), stuffing, "x"]
    )
    pieces = split(text, range(0, len(text), 1 + len(text) // 60))
    runs = parse_markers(text, syntax=syntax).runs
    push = MarkerFilter(syntax=syntax)
    fed = given_out = 0
    for piece in pieces:
        fed += len(piece)
        given_out += sum(map(len, push.feed(piece)))
        # Everything visible that stands further back than a marker reaches was given out.
        sure = [run for run in runs if run[0] <= fed - syntax.max_length - 1]
        if sure:
            start, end, place = sure[-1]
            visible = place + min(end, fed - syntax.max_length - 1) - start
            assert given_out >= visible - HELD


def test_plain_deltas_pass_as_the_same_object():
    push = MarkerFilter()
    for delta in ("Rents", " rose", "\n\n", "- 日本", "📎"):
        (given_out,) = push.feed(delta)
        assert given_out is delta
    assert push.feed("") == []
    assert push.finish() == []


@pytest.mark.parametrize(
    ("fed", "given_out"),
    [
        (["Rents ", "rose"], [["Rents"], [" ", "rose"], []]),
        ([f"Rents rose. {START}", "ci", f"te{DELIM}a", STOP], [["Rents rose."], [], [], [], []]),
        ([f"A.{cite('a')}", "\n", "B"], [["A."], ["\n"], ["B"], []]),
        ([cite("a"), "\r", "\n", "B"], [[], [], [], ["B"], []]),
        (["\ud83d", "\udcce", "\ud83d"], [[], ["📎"], [], ["\ufffd"]]),
        ([f"{START}", "x"], [[], [f"{START}x"], []]),
        ([f"{START}ci"], [[], []]),
        (
            [f"A {START}cite{DELIM}a", " and", f" more {START}ci", "."],
            [["A"], [], [" ", "and more"], [" ", f"{START}ci."], []],
        ),
        (["a\t"], [["a"], ["\t"]]),
        ([f"a{cite('a')}", "**", "*", "*", "b"], [["a"], [], [], [], ["****", "b"], []]),
    ],
)
def test_what_is_held_and_for_how_long(fed, given_out):
    push = MarkerFilter()
    assert [*map(push.feed, fed), push.finish()] == given_out


def test_ascii_highlight_marks_never_pass():
    push = MarkerFilter(syntax=SYNTAXES["ascii highlight"])
    assert feed_all(push, ["{Rents rose.}", "^"]) == ["Rents rose."]


@pytest.mark.parametrize(
    ("name", "fed", "content"),
    [
        ("ascii highlight", ["<}", "abc", "<}", "cite::a"], "<abc<cite::a"),
        ("ascii highlight", ["<<}", "ci", "{", "te::a"], "<<cite:a"),
        ("ascii highlight", ["<<ci", "}te:", ":a"], "<<cite:a"),
        ("ascii", ["[", "[", "[", "[cite|a]]", "cite]]"], "[[cite]"),
    ],
)
def test_what_goes_between_long_delimiters(name, fed, content):
    syntax = SYNTAXES[name]
    assert "".join(feed_all(MarkerFilter(syntax=syntax), fed)) == content
    assert parse_markers("".join(fed), syntax=syntax).content == content


def test_a_filter_is_of_the_default_syntax():
    text = f"A {PARIS}{cite('a')}"
    assert feed_all(MarkerFilter(), [text]) == feed_all(
        MarkerFilter(syntax=DEFAULT_SYNTAX, other_families="display"), [text]
    )


@given(prose)
def test_text_without_markers_stays(text):
    assert same_however_cut(text, MarkerFilter) == well_formed(text)


def test_nothing_is_taken_after_the_end():
    push = MarkerFilter()
    push.finish()
    with pytest.raises(errors.StateError, match=r"^feed: the text is finished$"):
        push.feed("Rents")
    with pytest.raises(errors.StateError, match=r"^finish: the text is finished already$"):
        push.finish()
