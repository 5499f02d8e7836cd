"""The contract: what every store does, on asyncio and on trio."""

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citestream.errors import (
    OptionError,
    SessionExistsError,
    SessionFenced,
    SessionInUseError,
    SessionNotFoundError,
    StateError,
)
from citestream.store import EventRecord, Lease, Store, StoredEvent
from store.stores import event, kept, piece

pytestmark = pytest.mark.anyio


async def test_a_session_begins_empty_and_held(store):
    async with store:
        lease = await store.create("s", owner="o", holder="the first writer")
        assert (lease.session_id, lease.epoch) == ("s", 1)
        found = await store.get("s", owner="o")
        assert (found.session_id, found.owner, found.epoch, found.last_seq) == ("s", "o", 1, 0)
        assert (found.holder, found.opening) == ("the first writer", None)
        assert found.created_at == found.updated_at
        assert await store.read("s", owner="o") == []


@pytest.mark.parametrize("owner", [None, "o", "someone else"])
async def test_an_id_is_taken_whoever_took_it(store, owner):
    async with store:
        await store.create("s", owner="o")
        with pytest.raises(SessionExistsError, match="session 's': there is one"):
            await store.create("s", owner=owner)


async def test_events_are_numbered_and_read_back(store):
    events = [
        EventRecord(event_id="a", type="user.message", body='{"x": "\\ud800"}'),
        EventRecord(event_id="b", type="assistant.message_delta", body="{}", stream="m"),
    ]
    async with store:
        lease = await store.create("s")
        assert await store.append(lease, events) == 2
        assert await store.append(lease, [event("c")]) == 3
        assert (await store.read("s"))[:2] == [
            StoredEvent(seq=1, epoch=1, event_id="a", type="user.message", body=events[0].body),
            StoredEvent(
                seq=2,
                epoch=1,
                event_id="b",
                type="assistant.message_delta",
                body="{}",
                stream="m",
            ),
        ]
        assert await kept(store, after=1) == [(2, "b"), (3, "c")]
        assert await kept(store, after=1, limit=1) == [(2, "b")]
        assert await kept(store, limit=0) == []
        assert await kept(store, after=2**80, limit=2**80) == []
        assert (await store.get("s")).last_seq == 3


async def test_nothing_appended_is_the_last_number(store):
    async with store:
        lease = await store.create("s")
        assert await store.append(lease, []) == 0
        await store.append(lease, [event("a")])
        assert await store.append(lease, ()) == 1


async def test_what_is_there_is_not_kept_again(store):
    async with store:
        lease = await store.create("s")
        assert await store.append(lease, [event("a"), event("b")]) == 2
        assert await store.append(lease, [event("a"), event("b")]) == 2
        assert await store.append(lease, [event("a")]) == 1
        assert await store.append(lease, [event("b"), event("c"), event("a")]) == 1
        assert await store.append(lease, [event("d"), event("d")]) == 4
        assert await kept(store) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


async def test_an_id_belongs_to_its_session(store):
    async with store:
        for name in ("s", "t"):
            lease = await store.create(name)
            assert await store.append(lease, [event("a")]) == 1


async def test_repeats_at_once_are_kept_once(store):
    numbers = []

    async def append(lease):
        numbers.append(await store.append(lease, [event("a"), event("b")]))

    async with store:
        lease = await store.create("s")
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(append, lease)
        assert numbers == [2] * 5
        assert await kept(store) == [(1, "a"), (2, "b")]


