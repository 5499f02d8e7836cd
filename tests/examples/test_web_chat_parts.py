"""The parts of the web chat that need no browser and no HTTP."""

import json
import re
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    Client,
    MemoryStore,
    OptionError,
    SourceRegistry,
    format_marker,
    render,
    resolve,
)
from citestream.conversation import Conversation, Material, UserTurn
from citestream.session import CLIENT_OPTIONS, Exchange
from citestream.sources import (
    Granularity,
    from_blocks,
    from_pages,
    from_text,
)

parts = pytest.importorskip("examples.web_chat.documents")

from examples.web_chat import __main__, chats, providers, stream  # noqa: E402
from examples.web_chat.chats import BusyError, Chats  # noqa: E402

OPTIONS = CLIENT_OPTIONS


@asynccontextmanager
async def running(provider, *, store=None, documents=(), shared_store=False):
    store = MemoryStore() if store is None else store
    async with Client(provider=provider, store=store) as client:
        yield Chats(client, store, documents=documents, shared_store=shared_store)


async def frames_until(streams, desk, session, kind, *, after=None):
    follower = desk.follow("me", session, after=after)
    made = streams.frames(follower, chats=desk, owner="me", session_id=session)
    seen = []
    async for frame in made:
        data = re.search("^data: (.*)$", frame, re.MULTILINE)
        event = json.loads(data[1]).get("event") if data else None
        seen.append(event["type"] if event else frame)
        if kind in seen[-1]:
            break
    await made.aclose()
    return seen


# -- documents


