import itertools
import time
from base64 import b64encode, urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitationLocationPage, SourceRegistry, format_marker
from citestream.conversation.tool_definitions import ToolDefinition
from citestream.conversation.turns import (
    AssistantTurn,
    Conversation,
    Material,
    ToolTurn,
    UserTurn,
)
from citestream.events import AnswerEnd, AnswerFailure, AnswerText, AnswerToolCall
from citestream.prompts import PromptOptions
from citestream.providers.gemini import Gemini
from citestream.sources import Granularity, from_text
from providers.exchanges import answer, cited, damaged, events_of, joined, warnings_of
from providers.loopback import CUTS, SSE, Loopback, Reply, cut, sse
from strategies import json_values

WEB = {"web": {"uri": "https://a.example/x", "title": "A", "domain": "a.example"}}
OTHER = {"web": {"uri": "https://b.example/y", "title": "B"}}


def support(text, words, *chunks, nth=0, **more):
    """Say as Gemini does that ``words`` rest on ``chunks``."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    start = len(text[:at].encode())
    segment = {"startIndex": start, "endIndex": start + len(words.encode()), "text": words}
    if not start:
        del segment["startIndex"]
    return {"segment": segment, "groundingChunkIndices": list(chunks), **more}


def grounded(*supports, chunks=(WEB, OTHER)):
    return {"groundingChunks": list(chunks), "groundingSupports": list(supports)}


def chunk(*texts, end=None, grounding=None):
    parts = [{"text": one} if isinstance(one, str) else one for one in texts]
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if end:
        candidate["finishReason"] = end
    if grounding is not None:
        candidate["groundingMetadata"] = grounding
    return {"candidates": [candidate], "modelVersion": "gemini-x"}


def streamed(text, grounding, size=5):
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [*map(chunk, pieces[:-1]), chunk(*pieces[-1:], end="STOP", grounding=grounding)]


def whole(text, grounding):
    return [chunk(text, end="STOP", grounding=grounding)]


def snake(tree):
    """Spell a tree as the SDK's plain dicts do."""
    if isinstance(tree, list):
        return [snake(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    spelled = {"".join(f"_{c.lower()}" if c.isupper() else c for c in k): k for k in tree}
    return {name: snake(tree[key]) for name, key in spelled.items()}


def sdk(tree):
    types = pytest.importorskip("google.genai.types", reason="needs google-genai")
    return types.GenerateContentResponse.model_validate(tree)


FORMS = {"wire": lambda tree: tree, "snake": snake, "sdk": sdk}

ASCII = "Rents rose 4%. Wages fell."
CJK = "家賃は4%上がりました。賃金は下がりました。"
EMOJI = "📈 Zürich rents rose 4%. Wages fell 😀."
LIST = "Facts:\n\n* 家賃 rose\n* wages fell"
TWICE = "It rose. Then it fell. It rose. End."
OFF = support(EMOJI, "Wages fell 😀.", 0)
OFF["segment"]["startIndex"] += 2
OFF["segment"]["endIndex"] += 2

CASES = {
    "ascii": (
        ASCII,
        grounded(support(ASCII, "Rents rose 4%.", 0), support(ASCII, "Wages fell.", 1)),
        [("Rents rose 4%.", ["A"]), ("Wages fell.", ["B"])],
    ),
    "cjk": (
        CJK,
        grounded(
            support(CJK, "賃金は下がりました。", 1), support(CJK, "家賃は4%上がりました。", 0)
        ),
        [("家賃は4%上がりました。", ["A"]), ("賃金は下がりました。", ["B"])],
    ),
    "emoji": (
        EMOJI,
        grounded(support(EMOJI, "Zürich rents rose 4%.", 0), support(EMOJI, "Wages fell 😀.", 1)),
        [("Zürich rents rose 4%.", ["A"]), ("Wages fell 😀.", ["B"])],
    ),
    "off by two bytes": (EMOJI, grounded(OFF), [("Wages fell 😀.", ["A"])]),
    "a list": (LIST, grounded(support(LIST, "* wages fell", 0)), [("* wages fell", ["A"])]),
    "overlapping": (
        ASCII,
        grounded(support(ASCII, "Rents rose 4%.", 0), support(ASCII, "rose 4%. Wages", 1)),
        [("Rents rose 4%.", ["A"]), ("rose 4%. Wages", ["B"])],
    ),
    "repeated": (
        TWICE,
        grounded(
            support(TWICE, "It rose.", 0),
            support(TWICE, "It rose.", 0, nth=1),
            support(TWICE, "It rose.", 0),
        ),
        [("It rose.", ["A"]), ("It rose.", ["A"])],
    ),
    "several sources": (
        ASCII,
        grounded(support(ASCII, "Wages fell.", 1, 0, confidenceScores=[0.5, 0.9])),
        [("Wages fell.", ["B", "A"])],
    ),
    "no words": (
        CJK,
        grounded({"segment": {"endIndex": 6}, "groundingChunkIndices": [0]}),
        [("家賃", ["A"])],
    ),
    "no end": (
        CJK,
        grounded({"segment": {"text": "家賃は"}, "groundingChunkIndices": [0]}),
        [("家賃は", ["A"])],
    ),
    "no indices, no segment, nulls": (
        ASCII,
        grounded(
            {"segment": {"endIndex": 5}},
            {"groundingChunkIndices": [0]},
            {"segment": {"startIndex": None, "endIndex": None, "text": None}},
            {"segment": None, "groundingChunkIndices": None, "confidenceScores": None},
        ),
        [],
    ),
    "chunks that were not sent": (
        ASCII,
        grounded(support(ASCII, "Wages fell.", 7, 0), chunks=[WEB]),
        [("Wages fell.", ["A"])],
    ),
    "chunks that say nothing": (
        ASCII,
        grounded(support(ASCII, "Wages fell.", 0, 1), chunks=[{}, {"web": {}}]),
        [],
    ),
    "a range beyond the answer": (
        ASCII,
        grounded({"segment": {"startIndex": 3, "endIndex": 99}, "groundingChunkIndices": [0]}),
        [],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_every_recorded_shape_gives_the_words_that_are_meant(name, form):
    text, grounding, expected = CASES[name]
    for chunks in (whole(text, grounding), streamed(text, grounding), streamed(text, grounding, 1)):
        message = answer(Gemini(), map(FORMS[form], chunks))
        assert message.content == text
        assert cited(message) == expected
        assert message.model == "gemini-x"


@pytest.mark.parametrize("name", CASES)
def test_streamed_or_whole_the_citations_are_equal(name):
    text, grounding, _ = CASES[name]
    ways = [whole(text, grounding), streamed(text, grounding), [streamed(text, grounding, 3)]]
    first, *others = (answer(Gemini(), way).citations for way in ways)
    assert all(other == first for other in others)


def test_what_was_moved_and_what_does_not_fit_is_reported():
    text, grounding, _ = CASES["off by two bytes"]
    moved = events_of(Gemini(), whole(text, grounding))
    assert warnings_of(moved) == ["citation.offset_repaired"]
    text, grounding, _ = CASES["a range beyond the answer"]
    assert warnings_of(events_of(Gemini(), whole(text, grounding))) == ["citation.out_of_range"]


def test_thoughts_are_no_part_of_the_answer():
    thought = {"text": "Let me 考える…", "thought": True}
    grounding = grounded(support(ASCII, "Wages fell.", 0))
    for chunks in (
        [chunk(thought), chunk("Rents rose 4%. "), chunk("Wages fell.", end="STOP")],
        [chunk(thought, ASCII, end="STOP")],
    ):
        chunks[-1]["candidates"][0]["groundingMetadata"] = grounding
        message = answer(Gemini(), chunks)
        assert message.content == ASCII
        assert cited(message) == [("Wages fell.", ["A"])]


def test_offsets_in_a_part_are_honoured_where_a_part_is_named():
    first, second = "家賃は上がった。", "It rose 😀. It rose 😀."
    named = support(second, "It rose 😀.", 0, nth=1)
    named["segment"]["partIndex"] = 2
    last = grounded(named)
    code = {"executableCode": {"code": "1"}}
    for chunks in (
        [chunk(first, code, second, end="STOP", grounding=last)],
        [chunk(first[:3]), chunk(first[3:], code, "It "), chunk(second[3:], "", end="STOP")],
    ):
        chunks[-1]["candidates"][0]["groundingMetadata"] = last
        [span] = answer(Gemini(), chunks).citations.spans
        assert span.start_index == len(first) + len("It rose 😀. ") + 1


def test_the_words_decide_where_the_part_that_is_named_did_not_come():
    named = support(ASCII, "Wages fell.", 0)
    named["segment"]["partIndex"] = 9
    assert cited(answer(Gemini(), whole(ASCII, grounded(named)))) == [("Wages fell.", ["A"])]


def test_the_last_grounding_that_is_not_empty_counts():
    early, late = support(ASCII, "Rents", 0), support(ASCII, "Wages fell.", 1)
    chunks = [
        chunk("Rents rose 4%. ", grounding=grounded(early)),
        chunk("Wages ", grounding=grounded(early, late)),
        chunk("fell.", grounding=grounded()),
        chunk("", end="STOP", grounding={}),
    ]
    assert cited(answer(Gemini(), chunks)) == [("Rents", ["A"]), ("Wages fell.", ["B"])]


def test_only_the_first_candidate_is_the_answer():
    second = {"candidates": [{"index": 1, "content": {"parts": [{"text": "No."}]}}]}
    chunks = [chunk("Yes"), second, chunk(".", end="STOP")]
    assert answer(Gemini(), chunks).content == "Yes."


PLACE = {"placeId": "p1", "uri": "https://maps.example/p1", "title": "Café", "text": "A café."}
FILE = {
    "retrievedContext": {
        "title": "memo.pdf",
        "uri": "gs://bucket/memo.pdf",
        "documentName": "stores/1/documents/2",
        "fileSearchStore": "stores/1",
        "mediaId": "m1",
        "text": "The whole chunk.",
        "pageNumber": 3,
    }
}
RAG = {
    "retrievedContext": {
        "uri": "https://c.example/doc",
        "ragChunk": {"text": "Chunk.", "pageSpan": {"firstPage": 2, "lastPage": 4}},
    }
}
SOURCES = {
    "web": (WEB, {"title": "A", "url": "https://a.example/x"}, None, None, {"domain": "a.example"}),
    "web without an address": ({"web": {"title": "A"}}, {"title": "A"}, None, None, {}),
    "web with another address": (
        {"web": {"uri": "gs://x", "title": "A"}},
        {"title": "A"},
        None,
        None,
        {},
    ),
    "file": (
        FILE,
        {"title": "memo.pdf"},
        None,
        (3, 3),
        {
            "documentName": "stores/1/documents/2",
            "fileSearchStore": "stores/1",
            "mediaId": "m1",
            "text": "The whole chunk.",
        },
    ),
    "rag": (RAG, {"url": "https://c.example/doc"}, None, (2, 4), {"text": "Chunk."}),
    "pages in the wrong order": (
        {
            "retrievedContext": {
                "text": "T",
                "ragChunk": {"pageSpan": {"firstPage": 4, "lastPage": 2}},
            }
        },
        {},
        None,
        None,
        {"text": "T"},
    ),
    "maps": (
        {"maps": PLACE},
        {"title": "Café", "url": "https://maps.example/p1"},
        "A café.",
        None,
        {"placeId": "p1"},
    ),
    "image": (
        {"image": {"sourceUri": "https://d.example/p", "imageUri": "https://d.example/i.png"}},
        {"url": "https://d.example/p"},
        None,
        None,
        {"imageUri": "https://d.example/i.png"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_chunk_becomes_a_source(name, form):
    sent, facts, words, pages, metadata = SOURCES[name]
    grounding = grounded(support(ASCII, "Rents", 0, confidenceScores=[0.75]), chunks=[sent])
    citations = answer(Gemini(), map(FORMS[form], whole(ASCII, grounding))).citations
    [source] = citations.sources
    assert source.provider == "gemini"
    assert {n: v for n in ("title", "url", "path") if (v := getattr(source, n))} == facts
    [reference] = citations.spans[0].references
    assert reference.cited_text == words
    assert reference.location == (
        pages and CitationLocationPage(start_page=pages[0], end_page=pages[1])
    )
    assert reference.provider_metadata == {**metadata, "chunkIndex": 0, "confidence": 0.75}


def test_files_without_an_address_are_told_apart_by_what_names_them():
    first = {"retrievedContext": {"documentName": "d/1"}}
    titled = {"retrievedContext": {"documentName": "d/1", "title": "One"}}
    other = {"retrievedContext": {"text": "Some text."}}
    same = {"retrievedContext": {"text": "Some text."}}
    grounding = grounded(support(ASCII, "Rents", 0, 1, 2, 3), chunks=[first, titled, other, same])
    citations = answer(Gemini(), whole(ASCII, grounding)).citations
    assert [s.title for s in citations.sources] == ["One", None]


STOPS = [
    ("SAFETY", None, "Gemini stopped: SAFETY"),
    ("RECITATION", "it recited", "it recited"),
    ("NEW_REASON", None, "Gemini stopped: NEW_REASON"),
]


@pytest.mark.parametrize(("reason", "said", "message"), STOPS)
def test_what_stops_an_answer_is_a_failure_and_the_text_stays(reason, said, message):
    last = chunk("Rents", end=reason, grounding=grounded(support("Rents", "Rents", 0)))
    last["candidates"][0]["finishMessage"] = said
    text, citation, end, failure = Gemini().decode(last)
    assert (text.text, citation.place.expected, type(end)) == ("Rents", "Rents", AnswerEnd)
    assert failure == AnswerFailure(message=message, error_type=reason)
    assert Gemini().decode(chunk(end=reason)) == [
        AnswerFailure(message=f"Gemini stopped: {reason}", error_type=reason)
    ]


@pytest.mark.parametrize("reason", ["STOP", "MAX_TOKENS"])
def test_an_answer_that_ends_is_no_failure(reason):
    assert Gemini().decode(chunk(end=reason)) == [AnswerEnd(model="gemini-x")]


def test_the_sdk_s_enumeration_of_reasons_reads_as_its_words():
    assert Gemini().decode(sdk(chunk(end="SAFETY")))[-1].error_type == "SAFETY"
    assert Gemini().decode(sdk(chunk("Rents", end="FINISH_REASON_UNSPECIFIED"))) == [
        AnswerText(text="Rents", part=0)
    ]


def test_an_exchange_with_tools_has_several_answers():
    call = {"functionCall": {"id": "c", "name": "search", "args": {}}}
    gemini = Gemini()
    assert gemini.decode(chunk(call, end="STOP")) == [
        AnswerToolCall(call_id="c", name="search"),
        AnswerEnd(model="gemini-x"),
    ]
    for text, grounding, expected in (CASES["ascii"], CASES["cjk"]):
        assert cited(answer(gemini, streamed(text, grounding))) == expected


def test_calls_without_an_id_get_one_each():
    call = {"functionCall": {"name": "search"}}
    first, second, _ = Gemini().decode(chunk(call, call, end="STOP"))
    assert first.call_id != second.call_id
    assert (first.name, first.arguments, second.name) == ("search", {}, "search")


def test_the_signature_of_a_call_goes_along():
    calls = [
        {"functionCall": {"name": n}, "thoughtSignature": s} for n, s in (("a", "+/8="), ("b", ""))
    ]
    for chunks in ([chunk(*calls, end="STOP")], snake([chunk(*calls, end="STOP")])):
        first, second, _ = Gemini().decode(chunks[0])
        assert first.provider_data == {"thoughtSignature": "+/8="}
        assert second.provider_data is None


def test_a_call_whose_arguments_stream_is_left_out():
    begun = {"functionCall": {"name": "a", "willContinue": True}}
    going_on = {"functionCall": {"partialArgs": [{"jsonPath": "$.q"}], "willContinue": True}}
    over = {"functionCall": {}}
    items = [i for one in (begun, going_on, over) for i in Gemini().decode(chunk(one))]
    assert [*items, *Gemini().decode(chunk(end="STOP"))] == [AnswerEnd(model="gemini-x")]


@pytest.mark.parametrize("reason", ["SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_an_answer_that_was_stopped_calls_nothing(reason):
    call = {"functionCall": {"name": "search"}}
    items = Gemini().decode(chunk("Hm.", call, end=reason))
    assert [type(item) for item in items] == [AnswerText, AnswerEnd, AnswerFailure]


FAILURES = [
    ({"error": {"code": 429, "message": "slow", "status": "EXHAUSTED"}}, "slow", "EXHAUSTED"),
    ([{"error": {"message": "slow"}}], "slow", "provider"),
    ({"error": "slow"}, "slow", "provider"),
    ({"error": {}}, "Gemini reported an error", "provider"),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, "Gemini stopped: SAFETY", "SAFETY"),
    (
        {"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "no"}},
        "no",
        "OTHER",
    ),
    ({"event_type": "error", "error": {"code": "uri", "message": "slow"}}, "slow", "uri"),
    ({"event_type": "error"}, "Gemini reported an error", "provider"),
]


@pytest.mark.parametrize(("sent", "message", "kind"), FAILURES)
def test_errors_are_failures(sent, message, kind):
    assert Gemini().decode(sent) == [AnswerFailure(message=message, error_type=kind)]


SILENT = [
    None,
    1,
    "text",
    [],
    {},
    {"usageMetadata": {}},
    {"candidates": None},
    {"promptFeedback": {}},
    {"event_type": "quite.new"},
    {"event_type": "interaction.created", "interaction": {}},
]


@pytest.mark.parametrize("sent", SILENT, ids=repr)
def test_what_says_nothing_gives_nothing(sent):
    assert Gemini().decode(sent) == []


def test_markers_and_grounding_meet_in_one_answer():
    registry = SourceRegistry()
    own = from_text("Rents rose.", title="Own", url="https://a.example/x")
    marker = format_marker(registry.add(own, granularity=Granularity.LINE).id, locator="L1")
    text = f"家賃 📈 rose. {marker} Wages fell."
    grounding = grounded(support(text, "家賃 📈 rose.", 0), support(text, "Wages fell.", 0, 1))
    for chunks in (whole(text, grounding), streamed(text, grounding, 1)):
        message = answer(Gemini(), chunks, registry=registry)
        assert message.content == "家賃 📈 rose. Wages fell."
        first, second = message.citations.spans
        assert first.slice(message.content) == "家賃 📈 rose."
        assert second.slice(message.content) == "Wages fell."
        assert [r.source_id for r in first.references] == ["s0", "s0"]
        assert [r.cited_text for r in first.references] == [None, "Rents rose."]
        assert [s.url for s in message.citations.sources] == [
            "https://a.example/x",
            "https://b.example/y",
        ]


# -- the Interactions API


def noted(text, words, kind="url_citation", **fields):
    start = len(text[: text.index(words)].encode())
    fields |= {"type": kind, "start_index": start, "end_index": start + len(words.encode())}
    return {k: v for k, v in fields.items() if (k, v) != ("start_index", 0)}


def event(kind, **fields):
    return {"event_type": kind, **fields}


def delta(index, kind, **fields):
    return event("step.delta", index=index, delta={"type": kind, **fields})


def interaction_stream(text, annotations):
    half = len(text) // 2
    return [
        event("interaction.created", interaction={"id": "i", "status": "in_progress"}),
        event("step.start", index=0, step={"type": "thought"}),
        delta(0, "thought_summary", content={"type": "text", "text": "hm"}),
        delta(0, "text", text="not for readers"),
        event("step.stop", index=0),
        event("step.start", index=1, step={"type": "model_output"}),
        delta(1, "text", text=text[:half]),
        delta(1, "text", text=text[half:]),
        delta(1, "text_annotation_delta", annotations=annotations),
        event("step.stop", index=1),
        event("interaction.completed", interaction={"status": "completed", "model": "gemini-x"}),
    ]


def interaction(text, annotations, **fields):
    content = [{"type": "text", "text": text, "annotations": annotations}]
    steps = [
        {"type": "thought", "summary": [{"type": "text", "text": "hm"}]},
        {"type": "model_output", "content": content},
    ]
    return {"id": "i", "status": "completed", "model": "gemini-x", "steps": steps, **fields}


A = {"url": "https://a.example/x", "title": "A"}
B = {"url": "https://b.example/y", "title": "B"}
ANNOTATED = {
    "ascii": (
        ASCII,
        [noted(ASCII, "Rents rose 4%.", **A), noted(ASCII, "Wages fell.", **B)],
        [("Rents rose 4%.", ["A"]), ("Wages fell.", ["B"])],
    ),
    "cjk": (CJK, [noted(CJK, "賃金は下がりました。", **A)], [("賃金は下がりました。", ["A"])]),
    "emoji": (EMOJI, [noted(EMOJI, "Wages fell 😀.", **A)], [("Wages fell 😀.", ["A"])]),
    "overlapping and repeated": (
        ASCII,
        [
            noted(ASCII, "Rents rose", **A),
            noted(ASCII, "rose 4%", **B),
            noted(ASCII, "Rents rose", **B),
            noted(ASCII, "Rents rose", **A),
        ],
        [("Rents rose", ["A", "B"]), ("rose 4%", ["B"])],
    ),
    "file and place": (
        ASCII,
        [
            noted(ASCII, "Rents", kind="file_citation", file_name="memo.pdf", page_number=2),
            noted(ASCII, "Wages", kind="place_citation", name="Café", place_id="places/1"),
        ],
        [("Rents", ["memo.pdf"]), ("Wages", ["Café"])],
    ),
    "no place": (ASCII, [{"type": "url_citation", **A}], [(ASCII, ["A"])]),
    "no kind, as early versions": (
        ASCII,
        [{"start_index": 0, "end_index": 5, "source": "https://a.example/x"}],
        [("Rents", ["https://a.example/x"])],
    ),
    "nothing to cite": (
        ASCII,
        [{"type": "word_info"}, {"type": "url_citation"}, {}, None, {"type": "new", **A}],
        [],
    ),
    "beyond the answer": (
        ASCII,
        [{"type": "url_citation", "start_index": 5, "end_index": 999, **A}],
        [],
    ),
}


@pytest.mark.parametrize("name", ANNOTATED)
def test_interactions_give_the_same_streamed_and_whole(name):
    text, annotations, expected = ANNOTATED[name]
    streams = answer(Gemini(), interaction_stream(text, annotations))
    complete = answer(Gemini(), [interaction(text, annotations)])
    for message in (streams, complete):
        assert (message.content, cited(message), message.model) == (text, expected, "gemini-x")
    assert streams.citations == complete.citations


def test_what_is_noted_of_files_and_places():
    annotations = [
        noted(
            ASCII,
            "Rents",
            kind="file_citation",
            document_uri="https://a.example/memo.pdf",
            file_name="memo.pdf",
            source="store",
            page_number=2,
            media_id="m",
            custom_metadata={"k": 1},
        ),
        noted(ASCII, "Wages", kind="place_citation", place_id="places/1", url="https://m.example"),
    ]
    citations = answer(Gemini(), [interaction(ASCII, annotations)]).citations
    assert [(s.title, s.url) for s in citations.sources] == [
        ("memo.pdf", "https://a.example/memo.pdf"),
        (None, "https://m.example"),
    ]
    file, place = (span.references[0] for span in citations.spans)
    assert file.location == CitationLocationPage(start_page=2, end_page=2)
    assert file.provider_metadata == {
        "source": "store",
        "mediaId": "m",
        "customMetadata": {"k": 1},
    }
    assert place.provider_metadata == {"placeId": "places/1"}


def test_early_versions_stream_and_return_contents():
    annotations = [noted(ASCII, "Wages", **A)]
    stream = [
        event("content.start", index=0, content={"type": "text", "text": "Rents "}),
        event("content.delta", index=0, delta={"type": "text", "text": "rose 4%. Wages fell."}),
        event(
            "content.delta",
            index=0,
            delta={"type": "text_annotation", "annotations": annotations},
        ),
        event("interaction.complete", interaction={"status": "completed"}),
    ]
    content = {"type": "text", "text": ASCII, "annotations": annotations}
    first = answer(Gemini(), stream)
    assert cited(first) == [("Wages", ["A"])]
    assert answer(Gemini(), [{"outputs": [content]}]) == first


def test_contents_of_a_step_are_parts_of_their_own():
    second = {"type": "text", "text": CJK, "annotations": [noted(CJK, "賃金", **A)]}
    sent = interaction(EMOJI, [noted(EMOJI, "Wages", **B)])
    sent["steps"][1]["content"] += [{"type": "image"}, {"type": "thought", "text": "hm"}, second]
    message = answer(Gemini(), [sent])
    assert message.content == EMOJI + CJK
    assert cited(message) == [("Wages", ["B"]), ("賃金", ["A"])]


def test_what_did_not_stream_is_read_from_the_end():
    done = event("interaction.completed", interaction=interaction(*ANNOTATED["emoji"][:2]))
    assert cited(answer(Gemini(), [done])) == ANNOTATED["emoji"][2]
    text, annotations, expected = ANNOTATED["ascii"]
    streamed_too = [*interaction_stream(text, annotations)[:-1]]
    streamed_too.append(event("interaction.completed", interaction=interaction(text, annotations)))
    message = answer(Gemini(), streamed_too)
    assert (message.content, cited(message)) == (text, expected)


def test_early_versions_stream_calls_as_contents():
    call = {"type": "function_call", "id": "c", "name": "look", "arguments": {"q": 1}}
    expected = [AnswerToolCall(call_id="c", name="look", arguments={"q": 1}), AnswerEnd()]
    for start in ([], [event("content.start", index=0, content={"type": "function_call"})]):
        gemini = Gemini()
        deltas = [
            event("content.delta", index=0, delta=call),
            event("interaction.complete", interaction={"status": "requires_action"}),
        ]
        assert [i for one in [*start, *deltas] for i in gemini.decode(one)] == expected
    whole_one = {"status": "requires_action", "outputs": [call]}
    assert Gemini().decode(whole_one) == expected


def test_calls_that_streamed_are_not_read_again_from_the_end():
    step = {"type": "function_call", "id": "c", "name": "look", "arguments": {}}
    completed = {"status": "requires_action", "steps": [step, {**step, "id": "d"}]}
    begun = event("step.start", index=0, step=step)
    end = event("interaction.completed", interaction=completed)
    for chunks, ids in (([begun, end], ["c"]), ([end], ["c", "d"])):
        gemini = Gemini()
        *calls, _ = [item for one in chunks for item in gemini.decode(one)]
        assert [call.call_id for call in calls] == ids


@pytest.mark.parametrize("status", ["failed", "cancelled", "budget_exceeded"])
def test_interactions_that_break_call_nothing(status):
    step = {"type": "function_call", "id": "c", "name": "look", "arguments": {}}
    [item] = Gemini().decode({"status": status, "steps": [step]})
    assert type(item) is AnswerFailure


def test_interactions_that_still_run_call_nothing_yet():
    step = {"type": "function_call", "id": "c", "name": "look", "arguments": {}}
    gemini = Gemini()
    assert gemini.decode({"status": "in_progress", "steps": [step]}) == []
    assert gemini.decode({"status": "completed", "steps": []}) == [AnswerEnd()]


def test_interactions_that_break_are_failures_and_the_text_stays():
    error = {"code": "uri", "message": "broke"}
    found = Gemini().decode(interaction("Rents", [], status="failed", errors=[error]))
    assert found == [
        AnswerText(text="Rents"),
        AnswerEnd(model="gemini-x"),
        AnswerFailure(message="broke", error_type="uri"),
    ]
    assert Gemini().decode({"status": "cancelled"}) == [
        AnswerFailure(message="Gemini stopped: cancelled", error_type="cancelled")
    ]
    assert Gemini().decode({"status": "in_progress"}) == []


def test_steps_that_were_never_started_are_read_too():
    chunks = [delta(0, "text", text="Rents"), event("step.delta", index=0)]
    assert joined(Gemini(), chunks) == "Rents"


def test_what_the_sdk_does_not_know_is_read_as_it_came():
    class Unknown:
        event_type = "UNKNOWN"

        def __init__(self, raw):
            self.raw = raw

    chunks = [Unknown(one) for one in interaction_stream(*ANNOTATED["emoji"][:2])]
    assert cited(answer(Gemini(), chunks)) == ANNOTATED["emoji"][2]


# -- anything anywhere

SAMPLE = [
    *streamed(*CASES["several sources"][:2]),
    *interaction_stream(*ANNOTATED["file and place"][:2]),
    interaction(*ANNOTATED["overlapping and repeated"][:2]),
    chunk("Rents", end="SAFETY", grounding=grounded(support("Rents", "Rents", 0), chunks=[FILE])),
    chunk("Rents", end="STOP", grounding=grounded(support("Rents", "Rents", 0), chunks=[RAG])),
]


@given(damaged(SAMPLE))
def test_no_json_anywhere_raises(chunks):
    events_of(Gemini(), chunks)


TEXTUAL = {"candidates", "content", "parts", "text", "thought", "index"}


@given(
    damaged(
        streamed(*CASES["emoji"][:2], size=9),
        keep=lambda path: TEXTUAL.issuperset(key for key in path if isinstance(key, str)),
    ),
    json_values,
)
def test_no_json_beside_the_text_loses_any_of_it(chunks, junk):
    for one in chunks:
        if isinstance(one, dict):
            one["novel"] = junk
    assert joined(Gemini(), chunks) == EMOJI


@given(st.lists(json_values, max_size=4))
def test_what_is_no_answer_at_all_does_not_raise(chunks):
    events_of(Gemini(), chunks)


# -- asking


def conversation(*turns, system=None):
    return Conversation(turns=turns, system=system)


def registered(granularity=Granularity.DOCUMENT):
    return SourceRegistry().add(from_text("Rents rose.", title="Memo"), granularity=granularity)


def test_a_plain_conversation_is_asked_plainly():
    asked = Gemini().request(
        conversation(UserTurn(text="Hi"), AssistantTurn(text="Hello"), AssistantTurn(text="")),
        model="gemini-x",
    )
    assert asked == {
        "model": "gemini-x",
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
        ],
    }
    assert Gemini().request(conversation(system="Be brief."), model="g") == {
        "model": "g",
        "contents": [],
        "config": {"system_instruction": "Be brief."},
    }


def test_material_is_shown_with_markers_and_the_rules_for_them():
    source = registered()
    asked = Gemini().request(
        conversation(
            UserTurn(text="What rose?", materials=(Material(source=source),)), system="Be brief."
        ),
        model="g",
        options=PromptOptions(ids_per_marker="many"),
    )
    assert asked["contents"][0]["parts"][0]["text"] == (
        f'<BLOCK id="{source.id}" title="Memo">\nRents rose.\n</BLOCK>\n\nWhat rose?'
    )
    system = asked["config"]["system_instruction"]
    assert system.startswith("Be brief.\n\n# Citing sources")
    assert "A marker may name several sources" in system


def test_results_of_tools_come_with_their_calls():
    source = registered(Granularity.LINE)
    turn = ToolTurn(
        call_id="c1",
        name="search",
        arguments={"q": "rents"},
        text="Found one.",
        materials=(Material(source=source, origin="tool"),),
    )
    call, result = Gemini().request(conversation(turn), model="g")["contents"]
    assert call == {
        "role": "model",
        "parts": [{"function_call": {"id": "c1", "name": "search", "args": {"q": "rents"}}}],
    }
    [part] = result["parts"]
    assert (result["role"], part["function_response"]["id"]) == ("user", "c1")
    shown = part["function_response"]["response"]["result"]
    assert shown.startswith(f"Found one.\n\nCitation Marker: {format_marker(source.id)}")
    assert shown.endswith("[L1] Rents rose.")


# -- the real client

HTTP = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}


@pytest.fixture
def client():
    """Return what makes a client of ``google.genai`` for a server."""
    genai = pytest.importorskip("google.genai", reason="needs google-genai")
    opened = []

    def make(server):
        opened.append(genai.Client(api_key="none", http_options={"base_url": server.url}))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def ask(client, server):
    asked = Gemini().request(conversation(UserTurn(text="What rose?")), model="gemini-x")
    return client(server).models.generate_content_stream(**asked)


@pytest.mark.parametrize("way", CUTS)
@pytest.mark.parametrize("name", ["ascii", "cjk", "emoji", "off by two bytes", "repeated"])
def test_the_real_client_streams_whatever_the_cuts(name, way, client):
    text, grounding, expected = CASES[name]
    framed = sse(*streamed(text, grounding))
    with Loopback(Reply(headers=SSE, pieces=CUTS[way](framed))) as server:
        message = answer(Gemini(), ask(client, server))
    assert (message.content, cited(message)) == (text, expected)
    assert message.citations == answer(Gemini(), whole(text, grounding)).citations
    assert server.requests[0].path.endswith("models/gemini-x:streamGenerateContent?alt=sse")
    assert server.requests[0].body["contents"][0]["parts"] == [{"text": "What rose?"}]


def test_the_real_client_streams_when_characters_are_cut(client):
    text, grounding, expected = CASES["emoji"]
    framed = sse(*streamed(text, grounding, 8))
    places = [at for at, byte in enumerate(framed) if byte >= 0x80]
    with Loopback(Reply(headers=SSE, pieces=cut(framed, at=places))) as server:
        assert cited(answer(Gemini(), ask(client, server))) == expected


def test_the_real_client_reads_a_whole_answer(client):
    text, grounding, expected = CASES["cjk"]
    with Loopback(Reply.json(whole(text, grounding)[0])) as server:
        asked = Gemini().request(conversation(UserTurn(text="?")), model="gemini-x")
        message = answer(Gemini(), [client(server).models.generate_content(**asked)])
    assert (message.content, cited(message)) == (text, expected)


def test_the_real_client_passes_what_it_does_not_know(client):
    text, grounding, expected = CASES["ascii"]
    chunks = streamed(text, {**grounding, "novel": [1]})
    chunks[0]["novel"] = {"a": 1}
    chunks[1]["candidates"][0]["content"]["parts"].append({"novel": {"a": 1}})
    with Loopback(Reply(headers=SSE, pieces=[sse(*chunks)])) as server:
        assert cited(answer(Gemini(), ask(client, server))) == expected


def test_a_stream_that_breaks_keeps_what_came_and_invents_nothing(client):
    pieces = [sse(one) for one in streamed(*CASES["emoji"][:2])]
    seen = []

    def read(server):
        for one in ask(client, server):
            seen.append(one)  # noqa: PERF402 - what came before it breaks

    reply = Reply(headers=SSE, pieces=pieces, break_after=3)
    with Loopback(reply) as server, pytest.raises(Exception, match="closed"):
        read(server)
    events = events_of(Gemini(), seen)
    assert "".join(e.data.delta_content for e in events if "delta" in e.type.value) == EMOJI[:15]
    assert not [e for e in events if e.type.value == "assistant.message"]


def test_an_error_status_is_the_client_s_to_raise_and_its_body_is_a_failure(client):
    errors = pytest.importorskip("google.genai.errors", reason="needs google-genai")
    with (
        Loopback(Reply.json(HTTP, status=503)) as server,
        pytest.raises(errors.ServerError) as info,
    ):
        list(ask(client, server))
    assert Gemini().decode(info.value.details) == [
        AnswerFailure(message="overloaded", error_type="UNAVAILABLE")
    ]


def test_the_real_client_echoes_the_signature_of_a_call(client, caplog):
    signature = b64encode(b"\xfb\xff\x00 signed").decode()
    call = {"functionCall": {"name": "look", "args": {"q": 1}}, "thoughtSignature": signature}
    replies = [sse(chunk(call, end="STOP")), sse(chunk("So.", end="STOP"))]
    with Loopback(*[Reply(headers=SSE, pieces=[one]) for one in replies]) as server:
        gemini = Gemini()
        found, _ = [item for one in ask(client, server) for item in gemini.decode(one)]
        assert found.provider_data == {"thoughtSignature": signature}
        turn = ToolTurn(
            call_id=found.call_id,
            name=found.name,
            arguments=found.arguments,
            provider_data=found.provider_data,
        )
        config = {"temperature": 0.5, "tools": [{"google_search": {}}]}
        asked = gemini.request(
            Conversation(turns=(turn,), tools=(ToolDefinition(name="look"),)),
            model="gemini-x",
            config=config,
        )
        stream = client(server).models.generate_content_stream(**asked)
        assert answer(gemini, stream).content == "So."
    assert not caplog.records
    body = server.requests[1].body
    [part] = body["contents"][0]["parts"]
    assert urlsafe_b64decode(part["thoughtSignature"]) == b"\xfb\xff\x00 signed"
    assert part["functionCall"]["args"] == {"q": 1}
    kinds = {kind for one in body["tools"] for kind in one}
    assert kinds == {"functionDeclarations", "googleSearch"}
    assert body["generationConfig"]["temperature"] == 0.5


def test_the_real_client_takes_a_configuration_of_its_own(client):
    types = pytest.importorskip("google.genai.types", reason="needs google-genai")
    own = types.GenerateContentConfig(temperature=0.5, tools=[{"google_search": {}}])
    tools = (ToolDefinition(name="look"),)
    asked = Gemini().request(
        Conversation(turns=(UserTurn(text="?"),), tools=tools), model="m", config=own
    )
    with Loopback(Reply.json(whole("So.", {})[0])) as server:
        client(server).models.generate_content(**asked)
    body = server.requests[0].body
    kinds = {kind for one in body["tools"] for kind in one}
    assert kinds == {"functionDeclarations", "googleSearch"}
    assert body["generationConfig"]["temperature"] == 0.5


def test_a_slow_sender_streams_as_it_sends(client):
    text, grounding, expected = CASES["ascii"]
    pieces = [sse(one) for one in streamed(text, grounding, 13)]
    with Loopback(Reply(headers=SSE, pieces=pieces, delay=0.05)) as server:
        arrivals = [(time.monotonic(), one) for one in ask(client, server)]
    assert arrivals[-1][0] - arrivals[0][0] >= 0.04
    assert cited(answer(Gemini(), [one for _, one in arrivals])) == expected


@pytest.mark.parametrize("way", CUTS)
@pytest.mark.parametrize("name", ["cjk", "emoji", "file and place", "overlapping and repeated"])
def test_the_real_client_streams_interactions(name, way, client):
    text, annotations, expected = ANNOTATED[name]
    annotations = [{"type": "novel_citation", "url": "https://n.example"}, *annotations]
    events = interaction_stream(text, annotations)
    events.insert(3, event("quite.new", index=1))
    events.insert(7, delta(1, "novel_delta", novel={"a": 1}))
    framed = b"".join(sse(one, event=one["event_type"]) for one in events)
    with Loopback(Reply(headers=SSE, pieces=CUTS[way](framed))) as server:
        stream = client(server).interactions.create(model="gemini-x", input="?", stream=True)
        message = answer(Gemini(), list(stream))
    assert (message.content, cited(message)) == (text, expected)
    with Loopback(Reply.json(interaction(text, annotations))) as server:
        complete = client(server).interactions.create(model="gemini-x", input="?")
        assert answer(Gemini(), [complete]).citations == message.citations


def test_pieces_of_a_stream_add_up_to_the_answer():
    for (text, grounding, _), size in itertools.product(CASES.values(), (1, 4)):
        assert joined(Gemini(), streamed(text, grounding, size)) == text
