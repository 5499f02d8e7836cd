import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationOptions,
    MarkerSyntax,
    Resolver,
    StateError,
    format_marker,
    wire,
)
from citestream.resolver import MAX_OPEN_MESSAGES
from citestream.sources import Limits, SourceRegistry, from_text
from feeding import cuts, same_however_cut
from texts import texts

LOGS = Path(__file__).parents[1] / "data" / "copilot"
A = format_marker("a", locator="L2")


def event(kind, agent=None, **data):
    envelope = {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    return wire.decode_event(envelope | ({"agentId": agent} if agent else {}))


def delta(text, message="m", agent=None):
    return event("assistant.message_delta", agent, messageId=message, deltaContent=text)


def final(text, message="m", agent=None, **data):
    return event("assistant.message", agent, messageId=message, content=text, **data)


def kinds(events):
    return [e.type.value for e in events]


def deltas(events, message="m", agent=None):
    return "".join(
        e.data.delta_content
        for e in events
        if e.type.value == "assistant.message_delta"
        and (e.data.message_id, e.agent_id) == (message, agent)
    )


class Message:
    """A resolver that gets one message: the pieces as deltas, then the whole."""

    def __init__(self, text, options=None):
        self.text = text
        self.resolver = Resolver(options)

    def feed(self, item):
        return self.resolver.feed(item)

    def finish(self):
        return [*self.resolver.feed(final(self.text)), *self.resolver.finish()]


def seen(events):
    """What must not depend on the cuts: joined deltas, content, citations and warnings."""
    (message,) = (e.data for e in events if e.type.value == "assistant.message")
    warnings = [e.data for e in events if e.type.value == "session.warning"]
    assert deltas(events) == message.content
    return message.content, message.citations, warnings


@given(texts, cuts)
def test_laws_1_and_2_deltas_joined_are_the_content_and_cuts_change_nothing(text, places):
    every = len(text) < 60
    same_however_cut(text, lambda: Message(text), drawn=places, every=every, item=delta, view=seen)


@given(texts, cuts, st.sampled_from(["strip", "keep"]))
def test_the_laws_hold_for_other_families_too(text, places, other_families):
    options = CitationOptions(other_families=other_families)
    same_however_cut(
        text, lambda: Message(text, options), drawn=places, every=False, item=delta, view=seen
    )


def test_a_delta_that_hides_nothing_is_the_same_object():
    resolver = Resolver()
    first, empty = delta("Rents rose."), delta("")
    assert resolver.feed(first) == [first]
    assert resolver.feed(first)[0] is first
    assert resolver.feed(empty)[0] is empty
    assert resolver.feed(delta("\ue200")) == []


def test_a_message_that_cites_nothing_is_the_same_object():
    message = final("Rents rose.")
    assert Resolver().feed(message)[0] is message


def test_what_was_withheld_comes_as_a_delta_before_the_message():
    resolver = Resolver()
    assert deltas(resolver.feed(delta("Rents "))) == "Rents"
    rest, message = resolver.feed(final("Rents "))
    assert (rest.data.delta_content, rest.type, rest.ephemeral) == (
        " ",
        delta("").type,
        delta("").ephemeral,
    )
    assert rest.id != delta("").id
    assert message.data.content == "Rents "


def test_the_final_text_wins_where_it_differs_from_the_deltas():
    resolver = Resolver()
    resolver.feed(delta(f"One {A}two"))
    (message,) = resolver.feed(final(f"One {A} two"))
    assert message.data.content == "One two"
    assert message.data.citations is not None


def test_messages_and_agents_are_never_mixed():
    resolver = Resolver()
    out = []
    for piece in (A[:3], A[3:], " x"):
        for message, agent in (("m", None), ("n", None), ("m", "sub")):
            out += resolver.feed(delta(piece, message, agent))
    for message, agent in (("m", None), ("n", None), ("m", "sub")):
        assert deltas(out, message, agent) == "x"
    (message,) = resolver.feed(final(A + " x", "n"))
    assert message.data.content == "x"


def test_chunks_of_one_message_are_read_one_by_one():
    resolver = Resolver()
    out = [*resolver.feed(delta("One \ue200ci"))]
    out += resolver.feed(final("One \ue200ci", chunkIndex=0, chunkCount=2))
    out += resolver.feed(delta(f"te\ue202a\ue201 Two {A}"))
    out += resolver.feed(final(f"te\ue202a\ue201 Two {A}", chunkIndex=1, chunkCount=2))
    contents = [e.data.content for e in out if e.type.value == "assistant.message"]
    assert contents == ["One", "te\ue202a\ue201 Two"]
    assert deltas(out) == "".join(contents)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("abort", {"reason": "user"}),
        ("session.error", {"message": "x", "errorType": "query"}),
        ("session.idle", {}),
        ("session.shutdown", {}),
    ],
)
def test_an_end_releases_what_is_no_marker_and_drops_the_beginning_of_one(kind, data):
    resolver = Resolver()
    resolver.feed(delta("Rents "))
    resolver.feed(delta("Wages \ue200cite\ue202tur", "n"))
    end = event(kind, **data)
    out = resolver.feed(end)
    assert (deltas(out), deltas(out, "n")) == (" ", "")
    assert out[-1] is end
    assert kinds(out) == ["assistant.message_delta", kind]
    assert resolver.finish() == []


