import json
import logging
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
    assert [e.data.content for e in seen] == ["y"]


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
