"""A client whose answers come from a vendor: a question, a tool, an answer that cites, resumed.

Every row of the README's table, with the vendor's own SDK, over a server on this machine.
"""

import pytest

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    Client,
    MemoryStore,
    SessionOptions,
    ToolResult,
    tool,
)
from providers.citing import Piece, leaves
from providers.loopback import CUTS, Loopback, Reply
from scripted import kinds
from vendors import CALL, KEY, ROWS, SIGNATURE, VENDORS, alone, every_vendor

pytestmark = pytest.mark.anyio

HOUSE = "# House 🏠\n\nMeals are paid.\nAlcohol is never paid for.\n"
WINE = "Alcohol is never paid for."
TAXIS = "🚕 Taxis are paid for\nafter 22:00."
LATE = "after 22:00."
SAID = [
    Piece("No wine 🍷, alas.", WINE),
    Piece(" "),
    Piece("タクシー: late ones.", LATE, tool=True),
]
CONTENT = "".join(one.text for one in SAID)


def chars(text, words):
    begin = text.index(words)
    return words, CitationLocationChar(start_index=begin, end_index=begin + len(words))


MARKED = (("client", *chars(HOUSE, WINE)), ("client", *chars(TAXIS, LATE)))
NATIVE = (
    ("anthropic", *chars(HOUSE, WINE)),
    ("client", TAXIS, CitationLocationBlock(start_block=0, end_block=1)),
)
CITED = {
    "anthropic": NATIVE,
    "bedrock": NATIVE,
    "openai": MARKED,
    "openai_chat": MARKED,
    "gemini": MARKED,
    # These cite paragraphs as wholes.
    "mistral": (MARKED[0], ("client", *chars(TAXIS, TAXIS))),
    "cohere": (("cohere", *chars(HOUSE, HOUSE.strip())), ("client", *chars(TAXIS, TAXIS))),
}
NAMES = (("house.md", "house.md"), ("Travel rules", "rules/travel.md"))


@tool(skip_permission=True)
def search(query: str) -> ToolResult:
    """Search the rules of the house."""
    one = {"id": "travel-7", "content": TAXIS, "title": "Travel rules", "path": "rules/travel.md"}
    return ToolResult(f"One rule about {query}.", citable_sources=[one])


SETTINGS = {
    "enable_citations": True,
    "tools": [search],
    "options": SessionOptions(system_message="Be brief."),
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    alone(monkeypatch, tmp_path)


def cited(data):
    """Return every reference with its words and what is said of its source."""
    sources = {one.id: one for one in data.citations.sources}
    return [
        (span.slice(data.content), reference, sources[reference.source_id])
        for span in data.citations.spans
        for reference in span.references
    ]


def messages(events):
    """Return every message with its deltas, joined."""
    deltas = {}
    for one in events:
        if kinds([one]) == ["assistant.message_delta"]:
            deltas.setdefault(one.data.message_id, []).append(one.data.delta_content)
    return [
        (one.data, "".join(deltas.get(one.data.message_id, [])))
        for one in events
        if kinds([one]) == ["assistant.message"]
    ]


def check_answer(vendor, data):
    assert data.content == CONTENT
    found = cited(data)
    assert [words for words, _, _ in found] == [SAID[0].text, SAID[2].text]
    told = zip(found, CITED[vendor.api], NAMES, strict=True)
    for (_, reference, source), (provider, words, location), named in told:
        assert source.provider == provider
        assert (source.title, source.path, source.url) == (*named, None)
        assert (reference.cited_text, reference.location) == (words, location)


def check_told(vendor, server):
    """The second request has what was asked, called and returned; the third what was said too."""
    first, second, third = (one.body for one in server.requests)
    assert WINE in str(first)
    said = [one for one in leaves(second) if isinstance(one, str)]
    assert said.count(CALL.id) == 2
    assert [one for one in said if "One rule about taxi 🚕." in one]
    assert [one for one in said if LATE in one]
    assert (SIGNATURE in said) == (bool(vendor.thoughts) or vendor.api == "gemini")
    assert KEY not in str(second)
    history = second[vendor.history]
    assert third[vendor.history][: len(history)] == history
    answered, asked = third[vendor.history][len(history) :]
    assert CONTENT in leaves(answered)
    assert "And wine?" in leaves(asked)
    rest = [{k: v for k, v in one.items() if k != vendor.history} for one in (second, third)]
    assert rest[0] == rest[1]
    assert "Be brief." in str(rest[0]) + str(history[0])


@pytest.mark.parametrize("way", CUTS)
@every_vendor
async def test_a_turn_with_a_tool_is_cited_and_goes_on_when_resumed(vendor, way, tmp_path):
    (tmp_path / "house.md").write_text(HOUSE, encoding="utf-8")
    store, seen, again = MemoryStore(), [], []

    def streams(data):
        return Reply(headers=vendor.headers, pieces=CUTS[way](data))

    def cites(request):
        return streams(vendor.cites(request.body, SAID))

    with Loopback(streams(vendor.calls()), cites, cites) as server:
        provider = vendor.provider(server.url)
        async with Client(provider=provider, store=store, working_directory=tmp_path) as client:
            session = await client.create_session(**SETTINGS, on_event=seen.append)
            attached = [{"type": "file", "path": "house.md"}]
            event = await session.send_and_wait("Is wine paid for?", attachments=attached)
        # What was attached is kept: nobody reads the file again.
        async with Client(provider=vendor.provider(server.url), store=store) as client:
            session = await client.resume_session(
                session.session_id, **SETTINGS, on_event=again.append
            )
            resumed = await session.send_and_wait("And wine?")
    check_answer(vendor, event.data)
    check_answer(vendor, resumed.data)
    assert event.data.citations == resumed.data.citations
    check_told(vendor, server)
    assert len(messages(seen)) == 2
    for data, joined in messages([*seen, *again]):
        assert joined == data.content


def test_every_row_of_the_readme_is_here():
    assert [one.row for one in VENDORS.values()] == [*ROWS]
