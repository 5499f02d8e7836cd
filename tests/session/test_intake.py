import anyio
import pytest

from citestream import CitationOptions, MemoryStore, SourceRegistry, StoreError, wire
from citestream.session.delivery import Delivery
from citestream.session.intake import Intake
from citestream.session.journal import Journal, Keeper
from citestream.session.reading import SOURCES, Reading
from citestream.sources import from_text
from scripted import kinds

pytestmark = pytest.mark.anyio
NOTES = from_text("Meals are paid.")


def event(kind, number=0, **data):
    return wire.decode_event(
        {"id": f"e{number}", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    )


def delta(text, number=0):
    return event("assistant.message_delta", number, messageId="m", deltaContent=text)


class Kept:
    """An intake with all that it works with."""

    def __init__(self, store, lease, past=()):
        self.delivery = Delivery("s")
        self.sources = SourceRegistry()
        reading = Reading(CitationOptions(), sources=self.sources, enable_citations=True)
        last = past[-1].seq if past else 0
        self.journal = Journal(store, lease, Keeper(store), last=last)
        self.intake = Intake(reading, self.delivery, self.journal, past=past)


async def test_an_event_is_kept_before_it_is_seen():
    async with MemoryStore() as store:
        kept, seen = Kept(store, await store.create("s")), []

        async def look(_event):
            seen.append(len(await store.read("s")))

        kept.delivery.subscribe(look)
        await kept.intake.take(event("abort", 1))
        await kept.intake.take(delta("x", 2))
        await kept.intake.take(event("abort", 3))
        assert seen == [1, 1, 3]


async def test_an_event_that_cannot_be_kept_is_not_seen():
    class Full(MemoryStore):
        async def append(self, lease, events, /):
            if any(one.event_id == "e1" for one in events):
                raise StoreError("the disk is full")
            return await super().append(lease, events)

    async with Full() as store:
        kept, seen = Kept(store, await store.create("s")), []
        kept.delivery.subscribe(seen.append)
        with pytest.raises(StoreError):
            await kept.intake.take(event("abort", 1))
        await kept.intake.take(event("abort", 2))
        assert [one.id for one in seen] == ["e2"]


async def test_an_event_that_was_kept_before_is_not_given_out_again():
    async with MemoryStore() as store:
        kept, seen = Kept(store, await store.create("s")), []
        kept.delivery.subscribe(seen.append)
        for number in (1, 2, 1, 2):
            await kept.intake.take(event("abort", number))
        assert [one.id for one in seen] == ["e1", "e2"]


async def test_cancelling_leaves_no_event_half_taken():
    class Slow(MemoryStore):
        async def append(self, lease, events, /):
            await anyio.lowlevel.checkpoint()
            return await super().append(lease, events)

    async with Slow() as store:
        kept, seen = Kept(store, await store.create("s")), []
        kept.delivery.subscribe(seen.append)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await kept.intake.take(event("abort", 1))
        await kept.intake.deliver()
        assert [one.id for one in seen] == ["e1"]
        assert len(await store.read("s")) == 1


async def test_registrations_are_kept_with_the_event_that_follows():
    async with MemoryStore() as store:
        kept = Kept(store, await store.create("s"))
        kept.sources.add(NOTES)
        kept.intake.attach_files({"turn0file0": {"data": "", "mimeType": "application/pdf"}})
        await kept.intake.take(delta("x", 1))
        kept.sources.begin_turn()
        kept.sources.add(NOTES, alias="again")
        await kept.intake.take(event("abort", 2))
        kept.sources.add(NOTES)
        await kept.intake.close()
        rows = await store.read("s")
        assert [row.type for row in rows] == [
            SOURCES,
            "assistant.message_delta",
            SOURCES,
            "abort",
            SOURCES,
        ]
        again = Kept(store, await store.acquire("s"), past=rows)
        await again.intake.recall()
        assert again.sources.snapshot() == kept.sources.snapshot()
        again.sources.add(NOTES)
        await again.intake.close()
        assert [row.type for row in (await store.read("s"))[4:]] == [
            "assistant.message",
            "session.idle",
            SOURCES,
        ]


async def test_what_a_tool_returned_is_kept_once():
    result = {"content": "", "citableSources": [{"id": "a", "content": "b"}]}
    tool = event("tool.execution_complete", 1, toolCallId="c", success=True, result=result)
    async with MemoryStore() as store:
        kept = Kept(store, await store.create("s"))
        await kept.intake.take(tool)
        await kept.intake.take(event("abort", 2))
        assert [row.type for row in await store.read("s")] == ["tool.execution_complete", "abort"]
        assert kept.sources.ids == ("turn0file0", "a")


async def test_what_is_registered_while_an_event_is_being_kept_is_not_lost():
    class Slow(MemoryStore):
        async def append(self, lease, events, /):
            number = await super().append(lease, events)
            if events[-1].event_id == "e1":
                kept.sources.add(NOTES)
            return number

    async with Slow() as store:
        kept = Kept(store, await store.create("s"))
        await kept.intake.take(event("abort", 1))
        await kept.intake.take(event("abort", 2))
        assert [row.type for row in await store.read("s")] == ["abort", SOURCES, "abort"]


async def test_the_past_is_read_before_what_comes():
    async with MemoryStore() as store:
        kept = Kept(store, await store.create("s"))
        for number in range(300):
            await kept.intake.take(event("abort", number))
        for first in (delta("x", 500), event("abort", 500)):
            again = Kept(store, await store.acquire("s"), past=await store.read("s"))
            seen = []
            again.delivery.subscribe(seen.append)
            await again.intake.take(first)
            assert [one.id for one in seen] == ["e500"]
            assert [one.id for one in again.delivery.history][:300] == [f"e{n}" for n in range(300)]
        again = Kept(store, await store.acquire("s"), past=await store.read("s"))
        again.intake.recall_at_once()
        assert len(again.delivery.history) >= 300
        await again.intake.recall()


async def test_deltas_keep_their_place_behind_an_event_that_is_being_kept():
    began, may_end = anyio.Event(), anyio.Event()

    class Slow(MemoryStore):
        async def append(self, lease, events, /):
            began.set()
            await may_end.wait()
            return await super().append(lease, events)

    async with Slow() as store, anyio.create_task_group() as tasks:
        kept, seen = Kept(store, await store.create("s")), []
        kept.delivery.subscribe(seen.append)
        tasks.start_soon(kept.intake.take, event("abort", 1))
        await began.wait()
        tasks.start_soon(kept.intake.take, delta("x", 2))
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        may_end.set()
        await anyio.wait_all_tasks_blocked()
        assert kinds(seen) == ["abort", "assistant.message_delta"]


async def test_an_intake_that_only_observes_keeps_nothing():
    async with MemoryStore() as store:
        kept, seen = Kept(store, await store.create("s")), []
        await kept.intake.take(event("abort", 1))
        delivery = Delivery("s")
        reading = Reading(CitationOptions(), sources=SourceRegistry(), enable_citations=True)
        watching = Intake(reading, delivery, None)
        delivery.subscribe(seen.append)
        await watching.show(await store.read("s"))
        assert kinds(seen) == ["abort"]
        await watching.tell(event("abort", 2))
        await watching.take(event("abort", 3))
        await watching.take(delta("x", 4))
        await watching.close()
        assert len(seen) == 4
        assert len(await store.read("s")) == 1
