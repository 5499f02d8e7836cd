"""Many sessions at once in one process. A thousand of them are in the benchmarks."""

import tracemalloc

import anyio
import pytest

from citestream import SQLiteStore
from scripted import answer, client_of

pytestmark = [pytest.mark.anyio, pytest.mark.long]
COUNT = 150
TEXT = "".join(f"word {number} " for number in range(60)).rstrip()


async def test_nothing_is_lost_and_none_takes_more_than_64_kib(tmp_path):
    answers = [answer(TEXT, size=8) for _ in range(COUNT)]
    store = SQLiteStore(tmp_path / "sessions.db")
    async with client_of(*answers, store=store) as (client, _):
        tracemalloc.start()
        try:
            sessions = [await client.create_session(enable_citations=True) for _ in range(COUNT)]
            got = []
            async with anyio.create_task_group() as tasks:

                async def ask(session):
                    got.append((await session.send_and_wait("?", timeout=None)).data.content)

                for session in sessions:
                    tasks.start_soon(ask, session)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert got == [TEXT] * COUNT
        assert peak / COUNT <= 64 * 1024
    async with client_of(store=store) as (client, _):
        for session in sessions:
            again = await client.resume_session(session.session_id)
            contents = [getattr(one.data, "content", None) for one in await again.get_events()]
            assert contents.count(TEXT) == 1
