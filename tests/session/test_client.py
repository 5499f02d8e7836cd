from datetime import datetime

import anyio
import pytest

from citestream import (
    Client,
    MemoryStore,
    OptionError,
    Session,
    SessionExistsError,
    SessionInUseError,
    SessionNotFoundError,
    SessionOptions,
    StateError,
    StoreError,
    tool,
)
from citestream.events import AnswerText
from citestream.sources import Granularity, from_text
from citestream.store import EventRecord
from scripted import MARK, answer, client_of, kinds, texts

pytestmark = pytest.mark.anyio
RULES = from_text("Meals are paid.\nAlcohol is not.", title="Rules")


async def test_a_session_is_resumed_with_its_sources_and_citations():
    store = MemoryStore()
    async with client_of(answer(f"No.{MARK}"), store=store) as (client, _):
        session = await client.create_session(enable_citations=True)
        session.sources.add(RULES, granularity=Granularity.LINE, alias="doc1")
        asked = await session.send_and_wait("Is it?")
        before = await session.get_events()
    for switch in (True, False):
        async with client_of(store=store) as (client, _):
            again = await client.resume_session(session.session_id, enable_citations=switch)
            assert again.enable_citations is switch
            assert again.sources.ids == ("turn0file0", "doc1")
            events = await again.get_events()
            (message,) = (one for one in events if kinds([one]) == ["assistant.message"])
            if switch:
                assert events[: len(before)] == before
                assert message == asked
                assert message.data.citations.spans[0].references[0].cited_text == "Meals are paid."
            else:
                assert (message.data.citations, message.data.content) == (None, f"No.{MARK}")
            resumed = [one.data for one in events if kinds([one]) == ["session.resume"]]
            assert resumed[-1].event_count == (7 if switch else 8)


async def test_what_a_dead_writer_left_is_complete_as_far_as_it_came():
    store = MemoryStore()
    never = anyio.Event()
    half = [AnswerText(text=f"Meals are paid.{MARK} And then \ue200cite"), never]
    async with client_of(half, store=store) as (client, _):
        session = await client.create_session(enable_citations=True)
        session.sources.add(RULES, granularity=Granularity.LINE, alias="doc1")
        await session.send("?")
        async with client.follow(session.session_id) as watching:
            async for one in watching:
                if kinds([one.event]) == ["assistant.message_delta"]:
                    break
        async with client_of(store=store) as (other, _):
            again = await other.resume_session(session.session_id, enable_citations=True)
            *_, cut = await again.get_events()
            async with other.follow(session.session_id) as late:
                async for one in late:
                    if kinds([one.event]) == ["session.idle"]:
                        assert one.event.data.aborted
                        break
            assert cut.data.extra["interrupted"] is True
            assert cut.data.content == "Meals are paid. And then"
            assert cut.data.citations.spans[0].references[0].cited_text == "Meals are paid."
            third = await other.resume_session(session.session_id, enable_citations=True)
            assert (await third.get_events())[-2:-1] == [cut]


async def test_a_session_is_observed():
    gate = anyio.Event()
    store = MemoryStore()
    async with client_of(answer("One."), [gate, *answer("Two.")], store=store) as (client, _):
        session = await client.create_session()
        await session.send_and_wait("1?")
        async with client_of(store=store) as (other, _):
            watching = await other.resume_session(session.session_id, mode="observe")
            seen = watching.events()
            await session.send("2?")
            gate.set()
            told = []
            async for event in seen:
                told.append(event)
                if kinds([event]) == ["session.idle"]:
                    break
            assert texts(told) in {"Two.", ""}  # or they were dropped before they were read
            messages = await watching.get_events()
            assert [
                one.data.content for one in messages if kinds([one]) == ["assistant.message"]
            ] == [
                "One.",
                "Two.",
            ]
            with pytest.raises(StateError, match="only observes"):
                await watching.feed(messages[0])
            await client.delete_session(session.session_id)
            await watching.disconnect()


async def test_modes_of_resuming():
    store = MemoryStore()
    async with client_of(store=store) as (client, _), client_of(store=store) as (other, _):
        session = await client.create_session(session_id="mine")
        with pytest.raises(SessionInUseError):
            await other.resume_session("mine", mode="fail")
        with pytest.raises(OptionError, match="mode: wanted 'takeover'"):
            await other.resume_session("mine", mode="steal")
        resumed = []
        async with anyio.create_task_group() as tasks:

            async def wait():
                resumed.append(await other.resume_session("mine", mode="wait"))

            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert not resumed
            await session.disconnect()
        assert resumed[0].session_id == "mine"