def test_the_end_of_the_input_is_an_end_too_and_nothing_comes_after_it():
    resolver = Resolver()
    resolver.feed(delta("Rents "))
    assert deltas(resolver.finish()) == " "
    for call in (resolver.finish, lambda: resolver.feed(delta("x"))):
        with pytest.raises(StateError, match="the resolver is finished"):
            call()


def test_messages_that_never_end_are_bounded():
    resolver = Resolver()
    for number in range(MAX_OPEN_MESSAGES):
        resolver.feed(delta("Rents ", str(number)))
    out = resolver.feed(delta("Wages", "new"))
    assert [(e.data.message_id, e.data.delta_content) for e in out] == [
        ("0", " "),
        ("new", "Wages"),
    ]
    out = resolver.feed(delta("\ue200", "newer"))
    assert [(e.data.message_id, e.data.delta_content) for e in out] == [("1", " ")]


def test_issues_follow_their_message_as_warnings():
    message, warning = Resolver().feed(final("📎 x \ue200cite\ue202a b\ue201", agent="sub"))
    assert message.data.content == "📎 x"
    assert (warning.type.value, warning.ephemeral, warning.agent_id, warning.parent_id) == (
        "session.warning",
        True,
        "sub",
        "e",
    )
    assert warning.data.warning_type == "citation.malformed_marker"
    assert warning.data.extra == {
        "messageId": "m",
        "index": 4,
        "raw": "\ue200cite\ue202a b\ue201",
    }
    json.dumps(wire.encode_event(warning))


def test_ids_of_our_own_events_are_the_same_in_every_run():
    def ids():
        resolver = Resolver()
        return [
            e.id
            for item in (delta("a "), final("a \ue200cite\ue202\ue201\ue200cite\ue201"))
            for e in resolver.feed(item)
        ]

    assert ids() == ids()
    assert len(set(ids())) == len(ids()) - 1  # the two that are not ours are both called e


def tool(*sources, **result):
    listed = {"citableSources": list(sources)} if sources else {}
    result = {"content": "found"} | listed | result
    return event("tool.execution_complete", toolCallId="c", success=True, result=result)


def source(name, content="One.\nTwo.\n", **fields):
    return {"id": name, "content": content} | fields


def test_what_tools_return_to_be_cited_is_registered():
    resolver = Resolver()
    call = tool(source("doc", title="Doc", path="docs/a.md"))
    assert resolver.feed(call) == [call]
    resolver.feed(tool())
    resolver.feed(tool(source("other")))
    (message,) = resolver.feed(
        final("x \ue200cite\ue202doc\ue202L2\ue202turn0file0\ue202L2\ue202turn2file0\ue201")
    )
    first, second = message.data.citations.sources
    assert (first.provider, first.title, first.path) == ("client", "Doc", "docs/a.md")
    assert (second.provider, second.title) == ("client", None)
    references = message.data.citations.spans[0].references
    assert [r.cited_text for r in references] == ["Two.", None]


def test_an_upstream_that_numbers_its_sources_itself_keeps_its_numbers():
    resolver = Resolver()
    resolver.feed(tool(source("turn5file1", "A"), source("turn5file0", "B")))
    resolver.feed(tool(source("turn0file0", "C")))
    (message,) = resolver.feed(
        final("x \ue200cite\ue202turn5file0\ue202L1\ue202turn0file0\ue202L1\ue201")
    )
    references = message.data.citations.spans[0].references
    assert [r.cited_text for r in references] == ["B", "C"]


def kinds_of_warnings(events):
    return [e.data.warning_type for e in events if e.type.value == "session.warning"]