async def test_pieces_are_dropped_when_their_stream_ends(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a"), piece("m1"), piece("n1", "n"), piece("m2")])
        assert await store.append(lease, [event("end", "m", "never")]) == 5
        assert await kept(store) == [(1, "a"), (3, "n1"), (5, "end")]
        assert await store.append(lease, [piece("m3")]) == 6
        assert await store.append(lease, [event("end", "m")]) == 5
        assert await kept(store) == [(1, "a"), (3, "n1"), (5, "end"), (6, "m3")]
        assert await store.append(lease, [event("all", "m", "n")]) == 7
        assert await kept(store) == [(1, "a"), (5, "end"), (7, "all")]


async def test_accepted_pieces_come_before_what_is_appended(store):
    async with store:
        lease = await store.create("s")
        store.accept(lease, [piece("1"), piece("2")])
        store.accept(lease, [piece("3")])
        assert await store.append(lease, [event("a")]) == 4
        assert await kept(store) == [(1, "1"), (2, "2"), (3, "3"), (4, "a")]


async def test_accepted_pieces_are_kept_when_flushed(store):
    async with store:
        lease = await store.create("s")
        store.accept(lease, [piece("1")])
        await store.flush()
        store.accept(lease, [piece("2")])
        await store.flush()
        assert await kept(store) == [(1, "1"), (2, "2")]
        last = await store.append(lease, [event("end", "m")])
        assert await kept(store) == [(last, "end")]
        assert (await store.get("s")).last_seq == last


async def test_accepted_pieces_are_kept_when_the_last_one_leaves(store):
    async with store:
        lease = await store.create("s")
        store.accept(lease, [piece("1")])
    async with store:
        assert await kept(store) == [(1, "1")]


async def test_pieces_and_their_end_may_come_together(store):
    async with store:
        lease = await store.create("s")
        together = [piece("m1"), piece("n1", "n"), event("end", "m"), piece("m2")]
        assert await store.append(lease, together) == 3
        assert await store.append(lease, together) == 3
        assert await kept(store) == [(1, "n1"), (2, "end"), (3, "m2")]


async def test_accepted_pieces_and_their_end_may_come_together(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a")])
        store.accept(lease, [piece("m1"), piece("n1", "n")])
        store.accept(lease, [piece("m2")])
        last = await store.append(lease, [event("end", "m")])
        assert [name for _, name in await kept(store)] == ["a", "n1", "end"]
        assert await store.append(lease, [event("b")]) == last + 1


async def test_a_repeated_end_ends_nothing_more(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("end", "m")])
        store.accept(lease, [piece("m1")])
        assert await store.append(lease, [event("end", "m")]) == 1
        assert [name for _, name in await kept(store)] == ["end", "m1"]


async def test_a_dropped_piece_may_be_kept_again(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [piece("m1")])
        await store.append(lease, [event("end", "m")])
        assert await store.append(lease, [piece("m1")]) == 3
        assert await kept(store) == [(2, "end"), (3, "m1")]


async def test_whoever_was_fenced_off_is_told_by_whom(store):
    async with store:
        old = await store.create("s")
        await store.append(old, [event("a")])
        new = await store.acquire("s", holder="the second writer")
        assert new.epoch == 2
        with pytest.raises(SessionFenced, match=r"'the second writer' took it over at 20.*epoch 2"):
            await store.append(old, [event("b")])
        with pytest.raises(SessionFenced):
            await store.renew(old)
        await store.release(old)
        assert (await store.get("s")).holder == "the second writer"
        assert await store.append(new, [event("b")]) == 2
        newest = await store.acquire("s")
        with pytest.raises(SessionFenced, match="someone else took it over"):
            await store.append(new, [event("c")])
        assert await store.append(newest, [event("c")]) == 3
        assert [stored.epoch for stored in await store.read("s")] == [1, 2, 3]


async def test_what_is_wrong_with_pieces_is_told_by_the_next_append(store):
    async with store:
        old = await store.create("s")
        new = await store.acquire("s")
        store.accept(old, [piece("1")])
        store.accept(old, [piece("2")])
        await store.flush()
        for _ in range(2):
            with pytest.raises(SessionFenced):
                await store.append(old, [event("a")])
        store.accept(new, [piece("3")])
        assert await store.append(new, [event("b")]) == 2
        await store.delete("s")
        store.accept(new, [piece("4")])
        with pytest.raises(SessionNotFoundError):
            await store.append(new, [event("c")])
        assert await store.list() == []


async def test_a_session_in_use_can_be_refused(store):
    async with store:
        lease = await store.create("s", holder="w")
        with pytest.raises(SessionInUseError, match=r"'w' holds it since 20.* and until 20"):
            await store.acquire("s", mode="fail")
        await store.release(lease)
        assert (await store.get("s")).holder is None
        assert (await store.acquire("s", mode="fail")).epoch == 2


@pytest.mark.parametrize("mode", ["wait", "fail"])
async def test_a_lease_that_has_expired_is_free(brief_store, mode):
    async with brief_store as store:
        await store.create("s", holder="w")
        assert (await store.acquire("s", mode="wait")).epoch == 2
        await anyio.sleep(0.06)
        assert (await store.get("s")).holder is None
        assert (await store.acquire("s", mode=mode)).epoch == 3


async def test_waiting_for_a_session_ends_when_it_is_released(store):
    async with store, anyio.create_task_group() as tasks:
        lease = await store.create("s")
        epochs = []

        async def take():
            epochs.append((await store.acquire("s", mode="wait")).epoch)

        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        assert epochs == []
        await store.release(lease)
    assert epochs == [2]


async def test_waiting_for_a_session_ends_when_it_is_deleted(store):
    async with store:
        await store.create("s")
        async with anyio.create_task_group() as tasks:

            async def take():
                with pytest.raises(SessionNotFoundError):
                    await store.acquire("s", mode="wait")

            tasks.start_soon(take)
            await anyio.wait_all_tasks_blocked()
            await store.delete("s")


@pytest.mark.parametrize("how", ["renew", "append", "accept"])
async def test_a_writer_that_is_heard_of_keeps_its_session(store, how):
    async with store:
        lease = await store.create("s", holder="w")
        await store.release(lease)
        match how:
            case "renew":
                await store.renew(lease)
            case "append":
                await store.append(lease, [])
            case "accept":
                store.accept(lease, [piece("1")])
                await store.flush()
        assert (await store.get("s")).holder == "w"


async def test_the_session_of_another_owner_is_not_there(store):
    async with store:
        for owner in (None, "", "o"):
            await store.create(f"of-{owner}", owner=owner)
        assert [found.session_id for found in await store.list()] == ["of-None"]
        assert [found.session_id for found in await store.list(owner="")] == ["of-"]
        assert await store.list(owner="p") == []
        for owner in (None, "", "p"):
            for call in (store.get, store.read, store.wait, store.acquire, store.delete):
                with pytest.raises(SessionNotFoundError, match="session 'of-o': not found"):
                    await call("of-o", owner=owner)
        assert (await store.get("of-o", owner="o")).epoch == 1


async def test_sessions_are_listed_the_last_written_first(store):
    async with store:
        leases = {name: await store.create(name) for name in "abc"}
        assert [found.session_id for found in await store.list()] == ["c", "b", "a"]
        await store.append(leases["a"], [event("1", kind="user.message", body='"?"'), event("2")])
        await store.append(leases["a"], [event("3", kind="user.message", body='"!"')])
        found = await store.list()
        assert [one.session_id for one in found] == ["a", "c", "b"]
        assert found[0] == await store.get("a")
        assert (found[0].opening, found[0].last_seq) == ('"?"', 3)
        assert found[0].updated_at >= found[0].created_at


async def test_waiting_for_events(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("1"), event("2")])
        await store.wait("s")
        await store.wait("s", after=1)
        woken = []

        async def follow(after):
            await store.wait("s", after=after)
            woken.append(after)

        async with anyio.create_task_group() as tasks:
            for after in (2, 2, 3):
                tasks.start_soon(follow, after)
            await anyio.wait_all_tasks_blocked()
            await store.append(lease, [event("3")])
            store.accept(lease, [piece("4")])
        assert sorted(woken) == [2, 2, 3]


