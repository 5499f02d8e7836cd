import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import errors
from citestream.markers import MarkerSyntax, ParsedMarker
from citestream.markers.grammar import Grammar
from citestream.markers.tokenizer import HighlightMark, PlainText, Tokenizer
from citestream.offsets import well_formed
from feeding import cuts, feed_all, same_however_cut
from texts import CLOSE, OPEN, PLACEHOLDER, START, STOP, SYNTAXES, cite, marker, marker_texts, prose


def tokens_of(text, syntax=SYNTAXES["default"], known=frozenset()):
    return joined(feed_all(Tokenizer(Grammar.of(syntax), known=known), [text]))


def joined(tokens):
    """Join neighbouring plain text: how it is split says nothing."""
    result = []
    for token in tokens:
        last = result[-1] if result else None
        if isinstance(token, PlainText) and isinstance(last, PlainText):
            assert token.start == last.start + len(last.text)
            result[-1] = PlainText(text=last.text + token.text, start=last.start)
        else:
            result.append(token)
    return result


def written(tokens, syntax):
    """Write the text that ``tokens`` were read from, checking that each knows where it stood."""
    marks = dict(zip(HighlightMark, syntax.highlight or (), strict=False))
    text = ""
    for token in tokens:
        if isinstance(token, HighlightMark):
            text += marks[token]
        else:
            assert token.start == len(text)
            text += token.raw if isinstance(token, ParsedMarker) else token.text
    return text


@pytest.mark.parametrize("name", SYNTAXES)
@given(st.data(), cuts)
def test_tokens_are_the_text_and_do_not_depend_on_cuts(name, data, drawn):
    syntax = SYNTAXES[name]
    text = data.draw(marker_texts(syntax) | prose)
    tokens = same_however_cut(text, lambda: Tokenizer(Grammar.of(syntax)), drawn=drawn, view=joined)
    assert written(tokens, syntax) == well_formed(text)
    for token in tokens:
        if isinstance(token, ParsedMarker):
            assert len(token.raw) == token.end - token.start <= syntax.max_length


def test_highlight_marks():
    text = f"a{OPEN}b{CLOSE}c{PLACEHOLDER}"
    assert tokens_of(text) == [
        PlainText(text="a", start=0),
        HighlightMark.OPEN,
        PlainText(text="b", start=2),
        HighlightMark.CLOSE,
        PlainText(text="c", start=4),
        HighlightMark.PLACEHOLDER,
    ]
    assert tokens_of(text, MarkerSyntax(highlight=None)) == [PlainText(text=text, start=0)]


def test_surrogate_halves_that_meet_are_joined():
    push = Tokenizer(Grammar.of(SYNTAXES["default"]))
    assert push.feed("a\ud83d") == [PlainText(text="a", start=0)]
    assert push.holds
    assert push.feed("") == []
    assert push.feed("\udcce") == [PlainText(text="📎", start=1)]
    assert not push.holds
    assert push.feed("\ud83d") == []
    assert push.finish() == [PlainText(text="\ufffd", start=2)]


def test_part_of_a_long_start_is_held():
    push = Tokenizer(Grammar.of(SYNTAXES["ascii"]))
    assert push.feed("a") == [PlainText(text="a", start=0)]
    assert not push.holds
    assert push.feed("b[") == [PlainText(text="b", start=1)]
    assert push.holds
    assert push.finish() == [PlainText(text="[", start=2)]


def test_what_passed_elsewhere_counts():
    push = Tokenizer(Grammar.of(SYNTAXES["default"]))
    push.passes("Rents")
    assert push.feed(" rose") == [PlainText(text=" rose", start=5)]


@pytest.mark.parametrize(
    ("text", "raw", "behind"),
    [
        (cite("a"), cite("a"), ""),
        (f"{START}cite\ue202a {cite('b')}", f"{START}cite\ue202a", f" {cite('b')}"),
        (f"{START}memcite{STOP}x", f"{START}memcite{STOP}", "x"),
        (marker("code", "py", "a\nb"), marker("code", "py", "a\nb"), ""),
    ],
)
def test_where_a_marker_ends(text, raw, behind):
    first, *rest = tokens_of(text)
    assert first.raw == raw
    assert written(tokens_of(behind), SYNTAXES["default"]) == behind
    assert len(rest) == len(tokens_of(behind))


@pytest.mark.parametrize(
    ("text", "raw", "label"),
    [
        (START, START, ""),
        (f"{START}ci", f"{START}ci", ""),
        (f"{START}cite\ue202a", f"{START}cite\ue202a", ""),
        (f"{START}cite\ue202a, too", f"{START}cite\ue202a", ""),
        (f"{START}navlist\ue202A\nB", f"{START}navlist\ue202A", ""),
        (f"{START}url\ue202A", f"{START}url\ue202A", ""),
        (f"{START}url\ue202A\ue202b", f"{START}url\ue202A\ue202b", "A"),
    ],
)
def test_where_a_marker_ends_that_the_end_cuts_off(text, raw, label):
    first, *rest = tokens_of(text)
    assert (first.raw, first.label, first.targets) == (raw, label, ())
    assert "".join(token.text for token in rest) == text.removeprefix(raw)


def test_a_marker_is_read_as_soon_as_it_is_complete():
    push = Tokenizer(Grammar.of(SYNTAXES["default"]))
    for character in cite("a")[:-1]:
        assert push.feed(character) == []
    assert [token.raw for token in push.feed(STOP)] == [cite("a")]


def test_a_start_is_released_as_soon_as_it_begins_no_marker():
    push = Tokenizer(Grammar.of(SYNTAXES["default"]))
    assert [push.feed(character) for character in f"{START}ci"] == [[], [], []]
    assert push.feed("r") == [PlainText(text=f"{START}cir", start=0)]


def test_a_start_without_stop_is_released_at_the_maximum_length():
    push = Tokenizer(Grammar.of(SYNTAXES["short"]))
    text = f"{START}cite\ue202".ljust(24, "a")
    assert [token for character in text[:-1] for token in push.feed(character)] == []
    assert push.feed(text[-1]) == [PlainText(text=text, start=0)]
    assert push.finish() == []


def test_the_longest_marker():
    short = SYNTAXES["short"]
    fits = cite("a" * 17)
    assert len(fits) == 24
    assert [token.raw for token in tokens_of(fits, short)] == [fits]
    assert tokens_of(cite("a" * 18), short) == [PlainText(text=cite("a" * 18), start=0)]


def test_registered_ids_are_asked_for():
    (token,) = tokens_of(cite("L8"), known={"L8"})
    assert [target.source_id for target in token.targets] == ["L8"]


def test_a_start_may_begin_inside_what_is_no_marker():
    ascii_syntax = SYNTAXES["ascii"]
    bracket, token = tokens_of("[[[cite|a]]", ascii_syntax)
    assert (bracket.text, token.raw) == ("[", "[[cite|a]]")


def test_nothing_is_taken_after_the_end():
    push = Tokenizer(Grammar.of(SYNTAXES["default"]))
    push.finish()
    with pytest.raises(errors.StateError, match=r"^feed: the text is finished$"):
        push.feed("")
    with pytest.raises(errors.StateError, match=r"^finish: the text is finished already$"):
        push.finish()
