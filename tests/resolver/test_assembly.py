import attrs
import pytest

from citestream import CitationLocationChar, CitationOptions, Resolver, StateError, format_marker
from citestream.events import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerText,
    AnswerToolCall,
    OffsetUnit,
    SourceFacts,
    TextRange,
)
from citestream.resolver import AnswerAssembler
from citestream.wire import decode_event, encode_event

MEMO = SourceFacts(provider="anthropic", key=("document", 0), title="Memo")
PAGE = SourceFacts(provider="openai", url="https://a.example/x#y", title="Page")
A = format_marker("a")


def assemble(*items, options=None):
    assembler = AnswerAssembler(options, new_id=iter(["m1", "m2", "m3"]).__next__)
    return [event for item in items for event in assembler.feed(item)]


def text(words, part=0):
    return AnswerText(text=words, part=part)


def cite(place, source=MEMO, **fields):
    return AnswerCitation(source=source, place=place, **fields)


def code_points(start, end, **fields):
    return TextRange(start=start, end=end, unit=OffsetUnit.CODE_POINT, **fields)


def cited(message):
    return [
        (span.slice(message.content), [r.source_id for r in span.references])
        for span in message.citations.spans
    ]


def kinds(events):
    return [event.type.value for event in events]


def only(events):
    return next(e.data for e in events if e.type.value == "assistant.message")


def test_text_streams_and_the_end_makes_the_message():
    events = assemble(text("Rents "), text("rose."), AnswerEnd(model="m-1"))
    assert kinds(events) == [
        "assistant.message_start",
        "assistant.message_delta",
        "assistant.message_delta",
        "assistant.message",
    ]
    assert {e.data.message_id for e in events} == {"m1"}
    assert all(e.ephemeral for e in events[:-1])
    message = events[-1].data
    assert (message.content, message.citations, message.model) == ("Rents rose.", None, "m-1")


def test_an_empty_piece_begins_the_message_and_shows_nothing():
    assert kinds(assemble(text(""), AnswerEnd())) == [
        "assistant.message_start",
        "assistant.message",
    ]


def test_every_answer_is_a_message_of_its_own():
    events = assemble(text("One."), AnswerEnd(), AnswerEnd(), text("Two."), AnswerEnd())
    messages = [e.data for e in events if e.type.value == "assistant.message"]
    assert [(m.message_id, m.content) for m in messages] == [
        ("m1", "One."),
        ("m2", ""),
        ("m3", "Two."),
    ]


def test_a_citation_may_cover_a_part_before_or_after_its_text():
    events = assemble(
        text("📎 Memo: "),
        cite(
            1, cited_text="Rent rose.", location=CitationLocationChar(start_index=0, end_index=10)
        ),
        text("rent ", 1),
        text("rose", 1),
        text("."),
        cite(0, PAGE),
        AnswerEnd(),
    )
    message = only(events)
    assert message.content == "📎 Memo: .rent rose"
    assert cited(message) == [("📎 Memo: .", ["s0"]), ("rent rose", ["s1"])]
    assert message.citations.spans[1].references[0].cited_text == "Rent rose."
    assert [s.title for s in message.citations.sources] == ["Page", "Memo"]


def test_a_part_that_never_came_is_cited_at_the_end():
    assert cited(only(assemble(text("One."), cite(7), AnswerEnd()))) == [("", ["s0"])]


def test_ranges_count_from_their_part_or_from_the_beginning():
    events = assemble(
        text("One. "),
        text("📎 Two.", 1),
        cite(code_points(2, 6, part=1)),
        cite(code_points(0, 4), PAGE),
        cite(code_points(0, 1, part=9)),
        AnswerEnd(),
    )
    assert cited(only(events)) == [("One.", ["s0"]), ("Two.", ["s1"])]
    assert [e.data.warning_type for e in events if e.type.value == "session.warning"] == [
        "citation.out_of_range"
    ]


def test_a_point_cites_the_sentence_before_it_or_the_point():
    items = (text("One. Two. Three."), cite(code_points(9, 9)), AnswerEnd())
    assert cited(only(assemble(*items))) == [("Two.", ["s0"])]
    at = assemble(*items, options=CitationOptions(spans="point"))
    assert cited(only(at)) == [("", ["s0"])]


def test_a_source_of_the_answer_as_a_whole_has_no_span():
    events = assemble(text("One."), cite(None), cite(0, PAGE), AnswerEnd())
    assert [s.title for s in only(events).citations.sources] == ["Page", "Memo"]
    assert cited(only(events)) == [("One.", ["s0"])]
    assert "session.warning" not in kinds(events)


def test_a_range_that_was_moved_is_reported():
    events = assemble(
        text("📎 Rents rose."),
        cite(TextRange(start=2, end=7, unit=OffsetUnit.UTF16, expected="Rents")),
        AnswerEnd(),
    )
    assert cited(only(events)) == [("Rents", ["s0"])]
    warning = events[-1].data
    assert warning.warning_type == "citation.offset_repaired"
    assert warning.message == (
        "a citation of 2 to 7 (UTF-16 code units) was moved to where its words stand"
    )
    assert warning.extra == {"messageId": "m1"}


