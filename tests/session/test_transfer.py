import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from citestream import (
    Client,
    DecodeError,
    MemoryStore,
    OptionError,
    SessionExistsError,
    SessionNotFoundError,
    StateError,
    StoreError,
)
from citestream.events import AnswerText
from citestream.logs import LogReader
from citestream.session.transfer import ImportedSession
from citestream.sources import Granularity, from_text
from citestream.store import EventRecord
from citestream.wire import decode_event
from damaged import SHAPES
from scripted import MARK, answer, client_of, kinds, texts
from store.stores import make

pytestmark = pytest.mark.anyio
LOGS = sorted((Path(__file__).parents[1] / "data" / "copilot").glob("*.jsonl"))
RULES = from_text("Meals are paid.\nAlcohol is not.", title="Rules")


@pytest.fixture(params=["memory", "wal"])
def store(request, tmp_path):
    return make(request.param, tmp_path / "sessions.db")


def events_of(data):
    reader = LogReader()
    return [*reader.feed(data), *reader.finish()]


async def exported(client, session_id, **options):
    return [line async for line in client.export_session(session_id, **options)]


def event(name, kind="abort", /, **data):
    moment = "2026-11-30T04:55:10Z"
    return {"id": name, "timestamp": moment, "type": kind, "parentId": None, "data": data}


def delta(name, text, message="m"):
    data = {"messageId": message, "deltaContent": text}
    return event(name, "assistant.message_delta", **data) | {"ephemeral": True}


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
async def test_recorded_logs_go_in_and_out(store, log):
    events = events_of(log.read_bytes())
    async with client_of(answer("More."), store=store) as (client, _):
        imported = await client.import_session(events)
        session_id = imported.session_id
        assert imported == ImportedSession(
            session_id=session_id, events=len(events), repeated=0, renamed=0
        )
        starts = [one.data.session_id for one in events if kinds([one]) == ["session.start"]]
        assert session_id in (starts or {session_id})
        lines = await exported(client, session_id)
        back = [decode_event(line) for line in lines]
        lasting = [one for one in events if not one.ephemeral or kinds([one]) == ["session.idle"]]
        assert [one for one in back if one in lasting] == lasting
        await client.delete_session(session_id)
        await client.import_session(map(json.loads, lines), session_id=session_id)
        assert await exported(client, session_id) == lines
        (listed,) = await client.list_sessions()
        assert listed.summary in {"Ask kb", "How does the on-call handoff work?"}
        session = await client.resume_session(session_id, enable_citations=True)
        message = await session.send_and_wait("And?")
        assert message.data.content == "More."


async def test_citations_are_derived_from_what_was_imported():
    data = next(path for path in LOGS if path.stem == "persisted-openai-markers").read_bytes()
    async with client_of() as (client, _):
        imported = await client.import_session(events_of(data))
        session = await client.resume_session(imported.session_id, enable_citations=True)
        messages = [
            one for one in await session.get_events() if kinds([one]) == ["assistant.message"]
        ]
        assert len(messages[-1].data.citations.sources) == 4


async def test_a_session_of_ours_goes_out_and_in_with_its_sources(store):
    first, second = MemoryStore(), store
    async with client_of(answer(f"Yes.{MARK}"), store=first) as (client, _):
        session = await client.create_session(enable_citations=True)
        session.sources.add(RULES, granularity=Granularity.LINE, alias="doc1")
        asked = await session.send_and_wait("Is it?")
        lines = await exported(client, session.session_id)
    async with client_of(answer(f"No.{MARK}"), store=second) as (client, provider):
        await client.import_session(decode_event(line) for line in lines)
        assert await exported(client, session.session_id) == lines
        again = await client.resume_session(session.session_id, enable_citations=True)
        events = await again.get_events()
        assert asked in events
        more = await again.send_and_wait("And?")
        assert more.data.citations.spans[0].references[0].cited_text == "Meals are paid."
        assert len(provider.asked[0].conversation.turns) == 3
        async with client.follow(session.session_id) as watching:
            assert kinds([(await anext(watching)).event]) == ["session.start"]


async def test_what_the_copilot_cli_wants_is_added_once():
    async with client_of(answer("Yes.")) as (client, _):
        session = await client.create_session()
        await session.send_and_wait("?")
        events = [json.loads(line) for line in await exported(client, session.session_id)]
        assert [one["parentId"] for one in events[:3]] == [None, None, events[1]["id"]]
        assert events[0]["data"]["copilotVersion"] == "0"
        start = event("e", "session.start", sessionId="other", copilotVersion="1.0.102")
        await client.import_session([start])
        assert [json.loads(line) for line in await exported(client, "other")] == [start]


async def test_what_cannot_be_read_goes_out_as_it_is():
    store = MemoryStore()
    async with Client(store=store) as client:
        lease = await store.create("s")
        await store.append(lease, [EventRecord(event_id="e", type="x", body="{broken")])
        assert await exported(client, "s") == ["{broken"]


async def test_an_answer_that_was_cut_off_is_interrupted(store):
    pieces = [delta("d1", "Meals "), delta("d2", "are p"), delta("d3", "Other", "n")]
    log = [delta("d0", "Done"), event("m", "assistant.message", messageId="m", content="Done")]
    async with client_of(store=store) as (client, _):
        imported = await client.import_session([*log, *pieces])
        assert imported.events == 5
        lines = await exported(client, imported.session_id)
        assert [json.loads(line)["id"] for line in lines] == ["m", "d1", "d2", "d3"]
        await client.import_session(map(json.loads, lines), session_id="again")
        assert await exported(client, "again") == lines
        session = await client.resume_session("again")
        *_, first, second = await session.get_events()
        assert (first.data.content, second.data.content) == ("Meals are p", "Other")
        assert first.data.extra["interrupted"] is True


