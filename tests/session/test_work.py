import base64
from pathlib import Path

import anyio
import pytest

from citestream import (
    Client,
    EncodeError,
    MemoryStore,
    OfflineProvider,
    OptionError,
    PermissionHandler,
    PermissionRequestResult,
    SessionError,
    SessionEvent,
    SessionEventType,
    SessionFenced,
    SessionOptions,
    StateError,
    StoreError,
    ToolResult,
    tool,
)
from citestream.events import AnswerFailure, AnswerText, AssistantMessageData
from citestream.providers import AssistantTurn, UserTurn
from citestream.sources import Granularity, from_text
from scripted import MARK, answer, call, client_of, kinds, texts

pytestmark = pytest.mark.anyio

RULES = {"id": "doc1", "content": "Alcohol is never paid for.\nTaxis need a reason."}
ALL = PermissionHandler.approve_all


@tool
def search(query: str) -> ToolResult:
    """Search the rules."""
    return ToolResult(f"Found one for {query}.", citable_sources=[RULES | {"title": "Rules"}])


async def asked(question="Is alcohol paid for?", *answers, settings=None, **options):
    """Ask one question; return the answer, the events and the provider."""
    async with client_of(*answers, **options) as (client, provider):
        seen = []
        session = await client.create_session(enable_citations=True, **settings or {})
        session.on(seen.append)
        return await session.send_and_wait(question), seen, provider


async def test_a_question_is_answered():
    event, seen, provider = await asked("Hello?", answer("Hello, there."))
    assert event.data.content == texts(seen) == "Hello, there."
    assert event.data.model == "scripted"
    assert kinds(seen) == [
        "user.message",
        "assistant.turn_start",
        "assistant.message_start",
        *["assistant.message_delta"] * 4,
        "assistant.message",
        "assistant.turn_end",
        "session.idle",
    ]
    assert provider.asked[0].conversation.turns == (UserTurn(text="Hello?"),)
    assert provider.closed == 1
    own = [one for one in seen if kinds([one]) != ["assistant.message_delta"]]
    assert [one.parent_id for one in own[1:]] == [one.id for one in own[:-1]]


async def test_tools_are_run_and_what_they_return_is_cited():
    first = answer("Let me look.", call("search", query="alcohol"))
    second = answer(f"Alcohol is not paid for.{MARK} Bye.")
    settings = {"tools": [search], "on_permission_request": ALL}
    event, seen, provider = await asked("Is it?", first, second, settings=settings)
    (span,) = event.data.citations.spans
    assert span.slice(event.data.content) == "Alcohol is not paid for."
    assert span.references[0].cited_text == "Alcohol is never paid for."
    assert event.data.citations.sources[0].title == "Rules"
    whole = [kind for kind in kinds(seen) if not kind.endswith(("_delta", "_start"))]
    assert whole == [
        "user.message",
        "assistant.message",
        "assistant.turn_end",
        "permission.requested",
        "permission.completed",
        "tool.execution_complete",
        "assistant.message",
        "assistant.turn_end",
        "session.idle",
    ]
    told = provider.asked[1].conversation
    assert [one.name for one in told.tools] == ["search"]
    user, said, result = told.turns
    assert said == AssistantTurn(text="Let me look.")
    assert (result.name, result.text) == ("search", "Found one for alcohol.")
    assert result.arguments == {"query": "alcohol"}
    assert result.materials[0].source.id == "turn0file0"
    assert (result.materials[0].origin, user.text) == ("tool", "Is it?")


async def test_calls_of_one_message_run_at_once_and_are_one_round():
    inside, both = [], anyio.Event()

    @tool(skip_permission=True)
    async def look(place: str) -> str:
        inside.append(place)
        if len(inside) == 2:
            both.set()
        await both.wait()
        return place

    calls = [call("look", "a", place="left"), call("look", "b", place="right")]
    _, _, provider = await asked(
        "Look.", answer("", *calls), answer("Done."), settings={"tools": [look]}
    )
    _, left, right = provider.asked[1].conversation.turns
    assert (left.text, right.text) == ("left", "right")
    assert left.round == right.round


