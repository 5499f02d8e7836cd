"""What one call costs here and now, by pytest-benchmark. No gates: the ratios have those."""

import json
from pathlib import Path

import pytest
from answers import answer

from citestream import (
    MarkerFilter,
    Resolver,
    extract_citations,
    parse_markers,
    render,
    resolve,
    wire,
)

LOG = Path(__file__).parents[1] / "data" / "copilot" / "live-openai-markers.jsonl"
LINES = LOG.read_text(encoding="utf-8").splitlines()
DELTA = next(line for line in LINES if json.loads(line)["type"] == "assistant.message_delta")
TEXT = answer(16_000)
READ = resolve(TEXT)


def replay():
    resolver = Resolver()
    return [event for line in LINES for event in resolver.feed(wire.decode_event(line))]


JOBS = {
    "extract_citations, 16,000 characters": lambda: extract_citations(TEXT),
    "parse_markers, 16,000 characters": lambda: parse_markers(TEXT),
    "resolve, 16,000 characters": lambda: resolve(TEXT),
    "render.markdown, 16,000 characters": lambda: render.markdown(READ.content, READ.citations),
    "MarkerFilter, one delta": lambda: MarkerFilter().feed("rents"),
    "decode_event, one delta": lambda: wire.decode_event(DELTA),
    "a log of 29 events": replay,
}


@pytest.mark.parametrize("name", JOBS)
def test_cost(benchmark, name):
    benchmark(JOBS[name])
