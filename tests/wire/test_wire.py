"""The laws of decoding and encoding, over recorded logs, generated events and hostile input."""

import json
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citestream.errors import CitestreamError
from citestream.events import RawSessionEventData, SessionEvent, SessionEventType
from citestream.model import Citations
from citestream.wire import (
    decode_citations,
    decode_event,
    encode_citations,
    encode_event,
    encode_json,
)
from citestream.wire.payloads import CLASSES
from strategies import events, json_objects, json_values, texts, wire_citations, wire_events

pytestmark = pytest.mark.usefixtures("codec")

LOGS = sorted((Path(__file__).parents[1] / "data" / "copilot").glob("*.jsonl"))


def same(one, other):
    """Equality of JSON: unlike that of Python, 1 is neither 1.0 nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_recorded_events_are_typed_and_come_back(path):
    for line in path.read_bytes().splitlines():
        event = decode_event(line)
        wanted = CLASSES.get(event.type, RawSessionEventData)
        assert type(event.data) is wanted
        assert same(encode_event(event), json.loads(line))
        assert decode_event(json.loads(line)) == event


def test_recorded_citations_are_typed():
    path = next(path for path in LOGS if path.stem == "live-anthropic-citations")
    found = [
        event.data.citations
        for event in map(decode_event, path.read_text(encoding="utf-8").splitlines())
        if event.type is SessionEventType.ASSISTANT_MESSAGE and event.data.citations
    ]
    assert [source.title for source in found[0].sources if source.id == "s1"] == ["Appendix"]
    assert found[0].spans[1].references[0].location.start_page == 4


@given(wire_events)
def test_what_was_decoded_encodes_to_the_same_json(tree):
    event = decode_event(tree)
    assert same(encode_event(event), tree)


@given(wire_events)
def test_text_bytes_and_mapping_decode_alike(tree):
    event = decode_event(tree)
    line = json.dumps(tree)
    assert decode_event(line) == decode_event(line.encode()) == event
    assert same(encode_event(decode_event(line)), tree)


@given(events)
def test_encoded_events_decode_to_equal_ones(event):
    again = decode_event(encode_json(encode_event(event)))
    assert again == event
    assert repr(again) == repr(event)


@settings(max_examples=40)
@given(wire_citations)
def test_citations_come_back(tree):
    citations = decode_citations(tree)
    assert same(encode_citations(citations), tree)
    assert decode_citations(encode_json(encode_citations(citations))) == citations


def tried(decode, source):
    try:
        return decode(source), None
    except CitestreamError as error:
        return None, error


def survives(source):
    for decode, kind in ((decode_event, SessionEvent), (decode_citations, Citations)):
        value, error = tried(decode, source)
        assert isinstance(value, kind) or isinstance(error, CitestreamError)
        assert len(str(error)) < 500
        assert str(error).isascii()


@given(st.binary(max_size=60) | texts | json_values.map(json.dumps) | json_objects)
def test_anything_gives_a_value_or_an_error_of_the_tree(source):
    survives(source)


@st.composite
def mutated(draw):
    """A valid event in which one value, somewhere, is another one."""
    tree = draw(wire_events)
    node = tree
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return tree
        key = draw(st.sampled_from(keys))
        if not isinstance(node[key], dict | list) or draw(st.integers(0, 3)) == 0:
            break
        node = node[key]
    if draw(st.booleans()):
        del node[key]
    else:
        node[key] = draw(json_values)
    return tree


@settings(max_examples=200)
@given(mutated())
def test_a_damaged_event_gives_a_value_that_comes_back_or_an_error_of_the_tree(tree):
    event, error = tried(decode_event, json.dumps(tree))
    again, same_error = tried(decode_event, tree)
    assert event == again
    assert str(error) == str(same_error)
    assert error or same(encode_event(event), tree)


@given(events, st.data())
def test_a_damaged_line_gives_a_value_or_an_error_of_the_tree(event, data):
    line = encode_json(encode_event(event)).encode()
    at = data.draw(st.integers(0, len(line)))
    survives(line[:at] + data.draw(st.binary(max_size=3)) + line[at + 1 :])


def test_nothing_of_the_callers_mapping_is_kept_or_written():
    def locked(value):
        if isinstance(value, dict):
            return MappingProxyType({key: locked(item) for key, item in value.items()})
        return tuple(map(locked, value)) if isinstance(value, list) else value

    for path in LOGS:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert decode_event(locked(json.loads(line))) == decode_event(line)

    metadata = {"list": [1]}
    raw = {"id": "e", "timestamp": "2026-01-01T00:00:00Z", "type": "x.y", "data": metadata}
    event = decode_event(raw)
    metadata["list"].append(2)
    raw["later"] = True
    assert event.data.raw == {"list": [1]}
    assert not event.extra


def test_what_was_encoded_is_the_callers_to_change():
    line = LOGS[1].read_text(encoding="utf-8").splitlines()[-5]
    event = decode_event(line)
    tree = encode_event(event)
    stack = [tree]
    while stack:
        node = stack.pop()
        stack += [
            child
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        node.clear()
    assert same(encode_event(event), json.loads(line))
