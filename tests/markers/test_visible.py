from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citestream import errors
from citestream.markers import MarkerFilter, MarkerSyntax, parse_markers
from citestream.markers.visible import MAX_BLANKS
from citestream.offsets import well_formed
from feeding import same_however_cut
from texts import (
    CLOSE,
    DELIM,
    OPEN,
    PAIR,
    PARIS,
    PLACEHOLDER,
    START,
    SYNTAXES,
    cite,
    marker,
    marker_texts,
    prose,
)

M = cite("a")


def content_of(text, **options):
    """Return the content of ``text``, in which § stands for a marker, streamed in every way."""
    text = text.replace("§", M)
    content = same_however_cut(text, lambda: MarkerFilter(**options))
    assert parse_markers(text, **options).content == content
    return content


# One row for each case of a rule: the text, § for a marker, and what a reader sees.
RULES = {
    "blanks before a marker go when the end follows": [
        ("Rents rose. §", "Rents rose."),
        ("Rents rose.  \t§", "Rents rose."),
        ("Rents rose.§", "Rents rose."),
        ("§", ""),
        (" §", ""),
        ("日本語です。 §", "日本語です。"),
        ("Rents rose. § §", "Rents rose."),
    ],
    "... or white space": [
        ("Rents rose. § Wages fell.", "Rents rose. Wages fell."),
        ("Rents rose. §\tWages", "Rents rose.\tWages"),
        ("Rents rose. §\nWages", "Rents rose.\nWages"),
        ("Rents rose. §\r\nWages", "Rents rose.\r\nWages"),
        ("Rents rose. §\rWages", "Rents rose.\rWages"),
        ("Rents rose. §\u3000Wages", "Rents rose.\u3000Wages"),
        ("Rents rose. §\u00a0Wages", "Rents rose.\u00a0Wages"),
        ("Rents rose. §\u2028Wages", "Rents rose.\u2028Wages"),
        ("Rents rose. § \nWages", "Rents rose. \nWages"),
    ],
    "... or closing punctuation": [
        ("Rents rose §.", "Rents rose."),
        ("Rents rose §, too", "Rents rose, too"),
        ("(Rents rose §)", "(Rents rose)"),
        ("[Rents rose §]", "[Rents rose]"),
        ("Rents rose §; wages", "Rents rose; wages"),
        ("So §: x", "So: x"),
        ("Really §!", "Really!"),
        ("Really §?", "Really?"),
        ("“Rents rose §”", "“Rents rose”"),
        ("«Rents §»", "«Rents»"),
        ("Rents §…", "Rents…"),
        ("Rents §%", "Rents%"),
        ("家賃 §。", "家賃。"),
        ("家賃 §、賃金", "家賃、賃金"),
        ("（家賃 §）", "（家賃）"),
        ("「家賃 §」", "「家賃」"),
        ("家賃 §，", "家賃，"),
        ("家賃 §：", "家賃："),
        ("家賃 §！？", "家賃！？"),
        ("الإيجار §،", "الإيجار،"),
        ("الإيجار §؟", "الإيجار؟"),
    ],
    "... and stay before anything else": [
        ("Rents §rose", "Rents rose"),
        ("Rents §(all)", "Rents (all)"),
        ("| a §| b |", "| a | b |"),
        ("Rents§rose", "Rentsrose"),
        ("家賃§賃金", "家賃賃金"),
        ("Rents §-- rose", "Rents -- rose"),
    ],
    "emphasis marks are looked through": [
        ("**Rents rose §**", "**Rents rose**"),
        ("**Rents rose §** and", "**Rents rose** and"),
        ("**Rents rose §**.", "**Rents rose**."),
        ("**Rents rose. §**\nand", "**Rents rose.**\nand"),
        ("*Rents §*", "*Rents*"),
        ("***Rents §***", "***Rents***"),
        ("__Rents §__", "__Rents__"),
        ("~~Rents §~~", "~~Rents~~"),
        ("**_Rents §_**", "**_Rents_**"),
        ("| **Rents §**|", "| **Rents**|"),
        ("| **Rents §** |", "| **Rents** |"),
        ("Rents §**rose**", "Rents **rose**"),
        ("Rents §*rose*", "Rents *rose*"),
        ("Rents § **rose**", "Rents **rose**"),
        ("Rents §****", "Rents****"),
        ("Rents §**** x", "Rents **** x"),
        ("**A §** **B §**", "**A** **B**"),
        ("**A §**§ x", "**A** x"),
        ("**A §** § x", "**A** x"),
        ("*A §* § *B*", "*A* *B*"),
    ],
    "of the blanks between two markers one remains where text follows": [
        ("Rents § § rose", "Rents rose"),
        ("Rents§ §rose", "Rents rose"),
        ("Rents §  \t§rose", "Rents rose"),
        ("Rents § §§ § rose", "Rents rose"),
        ("Rents rose. § §", "Rents rose."),
        ("Rents rose § §.", "Rents rose."),
        ("Rents rose. § §\nWages", "Rents rose.\nWages"),
        ("Rents §§rose", "Rents rose"),
        ("Rents§§rose", "Rentsrose"),
    ],
    "a line that held only markers goes with its newline": [
        ("A\n§\nB", "A\nB"),
        ("A\n\n§\n\nB", "A\n\n\nB"),
        ("A\n§ § §\nB", "A\nB"),
        ("A\n  §\t\nB", "A\nB"),
        ("A\r\n§\r\nB", "A\r\nB"),
        ("A\r§\rB", "A\rB"),
        ("A\n§\n§\nB", "A\nB"),
        ("§\nB", "B"),
        ("A\n§", "A\n"),
        ("A\n§ ", "A\n"),
        ("A\n  §", "A\n"),
        ("A\n§\r", "A\n"),
        ("A\n§  \nB", "A\nB"),
    ],
    "... but not a line that held more": [
        ("- §\n- B", "-\n- B"),
        ("A\n§.\nB", "A\n.\nB"),
        ("> §\nB", ">\nB"),
        ("A\n§ **\nB", "A\n**\nB"),
        ("A\n§**b**\nB", "A\n**b**\nB"),
    ],
    "two blanks before a newline stay": [
        ("Rents rose. §  \nWages", "Rents rose.  \nWages"),
        ("Rents rose.§  \nWages", "Rents rose.  \nWages"),
        ("Rents rose. § §  \nWages", "Rents rose.  \nWages"),
        ("Rents rose. §  \r\nWages", "Rents rose.  \r\nWages"),
        ("**Rents rose. §**  \nWages", "**Rents rose.**  \nWages"),
        ("Rents rose.  §\nWages", "Rents rose.\nWages"),
        ("Rents rose. §\\\nWages", "Rents rose. \\\nWages"),
    ],
    "at the beginning of a line text takes the place of the marker": [
        ("§Rents", "Rents"),
        ("§ Rents", "Rents"),
        ("A\n§ Rents", "A\nRents"),
        ("A\n  § Rents", "A\n  Rents"),
        ("A\n§ § Rents", "A\nRents"),
        ("A\r\n§ Rents", "A\r\nRents"),
        ("- § Rents", "- Rents"),
        ("1. § Rents", "1. Rents"),
        ("- [ ] § Rents", "- [ ] Rents"),
        ("> § Rents", "> Rents"),
        ("# § Rents", "# Rents"),
        ("| § a | b |", "| a | b |"),
        ("§ \x0cRents", " \x0cRents"),
    ],
    "tables keep their pipes": [
        ("| a § | b |\n|---|---|\n| c§ | d § |", "| a | b |\n|---|---|\n| c | d |"),
        ("a §| b\n--|--\n", "a | b\n--|--\n"),
        ("| § | b |", "| | b |"),
    ],
    "links and code keep their shape": [
        ("[text](§)", "[text]()"),
        ("`code §`", "`code `"),
        ("```\n§\n```", "```\n```"),
    ],
}