def test_sources_are_told_apart_by_the_vendors_key_and_by_url():
    again = SourceFacts(provider="openai", url="https://A.example/x")
    untitled = SourceFacts(provider="anthropic", key=("document", 1))
    titled = SourceFacts(provider="anthropic", key=("document", 1), title="Later")
    facts = (MEMO, PAGE, again, untitled, titled, SourceFacts(provider="x"))
    items = [cite(0, source) for source in facts]
    message = only(assemble(text("One."), *items, AnswerEnd()))
    assert [(s.provider, s.title) for s in message.citations.sources] == [
        ("anthropic", "Memo"),
        ("openai", "Page"),
        ("anthropic", "Later"),
        ("x", None),
    ]


def test_a_later_title_fills_a_missing_one_and_changes_nothing_else():
    url = "https://a.example/x"
    first = SourceFacts(provider="openai", url=url + "#one")
    later = SourceFacts(provider="openai", url=url + "#two", title="Later")
    message = only(assemble(text("One."), cite(0, first), cite(0, later), AnswerEnd()))
    (source,) = message.citations.sources
    assert (source.url, source.title) == (url + "#one", "Later")


def test_references_that_say_the_same_come_once():
    items = [cite(0, metadata={"documentIndex": n}) for n in (0, 0, 1)]
    message = only(assemble(text("One."), *items, AnswerEnd()))
    assert [r.provider_metadata for r in message.citations.spans[0].references] == [
        {"documentIndex": 0},
        {"documentIndex": 1},
    ]


def test_a_failure_is_an_error_of_the_session():
    (event,) = assemble(AnswerFailure(message="overloaded", error_type="overloaded_error"))
    assert (event.type.value, event.data.message, event.data.error_type) == (
        "session.error",
        "overloaded",
        "overloaded_error",
    )


def test_an_answer_without_its_end_gives_no_message():
    assembler = AnswerAssembler()
    assembler.feed(text("One"))
    assert assembler.finish() == []
    for call in (assembler.finish, lambda: assembler.feed(text("x"))):
        with pytest.raises(StateError, match="the answer is finished"):
            call()


def test_ids_differ_where_nobody_gives_them():
    events = [AnswerAssembler().feed(text("x"))[0] for _ in range(2)]
    assert events[0].data.message_id != events[1].data.message_id


def test_native_citations_and_markers_meet_in_the_resolver():
    resolver = Resolver()
    items = (text(f"One. {A} "), text("Two.", 1), cite(1), AnswerEnd())
    events = [out for event in assemble(*items) for out in resolver.feed(event)]
    message = only(events)
    assert message.content == "One. Two."
    assert cited(message) == [("One.", ["s0"]), ("Two.", ["s1"])]
    deltas = [e.data.delta_content for e in events if e.type.value == "assistant.message_delta"]
    assert "".join(deltas) == message.content


# -- calls of tools


LOOK = AnswerToolCall(call_id="c1", name="look", arguments={"q": "rents", "deep": [1, {"n": None}]})
BAD = AnswerToolCall(call_id="c2", name="find", arguments='{"q')


def test_an_answer_that_only_calls_tools_is_a_message():
    events = assemble(LOOK, BAD, AnswerEnd(model="m-1"))
    assert kinds(events) == ["assistant.message"]
    message = only(events)
    assert (message.content, message.citations, message.model) == ("", None, "m-1")
    assert message.tool_requests == (
        {
            "toolCallId": "c1",
            "name": "look",
            "arguments": {"q": "rents", "deep": [1, {"n": None}]},
            "type": "function",
        },
        {"toolCallId": "c2", "name": "find", "arguments": '{"q', "type": "function"},
    )


def test_what_goes_back_with_a_call_is_in_its_request():
    thoughts = {"thinking": [{"type": "thinking", "signature": "s"}]}
    message = only(assemble(attrs.evolve(BAD, provider_data=thoughts), AnswerEnd()))
    [request] = message.tool_requests
    assert request["providerData"] == thoughts
    assert list(request) == ["toolCallId", "name", "arguments", "type", "providerData"]


def test_calls_belong_to_the_message_that_ends_after_them():
    events = assemble(text("One. "), LOOK, AnswerEnd(), text("Two."), AnswerEnd(), BAD, AnswerEnd())
    messages = [e.data for e in events if e.type.value == "assistant.message"]
    names = [[one["name"] for one in m.tool_requests or ()] for m in messages]
    assert names == [["look"], [], ["find"]]
    assert [m.tool_requests is None for m in messages] == [False, True, False]


def test_the_arguments_of_a_request_are_not_those_of_the_item():
    message = only(assemble(LOOK, AnswerEnd()))
    assert message.tool_requests[0]["arguments"] is not LOOK.arguments


def test_requests_of_tools_go_through_the_resolver_and_the_wire():
    sent = assemble(text(f"One. {A}"), LOOK, AnswerEnd())
    events = [out for event in sent for out in Resolver().feed(event)]
    encoded = encode_event(events[-1])
    assert encoded["data"]["toolRequests"] == list(only(sent).tool_requests)
    assert decode_event(encoded).data.tool_requests == only(sent).tool_requests
