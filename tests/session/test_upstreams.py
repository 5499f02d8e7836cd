import asyncio
import gc
import json
import logging
from pathlib import Path

import pytest

from citestream import Session, StateError, format_marker
from citestream.session.upstreams import attach

DATA = Path(__file__).parents[1] / "data" / "copilot"


def recorded(name):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def event(kind, number=0, **data):
    stamp = {"id": f"e{number}", "timestamp": "2026-11-30T04:55:10Z"}
    return {**stamp, "type": kind, "data": data}


class Copilot:
    """A session of Copilot as far as one attaches to it."""

    session_id = "c1"

    def __init__(self):
        self.handlers = set()

    def on(self, handler):
        self.handlers.add(handler)
        return lambda: self.handlers.discard(handler)

    def give(self, *events):
        for one in events:
            for handler in list(self.handlers):
                handler(one)


def kinds(events):
    return [e.type.value for e in events]


async def settled(session, count):
    """Wait until ``session`` has given out ``count`` events that stay."""
    async with asyncio.timeout(5):
        while len(await session.get_events()) < count:  # noqa: ASYNC110 - nothing else is told
            await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_events_go_over_in_order():
    copilot, seen = Copilot(), []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        async with attach(copilot, session):
            text = f"Rents rose. {format_marker('a')}"
            for piece in text:
                copilot.give(event("assistant.message_delta", messageId="m", deltaContent=piece))
            copilot.give(event("assistant.message", messageId="m", content=text))
            await settled(session, 1)
            copilot.give(*(event("model.log", number, n=number) for number in range(50)))
    assert "".join(e.data.delta_content for e in seen if "delta" in e.type.value) == "Rents rose."
    [message] = [e.data for e in seen if e.type.value == "assistant.message"]
    assert message.content == "Rents rose."
    assert message.citations.spans[0].slice(message.content) == "Rents rose."
    assert [e.data.raw["n"] for e in seen if e.raw_type == "model.log"] == list(range(50))


@pytest.mark.asyncio
async def test_nothing_that_came_is_lost_when_one_detaches():
    copilot = Copilot()
    async with Session() as session:
        detach = attach(copilot, session)
        copilot.give(*(event("abort", number) for number in range(100)))
        detach()
        detach()
        assert copilot.handlers == set()
        copilot.give(event("abort", 100))
        await detach.aclose()
        assert [e.id for e in await session.get_events()] == [f"e{n}" for n in range(100)]
        await session.feed(event("abort", 101))


@pytest.mark.asyncio
async def test_nothing_that_came_is_lost_when_copilot_disconnects():
    copilot = Copilot()
    async with Session() as session:
        attachment = attach(copilot, session)
        copilot.give(event("abort"))
        copilot.handlers.clear()
        del attachment
        gc.collect()
        await settled(session, 1)


@pytest.mark.asyncio
async def test_what_was_withheld_comes_out_at_the_end():
    copilot, seen = Copilot(), []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        async with attach(copilot, session):
            copilot.give(event("assistant.message_delta", messageId="m", deltaContent="Up "))
            await asyncio.sleep(0.01)
            assert "".join(e.data.delta_content for e in seen) == "Up"
    assert "".join(e.data.delta_content for e in seen) == "Up "


@pytest.mark.asyncio
async def test_events_are_taken_as_they_are_when_they_come():
    class Event:
        def __init__(self):
            self.number = 1

        def to_dict(self):
            return event("abort", self.number)

    copilot, one = Copilot(), Event()
    async with Session() as session:
        async with attach(copilot, session):
            copilot.give(one)
            one.number = 2
        assert [e.id for e in await session.get_events()] == ["e1"]


@pytest.mark.asyncio
async def test_what_is_no_event_is_reported_and_the_rest_goes_on():
    class Broken:
        def to_dict(self):
            raise AssertionError

    copilot, seen = Copilot(), []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        async with attach(copilot, session):
            copilot.give(Broken(), {"type": 5}, event("abort"))
    assert kinds(seen) == ["session.warning", "session.warning", "abort"]
    assert {e.data.warning_type for e in seen[:2]} == {"decode_error"}


@pytest.mark.asyncio
async def test_a_session_that_disconnects_first_detaches(caplog):
    copilot = Copilot()
    session = Session()
    caplog.set_level(logging.DEBUG, "citestream.session")
    detach = attach(copilot, session)
    await session.disconnect()
    copilot.give(event("abort"))
    async with asyncio.timeout(5):
        while copilot.handlers:  # noqa: ASYNC110 - nothing else is told
            await asyncio.sleep(0)
    await detach.aclose()
    assert f"session {session.session_id} was disconnected first" in caplog.text


@pytest.mark.asyncio
async def test_a_handler_may_close_what_calls_it():
    copilot = Copilot()
    async with Session() as session:
        attachment = attach(copilot, session)
        session.on(lambda _event: attachment.aclose())
        copilot.give(event("abort"), event("abort", 1))
        await settled(session, 2)
        await attachment.aclose()


