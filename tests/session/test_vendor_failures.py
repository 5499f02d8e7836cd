"""A client whose vendor fails, or is told to stop: aborted, refused, cut off in mid-stream.

Every row of the README's table, with the vendor's own SDK, over a server on this machine.
"""

from functools import partial
from threading import Event

import anyio
import anyio.to_thread
import pytest

from citestream import Client, MemoryStore, SessionError
from providers.loopback import Loopback, Reply
from scripted import kinds
from vendors import KEY, alone, every_vendor

pytestmark = pytest.mark.anyio

BODY = "canary: what a body says"
SECONDS = 10.0


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    alone(monkeypatch, tmp_path)


async def happened(event):
    """Wait for an event of a thread."""
    with anyio.fail_after(SECONDS):
        while not await anyio.to_thread.run_sync(partial(event.wait, 0.05)):
            ...


class Endless:
    """An answer that does not end.

    It waits until it ``goes_on``, after its beginning or, ``at_once``, before that.
    """

    def __init__(self, vendor, *, at_once=False):
        self.vendor = vendor
        self.at_once = at_once
        self.asked, self.goes_on, self.left = (Event() for _ in range(3))

    def __call__(self, _request):
        self.asked.set()
        if self.at_once:
            self.goes_on.wait(SECONDS)
        # Nobody else has the pieces: they are closed when the server cannot send any more.
        return Reply(headers=self.vendor.headers, pieces=self.pieces(), delay=0.005)

    def pieces(self):
        try:
            begun = self.vendor.begins("Taxis are")
            yield from begun
            self.goes_on.wait(SECONDS)
            for _ in range(int(SECONDS / 0.005)):
                yield begun[-1]
        finally:
            self.left.set()


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "flowing"])
@every_vendor
async def test_abort_closes_the_connection(vendor, silent):
    endless = Endless(vendor)
    if not silent:
        endless.goes_on.set()
    seen, streams = [], anyio.Event()

    def note(event):
        seen.append(event)
        if kinds([event]) == ["assistant.message_delta"]:
            streams.set()

    with Loopback(endless) as server:
        async with Client(provider=vendor.provider(server.url)) as client:
            session = await client.create_session(enable_citations=True, on_event=note)
            await session.send("Are taxis paid for?")
            with anyio.fail_after(SECONDS):
                await streams.wait()
                await session.abort()
            assert kinds(seen)[-3:] == ["assistant.message", "abort", "session.idle"]
            (message,) = (one.data for one in seen if kinds([one]) == ["assistant.message"])
            assert message.extra["interrupted"]
            assert message.content.startswith("Taxis are")
            endless.goes_on.set()
            await happened(endless.left)


@every_vendor
async def test_abort_does_not_wait_for_an_answer_to_begin(vendor):
    endless, seen = Endless(vendor, at_once=True), []
    with Loopback(endless) as server:
        async with Client(provider=vendor.provider(server.url)) as client:
            session = await client.create_session(on_event=seen.append)
            await session.send("Are taxis paid for?")
            await happened(endless.asked)
            with anyio.fail_after(SECONDS / 2):
                await session.abort()
            assert kinds(seen)[-2:] == ["abort", "session.idle"]
            assert "assistant.message" not in kinds(seen)
            endless.goes_on.set()
            await happened(endless.left)


async def failed(vendor, reply):
    """Ask once; return what was raised, what was seen, and what a resumed session has."""
    seen, store = [], MemoryStore()
    with Loopback(reply) as server:
        async with Client(provider=vendor.provider(server.url), store=store) as client:
            session = await client.create_session(enable_citations=True, on_event=seen.append)
            with pytest.raises(SessionError) as caught:
                await session.send_and_wait("Are taxis paid for?")
        async with Client(store=store) as client:
            resumed = await client.resume_session(session.session_id, enable_citations=True)
            kept = await resumed.get_events()
    assert len(server.requests) == 1
    assert KEY in str(server.requests[0].headers)
    for event in (*seen, *kept):
        assert KEY not in str(event.data)
        assert "canary" not in str(event.data)
    assert [one for one in kinds(seen) if one == "session.error"] == ["session.error"]
    assert kinds(seen)[-1] == "session.idle"
    return caught.value, seen, kept


@every_vendor
async def test_a_refusal_is_an_error_with_its_status(vendor):
    kind = {"x-amzn-errortype": "ThrottlingException"} if vendor.api == "bedrock" else {}
    body = {"message": BODY, "error": {"type": "rate_limit_error", "code": 429, "message": BODY}}
    error, seen, _ = await failed(vendor, Reply.json(body, status=429, headers=kind))
    assert "(status 429)" in str(error)
    assert error.error_type == "provider"
    assert error.__cause__ is not None
    assert "assistant.message" not in kinds(seen)


@every_vendor
async def test_a_connection_that_is_cut_leaves_an_interrupted_message(vendor):
    pieces = [*vendor.begins("Taxis are"), *vendor.begins("Taxis are")[-1:]]
    reply = Reply(headers=vendor.headers, pieces=pieces, break_after=len(pieces) - 1)
    _, seen, kept = await failed(vendor, reply)
    for events in (seen, kept):
        (message,) = (one.data for one in events if kinds([one]) == ["assistant.message"])
        assert message.extra["interrupted"]
        assert message.content == "Taxis are"
