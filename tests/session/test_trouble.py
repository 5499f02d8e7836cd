"""What goes wrong in one session stays in it: the others, and whoever closes, never notice."""

import asyncio

import anyio
import pytest

from citestream import (
    Client,
    EncodeError,
    MemoryStore,
    OptionError,
    PermissionHandler,
    SessionError,
    SessionEvent,
    SessionEventType,
    SessionFenced,
    SessionOptions,
    SQLiteStore,
    StateError,
    StoreError,
    tool,
)
from citestream.events import (
    AnswerEnd,
    AnswerText,
    AssistantMessageData,
    AssistantMessageDeltaData,
    SessionErrorData,
)
from citestream.model import Extra
from citestream.session import session as session_room
from citestream.session import work as work_room
from citestream.session.journal import FLUSH_SECONDS
from citestream.sources import from_text
from scripted import Scripted, answer, call, client_of, kinds, texts

pytestmark = pytest.mark.anyio


@pytest.fixture
def hurried(monkeypatch):
    """Let closing lose its patience at once."""
    monkeypatch.setattr(work_room, "PATIENCE", 0.05)
    monkeypatch.setattr(session_room, "PATIENCE", 0.05)


class Failing(MemoryStore):
    """Fails to append the events whose types are in ``fails``, each once."""

    def __init__(self, *fails):
        super().__init__()
        self.fails = list(fails)

    async def append(self, lease, events, /):
        for event in events:
            if event.type in self.fails:
                self.fails.remove(event.type)
                raise StoreError("the disk is full")
        return await super().append(lease, events)


async def works(client, provider, text="Fine."):
    """Have a session of the same client answer: the client is alive."""
    provider.answers.append(answer(text))
    other = await client.create_session()
    assert (await other.send_and_wait("?")).data.content == text


# -- closing


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_cancelling_around_an_open_client_closes_it(tmp_path, kind):
    store = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / "s.db")
    waiting = []
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async with client_of([AnswerText(text="x"), anyio.Event()], store=store) as (client, _):
            session = await client.create_session()
            started = anyio.Event()
            session.on(lambda _event: started.set())
            await session.send("1?")
            await session.send("2?")
            await started.wait()
            waiting.append(session)
            scope.cancel()
            await anyio.sleep_forever()
    with pytest.raises(StateError, match="disconnected"):
        await waiting[0].send("3?")


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("stuck", ["handler", "reader"])
async def test_nobody_who_is_stuck_keeps_a_client_from_closing(stuck):
    with anyio.fail_after(5):
        async with client_of(answer("Never taken.")) as (client, _):
            session = await client.create_session(options=SessionOptions(buffer_size=1))
            arrived = anyio.Event()
            unread = session.events()

            async def wait(_event):
                arrived.set()
                if stuck == "handler":
                    await anyio.sleep_forever()

            session.on(wait)
            await session.send("?")
            await arrived.wait()
        async for _ in unread:
            pass


@pytest.mark.usefixtures("hurried")
async def test_a_handler_stuck_in_what_is_fed_keeps_nobody_from_closing():
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, client_of() as (client, _):
            session = await client.create_session()
            arrived = anyio.Event()

            async def wait(_event):
                arrived.set()
                await anyio.sleep_forever()

            session.on(wait)
            fed = SessionEvent(
                type=SessionEventType.SESSION_ERROR, data=SessionErrorData(message="x")
            )
            tasks.start_soon(session.feed, fed)
            await arrived.wait()
            await session.disconnect()
            tasks.cancel_scope.cancel()


@pytest.mark.usefixtures("hurried")
async def test_a_provider_that_does_not_let_go_is_left_behind():
    let_go = anyio.Event()

    class Stubborn:
        async def answer(self, _exchange):
            yield AnswerText(text="x")
            with anyio.CancelScope(shield=True):
                await let_go.wait()

    with anyio.fail_after(5):
        async with Client(provider=Stubborn()) as client:
            session = await client.create_session()
            arrived = anyio.Event()
            session.on(lambda _event: arrived.set())
            await session.send("?")
            await arrived.wait()
            await session.disconnect()
            let_go.set()