def test_without_a_loop_there_is_nothing_to_attach_to():
    copilot = Copilot()
    with pytest.raises(StateError, match="a running asyncio loop"):
        attach(copilot, Session())
    assert copilot.handlers == set()


# -- repairs


def citing(events):
    return [e for e in events if e.type.value == "assistant.message" and e.data.citations]


def words(message):
    return [span.slice(message.data.content) for span in message.data.citations.spans]


@pytest.mark.asyncio
@pytest.mark.parametrize("repair", [True, False])
async def test_what_the_runtime_gets_wrong_is_repaired_unless_one_says_no(repair):
    copilot, seen = Copilot(), []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        async with attach(copilot, session, repair=repair):
            copilot.give(*recorded("live-openai-url-citations"))
    [message] = citing(seen)
    links = [
        "([Status page](https://status.example/launch))",
        "([Weekly news](https://news.example/w18))",
    ]
    assert (words(message) == links) == repair
    repairs = [e.data.extra["repair"] for e in seen if e.type.value == "session.warning"]
    assert repairs == (["words", "offset"] if repair else [])


@pytest.mark.asyncio
async def test_without_citations_there_is_nothing_to_repair():
    copilot, seen = Copilot(), []
    async with Session() as session:
        session.on(seen.append)
        async with attach(copilot, session):
            copilot.give(*recorded("live-openai-url-citations"))
    assert not citing(seen)
    assert "session.warning" not in kinds(seen)


# -- what the SDK cannot parse


def parse(method, params):
    """Fail as the callback of the SDK does."""
    raise AssertionError(method, params["event"]["id"])


def notify(number, session_id="c1"):
    params = {"sessionId": session_id, "event": event("abort", number)}
    asyncio.get_running_loop().call_soon_threadsafe(parse, "session.event", params)


@pytest.mark.asyncio
async def test_an_event_that_the_sdk_cannot_parse_is_taken_in_its_place():
    copilot, reports = Copilot(), []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: reports.append(context))
    before = loop.get_exception_handler()
    async with Session() as session:
        async with attach(copilot, session):
            loop.call_soon(copilot.give, event("abort", 1))
            notify(2)
            notify(3, session_id="another")
            loop.call_soon(copilot.give, event("abort", 4))
            loop.call_exception_handler({"message": "no exception"})
            await settled(session, 3)
        assert loop.get_exception_handler() is before
        notify(5)
        await asyncio.sleep(0.01)
        assert [e.id for e in await session.get_events()] == ["e1", "e2", "e4"]
    assert [str(c.get("exception")) for c in reports] == [
        "None",
        "('session.event', 'e2')",
        "('session.event', 'e3')",
        "('session.event', 'e5')",
    ]


@pytest.mark.asyncio
async def test_without_a_handler_before_the_loop_reports_as_ever(caplog):
    async with Session() as session:
        async with attach(Copilot(), session):
            notify(1)
            await settled(session, 1)
        assert asyncio.get_running_loop().get_exception_handler() is None
    assert "Exception in callback parse" in caplog.text


@pytest.mark.asyncio
async def test_attachments_share_a_loop_in_any_order():
    loop = asyncio.get_running_loop()
    reports = []
    loop.set_exception_handler(lambda _loop, context: reports.append(context))
    first, second = Copilot(), Copilot()
    second.session_id = "c2"
    async with Session() as one, Session() as other:
        a, b = attach(first, one), attach(second, other)
        notify(1)
        notify(2, session_id="c2")
        await settled(one, 1)
        await settled(other, 1)
        await a.aclose()
        notify(3)
        notify(4, session_id="c2")
        await settled(other, 2)
        await b.aclose()
        assert [e.id for e in await one.get_events()] == ["e1"]
        assert [e.id for e in await other.get_events()] == ["e2", "e4"]
    assert len(reports) == 4


# -- a real session of the SDK, without a runtime


@pytest.mark.asyncio
async def test_a_real_session_of_the_sdk():
    sdk = pytest.importorskip("copilot", reason="needs github-copilot-sdk")
    events = pytest.importorskip("copilot.session_events", reason="needs github-copilot-sdk")
    copilot = sdk.CopilotSession("c1", None)
    seen = []
    async with Session(enable_citations=True) as session:
        session.on(seen.append)
        async with attach(copilot, session):
            for one in recorded("live-openai-markers"):
                copilot._dispatch_event(events.session_event_from_dict(one))  # noqa: SLF001 - as it does
    direct = []
    async with Session(enable_citations=True) as session:
        session.on(direct.append)
        for one in recorded("live-openai-markers"):
            await session.feed(one)
    assert kinds(seen) == kinds(direct)
    [message] = citing(seen)
    assert message.data == citing(direct)[0].data
    assert message.data.citations.spans
