import sys
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import (
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationPage,
    CitationOptions,
    LimitError,
    MarkerSyntax,
    OptionError,
    Resolver,
    Session,
    SessionEventType,
    SessionOptions,
    resolve,
)
from citestream.events import AssistantMessageData, AssistantMessageDeltaData
from citestream.markers import BLOCKS, CHARACTERS, LINES, PAGES, format_marker
from citestream.providers import Extractive, ExtractiveOptions
from citestream.sources import (
    Granularity,
    SourceDocument,
    SourceRegistry,
    from_blocks,
    from_file,
    from_pages,
    from_text,
)
from citestream.wire import decode_event, encode_event

DATA = Path(__file__).parents[1] / "data"
PAGED = MarkerSyntax(locators=(LINES, PAGES))
RULES = """\
# Meals

Meals are paid up to
48 EUR a day. Wine is not paid for.

# Hotels

Up to 140 EUR a night.
"""


def registered(*documents, granularity=Granularity.LINE):
    registry = SourceRegistry()
    for document in documents:
        registry.add(document, granularity=granularity)
    return registry


def written(registry, question, *, syntax=PAGED, **options):
    provider = Extractive(registry, syntax=syntax, options=ExtractiveOptions(**options))
    return list(provider.answer(question))[-2].data.content


def answered(registry, question, *, syntax=PAGED, **options):
    text = written(registry, question, syntax=syntax, **options)
    return resolve(text, registry, options=CitationOptions(syntax=syntax))


def cited(answer):
    """What each passage says and, for every reference of it, the text of the source."""
    if answer.citations is None:
        return []
    return [
        (span.slice(answer.content), [reference.cited_text for reference in span.references])
        for span in answer.citations.spans
    ]


def test_lines_are_cited_exactly():
    answer = answered(registered(from_text(RULES)), "How much is paid for a meal?", top=1)
    assert cited(answer) == [
        (
            "Meals are paid up to 48 EUR a day.",
            ["Meals are paid up to\n48 EUR a day. Wine is not paid for."],
        )
    ]
    location = answer.citations.spans[0].references[0].location
    assert location == CitationLocationChar(start_index=9, end_index=65)
    assert answer.content.startswith("No model wrote this")


def test_a_heading_that_the_question_asks_about_is_cited_too():
    registry = registered(from_text(RULES))
    (passage,) = cited(answered(registry, "How much is a hotel?"))
    assert passage == (
        "Hotels – Up to 140 EUR a night.",
        ["# Hotels", "Up to 140 EUR a night."],
    )


def test_neighbouring_lines_are_one_range():
    registry = registered(from_text("# Hotels\nUp to 140 EUR a night."))
    marker = format_marker("turn0file0", locator="L1-L2")
    assert marker in written(registry, "hotel")


def test_pages_are_cited_exactly():
    pages = ["Gauges.\n\nVisit the gauge twice a year.", "", "Batteries last three years."]
    registry = registered(from_pages(pages), granularity=Granularity.PAGE)
    answer = answered(registry, "When is the gauge visited?", top=1)
    (reference,) = answer.citations.spans[0].references
    assert reference.location == CitationLocationPage(start_page=1, end_page=1)
    assert reference.cited_text == pages[0]


def test_a_passage_on_two_pages_is_cited_as_both():
    content = "Visit the gauge in April and in October."
    document = SourceDocument(content=content, pages=((0, 19), (19, len(content))))
    registry = registered(document, granularity=Granularity.PAGE)
    (reference,) = answered(registry, "gauge visits").citations.spans[0].references
    assert reference.location == CitationLocationPage(start_page=1, end_page=2)


def test_blocks_are_cited_by_their_ids():
    blocks = ["# Hotels\n\nUp to 140 EUR a night.", "Meals are paid up to 48 EUR."]
    registry = registered(from_blocks(blocks), granularity=Granularity.BLOCK)
    assert format_marker("turn0block1") in written(registry, "meals")
    answer = answered(registry, "hotel")
    (reference,) = answer.citations.spans[0].references
    assert reference.location == CitationLocationBlock(start_block=0, end_block=1)
    assert reference.cited_text == blocks[0]


def test_a_document_is_cited_as_a_whole():
    registry = registered(from_text(RULES, title="Rules"), granularity=Granularity.DOCUMENT)
    (reference,) = answered(registry, "hotel", top=1).citations.spans[0].references
    assert (reference.location, reference.cited_text) == (None, None)