@pytest.mark.parametrize("place", ["handler", "tool", "permission"])
@pytest.mark.parametrize("act", ["disconnect", "delete", "abort"])
async def test_a_session_may_be_left_from_inside(place, act):  # noqa: C901 - nine cases of one
    left, acts = anyio.Event(), []

    async def leave():
        if not acts:
            acts.append(act)
            if act == "disconnect":
                await session.disconnect()
            elif act == "abort":
                await session.abort()
            else:
                await client.delete_session(session.session_id)
            left.set()

    @tool
    async def look() -> str:
        if place == "tool":
            await leave()
        return "seen"

    async def ask(request, invocation):
        if place == "permission":
            await leave()
        return PermissionHandler.approve_all(request, invocation)

    async def handle(event):
        if place == "handler" and kinds([event]) == ["assistant.turn_start"]:
            await leave()

    with anyio.fail_after(5):
        script = (answer("", call("look")), answer("Done."))
        async with client_of(*script) as (client, provider):
            session = await client.create_session(tools=[look], on_permission_request=ask)
            session.on(handle)
            await session.send("?")
            await left.wait()
            provider.answers[:] = [answer("Fine.") for _ in range(3)]
            await works(client, provider)


async def test_leaving_from_inside_tells_the_log_what_could_not_be_kept(caplog):
    class Full(MemoryStore):
        async def release(self, _lease, /):
            raise StoreError("the disk is full")

    async with client_of(answer("Bye."), store=Full()) as (client, _):
        session = await client.create_session()
        left = anyio.Event()

        async def handle(event):
            if kinds([event]) == ["assistant.message"]:
                await session.disconnect()
                left.set()

        session.on(handle)
        await session.send("?")
        await left.wait()
    assert "closed with an error: the disk is full" in caplog.text


# -- stores


@pytest.mark.parametrize("kind", ["tool.execution_start", "tool.execution_complete"])
async def test_a_store_that_fails_while_a_tool_runs_fails_that_session(kind):
    @tool(skip_permission=True)
    async def look() -> str:
        return "seen"

    store = Failing(kind)
    async with client_of(answer("", call("look")), store=store) as (client, provider):
        session = await client.create_session(tools=[look])
        with pytest.raises(StoreError, match="the disk is full"):
            await session.send_and_wait("?")
        await works(client, provider)


async def test_a_takeover_while_a_tool_runs_fences_that_session():
    store = MemoryStore()

    @tool(skip_permission=True)
    async def steal() -> str:
        await other.resume_session(session.session_id)
        return "stolen"

    async with client_of(answer("", call("steal")), store=store) as (client, provider):
        session = await client.create_session(tools=[steal])
        async with client_of(store=store) as (other, _):
            with pytest.raises(SessionFenced):
                await session.send_and_wait("?")
        await works(client, provider)


async def test_trouble_while_trouble_is_told_is_told_all_the_same():
    bad = answer("", call("look", x=object()))
    async with client_of(bad, store=Failing("session.error")) as (client, provider):
        session, seen = await client.create_session(), []
        session.on(seen.append)
        with pytest.raises(EncodeError):
            await session.send_and_wait("?")
        assert kinds(seen)[-2:] == ["session.error", "session.idle"]
        await works(client, provider)


async def test_an_observer_whose_store_fails_is_told():
    class Broken(MemoryStore):
        broken = False

        async def wait(self, session_id, /, **options):
            if self.broken:
                raise StoreError("the file is gone")
            await super().wait(session_id, **options)

    store = Broken()
    async with client_of(store=store) as (client, provider):
        session = await client.create_session()
        store.broken = True
        watching = await client.resume_session(session.session_id, mode="observe")
        events = watching.events()
        seen = [await anext(events), await anext(events)]
        assert kinds(seen) == ["session.error", "session.idle"]
        store.broken = False
        await works(client, provider)


async def test_what_was_registered_is_kept_with_the_next_event_that_can_be():
    store = Failing("user.message")
    async with client_of(answer("Yes."), store=store) as (client, _):
        session = await client.create_session(enable_citations=True)
        session.sources.add(from_text("Meals are paid."), alias="rules")
        with pytest.raises(StoreError):
            await session.send("?")
        await session.send_and_wait("?")
        again = await client.resume_session(session.session_id, enable_citations=True)
        assert again.sources.snapshot() == session.sources.snapshot()


