import json
import logging
from contextlib import aclosing
from pathlib import Path
from types import MappingProxyType

import anyio
import pytest

from citestream import (
    CitationOptions,
    DecodeError,
    OptionError,
    Session,
    SessionEventType,
    SessionOptions,
    SourceRegistry,
    StateError,
    format_marker,
    wire,
)

pytestmark = pytest.mark.anyio
LOGS = Path(__file__).parents[1] / "data" / "copilot"
MARK = format_marker("turn0file0", locator="L8")


def lines(name):
    text = (LOGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def event(kind, number=0, **data):
    return {
        "id": f"e{number}",
        "timestamp": "2026-11-30T04:55:10Z",
        "type": kind,
        "parentId": None,
        "data": data,
    }


def delta(text, number=0, message="m"):
    return event("assistant.message_delta", number, messageId=message, deltaContent=text)


def message(text, number=0, **data):
    return event("assistant.message", number, messageId="m", content=text, **data)


async def stream(items):
    for item in items:
        await anyio.lowlevel.checkpoint()
        yield item


async def collect(items, **options):
    seen = []
    async with Session(**{"enable_citations": True} | options) as session:
        session.on(seen.append)
        await session.consume(stream(items))
    return seen


async def test_the_loop_of_the_copilot_docs_works():
    found = []

    def handle(event):
        if event.type != SessionEventType.ASSISTANT_MESSAGE or not event.data.citations:
            return
        sources = {source.id: source for source in event.data.citations.sources}
        units = event.data.content.encode("utf-16-le")
        for span in event.data.citations.spans:
            cited = units[span.start_index * 2 : span.end_index * 2].decode("utf-16-le")
            for reference in span.references:
                source = sources[reference.source_id]
                label = source.title or source.url or source.path or source.id
                found.append((cited, label, reference.cited_text))

    async with Session(enable_citations=True) as session:
        unsubscribe = session.on(handle)
        await session.consume(stream(lines("live-anthropic-citations")))
        unsubscribe()
    assert found[0] == (
        "thirty days' written notice 📄 before termination",
        "Service agreement",
        "termination for convenience requires thirty (30) days",
    )
    assert [label for _, label, _ in found] == [
        "Service agreement",
        "Appendix",
        "Service agreement",
        "s2",
        "Summary",
    ]


async def test_markers_never_show_and_become_citations():
    seen = await collect(lines("live-openai-markers"))
    texts = [e.data.delta_content for e in seen if e.type.value == "assistant.message_delta"]
    final = [e.data for e in seen if e.type.value == "assistant.message"][-1]
    assert "".join(texts) == final.content
    assert not set("".join(texts)) & set(map(chr, range(0xE200, 0xE207)))
    assert [span.slice(final.content) for span in final.citations.spans] == [
        "The outgoing engineer posts a summary in the channel before 09:00 UTC.",
        "Open incidents are reassigned explicitly, e.g. by editing the incident record.",
        "Pager swap happens 🚨 at 09:15.",
        "週次レビューは月曜日に行われます。",
        "outgoing",
        "Costs fell by 3.5% vs. plan, per Dr. Lee's note.",
    ]
    assert len(final.citations.sources) == 4
    assert sum(len(span.references) for span in final.citations.spans) == 9


async def test_a_live_stream_and_its_persisted_log_give_the_same_citations():
    live, kept = [
        [
            e.data.citations
            for e in await collect(lines(name))
            if e.type.value == "assistant.message"
        ]
        for name in ("live-openai-markers", "persisted-openai-markers")
    ]
    assert live == kept


@pytest.mark.parametrize("name", ["live-anthropic-citations", "persisted-anthropic-citations"])
async def test_what_an_upstream_cited_is_unchanged(name):
    seen = [wire.encode_event(e) for e in await collect(lines(name))]
    # Deltas may be cut elsewhere: a blank waits for what follows it.
    kinds = ("assistant.message_delta",)
    assert [e for e in seen if e["type"] not in kinds] == [
        e for e in lines(name) if e["type"] not in kinds
    ]


async def test_the_end_of_the_stream_drops_a_marker_that_is_cut_off():
    seen = await collect(lines("live-openai-truncated-marker"))
    texts = [e.data.delta_content for e in seen if e.type.value == "assistant.message_delta"]
    assert "".join(texts).endswith("e.g. by editi")
    assert [e.data.warning_type for e in seen if e.type.value == "session.warning"] == [
        "citation.truncated_marker"
    ]


async def test_without_citations_events_pass_and_citations_are_dropped():
    seen = await collect(lines("live-anthropic-citations"), enable_citations=False)
    expected = lines("live-anthropic-citations")
    for item in expected:
        item["data"].pop("citations", None)
    assert [wire.encode_event(e) for e in seen] == expected
    (only,) = await collect([message(f"x {MARK}")], enable_citations=False)
    assert only.data.content == f"x {MARK}"


async def test_options_reach_the_resolver():
    options = SessionOptions(citations=CitationOptions(spans="paragraph"))
    (only,) = await collect([message(f"One. Two. {MARK}")], options=options)
    assert only.data.citations.spans[0].slice(only.data.content) == "One. Two."


async def test_handlers_sync_and_async_are_called_in_order_one_event_at_a_time():
    calls = []

    async def slow(event):
        calls.append(("slow", event.id))
        await anyio.sleep(0.001)
        calls.append(("slow done", event.id))

    async with Session() as session:
        session.on(lambda e: calls.append(("first", e.id)))
        session.on(slow)
        session.on(lambda e: calls.append(("last", e.id)))
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(session.feed, message("x", number))
    ids = [name for name, _ in calls]
    assert ids == ["first", "slow", "slow done", "last"] * 3
    assert sorted({number for _, number in calls}) == ["e0", "e1", "e2"]


async def test_a_handler_that_raises_is_logged_and_harms_nobody(caplog):
    seen = []

    async def broken(_event):
        await anyio.lowlevel.checkpoint()
        raise ValueError("broken")

    async with Session(session_id="mine") as session:
        session.on(lambda _: 1 / 0)
        session.on(broken)
        session.on(seen.append)
        with caplog.at_level(logging.ERROR, logger="citestream.session"):
            await session.feed(message("x"))
    assert [type(record.exc_info[1]) for record in caplog.records] == [
        ZeroDivisionError,
        ValueError,
    ]
    assert caplog.records[0].getMessage() == "a handler of session mine raised"
    assert len(seen) == 1


async def test_the_same_handler_twice_is_called_twice_and_ends_once_each():
    seen = []
    async with Session() as session:
        first, _second = session.on(seen.append), session.on(seen.append)
        await session.feed(message("x"))
        first()
        first()
        await session.feed(message("y"))
    assert [e.data.content for e in seen] == ["x", "x", "y"]


async def test_a_handler_may_feed_its_own_session():
    seen = []
    async with Session() as session, Session() as other:

        async def echo(event):
            if event.data.content == "ask":
                await other.feed(message("via other"))
                await session.feed(message("answer"))
                seen.append("echo done")

        async def through(_event):
            await session.feed(message("from other"))

        session.on(echo)
        other.on(through)
        session.on(lambda e: seen.append(e.data.content))
        await session.feed(message("ask"))
    assert seen == ["echo done", "ask", "from other", "answer"]


async def test_iterators_see_everything_from_their_beginning_to_the_end():
    items = lines("live-openai-markers")
    async with Session(enable_citations=True, options=SessionOptions(buffer_size=2)) as session:
        seen, called = [], []
        iterator = session.events()
        session.on(called.append)

        async def read():
            seen.extend([item async for item in iterator])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await session.consume(stream(items))
            await session.disconnect()
    assert seen == called


async def test_a_reader_that_broke_off_is_forgotten():
    async with Session(options=SessionOptions(buffer_size=1)) as session:
        iterator = session.events()
        await session.feed(message("x"))
        async for _ in iterator:
            break
        del iterator
        for _ in range(5):
            await session.feed(message("y"))


async def test_history_keeps_what_is_not_ephemeral():
    async with Session(enable_citations=True) as session:
        await session.consume(stream(lines("live-openai-markers")))
        await session.feed(delta("x"))
        kept = await session.get_events()
    whole = lines("live-openai-markers")
    assert [e.id for e in kept] == [e["id"] for e in whole if not e.get("ephemeral")]
    kept.clear()
    assert await session.get_events()


BROKEN = {
    "sources": [],
    "spans": [{"startIndex": -1, "endIndex": 2, "references": []}],
}


async def test_a_bad_event_raises_and_the_session_goes_on():
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        with pytest.raises(DecodeError) as caught:
            await session.consume(stream([message("x", citations=BROKEN), message("y")]))
        assert caught.value.path == "$.data.citations.spans[0].startIndex"
        with pytest.raises(DecodeError, match=r"^\$: expected an event or a mapping, got 'text'$"):
            await session.feed("text")
        await session.feed(MappingProxyType(message("y")))
        await session.feed(wire.decode_event(message("z")))
    assert [e.data.content for e in seen] == ["y", "z"]


async def test_a_bad_event_can_be_skipped_and_never_costs_the_text_of_an_answer():
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        items = [message(f"x {MARK}", citations=BROKEN), {"type": 7}, None, message("y")]
        await session.consume(stream(items), on_error="skip")
    assert [e.type.value for e in seen] == [
        "assistant.message",
        "session.warning",
        "session.warning",
        "session.warning",
        "assistant.message",
    ]
    assert seen[0].data.content == "x"
    assert seen[0].data.citations is not None
    assert seen[1].data.warning_type == "decode_error"
    assert seen[1].data.extra["path"] == "$.data.citations.spans[0].startIndex"
    assert (
        seen[3].data.message == "an event was skipped: $: expected an event or a mapping, got None"
    )


async def test_one_bad_source_of_a_tool_costs_no_other():
    sources = [{"id": 1, "content": "x"}, {"id": "ok", "content": "Yes."}, {"content": "y"}]
    done = event(
        "tool.execution_complete",
        toolCallId="c",
        success=True,
        result={"content": "found", "citableSources": sources},
    )
    answer = message(f"So. {format_marker('ok', locator='L1')}")
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        await session.consume(stream([done, answer]), on_error="skip")
    assert [e.type.value for e in seen] == [
        "tool.execution_complete",
        "session.warning",
        "assistant.message",
    ]
    assert seen[0].data.result.content == "found"
    assert seen[1].data.extra["path"] == "$.data.result.citableSources[0].id"
    assert seen[2].data.citations.spans[0].references[0].cited_text == "Yes."


@pytest.mark.parametrize(
    ("broken", "count"),
    [
        (message("x", citations=BROKEN) | {"id": 7}, 1),
        (message("x", citations=BROKEN) | {"parentId": 7}, 1),
        (message("x", citations=7, chunkIndex="x"), 1),
    ],
)
async def test_an_event_that_is_broken_elsewhere_too_is_skipped(broken, count):
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        await session.consume(stream([broken]), on_error="skip")
    assert [e.type.value for e in seen] == ["session.warning"] * count


async def test_another_policy_is_refused():
    async with Session() as session:
        with pytest.raises(OptionError, match="on_error: wanted 'raise' or 'skip', got 'ignore'"):
            await session.consume(stream([]), on_error="ignore")


async def test_the_end_of_a_stream_releases_what_was_withheld():
    seen = await collect([delta("Rents rose. "), delta("x \ue200", 1, "other")])
    assert [e.data.delta_content for e in seen] == ["Rents rose.", "x", " "]


async def test_a_stream_that_breaks_releases_what_was_withheld_and_raises():
    seen = []

    async def broken():
        yield delta("Rents ")
        raise ConnectionError("gone")

    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        with pytest.raises(ConnectionError):
            await session.consume(broken())
        await session.consume(stream([delta("again")]))
    assert [e.data.delta_content for e in seen] == ["Rents", " ", "again"]


async def test_a_cancelled_feeder_leaves_the_rest_to_the_next_one():
    seen = []
    async with Session() as session:
        session.on(lambda e: seen.append(e.id))

        async def stuck(event):
            if event.id == "e0":
                await anyio.sleep_forever()

        session.on(stuck)
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()

            async def first():
                with scope:
                    await session.feed(message("x", 0))

            tasks.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(session.feed, message("y", 1))
            await anyio.wait_all_tasks_blocked()
            assert seen == ["e0"]
            scope.cancel()
    assert seen == ["e0", "e1"]


CITING = f"Rents rose {MARK} and wages fell."


@pytest.mark.parametrize("size", [1, 7])
async def test_several_streams_may_be_consumed_at_once(size):
    seen = []

    async def upstream(name, pause):
        for start in range(0, len(CITING), size):
            await anyio.sleep(pause)
            yield delta(CITING[start : start + size], message=name)
        yield event("assistant.message", messageId=name, content=CITING)

    async with Session(enable_citations=True) as session, anyio.create_task_group() as tasks:
        session.on(seen.append)
        tasks.start_soon(session.consume, upstream("a", 0.0002))
        tasks.start_soon(session.consume, upstream("b", 0.0005))
    for name in "ab":
        mine = [e.data for e in seen if e.data.message_id == name]
        assert "".join(d.delta_content for d in mine[:-1]) == mine[-1].content
        assert mine[-1].content == "Rents rose and wages fell."


async def test_the_end_of_a_stream_ends_only_its_own_messages():
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        await session.feed(delta(CITING[:16]))
        other = event("assistant.message", 1, messageId="other", content="x")
        await session.consume(stream([other]))
        await session.feed(delta(CITING[16:]))
    texts = [e.data.delta_content for e in seen if e.type.value == "assistant.message_delta"]
    assert "".join(texts) == "Rents rose and wages fell."


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
async def test_an_exit_in_a_handler_ends_the_call_and_not_the_session(error):
    seen = []

    def leave(event):
        if event.id == "e0":
            raise error

    async with Session() as session:
        session.on(leave)
        session.on(lambda e: seen.append(e.id))
        with pytest.raises(error):
            await session.feed(message("x", 0))
        with anyio.fail_after(1):
            await session.feed(message("y", 1))
    assert seen == ["e1"]


async def test_a_reader_that_stopped_reading_does_not_hold_up_the_end():
    with anyio.fail_after(1):
        async with Session(options=SessionOptions(buffer_size=1)) as session:
            iterator = session.events()
            await session.feed(message("x", 0))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.feed, message("y", 1))
                await anyio.wait_all_tasks_blocked()
                await session.disconnect()
    assert [e.id async for e in iterator] == ["e0", "e1"]