@given(st.text(alphabet="ab 😀\n\r\t", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_a_place_is_what_was_cited_without_the_blanks_around_it(text, start, end):
    """The page cuts lines by UTF-16 columns: what it marks is what the reference quotes."""
    registry = SourceRegistry()
    source = registry.add(from_text(text), granularity=Granularity.LINE)
    syntax = OPTIONS.citations.syntax
    lines = len(source.document.lines)
    if not lines:
        return
    first, last = sorted((start % lines + 1, end % lines + 1))
    marker = format_marker(source.id, locator=f"L{first}-L{last}", syntax=syntax)
    answer = resolve(f"Said. {marker}", registry, options=OPTIONS.citations)
    (found,) = parts.places(answer.citations, registry).values()
    quoted = answer.citations.spans[0].references[0].cited_text
    shown = parts.shown(source.document)["text"]
    if not found["places"]:
        assert not quoted.strip()
        return
    (place,) = found["places"]
    cut = shown[place["first"] - 1 : place["last"]]
    units = [line.encode("utf-16-le") for line in cut]
    units[-1] = units[-1][: 2 * place["to"]]
    units[0] = units[0][2 * place["from"] :]
    marked = [line.decode("utf-16-le") for line in units]
    assert marked == re.split("\r\n|\r|\n", quoted.rstrip())


def test_numbers_are_those_of_the_rendered_answer():
    registry = SourceRegistry()
    a = registry.add(from_text("One.\nTwo.\n", title="a"), granularity=Granularity.LINE)
    pages = registry.add(from_pages(["P one.", "P two."], title="b"), granularity=Granularity.PAGE)
    blocks = registry.add(from_blocks(["B one.", "B two."], title="c"))

    def cite(source_id, locator=None):
        return format_marker(source_id, locator=locator, syntax=OPTIONS.citations.syntax)

    text = (
        f"x{cite(a.id, 'L2')} y{cite(pages.id, 'P2')}{cite(a.id, 'L1')} z{cite(a.id, 'L2')}. "
        f"w{cite(blocks.block_ids[1])} v{cite(a.id)}"
    )
    answer = resolve(text, registry, options=OPTIONS.citations)
    cited = parts.places(answer.citations, registry)
    html = render.html(answer.content, answer.citations, quotes=True)
    numbers = re.findall(r'<li id="source-(\d+)"><bdi>(.)</bdi>', html)
    ids = {"a": a.id, "b": pages.id, "c": blocks.id}
    assert {number: one["source"] for number, one in cited.items()} == {
        number: ids[title] for number, title in numbers
    }
    lines = {n: [(p["first"], p["last"]) for p in one["places"]] for n, one in cited.items()}
    assert lines == {"1": [(2, 2)], "2": [(3, 3)], "3": [(1, 1)], "4": [(3, 3)], "5": []}


def test_what_is_not_registered_has_no_place():
    answer = resolve(f"x{format_marker('elsewhere')}")
    assert parts.places(answer.citations, SourceRegistry()) == {"1": {"source": None, "places": []}}


@pytest.mark.parametrize(
    ("document", "granularity"),
    [
        (from_text("a"), Granularity.LINE),
        (from_pages(["a"]), Granularity.PAGE),
        (from_blocks(["a"]), Granularity.BLOCK),
    ],
)
def test_documents_are_cited_as_finely_as_they_can_be(document, granularity):
    assert parts.granularity_of(document) is granularity


# -- chats and streams


@pytest.mark.anyio
async def test_an_answer_whose_writer_died_is_completed(scripted, monkeypatch):
    monkeypatch.setattr(stream, "SETTLE_SECONDS", 0.01)
    store = MemoryStore(lease_seconds=0.2)
    async with (
        store,
        left_behind(store) as session,
        running(scripted(), store=store, shared_store=True) as desk,
    ):
        seen = []
        with anyio.fail_after(10):
            while "session.resume" not in seen:
                seen = await frames_until(stream.Streams(), desk, session, ": still")
            seen = await frames_until(stream.Streams(), desk, session, ": still")
        assert seen[-3:] == ["assistant.message", "session.idle", ": still here\n\n"]
        count = (await store.get(session, owner="me")).last_seq
        assert await desk.settle("me", session)
        assert (await store.get(session, owner="me")).last_seq == count


@asynccontextmanager
async def left_behind(store):
    """What a process that is killed leaves in a store: pieces of an answer, and a lease."""
    async with Client(store=store) as dying:
        session = await dying.create_session(enable_citations=True, owner="me")
        await session.feed(_event("user.message", {"content": "?"}))
        await session.feed(
            _event("assistant.message_delta", {"messageId": "m", "deltaContent": "One"})
        )
        while (await store.get(session.session_id, owner="me")).last_seq < 3:  # noqa: ASYNC110
            await anyio.sleep(0.01)  # nothing tells when the pieces are kept
        yield session.session_id


@pytest.mark.anyio
async def test_the_only_server_completes_what_was_left_behind_at_once(scripted):
    async with (
        MemoryStore() as store,
        left_behind(store) as session,
        running(scripted(), store=store) as desk,
    ):
        with anyio.fail_after(3):
            seen = await frames_until(stream.Streams(), desk, session, "session.idle")
        assert {"session.resume", "assistant.message"} <= set(seen)


@pytest.mark.anyio
@pytest.mark.parametrize("shared", [False, True])
async def test_stopping_completes_what_another_process_writes(scripted, shared):
    async with MemoryStore() as store, left_behind(store) as session:
        async with running(scripted("Yes."), store=store, shared_store=shared) as desk:
            await desk.abort("me", session)
            kept = [one.type for one in await store.read(session, owner="me")]
            assert kept[-1] == "session.idle"
            await desk.abort("me", session)
            await desk.ask("me", session, "And now?")
        async with running(scripted(), store=store, shared_store=shared) as desk:
            count = (await store.get(session, owner="me")).last_seq
            await desk.abort("me", session)
            assert (await store.get(session, owner="me")).last_seq == count


@pytest.mark.anyio
async def test_an_answer_that_someone_writes_is_left_alone(scripted, wait):
    store = MemoryStore()
    provider = scripted("One ", wait)
    async with (
        running(provider, store=store, shared_store=True) as here,
        running(provider, store=store, shared_store=True) as there,
    ):
        session = await here.create("me")
        assert await there.settle("me", session)
        await here.ask("me", session, "?")
        assert not await there.settle("me", session)
        assert not await here.settle("me", session)
        with pytest.raises(BusyError):
            await here.ask("me", session, "And?")
        await here.abort("me", session)
        assert await here.settle("me", session)


@pytest.mark.anyio
async def test_two_servers_may_take_turns(scripted):
    store = MemoryStore()
    async with (
        running(scripted("A."), store=store, shared_store=True) as one,
        running(scripted("B."), store=store, shared_store=True) as two,
    ):
        session = await one.create("me")
        for desk in (one, two, one, one, two):
            await desk.ask("me", session, "?")
            while not await desk.settle("me", session):
                await anyio.lowlevel.checkpoint()
        kept = await store.read(session, owner="me")
        assert [one.type for one in kept].count("assistant.message") == 5


@pytest.mark.anyio
async def test_what_nobody_uses_is_closed_and_opened_again(scripted, monkeypatch, handbook):
    monkeypatch.setattr(chats, "IDLE_SECONDS", 0.02)
    store = MemoryStore()
    async with (
        running(scripted("Yes."), store=store, documents=[handbook]) as desk,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(desk.run)
        session = await desk.create("me")
        await desk.ask("me", session, "?")
        with anyio.fail_after(10):
            while (await store.get(session, owner="me")).holder is not None:  # noqa: ASYNC110
                await anyio.sleep(0.01)  # nothing tells of it
        assert [one.document for one in (await desk.sources("me", session)).sources] == [handbook]
        await desk.ask("me", session, "?")
        assert len(await desk.sources("me", session)) == 1
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_silent_stream_says_that_it_is_there_until_it_ends(scripted, monkeypatch):
    monkeypatch.setattr(stream, "SETTLE_SECONDS", 0.01)
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 0.01)
    streams = stream.Streams()
    async with running(scripted("Yes.")) as desk:
        session = await desk.create("me")
        follower = desk.follow("me", session, after=None)
        frames = streams.frames(follower, chats=desk, owner="me", session_id=session)
        assert await anext(frames) == "retry: 1000\n\n"
        assert json.loads((await anext(frames)).splitlines()[1][6:])["event"]["type"] == (
            "session.start"
        )
        for _ in range(3):
            assert await anext(frames) == ": still here\n\n"
        monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 60)
        async with anyio.create_task_group() as tasks:
            rest = []

            async def read():
                rest.extend([frame async for frame in frames])

            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            streams.end()
        assert rest == []


def _event(kind, data):
    return {
        "id": f"e-{kind}",
        "timestamp": "2026-11-30T00:00:00Z",
        "type": kind,
        "data": data,
        **({"ephemeral": True} if kind.endswith("delta") else {}),
    }


# -- providers and the command


def exchange(registry, text="Is alcohol paid for?"):
    materials = tuple(Material(source=source) for source in registry.sources)
    conversation = Conversation(turns=(UserTurn(text=text, materials=materials),))
    return Exchange(
        conversation=conversation,
        sources=registry,
        question=text,
        syntax=OPTIONS.citations.syntax,
    )


@pytest.mark.parametrize("name", sorted(providers.KEYS))
def test_a_vendor_wants_its_key_and_its_package(name, monkeypatch):
    monkeypatch.delenv(providers.KEYS[name], raising=False)
    with pytest.raises(OptionError, match=providers.KEYS[name]):
        providers.vendor(name, model="m")
    monkeypatch.setenv(providers.KEYS[name], "k")
    package = {"gemini": "google"}.get(name, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=f"--provider {name} wants its package"):
        providers.vendor(name, model="m")


@pytest.mark.anyio
@pytest.mark.parametrize("name", sorted(providers.KEYS))
async def test_a_vendor_is_asked_with_the_sources(name, monkeypatch, handbook):
    """The vendors' clients are doubles here: what they are given is what counts."""
    asked = []

    async def call(**arguments):
        asked.append(arguments)
        return {}

    create = SimpleNamespace(create=call)
    modules = {
        "anthropic": SimpleNamespace(AsyncAnthropic=lambda: SimpleNamespace(messages=create)),
        "openai": SimpleNamespace(AsyncOpenAI=lambda: SimpleNamespace(responses=create)),
        "google": SimpleNamespace(
            genai=SimpleNamespace(
                Client=lambda api_key: SimpleNamespace(  # noqa: ARG005 - as the vendor's
                    aio=SimpleNamespace(models=SimpleNamespace(generate_content_stream=call))
                )
            )
        ),
    }
    monkeypatch.setenv(providers.KEYS[name], "k")
    package = {"gemini": "google"}.get(name, name)
    monkeypatch.setitem(sys.modules, package, modules[package])
    registry = SourceRegistry()
    registry.add(handbook, granularity=Granularity.LINE)
    model = providers.vendor(name, model="the-model")
    [item async for item in model.answer(exchange(registry))]
    (arguments,) = asked
    assert arguments["model"] == "the-model"
    assert "Alcohol is never paid for" in repr(arguments)


@pytest.mark.anyio
async def test_what_a_vendor_cites_by_itself_has_its_place_too(monkeypatch, handbook):
    start = handbook.content.index("Alcohol is never")
    citation = {
        "type": "char_location",
        "cited_text": "Alcohol is never paid for.",
        "document_index": 0,
        "document_title": "handbook.md",
        "start_char_index": start,
        "end_char_index": start + 26,
    }

    async def create(**_arguments):
        async def chunks():
            yield {"type": "message_start", "message": {"model": "m", "content": []}}
            block = {"type": "text", "text": ""}
            yield {"type": "content_block_start", "index": 0, "content_block": block}
            for delta in (
                {"type": "text_delta", "text": "No."},
                {"type": "citations_delta", "citation": citation},
            ):
                yield {"type": "content_block_delta", "index": 0, "delta": delta}
            yield {"type": "content_block_stop", "index": 0}
            yield {"type": "message_stop"}

        return chunks()

    vendors = SimpleNamespace(messages=SimpleNamespace(create=create))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    double = SimpleNamespace(AsyncAnthropic=lambda: vendors)
    monkeypatch.setitem(sys.modules, "anthropic", double)
    model = providers.vendor("anthropic", model="m")
    async with Client(provider=model) as client:
        session = await client.create_session(enable_citations=True)
        session.sources.add(handbook, granularity=Granularity.LINE)
        answer = await session.send_and_wait("Is alcohol paid for?")
        place = {"first": 54, "last": 54, "from": 17, "to": 43}
        assert parts.places(answer.data.citations, session.sources) == {
            "1": {"source": "turn0file0", "places": [place]}
        }


@pytest.mark.anyio
async def test_the_offline_provider_cites_pages_too():
    registry = SourceRegistry()
    registry.add(from_pages(["Nothing.", "Taxis need a reason."]), granularity=Granularity.PAGE)
    paced = providers.Paced(seconds=0)
    asked = exchange(registry, "Do taxis need a reason?")
    events = [one async for one in paced.answer(asked)]
    assert "\ue202P2\ue201" in events[-1].data.content


def test_the_command_names_what_is_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    store = ["--store", str(tmp_path / "chats.db")]
    for arguments, said in (
        (["nowhere.md"], "nowhere.md"),
        (["--provider", "openai"], "wanted --model too"),
        (["--provider", "openai", "--model", "m"], "OPENAI_API_KEY"),
    ):
        assert __main__.main([*arguments, *store]) == 1
        assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_command_serves_files(tmp_path):
    (tmp_path / "notes.md").write_text("# Notes\n\nTaxis need a reason.\n")
    code = (
        "import sys, uvicorn\n"
        "from examples.web_chat import __main__ as command\n"
        "class Server(command.Server):\n"
        "    async def main_loop(self):\n"
        "        print([one.title for one in self._app.state.documents])\n"
        "command.Server = Server\n"
        "sys.exit(command.main(sys.argv[1:]))\n"
    )
    store = tmp_path / "state" / "chats.db"
    arguments = [str(tmp_path / "notes.md"), "--port", "0", "--store", str(store)]
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code, *arguments],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "['notes.md']" in done.stdout
    assert store.exists()
