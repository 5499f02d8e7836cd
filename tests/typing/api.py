"""Never run: what a user's type checker must say about the public names."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, assert_never, assert_type

from citestream import (
    CitationLocation,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationOther,
    CitationLocationPage,
    CitationOptions,
    Citations,
    CitationSpan,
    Client,
    FollowedEvent,
    MarkerFilter,
    MarkerSyntax,
    OfflineProvider,
    Resolution,
    Resolver,
    Session,
    SessionEvent,
    SessionOptions,
    SQLiteStore,
    Store,
    ToolResult,
    VendorProvider,
    extract_citations,
    format_marker,
    parse_markers,
    providers,
    render,
    resolve,
    strip_citations,
    tool,
    wire,
)
from citestream.events import AssistantMessageData
from citestream.markers import LINES, PAGES, MarkedText
from citestream.prompts import PromptOptions
from citestream.sources import Granularity


def locations(location: CitationLocation) -> int:
    match location:
        case CitationLocationChar():
            return location.start_index
        case CitationLocationPage():
            return location.start_page
        case CitationLocationBlock():
            return location.start_block
        case CitationLocationOther():
            return len(location.type)
        case _:
            assert_never(location)


def texts(text: str) -> None:
    answer = resolve(text, options=CitationOptions(spans="paragraph"))
    assert_type(answer, Resolution)
    assert_type(answer.citations, Citations | None)
    assert_type(render.markdown(answer.content, answer.citations, anchor_prefix="a"), str)
    syntax = MarkerSyntax(highlight=None, locators=(LINES, PAGES))
    assert_type(parse_markers(text, syntax=syntax), MarkedText)
    PromptOptions(syntax=syntax, granularities=[Granularity.LINE])
    assert_type(strip_citations(text, extract_citations(text, families=["cite"])), str)
    assert_type(MarkerFilter().feed(format_marker("a")), list[str])


def spans(citations: Citations, content: str) -> list[str]:
    assert_type(citations.spans, tuple[CitationSpan, ...])
    return [span.slice(content) for span in citations.spans]


async def sessions(upstream: AsyncIterator[Mapping[str, Any]]) -> None:
    async def later(event: SessionEvent) -> None:
        assert_type(event.id, str)

    def now(event: SessionEvent) -> None:
        if isinstance(event.data, AssistantMessageData):
            assert_type(event.data.citations, Citations | None)

    async with Session(enable_citations=True, options=SessionOptions(buffer_size=8)) as session:
        unsubscribe = session.on(later)
        session.on(now)
        await session.consume(upstream, on_error="skip")
        unsubscribe()
        assert_type(await session.get_events(), list[SessionEvent])
        async for event in session.events():
            assert_type(event, SessionEvent)
    await session.consume(upstream, on_error="ignore")  # type: ignore[arg-type]  # not a policy


def engine(line: bytes) -> list[dict[str, Any]]:
    resolver = Resolver()
    events = [*resolver.feed(wire.decode_event(line)), *resolver.finish()]
    return [wire.encode_event(event) for event in events]


@tool
def search(query: str) -> ToolResult:
    """Search."""
    return ToolResult(query, citable_sources=[{"id": "a", "content": "b"}])


async def client(store: Store, call: Callable[..., Any]) -> None:
    provider = VendorProvider(providers.Anthropic, call, model="m", stream=True)
    async with Client(provider=provider, store=store) as one:
        session = await one.create_session(enable_citations=True, tools=[search])
        assert_type(await session.send("?"), str)
        assert_type(await session.send_and_wait("?"), SessionEvent | None)
        async for followed in one.follow(session.session_id):
            assert_type(followed, FollowedEvent)
        await one.create_session(enable_citation=True)  # type: ignore[call-arg]  # no such setting
    async with Client(provider=OfflineProvider(), store=SQLiteStore("sessions.db")):
        pass