@pytest.mark.parametrize(
    ("text", "content"),
    [row for rows in RULES.values() for row in rows],
    ids=[f"{rule}: {row[0]!a}" for rule, rows in RULES.items() for row in rows],
)
def test_blanks_and_lines(text, content):
    assert content_of(text) == content


@pytest.mark.parametrize("line", ["Rents rose. {}\n", "{}\n", "- Rents {}  \n", "**x {}**\n"])
@pytest.mark.parametrize(
    "removed",
    [marker("navlist", "T", "a"), PLACEHOLDER, marker("memcite"), cite(), cite("bad id")],
)
def test_everything_removed_is_treated_alike(line, removed):
    assert content_of(line.format(removed)) == content_of(line.format(M))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"In {PARIS} §.", "In Paris."),
        (f"In {PARIS}.", "In Paris."),
        (f"In **{PARIS}** now", "In **Paris** now"),
        (f"In § {PARIS}", "In Paris"),
        (f"In §{PARIS}", "In Paris"),
        (f"In §{marker('url', '**b**')}", "In **b**"),
        (f"In §{marker('url', '.b')}", "In.b"),
        (f"In §*{marker('url', '*b*')}", "In **b*"),
        (f"In §{marker('url', '*')} x", "In * x"),
        (f"§\r{PARIS}", "Paris"),
        (f"§{PARIS}\n", "Paris\n"),
        (f"A\n{PARIS}\nB", "A\nParis\nB"),
        (f"| {PARIS} | {marker('video', 'a | b')} |", "| Paris | a | b |"),
        (f"In {marker('entity', '[]')} now", "In now"),
    ],
)
def test_words_of_a_marker_are_text(text, content):
    assert content_of(text) == content