async def test_disconnecting_in_a_handler_lets_readers_have_the_event():
    async with Session(enable_citations=True) as session:
        iterator = session.events()

        async def leave(event):
            await anyio.lowlevel.checkpoint()
            if event.type == SessionEventType.ASSISTANT_MESSAGE:
                await session.disconnect()

        session.on(leave)
        await session.feed(delta("open ", message="n"))
        await session.feed(message("x"))
    assert [e.type.value async for e in iterator] == [
        "assistant.message_delta",
        "assistant.message",
        "assistant.message_delta",
    ]


async def test_an_event_whose_delivery_was_cancelled_reaches_the_others_with_the_next():
    seen = []
    async with Session() as session:
        iterator = session.events()

        async def slow(event):
            if event.id == "e0":
                await anyio.sleep_forever()

        session.on(slow)
        session.on(lambda e: seen.append(e.id))
        with anyio.move_on_after(0.001):
            await session.feed(message("x", 0))
        assert seen == []
        await session.feed(message("y", 1))
        assert seen == ["e0", "e1"]
    assert [e.id async for e in iterator] == ["e0", "e1"]


async def test_a_task_that_a_handler_starts_waits_for_its_own_event():
    seen = []
    async with Session() as session, anyio.create_task_group() as tasks:

        async def later():
            await session.feed(message("y", 1))
            assert "e1" in seen

        async def start(event):
            if event.id == "e0":
                tasks.start_soon(later)
                await anyio.wait_all_tasks_blocked()

        session.on(start)
        session.on(lambda e: seen.append(e.id))
        await session.feed(message("x", 0))
    assert seen == ["e0", "e1"]