@pytest.mark.parametrize("again", [False, True])
async def test_waiting_for_events_ends_when_the_session_is_deleted(store, again):
    async with store:
        await store.create("s")
        async with anyio.create_task_group() as tasks:

            async def follow():
                with pytest.raises(SessionNotFoundError):
                    await store.wait("s")

            tasks.start_soon(follow)
            await anyio.wait_all_tasks_blocked()
            await store.delete("s")
            if again:
                await store.create("s")


async def test_waiting_for_events_ends_when_the_store_is_left(store):
    async with anyio.create_task_group() as tasks:

        async def follow():
            with pytest.raises(StateError, match="the store is not open"):
                await store.wait("s")

        async with store:
            await store.create("s")
            tasks.start_soon(follow)
            await anyio.wait_all_tasks_blocked()


async def test_many_can_follow(store):
    async with store:
        lease = await store.create("s")
        seen = []

        async def follow():
            after = 0
            while after < 20:
                await store.wait("s", after=after)
                events = await store.read("s", after=after)
                assert events[0].seq == after + 1
                after = events[-1].seq
            seen.append(after)

        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(follow)
            for number in range(20):
                await store.append(lease, [event(str(number))])
        assert seen == [20] * 50


async def test_a_deleted_session_is_gone(store):
    async with store:
        lease = await store.create("s")
        await store.append(lease, [event("a"), piece("b")])
        await store.delete("s")
        for call in (store.get, store.read, store.wait, store.acquire, store.delete):
            with pytest.raises(SessionNotFoundError):
                await call("s")
        with pytest.raises(SessionNotFoundError):
            await store.append(lease, [event("c")])
        with pytest.raises(SessionNotFoundError):
            await store.renew(lease)
        await store.release(lease)


async def test_a_session_made_anew_is_another(store):
    async with store:
        old = await store.create("s")
        await store.append(old, [event("a")])
        await store.delete("s")
        new = await store.create("s")
        assert (old.epoch, new.epoch) == (1, 1)
        with pytest.raises(SessionNotFoundError):
            await store.append(old, [event("b")])
        await store.release(old)
        assert (await store.get("s")).holder == ""
        assert await store.append(new, [event("a")]) == 1


async def test_a_lease_of_another_session_is_none(store):
    async with store:
        lease = await store.create("s")
        await store.create("t")
        with pytest.raises(SessionNotFoundError, match="'t'"):
            await store.append(Lease(session_id="t", epoch=1, key=lease.key), [event("a")])