async def test_sessions_are_listed_and_deleted():
    async with client_of(answer("x"), answer("y")) as (client, _):
        first = await client.create_session()
        second = await client.create_session(owner="kim")
        await first.send_and_wait("  What is\npaid for? " + "x" * 200)
        await second.send_and_wait("Else?")
        await first.feed(
            {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": "abort", "data": {}}
        )
        (listed,) = await client.list_sessions()
        assert listed.session_id == first.session_id
        assert listed.summary.startswith("What is paid for? xxx")
        assert len(listed.summary) == 120
        assert isinstance(listed.start_time, datetime)
        assert listed.start_time <= listed.modified_time
        (theirs,) = await client.list_sessions(owner="kim")
        assert theirs.summary == "Else?"
        for call in (client.delete_session, client.resume_session):
            with pytest.raises(SessionNotFoundError):
                await call(second.session_id)
        with pytest.raises(SessionNotFoundError):
            await client.resume_session(second.session_id, owner="eve", mode="observe")
        await client.delete_session(first.session_id)
        assert await client.list_sessions() == []
        with pytest.raises(StateError):
            await first.send("?")
        with pytest.raises(SessionNotFoundError):
            await client.resume_session(first.session_id)


async def test_a_summary_that_cannot_be_read_is_none():
    store = MemoryStore()
    async with client_of(store=store) as (client, _):
        other = '{"id": "a", "timestamp": "2026-11-30", "type": "abort", "data": {}}'
        for number, body in enumerate(('{"broken', '{"id": "a"}', other)):
            lease = await store.create(f"s{number}")
            record = EventRecord(event_id="e", type="user.message", body=body)
            await store.append(lease, [record])
        assert [one.summary for one in await client.list_sessions()] == [None] * 3
        again = await client.resume_session("s0")
        assert kinds(await again.get_events()) == ["session.warning", "session.resume"]


async def test_ids_are_given_or_taken():
    async with client_of() as (client, _):
        session = await client.create_session(session_id="mine")
        assert session.session_id == "mine"
        with pytest.raises(SessionExistsError):
            await client.create_session(session_id="mine")
        with pytest.raises(OptionError):
            await client.create_session(session_id="../mine")


async def test_a_handler_on_event_misses_nothing():
    seen = []
    async with client_of(answer("Yes.")) as (client, _):
        session = await client.create_session(on_event=seen.append)
        await session.send_and_wait("?")
    assert kinds(seen)[0] == "user.message"


async def test_tools_are_checked():
    @tool(name="same")
    def one() -> str:
        return ""

    async with client_of() as (client, _):
        with pytest.raises(OptionError, match="wanted names that differ, got 'same' twice"):
            await client.create_session(tools=[one, one])
        with pytest.raises(OptionError, match=r"tools: wanted what citestream\.tool makes"):
            await client.create_session(tools=[print])


async def test_a_client_is_open_or_not():
    client = Client(store=MemoryStore())
    for call in (client.create_session, client.list_sessions):
        with pytest.raises(StateError, match="async with"):
            await call()
    async with client:
        with pytest.raises(StateError, match="open already"):
            await client.__aenter__()
        session = await client.create_session()
    with pytest.raises(StateError, match="disconnected"):
        session.on(print)
    await client.__aexit__(None, None, None)
    async with client:
        pass


async def test_a_client_that_cannot_open_its_store_stays_closed():
    class Broken(MemoryStore):
        async def __aenter__(self):
            raise StoreError("no such folder")

    client = Client(store=Broken())
    with pytest.raises(StoreError):
        await client.__aenter__()
    with pytest.raises(StateError):
        await client.list_sessions()


async def test_closing_goes_on_when_a_session_cannot_be_kept(caplog):
    class Full(MemoryStore):
        async def release(self, _lease, /):
            raise StoreError("the disk is full")

    async with client_of(store=Full()) as (client, _):
        sessions = [await client.create_session() for _ in range(2)]
    assert caplog.text.count("closed with an error") == 2
    for session in sessions:
        with pytest.raises(StateError):
            await session.feed({})


async def test_options_are_those_of_the_session():
    async with client_of(answer("Yes.")) as (client, provider):
        options = SessionOptions(system_message="Be kind.")
        session = await client.create_session(options=options)
        assert isinstance(session, Session)
        await session.send_and_wait("?")
    assert provider.asked[0].conversation.system == "Be kind."


async def test_several_sessions_at_once():
    gate = anyio.Event()
    answers = [[gate, *answer("Same.")] for _ in range(5)]
    async with client_of(*answers) as (client, _):
        sessions = [await client.create_session() for _ in range(5)]
        got = []
        async with anyio.create_task_group() as tasks:

            async def ask(session):
                got.append((await session.send_and_wait("?")).data.content)

            for session in sessions:
                tasks.start_soon(ask, session)
            await anyio.wait_all_tasks_blocked()
            gate.set()
        assert got == ["Same."] * 5


async def test_a_session_that_is_fed_is_kept_too():
    head = {"timestamp": "2026-11-30T04:55:10Z", "parentId": None}
    delta = {"messageId": "m", "deltaContent": f"Yes.{MARK}"}
    message = {"messageId": "m", "content": f"Yes.{MARK}"}
    async with client_of() as (client, _):
        session, seen = await client.create_session(enable_citations=True), []
        await session.get_events()
        session.on(seen.append)
        streams = head | {"id": "1", "type": "assistant.message_delta", "data": delta}
        await session.feed(streams)
        await session.feed(head | {"id": "2", "type": "assistant.message", "data": message})
        assert texts(seen) == seen[1].data.content == "Yes."
        again = await client.resume_session(session.session_id, enable_citations=True)
        assert (await again.get_events())[1] == seen[1]
