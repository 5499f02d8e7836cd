"""Decoding against the Copilot SDK's own decoder, which starts from the same text.

Not part of the test run: ``pytest tests/benchmarks/test_wire_speed.py -s`` shows the table.
"""

import importlib
import json
import random
import sys
from pathlib import Path

import pytest

from citestream.wire import decode_event, text

sys.path.insert(0, str(Path(__file__).parent))
from ratios import compare, report

COPILOT = Path(__file__).parents[1] / "data" / "copilot"
# A tenth below what was measured. What keeps the ratios from being higher is that a frozen value
# costs two to three times what a plain one costs to make.
GATES = {
    ("message_delta", "json"): 14.0,
    ("message_delta", "orjson"): 21.0,
    ("message, 200 spans", "json"): 1.45,
    ("message, 200 spans", "orjson"): 1.8,
}


def recorded(name, kind):
    lines = (COPILOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if json.loads(line)["type"] == kind]


def words(rng, size):
    made = ""
    while len(made) < size:
        made += rng.choice(("agreement", "renewal", "notice", "thirty", "days", "of")) + " "
    return made[:size]


def long_message():
    """An answer of 36,000 characters: 200 spans, 289 references, two in five with a range."""
    rng = random.Random(7)  # noqa: S311 - repeatable, not secret
    sources = [
        {
            "id": f"s{number}",
            "provider": "client",
            "title": f"Document number {number}",
            "url": f"https://example.com/documents/{number}",
        }
        for number in range(50)
    ]

    def reference():
        made = {"sourceId": f"s{rng.randrange(50)}", "citedText": words(rng, 40)}
        if rng.random() < 0.4:
            start = rng.randrange(5000)
            made["location"] = {"type": "char", "startIndex": start, "endIndex": start + 40}
        return made

    spans = [
        {
            "startIndex": number * 180,
            "endIndex": number * 180 + 150,
            "references": [reference() for _ in range(2 if number < 89 else 1)],
        }
        for number in range(200)
    ]
    event = json.loads(recorded("live-anthropic-citations.jsonl", "assistant.message")[-1])
    event["data"] |= {
        "content": words(rng, 36_000),
        "citations": {"sources": sources, "spans": spans},
    }
    return json.dumps(event)


@pytest.fixture(scope="module")
def sdk():
    return pytest.importorskip("copilot.session_events", reason="needs github-copilot-sdk")


@pytest.mark.parametrize("codec", ["json", "orjson"])
def test_decoding_is_fast_enough(codec, sdk, monkeypatch):
    loads = None
    if codec == "orjson":
        pytest.importorskip("orjson", reason="needs the fast extra")
        loads = importlib.import_module("orjson").loads
    monkeypatch.setattr(text, "_fast_loads", lambda: loads)
    rows = []
    for name, lines in (
        ("message_delta", recorded("live-openai-markers.jsonl", "assistant.message_delta")),
        ("message, 200 spans", [long_message()]),
    ):
        ratio = compare(
            lambda lines=lines: [decode_event(line) for line in lines],
            lambda lines=lines: [sdk.session_event_from_dict(json.loads(line)) for line in lines],
        )
        rows.append((f"{name}, {codec}", ratio, GATES[name, codec]))
    print("\n" + report("decode, against github-copilot-sdk", rows))  # noqa: T201 - the point
    for name, ratio, gate in rows:
        assert ratio.value >= gate, name