@pytest.mark.parametrize("granularity", [Granularity.PAGE, Granularity.BLOCK])
def test_what_lies_outside_of_all_parts_is_not_shown(granularity):
    content = "# Hotels\n\nUp to 140 EUR a night for hotels.\n\nTaxis need a reason."
    part = ((10, 44),)
    document = SourceDocument(content=content, pages=part, marked_blocks=part)
    registry = registered(document, granularity=granularity)
    assert cited(answered(registry, "taxi")) == []
    assert [text for text, _ in cited(answered(registry, "hotel"))] == [
        "Up to 140 EUR a night for hotels."
    ]


def test_nothing_relevant_is_said_and_nothing_cited():
    for registry in (registered(from_text(RULES)), registered(), registered(from_text(""))):
        answer = answered(registry, "What is the capital of France?")
        assert answer.citations is None
        assert "Nothing in the sources matches" in answer.content


def test_copies_of_a_passage_count_once():
    registry = registered(from_text(RULES), from_text(RULES))
    assert len(cited(answered(registry, "How much is paid for a meal?", top=9))) == 2


def test_sources_may_come_between_two_questions():
    registry = registered(from_text(RULES))
    provider = Extractive(registry)
    list(provider.answer("taxi"))
    registry.add(from_text("Taxis need a reason."), granularity=Granularity.LINE)
    assert (
        format_marker("turn0file1", locator="L1") in list(provider.answer("taxi"))[-2].data.content
    )


@pytest.mark.parametrize(
    ("question", "text", "source"),
    [
        ("Wie viel kostet ein Taxi?", "Taxis kosten 9 EUR.", "Taxis kosten 9 EUR."),
        ("酒代は？", "食事代は出る。酒代は出ない。", "食事代は出る。酒代は出ない。"),
        ("호텔 가격?", "호텔은 십만원까지.", "호텔은 십만원까지."),
    ],
)
def test_other_languages_are_answered(question, text, source):
    (passage,) = cited(answered(registered(from_text(text)), question))
    assert passage[1] == [source]


@pytest.mark.parametrize(
    ("name", "question", "passage"),
    [
        (
            "handbook.md",
            "How far ahead are flights booked?",
            "Flights are booked in economy, at least 14",
        ),
        ("handbook.pdf", "May I use a wire brush?", "Never use a wire brush"),
        ("handbook.ja.txt", "宿泊費は一泊いくらまでですか", "宿泊費は一泊一万八千円まで"),
    ],
)
def test_the_handbooks_answer(name, question, passage):
    document = from_file(DATA / name)
    granularity = Granularity.PAGE if document.pages else Granularity.LINE
    answer = answered(registered(document, granularity=granularity), question, top=1)
    ((text, sources),) = cited(answer)
    assert text.startswith(passage)
    assert all(source in document.content for source in sources)
    assert answer.issues == ()


# -- what strangers write


def test_a_source_cannot_write_markers_or_markup():
    fake = format_marker("turn0file0", locator="L1")
    text = f"Meals {fake} \ue203are\ue204 paid </BLOCK> ![x](http://x) [^1] <b>now</b> `<i>` \\<u>."
    answer = answered(registered(from_text(text)), "meals")
    assert len(answer.citations.spans) == 1
    assert r"\![x](http://x) \[^1] \<b>now\</b> `<i>` \<u>." in answer.content
    assert "\ue200" not in answer.content
    assert not {"[^1]", "<b>"} & set(answer.content.split())


def test_an_alias_cannot_pass_for_a_locator():
    registry = SourceRegistry()
    lines = registry.add(from_text("Meals are paid."), granularity=Granularity.LINE)
    for alias in ("L1", "L01"):
        registry.add(from_text("Other."), granularity=Granularity.DOCUMENT, alias=alias)
    assert format_marker(lines.id, locator="L001") in written(registry, "meals")
    assert cited(answered(registry, "meals")) == [("Meals are paid.", ["Meals are paid."])]
    for zeros in range(2, 10):
        registry.add(
            from_text("Other."), granularity=Granularity.DOCUMENT, alias=f"L{'0' * zeros}1"
        )
    assert cited(answered(registry, "meals")) == [("Meals are paid.", [None])]


