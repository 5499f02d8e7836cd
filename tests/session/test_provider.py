import sys
import threading
from contextlib import asynccontextmanager
from functools import partial, wraps

import anyio
import attrs
import pytest

from citestream import OfflineProvider, OptionError, SourceRegistry, VendorProvider, providers
from citestream.conversation import Conversation, UserTurn
from citestream.events import AnswerText
from citestream.markers import DEFAULT_SYNTAX, LINES, PAGES
from citestream.prompts import PromptOptions
from citestream.session.provider import Exchange
from citestream.sources import Granularity, from_pages, from_text

pytestmark = pytest.mark.anyio
PAGED = attrs.evolve(DEFAULT_SYNTAX, locators=(LINES, PAGES))


class Vendor:
    def request(self, conversation, /, **arguments):
        return {"turns": conversation.turns} | arguments

    def decode(self, chunk, /):
        return [AnswerText(text=str(chunk))]


class Whole:
    """What an SDK's values look like: they can be iterated, and are one answer all the same."""

    def __iter__(self):
        raise AssertionError

    def __str__(self):
        return "whole"


class Stream:
    """An async stream that is also a context manager, as those of most SDKs are."""

    def __init__(self, *chunks):
        self.chunks = list(chunks)
        self.left = False

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.left = True

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.chunks:
            raise StopAsyncIteration
        return self.chunks.pop(0)


def asking(question="?", registry=None):
    turns = (UserTurn(text=question),)
    sources = SourceRegistry() if registry is None else registry
    conversation = Conversation(turns=turns)
    return Exchange(conversation=conversation, sources=sources, question=question)


async def told(provider, exchange=None):
    return [item async for item in provider.answer(exchange or asking())]


async def returns_whole(**_):
    return Whole()


async def returns_stream(**_):
    return Stream("a", "b")


def returns_manager(**_):
    @asynccontextmanager
    async def manage():
        yield Stream("a", "b")

    return manage()


async def generates(**_):
    for chunk in "ab":
        yield chunk


@wraps(returns_stream)
def wrapped(**arguments):
    return returns_stream(**arguments)


def sync_whole(**_):
    return Whole()


def sync_stream(**_):
    return iter("ab")


def sync_mapping(**_):
    return {"ResponseMetadata": {}, "stream": ("a", "b")}


def sync_coroutine(**arguments):
    return returns_stream(**arguments)


