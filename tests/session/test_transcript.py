import base64

import pytest

from citestream import SourceRegistry, wire
from citestream.conversation import AssistantTurn, ToolTurn, UserTurn
from citestream.session.transcript import Transcript
from citestream.sources import Granularity, from_text


def event(kind, *, agent=None, **data):
    raw = {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    return wire.decode_event(raw | ({"agentId": agent} if agent else {}))


def message(text, *calls, agent=None):
    requests = [
        {"toolCallId": call, "name": "look", "arguments": {"n": 1}, "type": "function"}
        for call in calls
    ]
    return event(
        "assistant.message", agent=agent, messageId="m", content=text, toolRequests=requests
    )


def result(call, text="", *sources, success=True, **more):
    told = {"content": text, "citableSources": list(sources)}
    return event(
        "tool.execution_complete", toolCallId=call, success=success, **({"result": told} | more)
    )


def transcript(*events, citing=True, files=None, registry=None):
    made = Transcript(registry or SourceRegistry(), files or {}, citing=citing)
    for one in events:
        made.take(one)
    return made.turns()


def test_what_was_said_in_turns():
    events = [
        event("user.message", content="Hi"),
        message("Hello."),
        message("  \n"),
        message("From a worker.", agent="a"),
        event("session.idle"),
    ]
    assert transcript(*events) == (UserTurn(text="Hi"), AssistantTurn(text="Hello."))


def test_calls_have_results_and_rounds():
    turns = transcript(
        message("Let me look.", "a", "b"), result("b", "B."), result("a", "A."), message("", "c")
    )
    said, first, second, third = turns
    assert said == AssistantTurn(text="Let me look.")
    assert [one.text for one in (first, second)] == ["A.", "B."]
    assert first.round == second.round != third.round
    assert third.text == "The call was interrupted: it gave no result."
    assert (first.name, first.arguments) == ("look", {"n": 1})


def test_odd_calls_and_results_do_no_harm():
    odd = [1, {}, {"toolCallId": 5}, {"toolCallId": "x", "arguments": [1]}]
    odd += [{"toolCallId": "y", "arguments": "{broken", "providerData": {"k": 1}}]
    said = event("assistant.message", messageId="m", content="", toolRequests=odd)
    first, second = transcript(said, result("unknown", "?"))
    assert isinstance(first, ToolTurn)
    assert (first.arguments, first.provider_data) == ({}, None)
    assert (second.arguments, second.provider_data) == ("{broken", {"k": 1})


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"message": "No such place."}, "No such place."),
        ("Bad.", "Bad."),
        (None, "The tool failed."),
    ],
)
def test_failures_are_told(error, told):
    (turn,) = transcript(message("", "a"), result("a", success=False, result=None, error=error))
    assert turn.text == told


def test_sources_of_a_tool_are_material():
    registry = SourceRegistry()
    one = {"id": "doc", "content": "Meals.", "title": "Rules"}
    bad_id = {"id": "not an id", "content": "Taxis."}
    gone = {"id": "gone", "content": "Nowhere."}
    done = result("a", "Found.", one, bad_id, gone)
    for source in done.data.result.citable_sources[:2]:
        registry.add(source)
    (turn,) = transcript(message("", "a"), done, registry=registry)
    assert [material.source.id for material in turn.materials] == ["turn0file0", "turn0file1"]
    assert {material.origin for material in turn.materials} == {"tool"}
    (plain,) = transcript(message("", "a"), done, registry=registry, citing=False)
    assert (plain.materials, plain.text) == ((), "Found.")


def test_a_source_whose_id_was_taken_over_is_found_by_its_words():
    registry = SourceRegistry()
    old, new = (
        result("a", "", {"id": "doc", "content": text, "title": "T"}) for text in ("Old.", "New.")
    )
    for done in (old, new):
        registry.add(done.data.result.citable_sources[0])
    (turn,) = transcript(message("", "a"), old, registry=registry)
    assert turn.materials[0].source.document.content == "Old."


def test_attachments_are_material_or_text():
    registry = SourceRegistry()
    added = registry.add(from_text("Meals.", path="rules.md"), granularity=Granularity.LINE)
    other = registry.add(from_text("Taxis."))
    lines = {"type": "file", "path": "rules.md", "lineRange": {"start": 2, "end": 3}}
    asked = event(
        "user.message",
        content="Paid?",
        attachments=[lines, {"type": "file"}, 1, {"lineRange": {}}],
        sourceIds=[added.id, other.id, "gone", 5],
    )
    files = {
        added.id: {"data": base64.b64encode(b"%PDF-").decode(), "mimeType": "application/pdf"},
        other.id: {"data": "!", "mimeType": "application/pdf"},
    }
    (turn,) = transcript(asked, files=files, registry=registry)
    assert turn.text == "Paid?\n\nOf rules.md, lines 2 to 3 are meant."
    first, second = turn.materials
    assert (first.pdf, first.origin) == (b"%PDF-", "attachment")
    assert second.data is None
    (plain,) = transcript(asked, registry=registry, citing=False)
    assert plain.materials == ()
    assert plain.text.startswith("rules.md:\n\nMeals.\n\nturn0file1:\n\nTaxis.\n\nPaid?")
    (bare,) = transcript(event("user.message", content="x", sourceIds="turn0file0"))
    assert bare == UserTurn(text="x")