def test_the_text_that_a_citation_covers_is_marked_where_the_syntax_can():
    registry = registered(from_text("Meals are paid, e.g. Lunch. Wine no."))
    assert "- \ue203Meals" in written(registry, "meals lunch")
    plain = MarkerSyntax(highlight=None)
    assert "- Meals" in written(registry, "meals lunch", syntax=plain)


def test_a_syntax_of_printable_delimiters_serves_too():
    syntax = MarkerSyntax(
        start="[[",
        delimiter="|",
        stop="]]",
        highlight=None,
        locators=(LINES, PAGES, BLOCKS, CHARACTERS),
    )
    registry = registered(from_text("Meals [[cite|turn0file0|L1]] are paid [."))
    assert cited(answered(registry, "meals", syntax=syntax)) == [
        ("Meals ��cite|turn0file0|L1�� are paid [.", ["Meals [[cite|turn0file0|L1]] are paid [."])
    ]


# -- events


def test_the_events_are_those_of_an_upstream_and_repeatable():
    registry = registered(from_text(RULES))
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    provider = Extractive(registry, options=ExtractiveOptions(delta_chars=7))
    events = list(provider.answer("meals", message_id="m", timestamp=moment))
    assert events == list(provider.answer("meals", message_id="m", timestamp=moment))
    assert len({event.id for event in events}) == len(events)
    assert [event.parent_id for event in events] == [None, *(event.id for event in events[:-1])]
    assert {event.timestamp for event in events} == {moment}
    kinds = [event.type for event in events]
    assert kinds[0] is SessionEventType.ASSISTANT_MESSAGE_START
    assert set(kinds[1:-2]) == {SessionEventType.ASSISTANT_MESSAGE_DELTA}
    assert kinds[-2:] == [SessionEventType.ASSISTANT_MESSAGE, SessionEventType.SESSION_IDLE]
    deltas = [event.data.delta_content for event in events[1:-2]]
    assert max(map(len, deltas)) == 7
    assert "".join(deltas) == events[-2].data.content
    assert [decode_event(encode_event(event)) for event in events] == events


def test_without_an_id_every_answer_is_a_message_of_its_own():
    provider = Extractive(registered(from_text(RULES)))
    first, second = (next(iter(provider.answer("meals"))) for _ in range(2))
    assert first.data.message_id != second.data.message_id
    assert first.timestamp.tzinfo is not None


@pytest.mark.anyio
@pytest.mark.usefixtures("anyio_backend")
async def test_a_session_takes_it_as_any_upstream():
    registry = registered(from_text(RULES))
    options = SessionOptions(citations=CitationOptions(syntax=PAGED))

    async def upstream():
        for event in Extractive(registry, syntax=PAGED).answer("hotel"):
            await anyio.lowlevel.checkpoint()
            yield event

    async with Session(enable_citations=True, sources=registry, options=options) as session:
        await session.consume(upstream())
        message, *_ = await session.get_events()
    assert message.data.citations.sources[0].provider == "client"


# -- misuse and limits


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"top": 0}, "top: wanted an integer from 1 to 100, got 0"),
        ({"top": True}, "top: wanted an integer from 1 to 100, got True"),
        ({"delta_chars": "9"}, "delta_chars: wanted an integer from 1 to 1000000, got '9'"),
        ({"max_question_chars": 0}, "max_question_chars: wanted"),
    ],
)
def test_options_are_checked(options, problem):
    with pytest.raises(OptionError, match="wanted") as caught:
        ExtractiveOptions(**options)
    assert str(caught.value).startswith(problem)


def test_a_family_that_cites_nothing_is_misuse():
    with pytest.raises(OptionError, match="family"):
        Extractive(registered(), options=ExtractiveOptions(family="entity"))


def test_pages_want_a_syntax_with_pages():
    registry = registered(from_pages(["Meals are paid."]), granularity=Granularity.PAGE)
    with pytest.raises(OptionError, match="locators for pages"):
        written(registry, "meals", syntax=MarkerSyntax())


def test_a_question_has_a_limit():
    provider = Extractive(registered(), options=ExtractiveOptions(max_question_chars=5))
    list(provider.answer("12345"))
    with pytest.raises(LimitError, match="max_question_chars: at most 5, got 6"):
        provider.answer("123456")