async def test_a_text_that_could_not_be_kept_comes_up_under_no_other_question():
    store = Failing("assistant.message")
    half = [AnswerText(text="Half"), anyio.Event()]
    async with client_of(answer("Lost."), answer("Kept."), half, store=store) as (client, _):
        session, seen, streams = await client.create_session(), [], anyio.Event()
        with pytest.raises(StoreError):
            await session.send_and_wait("1?")
        await session.send_and_wait("2?")
        session.on(seen.append)
        session.on(lambda event: texts([event]) and streams.set())
        await session.send("3?")
        await streams.wait()
        await session.abort()
        said = [one.data.content for one in seen if kinds([one]) == ["assistant.message"]]
        assert said == ["Half"]


async def test_abort_lets_messages_of_other_upstreams_be():
    half = [AnswerText(text="Half"), anyio.Event()]
    async with client_of(half) as (client, _):
        session, seen, streams = await client.create_session(), [], anyio.Event()
        session.on(seen.append)
        session.on(lambda event: texts([event]) == "Half" and streams.set())
        delta = AssistantMessageDeltaData(message_id="theirs", delta_content="Other")
        await session.feed(
            SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE_DELTA, data=delta, ephemeral=True)
        )
        await session.send("?")
        await streams.wait()
        await session.abort()
        said = [one.data.content for one in seen if kinds([one]) == ["assistant.message"]]
        assert said == ["Half"]


@pytest.mark.parametrize(
    "event",
    [
        SessionEvent(
            id="",
            type=SessionEventType.ASSISTANT_MESSAGE_DELTA,
            data=AssistantMessageDeltaData(message_id="m", delta_content="x"),
        ),
        SessionEvent(
            type=SessionEventType.ASSISTANT_MESSAGE_DELTA,
            data=AssistantMessageDeltaData(
                message_id="m", delta_content="x", extra=Extra({"odd": object()})
            ),
        ),
        SessionEvent(
            type=SessionEventType.ASSISTANT_MESSAGE_DELTA,
            data=AssistantMessageDeltaData(message_id="m", delta_content=5),
        ),
    ],
    ids=["no id", "odd extra", "no text"],
)
async def test_whoever_feeds_what_cannot_be_kept_hears_of_it(event):
    async with client_of() as (client, provider):
        session, seen = await client.create_session(), []
        session.on(seen.append)
        with pytest.raises((OptionError, EncodeError)):
            await session.feed(event)
        assert seen == []
        await works(client, provider)


async def test_deltas_that_cannot_be_kept_harm_no_other_session(caplog):
    async with client_of() as (client, provider):
        session = await client.create_session()
        odd = SessionEvent(
            type=SessionEventType.ASSISTANT_MESSAGE_DELTA,
            data=AssistantMessageDeltaData(message_id="m", delta_content="x"),
            parent_id=5,
        )
        await session.feed(odd)
        await anyio.sleep(2 * FLUSH_SECONDS)
        await works(client, provider)
    assert "cannot be kept" in caplog.text


# -- providers, tools, agents


class Raises:
    def answer(self, _exchange):
        raise ValueError("secret")


class Coroutine:
    async def answer(self, _exchange):
        return "no iterator"


class Nothing:
    def answer(self, _exchange):
        return [AnswerText(text="x")]


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        (Raises, "the provider raised ValueError$"),
        (Coroutine, "wanted an async iterator"),
        (Nothing, "wanted an async iterator"),
        (lambda: Scripted(["a string"]), "the provider gave 'a string', wanted an item"),
        (lambda: Scripted([{}]), "the provider gave an object"),
        (lambda: Scripted([AnswerText(text=5)]), "wanted an item of an answer"),
        (lambda: Scripted([GeneratorExit()]), "left its answer"),
    ],
    ids=["raises", "coroutine", "list", "string", "mapping", "number", "generator exit"],
)
async def test_mistakes_of_a_provider_fail_its_session(provider, told):
    async with Client(provider=provider()) as client:
        session = await client.create_session()
        with pytest.raises(SessionError, match=told):
            await session.send_and_wait("?")
        await client.create_session()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("place", ["provider", "handler", "tool"])
async def test_a_task_of_strangers_that_is_cancelled_cancels_nobody(place):
    async def cancelled():
        task = asyncio.ensure_future(asyncio.sleep(60))
        await asyncio.sleep(0)
        task.cancel()
        await task

    @tool(skip_permission=True)
    async def look() -> str:
        await cancelled()

    class Model(Scripted):
        async def answer(self, exchange):
            if place == "provider":
                await cancelled()
            async for item in super().answer(exchange):
                yield item

    first = answer("", call("look")) if place == "tool" else answer("Fine.")
    async with Client(provider=Model(first, answer("Fine."))) as client:
        session = await client.create_session(tools=[look])

        async def handle(event):
            if place == "handler" and kinds([event]) == ["assistant.message"]:
                await cancelled()

        session.on(handle)
        if place == "provider":
            with pytest.raises(SessionError, match="cancelled from inside"):
                await session.send_and_wait("?")
        else:
            assert (await session.send_and_wait("?")).data.content == "Fine."
        await client.create_session()