@pytest.mark.parametrize(
    ("handler", "name", "told"),
    [
        (None, "search", "nobody could give"),
        (
            lambda *_: PermissionRequestResult(kind="reject", feedback="Not now."),
            "search",
            "Not now",
        ),
        (ALL, "dig", "There is no tool 'dig'"),
    ],
    ids=["nobody to ask", "rejected", "unknown"],
)
async def test_a_call_that_does_not_run_is_told_to_the_model(handler, name, told):
    settings = {"tools": [search], "on_permission_request": handler}
    event, seen, provider = await asked(
        "Is it?", answer("", call(name, query="x")), answer("Sorry."), settings=settings
    )
    assert event.data.content == "Sorry."
    assert told in provider.asked[1].conversation.turns[-1].text
    (done,) = (one.data for one in seen if kinds([one]) == ["tool.execution_complete"])
    assert not done.success
    assert told in done.error["message"]


async def test_a_model_that_never_stops_asking_for_tools_is_stopped():
    rounds = [answer("", call("search", query="x")) for _ in range(3)]
    settings = {
        "tools": [search],
        "on_permission_request": ALL,
        "options": SessionOptions(max_tool_rounds=2),
    }
    with pytest.raises(SessionError, match="max_tool_rounds: at most 2"):
        await asked("Is it?", *rounds, settings=settings)


async def test_questions_are_answered_one_after_the_other():
    gate = anyio.Event()
    async with client_of([gate, *answer("One.")], answer("Two.")) as (client, provider):
        session = await client.create_session()
        seen = []
        session.on(seen.append)
        first = await session.send("1?")
        second = await session.send("2?")
        assert first != second
        gate.set()
        event = None
        async for event in session.events():
            if event.type.value == "session.idle" and texts(seen) == "One.Two.":
                break
    assert [turn.text for turn in provider.asked[1].conversation.turns] == ["1?", "One.", "2?"]
    messages = [one.data.message_id for one in seen if kinds([one]) == ["user.message"]]
    assert messages == [first, second]


async def test_a_timeout_does_not_stop_the_work():
    gate = anyio.Event()
    async with client_of([gate, *answer("Late.")]) as (client, _):
        session = await client.create_session()
        events = session.events()
        with pytest.raises(TimeoutError):
            await session.send_and_wait("?", timeout=0.01)
        gate.set()
        seen = []
        async for event in events:
            seen.append(event)
            if kinds([event]) == ["session.idle"]:
                break
    assert texts(seen) == "Late."


async def test_sub_agents_are_not_the_answer():
    def said(text, agent):
        data = AssistantMessageData(content=text, message_id=text)
        return SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE, data=data, agent_id=agent)

    event, _, provider = await asked("?", [said("Root.", None), said("Sub.", "worker")])
    assert event.data.content == "Root."
    assert provider.closed == 1


async def test_offline_a_question_is_answered_too(tmp_path):
    (tmp_path / "rules.md").write_text("Meals are paid.\n\nAlcohol is not.", encoding="utf-8")
    rules = [{"type": "file", "path": "rules.md"}]
    async with Client(provider=OfflineProvider(), working_directory=tmp_path) as client:
        session = await client.create_session(enable_citations=True)
        event = await session.send_and_wait("Is alcohol paid?", attachments=rules)
        cited = [one.references[0].cited_text for one in event.data.citations.spans]
        assert "Alcohol is not." in cited
        assert event.parent_id


