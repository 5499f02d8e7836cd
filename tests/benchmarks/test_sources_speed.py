"""Sources: what registering and resolving cost next to reading the markers alone."""

import random
import time

from ratios import compare, report

from citestream import format_marker, parse_markers, resolve
from citestream.sources import Granularity, SourceRegistry, from_text

MARKERS = 1_000
SOURCES = 10_000


def contents():
    draw = random.Random(1)  # noqa: S311 - not for secrets
    lines = ["".join(draw.choices("abcdefgh ", k=63)) for _ in range(400)]
    return ["\n".join(draw.sample(lines, 64)) for _ in range(SOURCES)]


def test_registering_and_resolving_cost_little_more_than_reading():
    texts = contents()
    assert 4_000 <= len(texts[0]) <= 4_200
    draw = random.Random(2)  # noqa: S311 - not for secrets
    answer = " ".join(
        f"The rents of the north rose by {number} percent in the last year, says the report. "
        + format_marker(f"turn0file{draw.randrange(SOURCES)}", locator=f"L{number % 60 + 1}")
        for number in range(MARKERS)
    )

    def register():
        registry = SourceRegistry()
        for text in texts:
            registry.add(from_text(text), granularity=Granularity.LINE)
        return registry

    registry = register()
    found = resolve(answer, registry)
    assert len(found.citations.spans) == MARKERS
    rows = [
        (
            "register 10,000 and resolve, against parse",
            compare(lambda: parse_markers(answer), lambda: resolve(answer, register()), rounds=7),
        ),
        (
            "resolve alone, against parse",
            compare(lambda: parse_markers(answer), lambda: resolve(answer, registry), rounds=7),
        ),
    ]
    for name, ratio in rows:
        times = f"({ratio.theirs * 1e3:.0f} ms, {ratio.ours * 1e3:.0f} ms)"
        print(f"\n{name}: {ratio.value:.1f} times {times}")
    assert rows[0][1].value <= 10


def test_a_line_of_a_long_source_is_found_by_halving():
    def registry(size):
        registry = SourceRegistry()
        registry.add(from_text("x" * 39 + "\n" + "line of a report that is long\n" * (size // 30)))
        return registry, size // 30

    def locate(registry, lines):
        draw = random.Random(3)  # noqa: S311 - not for secrets
        numbers = [draw.randrange(1, lines) for _ in range(1_000)]
        for number in numbers:  # the table of lines is made on first use
            registry.locate("turn0file0", unit="line", start=number, end=number)

    small, large = registry(40_000), registry(4_000_000)
    locate(*small), locate(*large)
    start = time.perf_counter()
    locate(*large)
    each = (time.perf_counter() - start) / 1_000
    ratio = compare(lambda: locate(*small), lambda: locate(*large), rounds=7)
    print(f"\na line of 133,000 costs {ratio.value:.2f} times one of 1,333 ({each * 1e6:.1f} us)")
    print(report("", [("1,000 lines of 40 KB and of 4 MB", ratio, 0)]))
    assert ratio.value <= 2