@pytest.mark.parametrize("error", [SystemExit(2), GeneratorExit()], ids=["exit", "generator"])
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_tool_that_wants_to_leave_only_fails(error, kind):
    @tool(name="leave", skip_permission=True)
    def sync_leave() -> str:
        raise error

    @tool(name="leave", skip_permission=True)
    async def async_leave() -> str:
        raise error

    made = sync_leave if kind == "sync" else async_leave
    async with client_of(answer("", call("leave")), answer("Sorry.")) as (client, provider):
        session = await client.create_session(tools=[made])
        assert (await session.send_and_wait("?")).data.content == "Sorry."
        assert "failed" in provider.asked[1].conversation.turns[-1].text


async def test_a_sub_agent_that_fails_does_not_fail_the_root():
    failed = SessionEvent(
        type=SessionEventType.SESSION_ERROR,
        data=SessionErrorData(message="worker"),
        agent_id="worker",
    )
    async with client_of([failed, *answer("Fine.")]) as (client, _):
        session = await client.create_session()
        assert (await session.send_and_wait("?")).data.content == "Fine."


async def test_calls_of_every_message_run_and_of_one_id_once():
    ran = []

    @tool(skip_permission=True)
    async def look(n: int) -> str:
        ran.append(n)
        return str(n)

    def message(name, *numbers):
        requests = tuple(
            {"toolCallId": f"{name}{n // 10}", "name": "look", "arguments": {"n": n}}
            for n in numbers
        )
        data = AssistantMessageData(content="", message_id=name, tool_requests=requests)
        return SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE, data=data)

    first = [message("c", 1, 2, 30), message("d", 4), AnswerEnd()]
    async with client_of(first, answer("Done.")) as (client, provider):
        session = await client.create_session(tools=[look])
        await session.send_and_wait("?")
        assert sorted(ran) == [1, 4, 30]
        results = provider.asked[1].conversation.turns[1:]
        assert [one.text for one in results] == ["1", "30", "4"]


# -- settings and followers


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"enable_citation": True}, "enable_citation: no such setting"),
        ({"enable_citations": "no"}, "enable_citations: wanted True or False"),
        ({"on_event": 5}, "on_event: wanted a callable"),
        ({"on_permission_request": 5}, "on_permission_request: wanted a callable"),
        ({"options": 5}, "options: wanted a SessionOptions"),
        ({"owner": 5}, "owner: wanted a text"),
    ],
)
async def test_settings_are_checked_before_anything_is_made(settings, told):
    async with client_of() as (client, _):
        for make in (client.create_session, lambda **all: client.resume_session("s", **all)):
            with pytest.raises(OptionError, match=told):
                await make(**settings)
        assert await client.list_sessions() == []
        await client.create_session(session_id="s", tools=None)


async def test_a_session_that_cannot_begin_is_not_there():
    async with client_of(store=Failing("session.start")) as (client, _):
        with pytest.raises(StoreError):
            await client.create_session(session_id="s")
        await client.create_session(session_id="s")


@pytest.mark.parametrize("prompt", [None, 5, b"x"])
async def test_a_question_is_a_text(prompt):
    async with client_of(answer("x")) as (client, _):
        session = await client.create_session()
        with pytest.raises(OptionError, match="prompt: wanted a text"):
            await session.send(prompt)


async def test_followers_end_with_themselves_and_with_their_client():
    ended = []

    async def read(follower, done):
        async for _ in follower:
            pass
        ended.append(done)

    async with anyio.create_task_group() as tasks, client_of() as (client, _):
        session = await client.create_session()
        mine, theirs = client.follow(session.session_id), client.follow(session.session_id)
        tasks.start_soon(read, mine, "itself")
        tasks.start_soon(read, theirs, "client")
        await anyio.wait_all_tasks_blocked()
        await mine.aclose()
        await client.follow(session.session_id).aclose()
        await anyio.wait_all_tasks_blocked()
        assert ended == ["itself"]
    assert ended == ["itself", "client"]