def test_an_id_that_means_two_sources_means_neither():
    registry = SourceRegistry()
    registry.add(from_text("MINE"))
    resolver = Resolver(registry=registry)
    _, warning = resolver.feed(tool(source("turn0file0", "THEIRS")))
    assert warning.data.warning_type == "citation.source_id"
    assert "turn0file0" in warning.data.message
    message, *warnings = resolver.feed(final("x \ue200cite\ue202turn0file0\ue202L1\ue201"))
    assert message.data.citations is None
    assert kinds_of_warnings(warnings) == ["citation.uncited", "citation.unknown_source"]
    assert warnings[1].data.message == "more than one source has the id 'turn0file0'"
    restored = SourceRegistry.restore(json.loads(json.dumps(registry.snapshot())))
    assert "turn0file0" not in restored


def test_the_same_source_under_the_id_it_has_already_is_no_second_meaning():
    registry = SourceRegistry()
    registry.add(from_text("MINE"))
    resolver = Resolver(registry=registry)
    resolver.feed(tool(source("turn0file0", "MINE")))
    (message,) = resolver.feed(final("x \ue200cite\ue202turn0file0\ue202L1\ue201"))
    assert message.data.citations.spans[0].references[0].cited_text == "MINE"


def test_an_id_of_an_unknown_form_is_reported_and_a_syntax_may_know_it():
    call = tool(source("docs/a.md", "One."))
    _, warning = Resolver().feed(call)
    assert warning.data.warning_type == "citation.source_id"
    options = CitationOptions(syntax=MarkerSyntax(id_pattern="[A-Za-z0-9_./-]+"))
    resolver = Resolver(options)
    assert resolver.feed(call) == [call]
    (message,) = resolver.feed(final("x \ue200cite\ue202docs/a.md\ue202L1\ue201"))
    assert message.data.citations.spans[0].references[0].cited_text == "One."


def test_what_was_offered_and_refused_counts_as_registered():
    resolver = Resolver(registry=SourceRegistry(limits=Limits(max_source_chars=1)))
    resolver.feed(tool(source("long", "xx")))
    message, *_ = resolver.feed(final("x \ue200cite\ue202turn0file0\ue201"))
    assert message.data.citations is None


def test_a_tool_that_failed_registers_nothing():
    resolver = Resolver()
    failed = event("tool.execution_complete", toolCallId="c", success=False)
    assert resolver.feed(failed) == [failed]


def test_an_id_of_another_session_is_never_cited():
    resolver = Resolver()
    resolver.feed(tool(source("doc")))
    message, *warnings = resolver.feed(final("x \ue200cite\ue202turn7file0\ue201"))
    assert message.data.citations is None
    assert [w.data.warning_type for w in warnings] == [
        "citation.uncited",
        "citation.unknown_source",
    ]


def test_near_misses_are_suggested():
    resolver = Resolver()
    resolver.feed(tool(source("doc")))
    _, *warnings = resolver.feed(final("x \ue200cite\ue202turn0fil0\ue201"))
    assert warnings[-1].data.extra["suggestions"] == ["turn0file0"]


def test_a_message_that_calls_tools_need_not_cite():
    resolver = Resolver()
    resolver.feed(tool(source("doc")))
    calls = final("Let me look.", toolRequests=[{"name": "x", "toolCallId": "d"}])
    assert resolver.feed(calls) == [calls]
    assert kinds(resolver.feed(final("So."))) == ["assistant.message", "session.warning"]


def test_too_much_to_cite_is_a_warning_and_the_session_goes_on():
    registry = SourceRegistry(limits=Limits(max_source_chars=9))
    resolver = Resolver(registry=registry)
    call, warning = resolver.feed(tool(source("long", "x" * 10), source("short", "x")))
    assert warning.data.warning_type == "citation.source_limit"
    assert warning.data.extra == {"toolCallId": "c", "citableSourceId": "long"}
    assert "max_source_chars: at most 9, got 10" in warning.data.message
    assert "short" in registry
    assert "long" not in registry
    assert call.type.value == "tool.execution_complete"


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_other_events_pass_as_the_same_objects(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    events = [wire.decode_event(line) for line in lines]
    resolver = Resolver()
    ours = ("assistant.message", "assistant.message_delta", "session.warning")
    passed = [e for item in events for e in resolver.feed(item) if e.type.value not in ours]
    assert all(
        a is b for a, b in zip(passed, (e for e in events if e.type.value not in ours), strict=True)
    )