async def test_what_the_application_registers_is_told_to_the_model_once():
    async with client_of(answer("One."), answer("Two."), answer("Three.")) as (client, provider):
        session = await client.create_session(enable_citations=True)
        first = session.sources.add(from_text("Meals are paid."))
        await session.send_and_wait("1?")
        second = session.sources.add(from_text("Taxis are not."))
        await session.send_and_wait("2?")
        await session.send_and_wait("3?")
        turns = provider.asked[-1].conversation.turns
        assert [[one.source for one in turn.materials] for turn in turns[::2]] == [
            [first],
            [second],
            [],
        ]


async def test_what_is_registered_in_mid_answer_is_kept_before_the_next_delta():
    async with client_of(answer("A longer answer.")) as (client, _):
        session, seen = await client.create_session(enable_citations=True), []

        def register(event):
            seen.append(event)
            if texts(seen) and len(session.sources) == 0:
                session.sources.add(from_text("Meals are paid."))

        session.on(register)
        event = await session.send_and_wait("?")
        assert texts(seen) == event.data.content == "A longer answer."
        again = await client.resume_session(session.session_id)
        assert again.sources.ids == session.sources.ids


async def test_a_damaged_stream_is_consumed_as_far_as_it_can_be():
    async def stream():
        yield {"id": 1}
        data = {"messageId": "m", "content": "Text.", "citations": 5}
        whole = {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": "assistant.message"}
        yield whole | {"data": data}

    async with client_of() as (client, _):
        session, seen = await client.create_session(), []
        session.on(seen.append)
        await session.consume(stream(), on_error="skip")
        assert kinds(seen) == ["session.warning", "assistant.message", "session.warning"]


async def test_pages_are_cited_where_the_syntax_can_say_so(tmp_path):
    pdf = Path(__file__).parents[1] / "data" / "handbook.pdf"
    (tmp_path / "handbook.pdf").write_bytes(pdf.read_bytes())
    attached = [{"type": "file", "path": "handbook.pdf"}]
    for options, granularity in ((None, Granularity.PAGE), (SessionOptions(), Granularity.LINE)):
        async with client_of(answer("x"), working_directory=tmp_path) as (client, provider):
            session = await client.create_session(enable_citations=True, options=options)
            await session.send_and_wait("?", attachments=attached)
            (material,) = provider.asked[0].conversation.turns[0].materials
            assert material.source.granularity is granularity


# -- what goes wrong


@pytest.mark.parametrize(
    ("broken", "told", "cause"),
    [
        ([AnswerText(text="Half an"), ValueError("key sk-1")], r"raised ValueError$", ValueError),
        ([AnswerText(text="Half an"), OptionError("model: wanted one")], "wanted one", OptionError),
        ([AnswerText(text="Half an")], "broke off", None),
        ([AnswerText(text="Half an"), AnswerFailure(message="overloaded")], "overloaded", None),
    ],
    ids=["raises", "raises ours", "ends", "reports"],
)
async def test_a_session_that_fails_says_so_and_goes_on(broken, told, cause):
    async with client_of(broken, answer("Whole.")) as (client, _):
        session = await client.create_session(enable_citations=True)
        seen = []
        session.on(seen.append)
        with pytest.raises(SessionError, match=told) as caught:
            await session.send_and_wait("?")
        assert caught.value.error_type == "provider"
        assert cause is None or isinstance(caught.value.__cause__, cause)
        assert "sk-1" not in str([one.data for one in seen])
        (failed,) = (one.data for one in seen if kinds([one]) == ["session.error"])
        assert failed.message == str(caught.value)
        (cut,) = (one.data for one in seen if kinds([one]) == ["assistant.message"])
        assert (cut.content, cut.extra["interrupted"]) == ("Half an", True)
        assert kinds(seen)[-1] == "session.idle"
        assert (await session.send_and_wait("?")).data.content == "Whole."


async def test_a_status_of_the_vendor_is_told():
    class RateLimitError(Exception):
        status_code = 429

    with pytest.raises(SessionError, match=r"raised RateLimitError \(status 429\)") as caught:
        await asked("?", [RateLimitError("secret")])
    assert caught.value.status_code == 429


async def test_a_tool_that_fails_does_not_end_the_turn():
    @tool(skip_permission=True)
    def burn() -> str:
        raise RuntimeError("canary")

    event, seen, _ = await asked(
        "?", answer("", call("burn")), answer("Sorry."), settings={"tools": [burn]}
    )
    assert event.data.content == "Sorry."
    assert "canary" not in str([one.data for one in seen])


async def test_arguments_that_json_cannot_say_end_the_turn_and_no_more():
    bad = answer("", call("look", x=object()))
    async with client_of(bad, answer("Fine.")) as (client, _):
        session = await client.create_session()
        with pytest.raises(EncodeError):
            await session.send_and_wait("?")
        assert (await session.send_and_wait("?")).data.content == "Fine."


async def test_whoever_was_fenced_off_hears_of_it():
    store = MemoryStore()
    gate = anyio.Event()
    async with client_of([gate, *answer("Never kept.")], store=store) as (client, _):
        session = await client.create_session()
        seen = []
        session.on(seen.append)
        await session.send("?")
        async with client_of(store=store) as (other, _):
            await other.resume_session(session.session_id)
            gate.set()
            events = session.events()
            async for event in events:
                if kinds([event]) == ["session.idle"]:
                    break
            assert kinds(seen)[-2:] == ["session.error", "session.idle"]
            assert seen[-2].data.error_type == "SessionFenced"
            for ask in (session.send, session.send_and_wait):
                with pytest.raises(SessionFenced):
                    await ask("Again?")


async def test_what_cannot_ask_says_so():
    async with client_of(answer("x")) as (client, _):
        session = await client.create_session()
        watching = await client.resume_session(session.session_id, mode="observe")
        with pytest.raises(StateError, match="only observes"):
            await watching.send("?")
    async with Client() as client:
        session = await client.create_session()
        with pytest.raises(StateError, match="no provider"):
            await session.send("?")


# -- stopping


async def test_abort_keeps_what_came():
    never = anyio.Event()
    half = [AnswerText(text=f"Taxis are paid.{MARK} And \ue200ci"), never]
    async with client_of(half, answer("Again.")) as (client, provider):
        session = await client.create_session(enable_citations=True)
        seen, streams = [], anyio.Event()

        def note(event):
            seen.append(event)
            if kinds([event]) == ["assistant.message_delta"]:
                streams.set()

        session.on(note)
        results = []
        async with anyio.create_task_group() as tasks:

            async def wait():
                results.append(await session.send_and_wait("?"))

            tasks.start_soon(wait)
            await streams.wait()
            await session.abort()
            told = [kind for kind in kinds(seen) if kind != "session.warning"]
            assert told[-3:] == ["assistant.message", "abort", "session.idle"]
        assert seen[-1].data.aborted
        (cut,) = results
        assert cut.data.extra["interrupted"]
        assert cut.data.content == texts(seen) == "Taxis are paid. And"
        assert provider.closed == 1
        assert (await session.send_and_wait("?")).data.content == "Again."
        await session.abort()  # nothing is in progress


async def test_a_handler_may_abort_and_ask_but_not_wait():
    never = anyio.Event()
    problems, asked = [], []
    async with client_of([AnswerText(text="Half"), never], answer("Next.")) as (client, _):
        session = await client.create_session()

        async def handle(event):
            if kinds([event]) == ["assistant.message_delta"] and not asked:
                asked.append(await session.send("Next?"))
                try:
                    await session.send_and_wait("?")
                except StateError as error:
                    problems.append(str(error))
                await session.abort()

        session.on(handle)
        events = session.events()
        await session.send("?")
        seen = []
        async for event in events:
            seen.append(event)
            if kinds(seen).count("session.idle") == 2:
                break
    assert "wait for itself" in problems[0]
    assert [one.data.aborted for one in seen if kinds([one]) == ["session.idle"]] == [True, None]
    assert texts(seen) == "HalfNext."


async def test_disconnect_stops_the_work_and_fails_what_waits():
    never = anyio.Event()
    failed = []
    async with client_of([AnswerText(text="Half"), never]) as (client, _):
        session = await client.create_session()
        seen = []
        session.on(seen.append)
        async with anyio.create_task_group() as tasks:

            async def wait():
                try:
                    await session.send_and_wait("2?")
                except StateError as error:
                    failed.append(str(error))

            await session.send("1?")
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await session.disconnect()
        assert kinds(seen)[-3:] == ["assistant.message", "abort", "session.idle"]
        assert seen[-2].data.reason == "session disconnected"
        assert failed == ["send: the session was disconnected first"]
        with pytest.raises(StateError, match="disconnected"):
            await session.send("3?")


async def test_a_handler_may_disconnect():
    async with client_of(answer("Bye.")) as (client, _):
        session = await client.create_session()
        done = anyio.Event()

        async def handle(event):
            if kinds([event]) == ["assistant.message"]:
                await session.disconnect()
                done.set()

        session.on(handle)
        await session.send("?")
        await done.wait()
        again = await client.resume_session(session.session_id)
        assert "assistant.message" in kinds(await again.get_events())


# -- attachments


async def test_attachments_are_material_and_come_back(tmp_path):
    (tmp_path / "rules.md").write_text("Meals are paid.\nAlcohol is not.\n", encoding="utf-8")
    pdf = (Path(__file__).parents[1] / "data" / "handbook.pdf").read_bytes()
    attachments = [
        {"type": "file", "path": "rules.md", "lineRange": {"start": 2, "end": 2}},
        {
            "type": "blob",
            "data": base64.b64encode(pdf).decode(),
            "mimeType": "application/pdf",
            "displayName": "handbook.pdf",
        },
    ]
    store = MemoryStore()
    said = answer("No.\ue200cite\ue202turn0file0\ue202L2\ue201")
    async with client_of(said, store=store, working_directory=tmp_path) as (client, provider):
        session = await client.create_session(enable_citations=True)
        event = await session.send_and_wait("Is it?", attachments=attachments)
        (reference,) = event.data.citations.spans[0].references
        assert reference.cited_text == "Alcohol is not."
        assert event.data.citations.sources[0].path == "rules.md"
        user = provider.asked[0].conversation.turns[0]
        assert user.text == "Is it?\n\nOf rules.md, lines 2 to 2 are meant."
        events = await session.get_events()
        assert "data" not in events[1].data.attachments[1]
        assert user.materials[1].data == pdf
    async with client_of(answer("Yes."), store=store) as (client, again):
        session = await client.resume_session(event_session(events), enable_citations=True)
        await session.send_and_wait("Sure?")
        assert again.asked[0].conversation.turns[0] == user
        assert session.sources.ids[:2] == ("turn0file0", "turn0file1")


def event_session(events):
    return events[0].data.session_id


async def test_without_citations_attachments_are_text(tmp_path):
    (tmp_path / "rules.md").write_text("Meals are paid.", encoding="utf-8")
    async with client_of(answer("Yes."), working_directory=tmp_path) as (client, provider):
        session = await client.create_session()
        await session.send_and_wait("?", attachments=[{"type": "file", "path": "rules.md"}])
        (user,) = provider.asked[0].conversation.turns
        assert user.materials == ()
        assert "Meals are paid." in user.text
        with pytest.raises(OptionError, match=r"attachments\[0\]"):
            await session.send("?", attachments=[{"type": "file", "path": "none.md"}])


async def test_a_question_that_cannot_be_kept_raises():
    class Full(MemoryStore):
        async def append(self, lease, events, /):
            if any(one.type == "user.message" for one in events):
                raise StoreError("the disk is full")
            return await super().append(lease, events)

    async with client_of(answer("x"), store=Full()) as (client, _):
        session = await client.create_session()
        with pytest.raises(StoreError, match="full"):
            await session.send("?")