class Client:
    async def create(self, **arguments):
        return await returns_stream(**arguments)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (returns_whole, ["whole"]),
        (sync_whole, ["whole"]),
        (returns_stream, ["a", "b"]),
        (returns_manager, ["a", "b"]),
        (generates, ["a", "b"]),
        (wrapped, ["a", "b"]),
        (sync_stream, ["a", "b"]),
        (sync_mapping, ["a", "b"]),
        (sync_coroutine, ["a", "b"]),
        (Client().create, ["a", "b"]),
        (partial(returns_stream), ["a", "b"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_whatever_a_vendors_client_returns(call, wanted):
    assert [item.text for item in await told(VendorProvider(Vendor, call))] == wanted


async def test_the_request_is_the_vendors_and_the_callers():
    asked = []

    def call(**request):
        asked.append(request)
        return Whole()

    await told(VendorProvider(Vendor, call, model="m", stream=True), asking("Why?"))
    assert asked == [{"turns": (UserTurn(text="Why?"),), "model": "m", "stream": True}]


async def test_a_stream_is_closed_when_nobody_wants_the_rest():
    stream = Stream("a", "b")
    closed = []

    async def generate(**_):
        try:
            yield "a"
            yield "b"
        finally:
            closed.append(True)

    async def call(**_):
        return stream

    for each in (call, generate):
        items = VendorProvider(Vendor, each).answer(asking())
        await anext(items)
        await items.aclose()
    assert stream.left
    assert closed == [True]


async def test_what_is_sync_does_not_hold_up_the_loop():
    here, there = anyio.Event(), []

    def slow(**_):
        anyio.from_thread.run_sync(here.set)
        return Whole()

    async with anyio.create_task_group() as tasks:

        async def ask():
            there.extend(await told(VendorProvider(Vendor, slow)))

        tasks.start_soon(ask)
        await here.wait()
    assert len(there) == 1


class Slow:
    """A sync stream that may take its time: ``enters`` when it is asked, ``gate`` to go on."""

    def __init__(self):
        self.enters, self.gate, self.closes = (threading.Event() for _ in range(3))
        self.reads = False

    def __iter__(self):
        return self

    def __next__(self):
        self.reads = True
        self.enters.set()
        self.gate.wait(10)
        self.reads = False
        return "chunk"

    def close(self):
        assert not self.reads
        self.closes.set()


async def test_a_sync_stream_is_closed_when_nobody_wants_the_rest():
    stream = Slow()
    stream.gate.set()
    items = VendorProvider(Vendor, lambda **_: {"stream": stream}).answer(asking())
    assert (await anext(items)).text == "chunk"
    assert not stream.closes.is_set()
    await items.aclose()
    assert stream.closes.is_set()


@pytest.mark.parametrize("inside", ["call", "next"])
async def test_what_a_thread_works_on_is_closed_when_it_returns(inside):
    stream = Slow()

    def call(**_):
        if inside == "call":
            next(stream)
        return stream

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(told, VendorProvider(Vendor, call))
        assert await anyio.to_thread.run_sync(stream.enters.wait, 10)
        tasks.cancel_scope.cancel()
    assert not stream.closes.is_set()
    stream.gate.set()
    assert await anyio.to_thread.run_sync(stream.closes.wait, 10)


async def test_a_call_that_fails_when_nobody_waits_for_it_harms_nobody():
    stream, failed = Slow(), threading.Event()

    def call(**_):
        next(stream)
        failed.set()
        raise ValueError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(told, VendorProvider(Vendor, call))
        assert await anyio.to_thread.run_sync(stream.enters.wait, 10)
        tasks.cancel_scope.cancel()
    stream.gate.set()
    assert await anyio.to_thread.run_sync(failed.wait, 10)


async def test_what_is_async_is_not_closed_in_a_thread():
    class Closing(Stream):
        async def close(self):
            raise AssertionError

    stream = Closing("a")
    assert await told(VendorProvider(Vendor, lambda **_: stream))
    assert stream.left


async def test_a_vendor_that_is_shown_markers_is_told_their_syntax():
    class Shown(Vendor):
        def request(self, _conversation, /, *, options=None, **arguments):
            return {"options": options} | arguments

    asked = []

    def call(**request):
        asked.append(request)
        return Whole()

    paged = attrs.evolve(asking(), syntax=PAGED)
    await told(VendorProvider(Shown, call), paged)
    await told(VendorProvider(Shown, call, options=5), paged)
    assert [one["options"] for one in asked] == [PromptOptions(syntax=PAGED), 5]


@pytest.mark.parametrize(("vendor", "call"), [(1, print), (Vendor, None)])
def test_misuse_is_refused(vendor, call):
    with pytest.raises(OptionError, match="wanted a callable"):
        VendorProvider(vendor, call)


async def test_offline_it_quotes_the_sources():
    registry = SourceRegistry()
    registry.add(from_text("Meals are paid.\nAlcohol is not."), granularity=Granularity.LINE)
    provider = OfflineProvider()
    events = await told(provider, asking("Is alcohol paid?", registry))
    assert "Alcohol is not." in events[-1].data.content
    registry.add(from_text("Taxis are paid on Sundays."), granularity=Granularity.LINE)
    events = await told(provider, asking("When are taxis paid?", registry))
    assert "Sundays" in events[-1].data.content
    pages = attrs.evolve(asking("Is alcohol paid?", registry), syntax=PAGED)
    registry.add(from_pages(["Alcohol is never paid."]), granularity=Granularity.PAGE)
    events = await told(provider, pages)
    assert "\ue202P1\ue201" in events[-1].data.content
    nothing = Exchange(conversation=Conversation(turns=()), sources=SourceRegistry())
    assert await told(provider, nothing)


async def test_offline_it_wants_the_extra(monkeypatch):
    for name in ("terms", "ranking"):
        monkeypatch.setitem(sys.modules, f"citestream.providers.{name}", None)
        monkeypatch.delattr(providers, name, raising=False)
    with pytest.raises(OptionError, match=r"citestream\[ask\]"):
        await told(OfflineProvider())
