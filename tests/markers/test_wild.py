"""Answers as they leak in the wild, and made-up ones of the same shapes that anybody may keep."""

import json
import re
from pathlib import Path

import pytest

from citestream.markers import FAMILIES, FamilyKind, MarkerFilter, parse_markers
from feeding import feed_all, split
from texts import CLOSE, DELIM, OPEN, PLACEHOLDER, START, STOP

WILD = Path(__file__).parents[2].parent / "shared" / "fixtures" / "wild"
SHAPES = Path(__file__).parents[1] / "data" / "shapes"
ABSENT = pytest.mark.skipif(
    not WILD.is_dir(), reason="no collection of real answers beside the project"
)


def files(pattern):
    shapes = [pytest.param(path, id=path.name) for path in sorted(SHAPES.glob(pattern))]
    wild = [pytest.param(path, id=path.name) for path in sorted(WILD.glob(pattern))]
    return shapes + (wild or [pytest.param(None, id="wild", marks=ABSENT)])


answers = pytest.mark.parametrize("path", files("*.txt"))

ID = re.compile("[A-Za-z0-9_-]+")
LOCATOR = re.compile("L[0-9]+(?:-L[0-9]+)?")
KINDS = {family.name: family.kind for family in FAMILIES}
ENVELOPE = re.compile(f"{START}({'|'.join(KINDS)})((?:{DELIM}[^{START}{STOP}]*)?){STOP}")
LEFT = re.compile(f"{START}(?:{'|'.join(KINDS)})[{DELIM}{STOP}]")


def text_of(path):
    return path.read_bytes().decode("utf-8")


def fields_of(match):
    return [field for part in match[2].split(DELIM) if (field := part.strip())]


def label_of(match):
    """Return the words of an envelope, read in another way than the package does."""
    kind = KINDS[match[1]]
    if kind is FamilyKind.NAMED:
        return json.loads(match[2].removeprefix(DELIM))[1]
    return fields_of(match)[0] if kind is FamilyKind.LABELLED else ""


def plainly(text):
    """Return ``text`` with words in the place of envelopes, all white space as it was."""
    text = ENVELOPE.sub(label_of, text)
    return re.sub(f"[{OPEN}{CLOSE}{PLACEHOLDER}]", "", text)


@answers
def test_every_citing_marker_is_found_with_its_ids(path):
    text = text_of(path)
    found = {placed.marker.start: placed.marker for placed in parse_markers(text).markers}
    for match in ENVELOPE.finditer(text):
        if KINDS[match[1]] is not FamilyKind.CITING:
            continue
        marker = found[match.start()]
        assert (marker.raw, marker.family) == (match[0], match[1])
        fields = fields_of(match)
        if all(map(ID.fullmatch, fields)):
            ids = [field for field in fields if not LOCATOR.fullmatch(field)]
            assert [target.source_id for target in marker.targets] == ids
            assert marker.problems == ()
        else:
            assert marker.problems


@answers
def test_families_that_bear_prose_keep_their_words(path):
    text = text_of(path)
    read = parse_markers(text)
    places = {placed.marker.start: placed.position for placed in read.markers}
    for match in ENVELOPE.finditer(text):
        if label := label_of(match):
            assert read.content[: places[match.start()]].endswith(label)


@answers
def test_nothing_of_an_envelope_is_left(path):
    text = text_of(path)
    content = parse_markers(text).content
    assert not set(content) & {OPEN, CLOSE, PLACEHOLDER}
    assert LEFT.search(content) is None
    outside = ENVELOPE.sub("", text)
    for mark in (START, DELIM, STOP):
        assert content.count(mark) <= outside.count(mark)


@answers
def test_words_stay_in_their_order(path):
    text = text_of(path)
    if re.search(f"{START}(?:{'|'.join(KINDS)}){DELIM}[^{STOP}]*(?:{START}|$)", text):
        text = re.sub(f"{START}(?:cite|filecite)[{DELIM}A-Za-z0-9]*(?= *{START}|$)", "", text)
    assert "".join(parse_markers(text_of(path)).content.split()) == "".join(plainly(text).split())


@answers
def test_table_rows_keep_their_pipes(path):
    text = text_of(path)
    rows = [line.count("|") for line in plainly(text).splitlines() if "|" in line]
    content = parse_markers(text).content
    assert [line.count("|") for line in content.splitlines() if "|" in line] == rows


def hard_breaks(text):
    lines = text.split("\n")
    return sum(line.endswith("  ") and bool(line.strip(" \0")) for line in lines)


@answers
def test_hard_breaks_stay_but_where_the_line_went(path):
    text = text_of(path)
    marked = ENVELOPE.sub(lambda match: label_of(match) or "\0", text)
    marked = re.sub(f"[{OPEN}{CLOSE}]", "", marked).replace(PLACEHOLDER, "\0")
    assert hard_breaks(parse_markers(text).content) == hard_breaks(marked)


@answers
def test_a_stream_gives_what_the_whole_gives(path):
    text = text_of(path)
    content = parse_markers(text).content
    for size in (1, 3, 4, 17, 256):
        pieces = split(text, range(0, len(text), size))
        assert "".join(feed_all(MarkerFilter(), pieces)) == content


CITING = {"grouped_webpages", "grouped_webpages_model_predicted_fallback", "webpage", "file"}
NAMED = {"alt_text", "entity", "product_entity"}
LABELLED = {"url", "video"}


def kind_of(reference):
    """Return the kind of marker that a reference of the service stands for."""
    for kind, types in (
        (FamilyKind.CITING, CITING),
        (FamilyKind.NAMED, NAMED),
        (FamilyKind.LABELLED, LABELLED),
    ):
        if reference["type"] in types:
            return kind
    return FamilyKind.WIDGET


@pytest.mark.parametrize("path", files("*.refs.jsonl"))
def test_the_references_of_the_service_agree_in_place_and_kind(path):
    text = text_of(path.with_name(path.name.replace(".refs.jsonl", ".txt")))
    found = {placed.marker.start: placed.marker for placed in parse_markers(text).markers}
    checked = 0
    for reference in map(json.loads, text_of(path).splitlines()):
        start, end = reference["start_idx"], reference["end_idx"]
        if not reference["matched_text"].startswith(START) or not reference["agrees"]:
            continue
        marker = found[start]
        assert (marker.end, marker.raw) == (end, reference["matched_text"])
        if not reference.get("invalid"):
            assert marker.kind is kind_of(reference)
        checked += 1
    envelopes = {match.start() for match in ENVELOPE.finditer(text)}
    assert envelopes <= set(found)
    assert checked <= len(envelopes)