async def test_all_stay_within_the_store(store):
    async with store:
        lease = await store.create("s")
    calls = [
        lambda: store.create("t"),
        lambda: store.acquire("s"),
        lambda: store.renew(lease),
        lambda: store.release(lease),
        lambda: store.append(lease, [event("a")]),
        store.flush,
        lambda: store.read("s"),
        lambda: store.wait("s"),
        lambda: store.get("s"),
        store.list,
        lambda: store.delete("s"),
    ]
    for call in calls:
        with pytest.raises(StateError, match=r": the store is not open; use it inside of 'async"):
            await call()
    with pytest.raises(StateError, match="accept"):
        store.accept(lease, [piece("1")])


async def test_a_store_is_open_until_the_last_one_leaves(store):
    async with store:
        async with store as same:
            assert same is store
            lease = await store.create("s")
        await store.append(lease, [event("a")])
    async with store:
        assert await store.append(lease, [event("b")]) == 2
        assert await kept(store) == [(1, "a"), (2, "b")]


async def test_leaving_too_often_is_a_mistake(store):
    with pytest.raises(StateError, match="leave: the store is not open"):
        await store.__aexit__(None, None, None)
    async with store:
        await store.create("s")


@pytest.mark.parametrize(
    "session_id", ["", "a/b", "a b", "é", "a\n", "x" * 129, "\ud800", b"s", None, 1]
)
async def test_ids_of_sessions_are_plain(store, session_id):
    async with store:
        for call in (store.create, store.acquire, store.get, store.read, store.wait, store.delete):
            with pytest.raises(OptionError, match="session_id: wanted 1 to 128 letters"):
                await call(session_id)
        await store.create("A-z_0.9:" + "x" * 120)


@pytest.mark.parametrize("text", ["\0", "\udfff", 1, b""])
async def test_owners_and_holders_are_texts(store, text):
    async with store:
        for owner in ("", "ö", "👤", "x" * 10_000):
            await store.list(owner=owner)
        with pytest.raises(OptionError, match="owner: wanted a text without NUL"):
            await store.create("s", owner=text)
        with pytest.raises(OptionError, match="owner: wanted a text without NUL"):
            await store.list(owner=text)
        with pytest.raises(OptionError, match="holder: wanted a text without NUL"):
            await store.create("s", holder=text)
        with pytest.raises(OptionError, match="holder: wanted a text without NUL"):
            await store.acquire("s", holder=text)


@pytest.mark.parametrize("number", [-1, True, 1.0, None])
async def test_other_arguments_are_checked(store, number):
    async with store:
        lease = await store.create("s")
        with pytest.raises(OptionError, match="after: wanted an integer of 0 or more"):
            await store.read("s", after=number)
        with pytest.raises(OptionError, match="after: wanted an integer of 0 or more"):
            await store.wait("s", after=number)
        with pytest.raises(OptionError, match="limit: wanted an integer of 0 or more"):
            await store.read("s", limit=number)
        with pytest.raises(OptionError, match="mode: wanted one of takeover, wait, fail"):
            await store.acquire("s", mode=number)
        with pytest.raises(OptionError, match="events: wanted EventRecord"):
            await store.append(lease, [event("a"), number])
        with pytest.raises(OptionError, match="events: wanted pieces of streams"):
            store.accept(lease, [event("a")])
        assert await kept(store) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=9) | st.text("\0\ud800\udc00a\ufdd0", min_size=1)))
async def test_names_of_all_kinds_come_back(store, names):
    events = [
        EventRecord(event_id=name, type=name, body="{}", stream=name)
        for name in dict.fromkeys(names)
    ]
    async with store:
        lease = await store.create("s")
        assert await store.append(lease, events) == len(events)
        assert await store.append(lease, events) == len(events)
        read = await store.read("s")
        assert [(one.event_id, one.type, one.stream) for one in read] == [
            (one.event_id, one.type, one.stream) for one in events
        ]
        for number, name in enumerate(dict.fromkeys(names)):
            await store.append(lease, [event(f"the end {number}", name)])
        assert {one.stream for one in await store.read("s")} <= {None}
        await store.delete("s")


async def test_two_clients_share_a_store(store):
    async def write(name):
        async with store:
            lease = await store.create(name)
            for number in range(10):
                store.accept(lease, [piece(str(number))])
                assert await store.append(lease, [event(f"a{number}")]) == 2 * number + 2

    async with anyio.create_task_group() as tasks:
        for name in "abc":
            tasks.start_soon(write, name)
    async with store:
        assert [found.last_seq for found in await store.list()] == [20, 20, 20]


def test_stores_are_stores(store):
    def typed(store: Store) -> Store:
        return store

    public = {name for name in vars(Store) if not name.startswith("_")}
    assert public <= set(dir(typed(store)))
