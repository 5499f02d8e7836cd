"""Decoding and encoding against the Copilot SDK's own, from and to the same text.

Not part of the test run: ``pytest tests/benchmarks/test_wire_speed.py -s`` shows the tables.
"""

import importlib
import json
import random
import sys
from pathlib import Path

import pytest

from citestream.wire import decode_event, encode_event, encode_json, text

sys.path.insert(0, str(Path(__file__).parent))
from ratios import compare, report

COPILOT = Path(__file__).parents[1] / "data" / "copilot"
GATES = {
    ("message_delta", "json"): 15.0,
    ("message_delta", "orjson"): 25.0,
    ("message, 200 spans", "json"): 2.2,
    ("message, 200 spans", "orjson"): 3.5,
    # Spans are made when they are first asked for: this is what they cost who asks for all of them.
    ("message, 200 spans, and every span read", "json"): 1.0,
    ("message, 200 spans, and every span read", "orjson"): 1.0,
}
ENCODE_GATES = {"message_delta": 1.3, "message, 200 spans": 1.5}


def recorded(name, kind):
    lines = (COPILOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if json.loads(line)["type"] == kind]


def words(rng, size):
    made = ""
    while len(made) < size:
        made += rng.choice(("agreement", "renewal", "notice", "thirty", "days", "of")) + " "
    return made[:size]


def long_message():
    """An answer of 20,000 characters: 200 spans, 289 references like those that were recorded."""
    rng = random.Random(7)  # noqa: S311 - repeatable, not secret
    sources = [
        {
            "id": f"s{number}",
            "provider": "anthropic",
            "title": f"Document number {number}",
            "url": f"https://example.com/documents/{number}",
        }
        for number in range(50)
    ]

    def reference():
        number, start = rng.randrange(50), rng.randrange(5000)
        return {
            "sourceId": f"s{number}",
            "citedText": words(rng, 40),
            "location": {"endIndex": start + 40, "startIndex": start, "type": "char"},
            "providerMetadata": {"documentIndex": number},
        }

    spans = [
        {
            "endIndex": number * 100 + 90,
            "references": [reference() for _ in range(2 if number < 89 else 1)],
            "startIndex": number * 100,
        }
        for number in range(200)
    ]
    event = json.loads(recorded("live-anthropic-citations.jsonl", "assistant.message")[-1])
    event["data"] |= {
        "content": words(rng, 20_000),
        "citations": {"sources": sources, "spans": spans},
    }
    return json.dumps(event)


def read_all(event):
    """Touch each value that the citations of an event are made of."""
    for span in event.data.citations.spans:
        for reference in span.references:
            _ = reference.location.end_index


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
    deltas = recorded("live-openai-markers.jsonl", "assistant.message_delta")
    long = [long_message()]
    rows = []
    for name, lines, use in (
        ("message_delta", deltas, None),
        ("message, 200 spans", long, None),
        ("message, 200 spans, and every span read", long, read_all),
    ):
        ratio = compare(
            (lambda lines=lines: [decode_event(line) for line in lines])
            if use is None
            else (lambda lines=lines, use=use: [use(decode_event(line)) for line in lines]),
            lambda lines=lines: [sdk.session_event_from_dict(json.loads(line)) for line in lines],
        )
        rows.append((f"{name}, {codec}", ratio, GATES[name, codec]))
    show("decode, against github-copilot-sdk", rows)


def test_encoding_is_fast_enough(sdk):
    rows = []
    for name, lines in (
        ("message_delta", recorded("live-openai-markers.jsonl", "assistant.message_delta")),
        ("message, 200 spans", [long_message()]),
    ):
        ours = [decode_event(line) for line in lines]
        theirs = [sdk.session_event_from_dict(json.loads(line)) for line in lines]
        ratio = compare(
            lambda ours=ours: [encode_json(encode_event(event)) for event in ours],
            lambda theirs=theirs: [json.dumps(event.to_dict()) for event in theirs],
        )
        rows.append((f"{name}, json", ratio, ENCODE_GATES[name]))
    show("encode, against github-copilot-sdk", rows)


def show(title, rows):
    print("\n" + report(title, rows))
    for name, ratio, gate in rows:
        assert ratio.value >= gate, name
