"""Markers: extraction, stripping and offsets against the published helper; the filter of deltas."""

import published
import pytest
from answers import answer
from ratios import compare, report

from citestream import MarkerFilter, extract_citations, parse_markers, strip_citations
from citestream.offsets import to_utf16_many

DELTA = 4
"""Code points in a delta."""


def ours(text):
    markers = extract_citations(text)
    return strip_citations(text, markers), to_utf16_many(text, [m.start for m in markers])


def theirs(text):
    return published.strip(text, published.extract(text))


@pytest.mark.parametrize(
    ("size", "gate", "rounds"), [(16_000, 4, 15), (256_000, 30, 3), (4_000_000, 300, 1)]
)
def test_extract_strip_and_offsets(size, gate, rounds):
    text = answer(size)
    if size < 1_000_000:
        assert ours(text)[0] == theirs(text)
    ratio = compare(lambda: ours(text), lambda: theirs(text), rounds=rounds)
    print(
        "\n"
        + report(
            f"extract + strip (+ our UTF-16 offsets), {size:,} characters", [("", ratio, gate)]
        )
    )
    assert ratio.value >= gate


def test_starts_without_stop():
    text = (published.START + "cite" + published.DELIMITER) * 8_000
    ratio = compare(lambda: ours(text), lambda: theirs(text), rounds=1)
    print("\n" + report("8,000 STARTs without STOP", [("", ratio, 1_000)]))
    assert ratio.value >= 1_000


@pytest.mark.parametrize("job", [ours, parse_markers])
def test_cost_per_character_is_flat(job):
    """The small text is read as often as it takes to read as many characters."""
    small, large = answer(16_000), answer(4_000_000)
    texts = [answer(16_000 - number) for number in range(250)]  # as varied as the large one

    def many():
        for text in texts:
            job(text)

    ratio = compare(lambda: job(large), many, rounds=5)
    growth = len(large) and ratio.ours / ratio.theirs * (sum(map(len, texts)) / len(large))
    print(
        f"\n{job.__name__}: a character of 4,000,000 costs {growth:.2f} times one of {len(small):,}"
    )
    assert growth <= 1.3


def deltas(text):
    return [text[start : start + DELTA] for start in range(0, len(text), DELTA)]


def filtered(pieces):
    hide = MarkerFilter()
    feed, out = hide.feed, []
    for piece in pieces:
        out += feed(piece)
    out += hide.finish()
    return out


def appended(pieces):
    out = []
    for piece in pieces:
        out += [piece]
    return out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a marker every 5,000", answer(400_000, every=5_000)),
        ("a marker every 200", answer(400_000)),
        ("CJK", "週次レビューは月曜日に行われます。" * 20_000),
        ("emoji", "😀 launch 🚀 went well. " * 18_000),
        ("a marker that never ends", "\ue200cite\ue202" + "a" * 400_000),
    ],
)
def test_a_delta_costs_little_more_than_an_append(name, text):
    pieces = deltas(text)
    ratio = compare(lambda: filtered(pieces), lambda: appended(pieces), rounds=5)
    extra = (ratio.ours - ratio.theirs) / len(pieces) * 1e6
    print(f"\nfilter, {name}: {extra:.2f} us a delta more than an append (at most 3)")
    assert extra <= 3


def test_a_delta_costs_the_same_however_long_the_answer_is():
    short, long = deltas(answer(40_000)), deltas(answer(4_000_000))
    ratio = compare(lambda: filtered(short), lambda: filtered(long), rounds=5)
    growth = (ratio.theirs / len(long)) / (ratio.ours / len(short))
    print(f"\nfilter: a delta of 1,000,000 costs {growth:.2f} times one of 10,000")
    assert growth <= 1.5