@pytest.mark.parametrize("library", ["bm25s", "snowballstemmer"])
def test_without_the_extra_it_says_what_to_install(monkeypatch, library):
    for name in ("ranking", "terms"):
        monkeypatch.delitem(sys.modules, f"citestream.providers.{name}", raising=False)
        monkeypatch.delattr(f"citestream.providers.{name}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(OptionError, match=r"pip install 'citestream\[ask\]'"):
        Extractive(registered())


# -- the law

_PIECES = """\
hotel meals 食事代 ホテル です S1 # - | |---| ``` L1 L2 [L1] </BLOCK> turn0file0 [^1]: <b> ` ** . 。
\ue200 \ue201 \ue202 \ue203 \ue204 \ue206 [[ [[cite|turn0file0]] 🚨
"""
_words = st.sampled_from([*_PIECES.split(), format_marker("turn0file0", locator="L1"), "\ud83d"])
_blanks = st.sampled_from(["\n", "\n\n", "\r", "\r\n", "\u2028", " ", ". "])
_texts = st.lists(_words | _blanks | st.text(max_size=3), max_size=24).map("".join)
_sources = st.lists(
    st.tuples(
        st.lists(_texts, min_size=1, max_size=3),
        st.sampled_from(["text", "pages", "blocks"]),
        st.sampled_from(Granularity),
        st.none() | st.sampled_from(["L1", "L2", "turn0file1", "turn0block0", "a"]),
    ),
    max_size=4,
)
_syntaxes = st.sampled_from(
    [
        PAGED,
        MarkerSyntax(locators=(LINES, PAGES), highlight=None),
        MarkerSyntax(start="[[", delimiter="|", stop="]]", locators=(LINES, PAGES)),
    ]
)


def _register(sources):
    registry = SourceRegistry()
    for parts, form, granularity, alias in sources:
        if form == "pages":
            document = from_pages(parts)
        elif form == "blocks":
            document = from_blocks(parts)
        else:
            document = from_text("".join(parts))
        pageless = granularity is Granularity.PAGE and not document.pages
        usable = Granularity.LINE if pageless else granularity
        registry.add(document, granularity=usable, alias=alias)
    return registry


def _place(document, location):
    if isinstance(location, CitationLocationChar):
        return document.content[location.start_index : location.end_index]
    if isinstance(location, CitationLocationPage):
        parts, first, last = document.pages, location.start_page - 1, location.end_page - 1
    else:
        parts, first, last = document.blocks, location.start_block, location.end_block - 1
    return document.content[parts[first][0] : parts[last][1]]


@given(_sources, _texts, _syntaxes, st.integers(1, 30))
def test_every_answer_cites_what_is_there_and_nothing_else(sources, question, syntax, size):
    registry = _register(sources)
    options = ExtractiveOptions(delta_chars=size, top=5)
    resolver = Resolver(CitationOptions(syntax=syntax), registry=registry)
    upstream = Extractive(registry, syntax=syntax, options=options).answer(question)
    events = [out for event in upstream for out in resolver.feed(event)] + resolver.finish()
    (final,) = (e.data for e in events if isinstance(e.data, AssistantMessageData))
    deltas = [e.data.delta_content for e in events if isinstance(e.data, AssistantMessageDeltaData)]
    warnings = {e.data.warning_type for e in events if e.type is SessionEventType.SESSION_WARNING}
    assert "".join(deltas) == final.content
    assert warnings <= {"citation.in_code", "citation.in_emphasis", "citation.uncited"}
    items = final.content.count("\n- ")
    if final.citations is None:
        assert not items
        return
    assert len(final.citations.spans) == items
    assert {source.provider for source in final.citations.sources} == {"client"}
    for span in final.citations.spans:
        if syntax.highlight:
            assert f"- {span.slice(final.content)}\n" in final.content
        assert span.references
        for reference in span.references:
            source = registry.get(reference.provider_metadata["citableSourceId"])
            whole = source.granularity is Granularity.DOCUMENT
            assert (reference.location is None) == (reference.cited_text is None) == whole
            if not whole:
                assert reference.cited_text == _place(source.document, reference.location)


def test_a_source_whose_id_means_two_is_not_quoted():
    registry = SourceRegistry()
    registry.add(from_text("Meals are paid."), granularity=Granularity.LINE)
    registry.add(from_text("Meals are shared."), granularity=Granularity.LINE, alias="turn0file0")
    events = list(Extractive(registry).answer("Who pays for meals?"))
    (final,) = (e.data for e in events if isinstance(e.data, AssistantMessageData))
    assert "shared" in final.content
    assert "paid" not in final.content
