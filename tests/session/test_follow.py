import anyio
import pytest

from citestream import MemoryStore, OptionError, SessionNotFoundError
from citestream.events import AnswerText
from citestream.session.follow import read_all
from citestream.sources import Granularity, from_text
from scripted import MARK, answer, client_of, kinds, texts

pytestmark = pytest.mark.anyio
RULES = from_text("Meals are paid.\nAlcohol is not.", title="Rules")
TEXT = f"No.{MARK} And \ue200cite\ue202doc1\ue201 bye."


async def read(follower, until="session.idle", count=1):
    seen = []
    async for one in follower:
        seen.append(one)
        if kinds([one.event]) == [until] and (count := count - 1) == 0:
            return seen
    raise AssertionError


async def test_late_and_live_readers_get_the_same():
    gate = anyio.Event()
    store = MemoryStore()
    async with client_of([gate, *answer(TEXT)], answer("Two."), store=store) as (client, _):
        session = await client.create_session(enable_citations=True)
        session.sources.add(RULES, granularity=Granularity.LINE, alias="doc1")
        given = []
        session.on(given.append)
        followers = [client.follow(session.session_id, enable_citations=True) for _ in range(5)]
        live = []
        async with anyio.create_task_group() as tasks:

            async def watch(follower):
                live.append(await read(follower))

            for follower in followers:
                tasks.start_soon(watch, follower)
            await anyio.wait_all_tasks_blocked()
            await session.send("?")
            gate.set()
        async with client.follow(session.session_id, enable_citations=True) as late:
            whole = await read(late)
        for seen in live:
            assert [one for one in seen if not is_piece(one)] == [
                one for one in whole if not is_piece(one)
            ]
            streamed = texts(one.event for one in seen)
            assert streamed in {"", next(said(seen)).data.content}
        (message,) = said(whole)
        assert message == next(one for one in given if one.type.value == "assistant.message")
        assert message.data.citations is not None
        assert [one.cursor for one in whole] == sorted(
            (one.cursor for one in whole), key=lambda text: [*map(int, text.split("."))]
        )


def is_piece(one):
    return kinds([one.event]) in (
        ["assistant.message_delta"],
        ["assistant.message_start"],
        ["session.warning"],
    )


def said(seen):
    return (one.event for one in seen if kinds([one.event]) == ["assistant.message"])


async def test_every_cursor_goes_on_where_it_stands():
    never = anyio.Event()
    store = MemoryStore()
    half = [AnswerText(text=f"Half{MARK} "), AnswerText(text="more \ue200"), never]
    async with client_of(answer(TEXT), half, store=store) as (client, _):
        session = await client.create_session(enable_citations=True)
        await session.send_and_wait("1?")
        await session.send("2?")
        await read(client.follow(session.session_id), until="assistant.message_delta")
        whole = await read(
            client.follow(session.session_id, enable_citations=True),
            until="assistant.message_delta",
        )
        for number, one in enumerate(whole[:-1]):
            rest = await read(
                client.follow(session.session_id, enable_citations=True, after=one.cursor),
                until="assistant.message_delta",
            )
            assert rest == whole[number + 1 :]
        watching = client.follow(session.session_id, enable_citations=True, after=whole[-1].cursor)
        await session.abort()
        cut = await read(watching, until="session.idle")
        assert texts(one.event for one in [*whole, *cut]) == next(said(cut)).data.content


async def test_raw_markers_where_citations_are_off():
    async with client_of(answer(TEXT)) as (client, _):
        session = await client.create_session(enable_citations=True)
        await session.send_and_wait("?")
        seen = await read(client.follow(session.session_id))
        assert next(said(seen)).data.content == TEXT


@pytest.mark.parametrize("cursor", ["", "1", "1.0", "1.3.0", "01.0.0", "1.0.0 ", "١.0.0", 5])
async def test_what_is_no_cursor_is_refused(cursor):
    async with client_of() as (client, _):
        with pytest.raises(OptionError, match="after: wanted a cursor"):
            client.follow("s", after=cursor)


async def test_following_ends_with_the_session_or_the_reader():
    async with client_of() as (client, _):
        session = await client.create_session()
        follower = client.follow(session.session_id)
        assert kinds([(await anext(follower)).event]) == ["session.start"]
        async with anyio.create_task_group() as tasks:

            async def gone():
                with pytest.raises(SessionNotFoundError):
                    await anext(follower)

            tasks.start_soon(gone)
            await anyio.wait_all_tasks_blocked()
            await client.delete_session(session.session_id)
        other = await client.create_session()
        async with client.follow(other.session_id) as closed:
            await anext(closed)
        with pytest.raises(StopAsyncIteration):
            await anext(closed)
        with pytest.raises(SessionNotFoundError):
            await anext(client.follow(other.session_id, owner="eve"))


async def test_a_long_log_is_read_in_pages():
    async with MemoryStore() as store, client_of(store=store) as (client, _):
        session = await client.create_session()
        for number in range(2500):
            await session.feed(
                {
                    "id": f"e{number}",
                    "timestamp": "2026-11-30T04:55:10Z",
                    "type": "abort",
                    "data": {},
                }
            )
        assert len(await read_all(store, session.session_id)) == 2501
        assert len(await read_all(store, session.session_id, after=2000)) == 501
        seen = await read(client.follow(session.session_id), until="abort", count=2500)
        assert len(seen) == 2501
