"""Renderers against the bare parse of the same text by markdown-it-py, and their growth."""

import functools

import pytest
from answers import answer
from markdown_it import MarkdownIt
from ratios import compare, report

from citestream import (
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
    render,
    resolve,
)

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
RENDERERS = {
    "markdown": render.markdown,
    "links": functools.partial(render.markdown, style="links"),
    "html": render.html,
    "terminal": render.terminal,
    "plain": render.plain,
    "speech": functools.partial(render.speech, attribution=True),
}
# What once cost the square of its length, the spans of such a text, and its characters.
LONG_LINES = {
    "escapes": ("\\* ", 2, 320_000),
    "emoji": ("📎 words ", 10_000, 1_000_000),
    "words": ("words ", 10_000, 1_000_000),
    "blanks": (" " * 8, 10_000, 1_000_000),
}
SECTION = """## The rents of the north in year {n}

Rents rose by **{n} percent** in the north, see [the report](https://a.example/r?x={n}), and were
flat in all of the other {n} regions that the office counts. {m} Wages *fell* in `20{n}`, as the
minister said, though by much less than they had risen before. {m}

- Rents of flats with {n} rooms rose; wages of those who live there fell by {n} % a year.
- **Prices** of {n} goods were flat, e.g. those of *bread*, *rice* and `fuel_{n}`. {m}
    1. In {n} towns they were not counted, because nobody was there to count them. {m}

| Region | Change {n} | Since |
|---|---|---|
| North {n} | +{n} % {m} | 1986 |
| South {n} | -{n} % | 1987 |

> Wages {n} are not rents, and both are not prices, said the minister in [her
> speech](https://a.example/s/{n}) of May {n}. {m}

```python
rents = [{n}, -1]
print(sum(rents) / len(rents))
```

"""


def citing(ends):
    """Return citations of one source by a span that ends at each of ``ends``."""
    references = [CitationReference(source_id="s0")]
    return Citations(
        sources=[CitationSource(id="s0", provider="client", title="T")],
        spans=[CitationSpan(start_index=0, end_index=end, references=references) for end in ends],
    )


def report_text(size):
    """Return an answer of about ``size`` characters with all that Markdown has."""
    pieces = []
    length = number = 0
    while length < size:
        number += 1
        mark = f"\ue200cite\ue202turn0search{number % 20}\ue202L{number}\ue201"
        pieces.append(SECTION.format(n=number, m=mark))
        length += len(pieces[-1])
    return "".join(pieces)


@pytest.mark.parametrize("kind", RENDERERS)
def test_rendering_costs_at_most_two_parses(kind):
    read = resolve(report_text(20_000))
    content, citations = read.content, read.citations
    renderer = RENDERERS[kind]
    # What makes HTML is held against what makes HTML.
    bare = PARSER.render if kind == "html" else PARSER.parse
    ratio = compare(lambda: renderer(content, citations), lambda: bare(content))
    title = f"{kind} against a parse, {len(content):,} characters, {len(citations.spans)} spans"
    print("\n" + report(title, [("", ratio, 0.5)]))
    assert ratio.value >= 0.5


@pytest.mark.parametrize("kind", RENDERERS)
def test_a_mark_in_bare_prose_costs_little(kind):
    """Where there is no Markdown, a parse costs next to nothing: marks are what is paid for."""
    read = resolve(answer(20_000))
    content, citations = read.content, read.citations
    renderer = RENDERERS[kind]
    ratio = compare(lambda: renderer(content, citations), lambda: PARSER.parse(content), rounds=5)
    cost = (ratio.ours - ratio.theirs) / len(citations.spans) * 1e6
    print(f"\n{kind}: {cost:.0f} us a span more than a parse of bare prose (at most 150)")
    assert cost <= 150


@pytest.mark.parametrize("kind", RENDERERS)
def test_cost_per_character_is_flat(kind):
    small, large = (resolve(report_text(size)) for size in (10_000, 320_000))
    renderer = RENDERERS[kind]

    def many():
        for _ in range(32):
            renderer(small.content, small.citations)

    ratio = compare(lambda: renderer(large.content, large.citations), many, rounds=3)
    growth = ratio.ours / ratio.theirs * 32 * len(small.content) / len(large.content)
    print(f"\n{kind}: a character of {len(large.content):,} costs {growth:.2f} times one of 10,000")
    assert growth <= 1.3


@pytest.mark.parametrize("kind", LONG_LINES)
def test_cost_per_character_of_one_line_is_flat(kind):
    unit, spans, size = LONG_LINES[kind]
    parts = 16

    def cited(count, marks):
        content = f"[{unit * (count // len(unit))}b"
        units = len(content.encode("utf-16-le")) // 2
        step = units // marks
        return content, citing(range(step, units + 1, step))

    large, small = cited(size, spans), cited(size // parts, max(2, spans // parts))

    def many():
        for _ in range(parts):
            render.markdown(*small)

    ratio = compare(lambda: render.markdown(*large), many, rounds=3)
    growth = ratio.ours / ratio.theirs
    print(f"\n{kind}: a character of {size:,} costs {growth:.2f} times one of {size // parts:,}")
    assert growth <= 1.6