async def test_a_stream_that_is_always_ready_can_be_cancelled():
    async def ready():
        while True:
            yield delta("x")

    async with Session() as session, aclosing(ready()) as upstream:
        with anyio.move_on_after(0.01) as scope:
            await session.consume(upstream)
    assert scope.cancelled_caught


async def test_what_is_nested_too_deep_in_citations_costs_only_them():
    deep = {"a": None}
    for _ in range(600):
        deep = {"a": deep}
    broken = message("x", citations={"sources": [], "spans": [], "more": deep})
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        await session.consume(stream([broken, message("y")]), on_error="skip")
    assert [e.data.content for e in seen if e.type.value == "assistant.message"] == ["x", "y"]
    warning = next(e.data for e in seen if e.type.value == "session.warning")
    assert warning.message.startswith("part of an event was skipped: ")


async def test_only_what_can_be_called_is_a_handler():
    async with Session() as session:
        with pytest.raises(OptionError, match="on: wanted a callable, got None"):
            session.on(None)


async def test_a_session_that_is_disconnected_takes_nothing_more():
    session = Session(enable_citations=True)
    seen = []
    session.on(seen.append)
    await session.feed(delta("Rents "))
    iterator = session.events()
    await session.disconnect()
    await session.disconnect()
    assert [e.data.delta_content for e in seen] == ["Rents", " "]
    assert [e.data.delta_content async for e in iterator] == [" "]
    for call in (session.events, lambda: session.on(seen.append)):
        with pytest.raises(StateError, match="the session is disconnected"):
            call()
    for call in (lambda: session.feed(delta("x")), lambda: session.consume(stream([]))):
        with pytest.raises(StateError, match="the session is disconnected"):
            await call()
    with pytest.raises(StateError, match="async with: the session is disconnected"):
        async with session:
            pass


async def test_ids_are_given_or_made():
    assert Session(session_id="mine").session_id == "mine"
    assert len({Session().session_id for _ in range(3)}) == 3


async def test_sources_are_given_or_made():
    mine = SourceRegistry()
    async with Session(sources=mine) as session:
        assert session.sources is mine
    async with Session() as session:
        assert len(session.sources) == 0
        for call in (session.send, session.send_and_wait):
            with pytest.raises(StateError, match="wants a session that a Client made"):
                await call("?")
        with pytest.raises(StateError, match="abort: wants a session that a Client made"):
            await session.abort()
