"""Sessions of the real Copilot runtime, driven by scripted replies, as upstreams of ours."""

import asyncio
import json
from contextlib import asynccontextmanager
from itertools import zip_longest

import pytest
import pytest_asyncio

from citestream import Session, format_marker, wire
from citestream.events import AssistantMessageData, SessionIdleData
from citestream.offsets import utf16_slice
from citestream.providers.anthropic import Anthropic
from citestream.providers.copilot import event_mapping
from citestream.session.upstreams import attach
from citestream.sources import Granularity, from_text
from live.runtime import ANTHROPIC, OPENAI, anthropic_events, find, openai_events, reply, started
from providers.exchanges import answer
from providers.loopback import Loopback

pytestmark = pytest.mark.asyncio(loop_scope="module")
_SECONDS = 25


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory):
    sdk = pytest.importorskip("copilot", reason="needs github-copilot-sdk")
    path = find()
    if path is None:
        pytest.skip("needs the npm package @github/copilot (see tests/live/runtime.py)")
    async with started(sdk, path, tmp_path_factory.mktemp("home")) as it:
        yield it


class Run:
    """What came of one prompt: what Copilot gave its handlers, what our session gave its own."""

    def __init__(self):
        self.direct = []
        self.events = []
        self.answer = None
        self.workspace = None

    def message(self):
        [message] = [e for e in self.events if isinstance(e.data, AssistantMessageData)]
        return message.data

    def runtime_citations(self):
        """Return the citations of the runtime as it sent them."""
        [event] = [e for e in self.direct if e["type"] == "assistant.message"]
        return event["data"].get("citations")

    def warnings(self):
        return [e.data for e in self.events if e.type.value == "session.warning"]

    def words(self):
        message = self.message()
        return [span.slice(message.content) for span in message.citations.spans]

    def log(self):
        """Return the events that the runtime kept on disk."""
        lines = (self.workspace / "events.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@asynccontextmanager
async def running(client, provider, events):
    """Open a session of Copilot whose model answers with ``events``."""
    with Loopback(reply(events)) as server:
        copilot = await client.create_session(
            model=provider["model_id"],
            provider={**provider, "base_url": server.url, "api_key": "none"},
            streaming=True,
            enable_citations=True,
        )
        async with copilot:
            yield copilot


async def run(client, provider, events, *, register=(), prompt="What rose?", **options):
    """Send a prompt through Copilot to a scripted model, with a session of ours attached."""
    done = Run()
    async with running(client, provider, events) as copilot:
        done.workspace = copilot.workspace_path
        off = copilot.on(lambda event: done.direct.append(event_mapping(event)))
        async with Session(enable_citations=True) as session:
            for document, granularity in register:
                session.sources.add(document, granularity=granularity)
            idle = asyncio.Event()

            def take(event):
                done.events.append(event)
                if isinstance(event.data, SessionIdleData):
                    idle.set()

            session.on(take)
            async with attach(copilot, session):
                async with asyncio.timeout(_SECONDS):
                    done.answer = await copilot.send_and_wait(prompt, **options)
                    await idle.wait()
                off()
    return done


# -- Anthropic: the runtime cites natively


def char(start, end, words, document=0, title="Memo"):
    place = {"start_char_index": start, "end_char_index": end}
    about = {"document_index": document, "document_title": title, "file_id": None}
    return {"type": "char_location", "cited_text": words, **about, **place}


def page(start, end, document=1, title="Report"):
    place = {"start_page_number": start, "end_page_number": end}
    about = {"document_index": document, "document_title": title, "file_id": None}
    return {"type": "page_location", "cited_text": "Rents rose.", **about, **place}


def block(start, end, document=2):
    place = {"start_block_index": start, "end_block_index": end}
    about = {"document_index": document, "document_title": None, "file_id": None}
    return {"type": "content_block_location", "cited_text": "A block.", **about, **place}


def result(source, number, start=0, end=1, title="Result"):
    place = {"start_block_index": start, "end_block_index": end}
    about = {"search_result_index": number, "source": source, "title": title}
    return {"type": "search_result_location", "cited_text": "A result.", **about, **place}


def web(url, title="Page"):
    about = {"url": url, "title": title, "encrypted_index": "ZW5j"}
    return {"type": "web_search_result_location", "cited_text": "A page...", **about}


SCENARIOS = {
    "every kind, with CJK and emoji": [
        ("📎 家賃: ", []),
        ("rents rose 4%", [char(0, 12, "Rents rose. ")]),
        (", ", []),
        ("賃金は下がりました。", [char(12, 20, "賃金"), block(0, 2)]),
        (" And 😀 ", []),
        ("it goes on", [web("https://a.example/x#part")]),
        (".", []),
    ],
    "pages": [("One page", [page(1, 2)]), (" or three.", [page(2, 5), page(2, 5)])],
    "search results": [
        ("One", [result("https://b.example/y", 0)]),
        (", two", [result("docs/memo.md", 1, 0, 2)]),
        (", three.", [result("kb:1", 2)]),
    ],
    "the same source again": [
        ("One.", [char(0, 4, "One.", title=None), char(0, 4, "One.", title=None)]),
        (" Two.", [char(4, 8, "Two.")]),
        (" Three.", [web("https://a.example/x", title=""), web("https://a.example/x")]),
    ],
    "an unknown kind": [("One.", [{"type": "new", "cited_text": "x"}, char(0, 4, "One.")])],
}

AGAIN = {
    "sourceId": "s0",
    "citedText": "One.",
    "location": {"type": "char", "startIndex": 0, "endIndex": 4},
    "providerMetadata": {"documentIndex": 0},
}
PAGES = {
    "sourceId": "s0",
    "citedText": "Rents rose.",
    "location": {"type": "page", "startPage": 2, "endPage": 5},
    "providerMetadata": {"documentIndex": 1},
}
WEB = {
    "sourceId": "s2",
    "citedText": "A page...",
    "providerMetadata": {"encryptedIndex": "ZW5j"},
}

DIFFERENCES = [
    # scenario, place, the runtime's, ours, and on which way: attached to it, or without it
    ("pages", "spans.0.references.0.location.endPage", 2, 1, "both"),
    ("pages", "spans.1.references.0.location.endPage", 5, 4, "both"),
    ("pages", "spans.1.references.1", PAGES, None, "both"),
    ("search results", "sources.1.url", "docs/memo.md", None, "both"),
    ("search results", "sources.1.path", None, "docs/memo.md", "both"),
    ("search results", "sources.2.url", "kb:1", None, "without"),
    ("the same source again", "spans.0.references.1", AGAIN, None, "both"),
    ("the same source again", "spans.2.references.1", WEB, None, "both"),
    ("the same source again", "sources.2.title", None, "Page", "without"),
]
"""Every difference on Anthropic between our citations and the runtime's, and why:

- the last page is inclusive, as the schema of the SDK says; the runtime copies Anthropic's end;
- references of a span that are identical collapse;
- a path is a path, and what is neither url nor path is not said to be one; the runtime calls all
  of it url. What it says is kept where it cannot be told what it is;
- a later title fills a missing one. What the runtime threw away cannot be brought back.
"""


def differences(theirs, ours, path=""):
    """Give what differs between two JSON values, as pairs by place."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = {*theirs, *ours}
        pairs = {key: (theirs.get(key), ours.get(key)) for key in keys}
    elif isinstance(theirs, list) and isinstance(ours, list):
        pairs = dict(enumerate(zip_longest(theirs, ours)))
    else:
        return {} if theirs == ours else {path.removeprefix("."): (theirs, ours)}
    return {
        place: pair
        for key, (a, b) in pairs.items()
        for place, pair in differences(a, b, f"{path}.{key}").items()
    }


@pytest.mark.parametrize("name", SCENARIOS)
async def test_citations_on_anthropic_are_those_of_the_runtime(name, client):
    events = anthropic_events(*SCENARIOS[name])
    done = await run(client, ANTHROPIC, events)
    without = answer(Anthropic(), events)
    content = "".join(text for text, _ in SCENARIOS[name])
    assert done.message().content == without.content == content
    theirs = done.runtime_citations()
    for way, ours in (("attached", done.message().citations), ("without", without.citations)):
        listed = {
            place: (was, is_)
            for scenario, place, was, is_, where in DIFFERENCES
            if scenario == name and where in {"both", way}
        }
        assert differences(theirs, wire.encode_citations(ours)) == listed


async def test_deltas_on_anthropic_join_to_the_content(client):
    name = "every kind, with CJK and emoji"
    done = await run(client, ANTHROPIC, anthropic_events(*SCENARIOS[name]))
    deltas = [e.data.delta_content for e in done.events if e.type.value.endswith("message_delta")]
    assert "".join(deltas) == done.message().content
    assert done.answer.data.content == done.message().content


# -- OpenAI: the runtime lets markers through as text

HANDBOOK = from_text("Meals are paid up to 48 EUR.\nTaxis need a reason.", title="Handbook")
MARKED = (
    f"Meals are paid 🍜 up to 48 EUR. {format_marker('turn0file0', locator='L1')} "
    f"タクシーには理由が必要です。{format_marker('turn0file0', locator='L2')}\n\n"
    f"- Nothing else. {format_marker('turn9file9')}"
)


async def test_markers_on_openai_become_citations(client):
    register = [(HANDBOOK, Granularity.LINE)]
    done = await run(client, OPENAI, openai_events(MARKED), register=register)
    message = done.message()
    assert done.answer.data.content == MARKED  # what a user of Copilot alone gets
    assert message.content == (
        "Meals are paid 🍜 up to 48 EUR. タクシーには理由が必要です。\n\n- Nothing else."
    )
    assert done.words() == ["Meals are paid 🍜 up to 48 EUR.", "タクシーには理由が必要です。"]
    [source] = message.citations.sources
    assert (source.provider, source.title) == ("client", "Handbook")
    assert [s.references[0].cited_text for s in message.citations.spans] == [
        "Meals are paid up to 48 EUR.",
        "Taxis need a reason.",
    ]
    assert [w.warning_type for w in done.warnings()] == ["citation.unknown_source"]
    deltas = [e.data.delta_content for e in done.events if e.type.value.endswith("message_delta")]
    assert "".join(deltas) == message.content


LINKED = "May 😀 it was ([Status](https://s.example/a)). 後で ([News](https://n.example/b?c=d))."
LINKS = ["([Status](https://s.example/a))", "([News](https://n.example/b?c=d))"]


def url_citation(words, title):
    start = LINKED.index(words)
    url = words[words.index("https") : -2]
    place = {"start_index": start, "end_index": start + len(words)}
    return {"type": "url_citation", "url": url, "title": title, **place}


async def test_links_on_openai_are_cited_where_they_stand(client):
    noted = [url_citation(LINKS[0], "Status"), url_citation(LINKS[1], "News")]
    done = await run(client, OPENAI, openai_events(LINKED, *noted))
    theirs = done.runtime_citations()["spans"]
    moved = [utf16_slice(LINKED, span["startIndex"], span["endIndex"]) for span in theirs]
    assert moved != LINKS
    assert [span["references"][0]["citedText"] for span in theirs] == moved
    assert done.words() == LINKS
    references = [r for span in done.message().citations.spans for r in span.references]
    assert [r.cited_text for r in references] == [None, None]
    assert [s.title for s in done.message().citations.sources] == ["Status", "News"]
    assert sorted(w.extra["repair"] for w in done.warnings()) == ["offset", "words"]


# -- nothing is lost


async def test_everything_that_the_runtime_keeps_comes_over_in_its_order(client):
    done = await run(client, OPENAI, openai_events(MARKED))
    kept = {event["id"]: event["type"] for event in done.log()}
    came = [event.id for event in done.events]
    assert [one for one in came if one in kept] == [one for one in kept if one in came]
    withheld = "assistant.message_delta"  # nothing is left of one that held a marker alone
    assert {event["id"] for event in done.direct if event["type"] != withheld} <= {*came}
    # What the runtime tells nobody, or told before one attached or after one detached.
    missed = {kind for one, kind in kept.items() if one not in came}
    assert missed <= {"session.start", "session.usage_record", "session.shutdown"}


parsing = pytest.mark.skipif(not __debug__, reason="without asserts the SDK parses anything")


@parsing
async def test_an_event_that_the_sdk_cannot_parse_reaches_the_session(client, tmp_path, caplog):
    note = tmp_path / "note.txt"
    note.write_text("Rents rose.", encoding="utf-8")
    attachment = {"type": "file", "path": str(note)}  # without the name that the SDK wants back
    done = await run(client, OPENAI, openai_events("Up."), attachments=[attachment])
    assert "user.message" not in [event["type"] for event in done.direct]
    [message] = [e.data for e in done.events if e.type.value == "user.message"]
    assert message.content == "What rose?"
    assert message.attachments[0]["path"] == str(note)
    assert done.message().content == "Up."
    assert "Exception in callback" in caplog.text  # the report is passed on


@parsing
async def test_a_message_that_the_sdk_cannot_parse_keeps_its_text(client):
    broken = {**char(0, 4, "One."), "start_char_index": None}
    done = await run(client, ANTHROPIC, anthropic_events(("One.", [broken])))
    assert done.answer is None
    assert done.message().content == "One."
    assert done.message().citations is None
    assert [w.warning_type for w in done.warnings()] == ["decode_error"]


@parsing
async def test_the_sdk_alone_loses_what_it_cannot_parse(client):
    broken = {**char(0, 4, "One."), "start_char_index": None}
    direct = []
    async with running(client, ANTHROPIC, anthropic_events(("One.", [broken]))) as copilot:
        copilot.on(direct.append)
        async with asyncio.timeout(_SECONDS):
            assert await copilot.send_and_wait("What rose?") is None
        with pytest.raises(AssertionError):
            await copilot.get_events()
    assert "assistant.message" not in [event.type.value for event in direct]