async def test_a_session_goes_out_while_it_is_written():
    never = anyio.Event()
    async with client_of([AnswerText(text="Meals"), never]) as (client, _):
        session = await client.create_session()
        await session.send("?")
        async with client.follow(session.session_id) as watching:
            async for one in watching:
                if texts([one.event]):
                    break
        lines = await exported(client, session.session_id)
        assert json.loads(lines[-1])["data"]["deltaContent"] == "Meals"


@pytest.mark.parametrize("name", SHAPES)
async def test_damaged_logs_can_be_asked_further(store, name):
    data, survivors, _ = SHAPES[name]
    events = [one for one in events_of(data) if not hasattr(one, "lost")]
    async with client_of(answer("Yes."), store=store) as (client, _):
        imported = await client.import_session(events)
        session = await client.resume_session(imported.session_id)
        assert [one.id for one in await session.get_events()][:-1] == survivors
        assert (await session.send_and_wait("?")).data.content == "Yes."


async def test_ids_are_given_or_taken_or_made():
    start = event("e", "session.start", sessionId="mine")
    async with client_of() as (client, _):
        assert (await client.import_session([event("e0"), start])).session_id == "mine"
        assert (await client.import_session([start], session_id="other")).session_id == "other"
        with pytest.raises(SessionExistsError):
            await client.import_session([start])
        made = await client.import_session([event(f"e{number}") for number in range(450)])
        assert len(made.session_id) == 36
        assert len(await exported(client, made.session_id)) == 450
        with pytest.raises(OptionError, match=r"session_id: wanted 1 to 128 .* got '\.\./x'"):
            await client.import_session([event("e", "session.start", sessionId="../x")])
        assert len(await client.list_sessions()) == 3


async def test_owners_have_their_own():
    async with client_of() as (client, _):
        await client.import_session([event("e")], session_id="s", owner="kim")
        assert await client.list_sessions() == []
        assert len(await exported(client, "s", owner="kim")) == 1
        with pytest.raises(SessionNotFoundError):
            await exported(client, "s")


async def test_ids_that_mean_two_events_are_made_two(store):
    twice = [event("e"), event("e", reason="x"), event("e"), event(""), event("\ud800\0")]
    async with client_of(store=store) as (client, _):
        imported = await client.import_session(twice)
        assert (imported.events, imported.repeated, imported.renamed) == (5, 1, 2)
        lines = await exported(client, imported.session_id)
        found = [json.loads(line)["id"] for line in lines]
        assert (len(set(found)), found[0], found[-1]) == (4, "e", "\ud800\0")
        again = await client.import_session(map(json.loads, lines), session_id="again")
        assert again.renamed == 0
        assert await exported(client, "again") == lines


async def test_events_come_from_wherever():
    async def arriving():
        for number in range(3):
            await anyio.lowlevel.checkpoint()
            yield event(f"e{number}")

    async with client_of() as (client, _):
        assert (await client.import_session(arriving())).events == 3


async def broken():
    for number in range(450):
        yield event(f"e{number}")
    raise ValueError("the disk")


@pytest.mark.parametrize(
    ("events", "error"),
    [
        (broken, ValueError),
        (lambda: [event(f"e{number}") for number in range(300)] + [{"id": 5}], DecodeError),
        (list, OptionError),
        (lambda: [5], DecodeError),
    ],
    ids=["raises", "late", "empty", "no event"],
)
async def test_a_failed_import_leaves_nothing(store, events, error):
    async with client_of(store=store) as (client, _):
        with pytest.raises(error):
            await client.import_session(events(), session_id="s")
        assert await client.list_sessions() == []


async def test_a_cancelled_import_leaves_nothing(store):
    async def endless():
        for number in range(1000):
            yield event(f"e{number}")
        scope.cancel()
        await anyio.sleep_forever()

    async with client_of(store=store) as (client, _):
        with anyio.CancelScope() as scope:
            await client.import_session(endless(), session_id="s")
        assert scope.cancelled_caught
        assert await client.list_sessions() == []


async def test_a_store_that_fails_is_told_of():
    class Full(MemoryStore):
        def accept(self, _lease, _events, /):
            raise StoreError("the disk is full")

        async def delete(self, *_args, **_options):
            raise StoreError("nor can it be deleted")

    async with client_of(store=Full()) as (client, _):
        with pytest.raises(StoreError, match="full"):
            await client.import_session([event("e"), delta("d", "x")])


async def test_many_pieces_are_kept_in_between():
    flushes = []

    class Counting(MemoryStore):
        async def flush(self):
            flushes.append(1)
            await super().flush()

    async with client_of(store=Counting()) as (client, _):
        pieces = [delta(f"d{number}", "x") for number in range(401)]
        imported = await client.import_session(pieces)
        assert len(await exported(client, imported.session_id)) == 401
    assert len(flushes) >= 2


async def test_only_an_open_client_moves_sessions():
    client = Client()
    with pytest.raises(StateError, match="import_session"):
        await client.import_session([])
    with pytest.raises(StateError, match="export_session"):
        client.export_session("s")


"""What ends a stream stays, so it is never ephemeral."""


@given(
    st.lists(
        strategies.events,
        min_size=1,
        max_size=5,
    )
)
def test_whatever_is_an_event_goes_out_and_in_and_out_the_same(events):
    async def run():
        async with client_of() as (client, _):
            await client.import_session(events, session_id="one")
            lines = await exported(client, "one")
            assert all(line.isascii() and "\n" not in line for line in lines)
            reader = LogReader()
            again = [*reader.feed("\n".join(lines).encode()), *reader.finish()]
            if again:
                await client.import_session(again, session_id="two")
                assert await exported(client, "two") == lines

    anyio.run(run)
