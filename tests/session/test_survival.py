"""Sessions survive the processes that write them. Stores have tests of their own."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from citestream import SQLiteStore
from scripted import answer, client_of, kinds

pytestmark = [pytest.mark.anyio, pytest.mark.long]
WRITER = Path(__file__).with_name("writer.py")


@pytest.mark.parametrize("run", range(4))
async def test_a_killed_writer_leaves_a_session_that_goes_on(tmp_path, run):
    path = tmp_path / "sessions.db"
    wanted = random.Random(run).randrange(5, 90)  # noqa: S311 - where to kill, the same in every run
    with subprocess.Popen(  # noqa: ASYNC220, S603 - our own script
        [sys.executable, WRITER, path, "s"], stdout=subprocess.PIPE, text=True
    ) as writer:
        told = [line.split() for line, _ in zip(writer.stdout, range(wanted), strict=False)]
        writer.send_signal(signal.SIGKILL)
        told += [line.split() for line in writer.stdout if line.endswith("\n")]
    acknowledged = [(one, kind) for word, one, kind in told if word == "kept"]
    async with client_of(answer("Here again."), store=SQLiteStore(path)) as (client, provider):
        session = await client.resume_session("s", enable_citations=True)
        events = await session.get_events()
        have = [one.id for one in events]
        lasting = [
            one
            for one, kind in acknowledged
            if kind not in {"assistant.message_start", "session.idle"}
        ]
        assert [one for one in have if one in lasting] == lasting
        messages = [one.data for one in events if kinds([one]) == ["assistant.message"]]
        for message in messages:
            numbers = [int(word) for word in message.content.split()]
            assert numbers == list(range(len(numbers)))
            assert "\ue200" not in message.content
            if len(numbers) > 5:
                assert message.citations.sources[0].title == "Rules"
        streamed = {kind for word, _, kind in told if word == "delta"}
        cut = [one for one in messages if "interrupted" in one.extra]
        assert len(cut) <= bool(streamed)
        assert [len(one.content.split()) for one in messages if one not in cut] == [21] * (
            len(messages) - len(cut)
        )
        assert session.sources.ids == ("turn0file0", "rules")
        assert (await session.send_and_wait("And now?")).data.content == "Here again."
        assert len(provider.asked[0].conversation.turns) >= 2


async def test_readers_follow_a_session_from_writer_to_writer(tmp_path):
    path = tmp_path / "sessions.db"
    seen = []
    async with (
        client_of(store=SQLiteStore(path)) as (reading, _),
        anyio.create_task_group() as tasks,
    ):
        async with client_of(answer("One."), store=SQLiteStore(path)) as (first, _):
            session = await first.create_session(session_id="s")

            async def follow():
                async with reading.follow("s") as follower:
                    async for one in follower:
                        seen.append(one)
                        if kinds(each.event for each in seen).count("session.idle") == 2:
                            return

            tasks.start_soon(follow)
            await session.send_and_wait("1?")
        async with client_of(answer("Two."), store=SQLiteStore(path)) as (second, _):
            session = await second.resume_session("s")
            await session.send_and_wait("2?")
    late = []
    async with client_of(store=SQLiteStore(path)) as (client, _), client.follow("s") as follower:
        async for one in follower:
            late.append(one)
            if kinds(each.event for each in late).count("session.idle") == 2:
                break
    lasting = [one for one in seen if one.event.type.value.split("_")[-1] not in {"delta", "start"}]
    assert [one for one in late if one in lasting] == lasting
    cursors = [tuple(map(int, one.cursor.split("."))) for one in seen]
    assert cursors == sorted(set(cursors))
