"""Logs that the real Copilot runtime kept, imported; and ours, exported, which it resumes."""

import asyncio
import shutil
from pathlib import Path

import pytest
import pytest_asyncio

from citestream import Client, MemoryStore
from citestream.logs import LogReader
from citestream.sources import from_text
from live.runtime import ANTHROPIC, anthropic_events, find, reply, started
from providers.loopback import Loopback
from scripted import Scripted, answer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def copilot(tmp_path_factory):
    sdk = pytest.importorskip("copilot", reason="needs github-copilot-sdk")
    path = find()
    if path is None:
        pytest.skip("needs the npm package @github/copilot (see tests/live/runtime.py)")
    async with started(sdk, path, tmp_path_factory.mktemp("home")) as it:
        yield it


def about(server):
    provider = {**ANTHROPIC, "base_url": server.url, "api_key": "none"}
    return {"model": ANTHROPIC["model_id"], "provider": provider, "streaming": True}


async def kept_log(copilot):
    """Ask the runtime something and return the folder of the session."""
    with Loopback(reply(anthropic_events(("Rents rose.", [])))) as server:
        session = await copilot.create_session(**about(server))
        async with session:
            await session.send_and_wait("What rose?")
            return Path(session.workspace_path)


async def resumed(copilot, session_id):
    """Resume a session in the runtime, ask it more, and return its events and the answer."""
    with Loopback(reply(anthropic_events(("And wages.", [])))) as server:
        async with asyncio.timeout(25):
            session = await copilot.resume_session(session_id, **about(server))
            async with session:
                events = await session.get_events()
                more = await session.send_and_wait("What else?")
    return events, more.data.content


async def test_what_the_runtime_kept_goes_in_and_out_and_is_resumed_by_it(copilot):
    folder = await kept_log(copilot)
    reader = LogReader()
    log = (folder / "events.jsonl").read_bytes()
    items = [*reader.feed(log), *reader.finish()]
    async with Client() as client:
        imported = await client.import_session(items)
        assert (imported.session_id, imported.repeated) == (folder.name, 0)
        lines = [line async for line in client.export_session(folder.name)]
    assert len(lines) == log.count(b"\n")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    events, more = await resumed(copilot, folder.name)
    said = [one.id for one in items if one.type.value in {"user.message", "assistant.message"}]
    assert said == [str(one.id) for one in events if str(one.id) in said]
    assert (len(said), more) == (2, "And wages.")


async def test_the_runtime_resumes_a_session_of_ours(copilot):
    states = (await kept_log(copilot)).parent
    store = MemoryStore()
    async with Client(provider=Scripted(answer("Rents rose.")), store=store) as client:
        session = await client.create_session(enable_citations=True)
        session.sources.add(from_text("Rents rose.", title="Memo"))
        await session.send_and_wait("What rose?")
    async with Client(store=store) as client:
        again = await client.resume_session(session.session_id)
        await again.disconnect()
        lines = [line async for line in client.export_session(session.session_id)]
    folder = states / session.session_id
    folder.mkdir()
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    events, more = await resumed(copilot, session.session_id)
    said = [one.data.content for one in events if one.type.value == "assistant.message"]
    assert (said, more) == (["Rents rose."], "And wages.")