@pytest.mark.parametrize(
    ("text", "display", "strip", "keep"),
    [
        (f"In {PARIS}.", "In Paris.", "In.", f"In {PARIS}."),
        ("A.§", "A.", "A.", "A."),
        (
            f"A. {marker('navlist', 'T', 'a')} B",
            "A. B",
            "A. B",
            f"A. {marker('navlist', 'T', 'a')} B",
        ),
        (f"A §{PARIS}", "A Paris", "A", f"A {PARIS}"),
        (f"A §*{PARIS}*", "A *Paris*", "A**", f"A *{PARIS}*"),
        (f"§\r{PARIS}", "Paris", "", PARIS),
        (f"A {marker('nope', 'x')} B", *[f"A {marker('nope', 'x')} B"] * 3),
        (f"A {START}navlist\ue202T", "A", "A", f"A {START}navlist\ue202T"),
    ],
)
def test_other_families(text, display, strip, keep):
    assert content_of(text) == display
    assert content_of(text, other_families="strip") == strip
    assert content_of(text, other_families="keep") == keep


@pytest.mark.parametrize("choice", ["dispaly", "", None])
@pytest.mark.parametrize("take", [MarkerFilter, partial(parse_markers, "")])
def test_another_choice_is_refused(choice, take):
    with pytest.raises(errors.OptionError) as caught:
        take(other_families=choice)
    wanted = f"other_families: wanted one of display, strip, keep, got {choice!r}"
    assert str(caught.value) == wanted


LONG = " " * (MAX_BLANKS + 20)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"a{LONG}§", "a" + LONG[MAX_BLANKS:]),
        (f"a{LONG}§.", "a" + LONG[MAX_BLANKS:] + "."),
        (f"a{LONG}b", f"a{LONG}b"),
        (f"{LONG}§\nb", LONG[MAX_BLANKS:] + "\nb"),
        (f"{LONG}§ b", LONG[MAX_BLANKS:] + " b"),
        (f"a §{LONG}b", f"a{LONG}b"),
        (f"a §{LONG}§ b", "a" + LONG[:MAX_BLANKS] + " b"),
        (f"\n{LONG}§\nb", "\n" + LONG[MAX_BLANKS:] + "\nb"),
        (f"a{LONG}\n§\nb", f"a{LONG}\nb"),
    ],
)
def test_long_runs_of_blanks_are_not_held(text, content):
    assert content_of(text) == content


# -- highlights


