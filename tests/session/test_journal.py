import anyio
import pytest

from citestream import MemoryStore, SessionFenced, StoreError, wire
from citestream.session import journal as room
from citestream.session.journal import Journal, Keeper, stream_of

pytestmark = pytest.mark.anyio


def event(kind, number=0, *, ephemeral=None, agent=None, **data):
    raw = {"id": f"e{number}", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    raw |= {} if ephemeral is None else {"ephemeral": ephemeral}
    return wire.decode_event(raw | ({} if agent is None else {"agentId": agent}))


def delta(text, number=0, *, message="m", agent=None, **more):
    data = {"messageId": message, "deltaContent": text} | more
    return event("assistant.message_delta", number, agent=agent, **data)


async def opened(store, **options):
    lease = await store.create("s")
    keeper = Keeper(store)
    return Journal(store, lease, keeper, **options), keeper


async def kept(store):
    return [(one.type, wire.decode_event(one.body).data) for one in await store.read("s")]


@pytest.mark.parametrize(
    ("given", "stream"),
    [
        (delta("x"), "message//m"),
        (delta("x", agent="a"), "message/a/m"),
        (event("assistant.message_start", messageId="m"), "message//m"),
        (event("assistant.reasoning_delta", deltaContent="x", reasoningId="r"), "reasoning//r"),
        (event("assistant.reasoning_delta", deltaContent="x"), "reasoning//"),
        (event("assistant.usage", ephemeral=True), "turn"),
        (event("session.idle", ephemeral=True), None),
        (event("session.error", ephemeral=True, message="x"), None),
        (event("assistant.message", content="x", messageId="m"), None),
        (event("assistant.message", ephemeral=True, content="x", messageId="m"), None),
        (event("session.shutdown", ephemeral=True), None),
        (event("kind.unknown"), None),
    ],
)
def test_what_an_event_is_a_piece_of(given, stream):
    assert stream_of(given) == stream


async def test_deltas_that_wait_are_joined():
    async with MemoryStore() as store:
        journal, _ = await opened(store)
        deltas = [
            delta("One ", 1),
            delta("two", 2),
            delta("!", 3, message="n"),
            delta(" three", 4),
            event("assistant.usage", 5, ephemeral=True),
            delta(" four", 6),
            delta(" five", 7, parentToolCallId="c"),
            delta(" six", 8, agent="a"),
            delta(" seven", 9, agent="a", more=1),
        ]
        for one in deltas:
            journal.accept(one, stream_of(one))
        journal.flush()
        journal.flush()
        await store.flush()
        texts = [getattr(data, "delta_content", None) for _, data in await kept(store)]
        assert texts == ["One two", "!", " three", None, " four", " five", " six", " seven"]


async def test_what_a_message_completes_is_dropped_with_it():
    async with MemoryStore() as store:
        journal, _ = await opened(store)
        for one in (
            delta("One"),
            delta("Other", 1, message="n"),
            event("assistant.reasoning_delta", 2, deltaContent="x", reasoningId="r"),
            event("assistant.usage", 3, ephemeral=True),
        ):
            journal.accept(one, stream_of(one))
            journal.flush()
        journal.accept(delta(" more", 4), "message//m")
        message = event("assistant.message", 5, content="One more", messageId="m")
        assert await journal.append([message])
        assert [kind for kind, _ in await kept(store)] == [
            "assistant.message_delta",
            "assistant.reasoning_delta",
            "assistant.usage",
            "assistant.message",
        ]
        reasoning = event("assistant.reasoning", 6, content="x", reasoningId="r")
        await journal.append([reasoning, event("session.idle", 7)])
        assert [kind for kind, _ in await kept(store)] == [
            "assistant.message_delta",
            "assistant.message",
            "assistant.reasoning",
            "session.idle",
        ]


async def test_an_event_that_was_kept_before_is_not_new():
    async with MemoryStore() as store:
        journal, _ = await opened(store)
        one, two = event("abort", 1), event("abort", 2)
        assert await journal.append([one])
        assert await journal.append([two])
        assert not await journal.append([one])
        assert not await journal.append([two])
        assert journal.last == 2
        assert len(await kept(store)) == 2


async def test_a_keeper_flushes_and_renews(monkeypatch):
    monkeypatch.setattr(room, "FLUSH_SECONDS", 0)
    monkeypatch.setattr(room, "RENEW_SECONDS", 0)
    renewed = anyio.Event()

    class Watched(MemoryStore):
        async def renew(self, lease, /):
            await super().renew(lease)
            renewed.set()

    async with Watched() as store, anyio.create_task_group() as tasks:
        journal, keeper = await opened(store)
        keeper.watch(journal)
        tasks.start_soon(keeper.run)
        journal.accept(delta("One"), "message//m")
        await store.wait("s")
        assert [data.delta_content for _, data in await kept(store)] == ["One"]
        await renewed.wait()
        await store.acquire("s")
        with pytest.raises(SessionFenced):
            await journal.renew()
        assert isinstance(keeper, Keeper)
        await journal.close()
        tasks.cancel_scope.cancel()


async def test_a_keeper_survives_a_store_that_fails(monkeypatch):
    monkeypatch.setattr(room, "FLUSH_SECONDS", 0)
    failed = anyio.Event()

    class Broken(MemoryStore):
        async def flush(self):
            if not failed.is_set():
                failed.set()
                raise StoreError("the disk is full")
            await super().flush()

    async with Broken() as store, anyio.create_task_group() as tasks:
        journal, keeper = await opened(store)
        tasks.start_soon(keeper.run)
        journal.accept(delta("One"), "message//m")
        await failed.wait()
        journal.accept(delta(" two", 1), "message//m")
        while len(await kept(store)) < 2:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_closing_keeps_what_waits():
    async with MemoryStore() as store:
        journal, keeper = await opened(store)
        keeper.watch(journal)
        keeper.forget(journal)
        keeper.forget(journal)
        journal.accept(delta("One"), "message//m")
        await journal.close()
        await store.flush()
        assert len(await kept(store)) == 1
        assert (await store.get("s")).holder is None