def claims(text):
    read = parse_markers(text.replace("§", M))
    return [m.claim and read.content[slice(*m.claim)] for m in read.markers]


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        (f"A. {OPEN}B. C.{CLOSE}§", "A. B. C.", ["B. C."]),
        (f"A. {OPEN}B. C.{CLOSE} §", "A. B. C.", ["B. C."]),
        (f"A. {OPEN}B.{CLOSE}{PLACEHOLDER} §", "A. B.", ["B."]),
        (f"{OPEN}B.{CLOSE} § § x", "B. x", ["B.", "B."]),
        (f"{OPEN}B.{CLOSE} x §", "B. x", [None]),
        (f"{OPEN}B. §{CLOSE} x", "B. x", [None]),
        (f"{OPEN}B. § C.{CLOSE}§", "B. C.", [None, "B. C."]),
        (f"{OPEN} B. {CLOSE}§", " B.", [" B."]),
        (f"{OPEN}{CLOSE}§", "", [None]),
        (f"{CLOSE}§", "", [None]),
        (f"A{OPEN}§", "A", [None]),
        (f"{OPEN}A {OPEN}B{CLOSE}§", "A B", ["B"]),
        (f"{OPEN}B{CLOSE}{CLOSE}§", "B", ["B"]),
        (f"{OPEN}**B**{CLOSE} §", "**B**", ["**B**"]),
        (f"A §{OPEN}**B**{CLOSE}§", "A **B**", [None, "**B**"]),
        (f"{OPEN}**A §**{CLOSE}§", "**A**", [None, "**A**"]),
        (f"A §**{OPEN}B{CLOSE}§**", "A **B**", [None, "B"]),
        (f"A §**{OPEN}*B*{CLOSE}§**", "A ***B***", [None, "*B*"]),
        (f"{START}cite{OPEN}{DELIM}{CLOSE}§", f"{START}cite", [None]),
        (f"{OPEN}| a |\n|---|\n| b |{CLOSE}\n§", "| a |\n|---|\n| b |\n", [None]),
        (f"{OPEN}| a |\n|---|\n| b |{CLOSE} §", "| a |\n|---|\n| b |", ["| a |\n|---|\n| b |"]),
        (f"{OPEN}{PARIS}{CLOSE}§", "Paris", [None, "Paris"]),
        (f"A{PLACEHOLDER}\nB", "A\nB", []),
        (f"A\n{PLACEHOLDER}\nB", "A\nB", []),
        (f"A {PLACEHOLDER}.", "A.", []),
        (f"A {PAIR} B", f"A {PAIR} B", []),
    ],
)
def test_a_highlight_is_the_claim_of_the_marker_behind_it(text, content, found):
    assert content_of(text) == content
    assert claims(text) == found


def test_highlights_may_be_left_in_the_text():
    text = f"A {OPEN}B{CLOSE}{PLACEHOLDER} §"
    syntax = MarkerSyntax(highlight=None)
    assert content_of(text, syntax=syntax) == f"A {OPEN}B{CLOSE}{PLACEHOLDER}"


# -- where things stand


@pytest.mark.parametrize("name", SYNTAXES)
@given(st.data(), st.sampled_from(["display", "strip", "keep"]))
def test_runs_and_positions(name, data, mode):
    syntax = SYNTAXES[name]
    text = data.draw(marker_texts(syntax) | prose)
    check_places(text, syntax, mode)


@given(prose, st.sampled_from(list(SYNTAXES.values())))
@example("", SYNTAXES["default"])
def test_plain_text_is_one_run(text, syntax):
    read = parse_markers(text, syntax=syntax)
    if read.markers or read.content != well_formed(text):
        return
    assert read.runs == (((0, len(read.content), 0),) if read.content else ())


@pytest.mark.parametrize(
    "text",
    [
        f"a {OPEN} b",
        f"a §{OPEN} {CLOSE} b",
        f"a §*{OPEN}*b",
        f"a §*{marker('url', '*b')}",
        f"a §*{marker('url', '*')}*b",
        f"a{LONG}{OPEN}{LONG} b",
        f"{START}ci§te\ue202b",
    ],
)
def test_runs_across_what_is_taken_out(text):
    check_places(text.replace("§", M), SYNTAXES["default"], "display")


def check_places(text, syntax, mode):
    read = parse_markers(text, syntax=syntax, other_families=mode)
    text = well_formed(text)
    behind = shown = 0
    for start, end, place in read.runs:
        assert behind <= start < end
        assert shown <= place
        assert text[start:end] == read.content[place : place + end - start]
        behind, shown = end, place + end - start
    assert shown <= len(read.content)
    behind = position = 0
    for placed in read.markers:
        found = placed.marker
        assert behind <= found.start < found.end
        assert text[found.start : found.end] == found.raw
        assert position <= placed.position <= len(read.content)
        behind, position = found.end, placed.position
        if placed.claim:
            assert 0 <= placed.claim[0] < placed.claim[1] == placed.position
