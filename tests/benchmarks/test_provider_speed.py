"""Providers: decoding a chunk against the vendor SDK's own parsing of the same chunk.

A vendor is a function that returns a ``Vendor``; ``VENDORS`` lists them all. Every one of its
streams is a row of the table: our ``decode`` of what the SDK made of the chunks, against the SDK's
making it of their JSON.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import pytest
from ratios import compare, report

from citestream import SourceRegistry
from citestream.conversation.turns import Conversation, Material, UserTurn
from citestream.providers.anthropic import Anthropic
from citestream.providers.bedrock import Bedrock
from citestream.providers.cohere import Cohere
from citestream.providers.gemini import Gemini
from citestream.providers.mistral import Mistral
from citestream.providers.openai import OpenAIResponses
from citestream.providers.openai_chat import OpenAIChat
from citestream.providers.perplexity import Perplexity
from citestream.sources import Granularity, from_text

GATE = 1.0
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
MEMO = "Rent rose 4 percent. " * 200
WORDS = ["The rent", " rose by", " 4 percent", " in the", " last year", "."]


@attrs.frozen(kw_only=True)
class Vendor:
    """``parse`` is what the SDK does to the JSON of one chunk; ``decode`` belongs to an exchange.

    ``streams`` are chunks as JSON values, by what they hold.
    """

    decode: Callable[[Any], object]
    parse: Callable[[Any], object]
    streams: Mapping[str, Iterable[Any]]


def conversation():
    document = from_text(MEMO, title="Memo", path="docs/memo.md")
    source = SourceRegistry().add(document, granularity=Granularity.LINE)
    return Conversation(turns=(UserTurn(text="?", materials=(Material(source=source),)),))


def anthropic():
    sdk = pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")
    models = pytest.importorskip("anthropic._models")
    exchange = Anthropic()
    exchange.request(conversation(), model="claude-x")
    citation = {
        "type": "char_location",
        "cited_text": "Rent rose 4 percent. ",
        "document_index": 0,
        "document_title": "Memo",
        "file_id": None,
        "start_char_index": 21,
        "end_char_index": 42,
    }
    deltas = {
        "text": [{"type": "text_delta", "text": word} for word in WORDS],
        "citations": [{"type": "citations_delta", "citation": citation}] * 6,
    }
    streams = {
        name: [{"type": "content_block_delta", "index": 3, "delta": delta} for delta in those]
        for name, those in deltas.items()
    }
    blocks = [{"type": "text", "text": "".join(WORDS), "citations": [citation]}] * 20
    usage = {"input_tokens": 3, "output_tokens": 9}
    streams["a whole answer"] = [
        {"type": "message", "id": "m", "role": "assistant", "model": "x", "content": blocks}
        | {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    ]

    def parse(chunk):
        whole = chunk["type"] == "message"
        kind = sdk.types.Message if whole else sdk.types.RawMessageStreamEvent
        return models.construct_type(type_=kind, value=chunk)

    return Vendor(decode=exchange.decode, parse=parse, streams=streams)


def bedrock():
    session = pytest.importorskip("botocore.session", reason="boto3 is not installed")
    parsers = pytest.importorskip("botocore.parsers")
    exchange = Bedrock()
    exchange.request(conversation(), model="anthropic.claude-x")
    citation = {
        "title": "Memo",
        "sourceContent": [{"text": "Rent rose 4 percent. "}],
        "location": {"documentChar": {"documentIndex": 0, "start": 21, "end": 42}},
    }
    deltas = {
        "text": [{"text": word} for word in WORDS],
        "citations": [{"citation": citation}] * 6,
    }
    streams = {
        name: [{"contentBlockDelta": {"contentBlockIndex": 3, "delta": one}} for one in those]
        for name, those in deltas.items()
    }
    cited = {"content": [{"text": "".join(WORDS)}], "citations": [citation]}
    message = {"role": "assistant", "content": [{"citationsContent": cited}] * 20}
    streams["a whole answer"] = [
        {"output": {"message": message}, "stopReason": "end_turn", "metrics": {"latencyMs": 5}}
    ]
    model = session.get_session().get_service_model("bedrock-runtime")
    whole = model.operation_model("Converse").output_shape
    stream = model.operation_model("ConverseStream").output_shape.members["stream"]
    rest = parsers.create_parser("rest-json")
    events = parsers.EventStreamJSONParser()

    def parse(chunk):
        # botocore parses bytes: writing them here makes it slower by what json.dumps costs, which
        # the bodies below are made beforehand to avoid.
        headers, body, is_whole = bodies[id(chunk)]
        response = {"status_code": 200, "headers": headers, "body": body}
        return rest.parse(response, whole) if is_whole else events.parse(response, stream)

    bodies = {}
    for chunk in (one for those in streams.values() for one in those):
        is_whole = "output" in chunk
        [(kind, payload)] = [("", chunk)] if is_whole else chunk.items()
        names = {":event-type": kind, ":message-type": "event"}
        bodies[id(chunk)] = ({} if is_whole else names, json.dumps(payload).encode(), is_whole)
    return Vendor(decode=exchange.decode, parse=parse, streams=streams)


def gemini():
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    interactions = pytest.importorskip("google.genai.interactions")
    pydantic = pytest.importorskip("pydantic")
    answer = "".join(WORDS)

    def chunk(text, **more):
        content = {"role": "model", "parts": [{"text": text}]}
        return {"candidates": [{"content": content, "index": 0, **more}], "modelVersion": "g"}

    def event(**delta):
        return {"event_type": "step.delta", "index": 1, "delta": delta}

    chunks = [{"web": {"uri": f"https://a.example/{n}", "title": "a.example"}} for n in range(6)]
    segment = {"startIndex": 0, "endIndex": len(answer), "text": answer}
    supports = [
        {"segment": segment, "groundingChunkIndices": [n, n - 1], "confidenceScores": [0.9, 0.5]}
        for n in range(6)
    ]
    grounding = {"groundingChunks": chunks, "groundingSupports": supports}
    place = {"type": "url_citation", "start_index": 0, "end_index": 8}
    annotation = {**place, "url": "https://a.example/0", "title": "a.example"}
    streams = {
        "text": [chunk(word) for word in WORDS],
        "a whole answer": [chunk(answer, finishReason="STOP", groundingMetadata=grounding)],
        "interactions, text": [event(type="text", text=word) for word in WORDS],
        "interactions, citations": [event(type="text_annotation_delta", annotations=[annotation])],
    }
    sse = pydantic.TypeAdapter(interactions.InteractionSSEEvent)

    def parse(chunk):
        # Less than the SDK does: it converts the JSON before, and makes an HTTP response of it.
        if "event_type" in chunk:
            return sse.validate_python(chunk)
        return types.GenerateContentResponse.model_validate(chunk)

    return Vendor(decode=Gemini().decode, parse=parse, streams=streams)


def cohere():
    sdk = pytest.importorskip("cohere.v2.types", reason="cohere is not installed")
    models = pytest.importorskip("cohere.core.unchecked_base_model")
    exchange = Cohere()
    [document] = exchange.request(conversation(), model="command-x")["documents"]
    sources = [{"type": "document", "id": document["id"], "document": document["data"]}]
    noted = {"start": 0, "end": 8, "text": "The rent", "type": "TEXT_CONTENT", "sources": sources}

    def event(kind, **message):
        return {"type": kind, "index": 0, "delta": {"message": message}}

    end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "".join(WORDS)}]}
    message["citations"] = [noted] * 20
    streams = {
        "text": [event("content-delta", content={"text": word}) for word in WORDS],
        "citations": [event("citation-start", citations=noted)] * 6 + [end],
        "a whole answer": [{"id": "m", "finish_reason": "COMPLETE", "message": message}],
    }

    def parse(chunk):
        whole = "type" not in chunk
        kind = sdk.V2ChatResponse if whole else sdk.V2ChatStreamResponse
        return models.construct_type(type_=kind, object_=chunk)

    return Vendor(decode=exchange.decode, parse=parse, streams=streams)


def anew(make, exchange):
    """Decode with ``exchange``, and what ends it with one of its own each time."""

    def decode(chunk):
        ends = any(getattr(chunk, name, None) for name in ("usage", "output", "response"))
        return (make() if ends else exchange).decode(chunk)

    return decode


def openai():
    types = pytest.importorskip("openai.types.responses", reason="openai is not installed")
    models = pytest.importorskip("openai._models")
    at = {"item_id": "m", "output_index": 1, "content_index": 0, "sequence_number": 7}
    answer = "".join(WORDS) + "([a](https://a.example/0))"
    place = {"start_index": len(answer) - 26, "end_index": len(answer)}
    noted = {"type": "url_citation", "url": "https://a.example/0", "title": "A", **place}
    delta = {"type": "response.output_text.delta", "logprobs": [], **at}
    added = {"type": "response.output_text.annotation.added", "annotation_index": 0, **at}
    part = {"type": "output_text", "text": answer, "annotations": [noted] * 20}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    about = {"id": "r", "object": "response", "created_at": 1, "model": "x", "status": "completed"}
    settings = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    whole = {**about, **settings, "output": [{**message, "content": [part]}]}
    end = {"type": "response.completed", "sequence_number": 9, "response": whole}
    streams = {
        "text": [{**delta, "delta": word} for word in WORDS],
        "citations": [{**added, "annotation": noted}] * 6 + [end],
        "a whole answer": [whole],
    }

    def parse(chunk):
        kind = types.ResponseStreamEvent if "type" in chunk else types.Response
        return models.construct_type(type_=kind, value=chunk)

    decode = anew(OpenAIResponses, OpenAIResponses())
    return Vendor(decode=decode, parse=parse, streams=streams)


def openai_chat():
    types = pytest.importorskip("openai.types.chat", reason="openai is not installed")
    models = pytest.importorskip("openai._models")
    answer = "".join(WORDS) + "([a](https://a.example/0))"
    place = {"start_index": len(answer) - 26, "end_index": len(answer)}
    noted = {"url": "https://a.example/0", "title": "A", **place}
    annotations = [{"type": "url_citation", "url_citation": noted}] * 6
    about = {"id": "c", "created": 1, "model": "x"}

    def chunk(**delta):
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        return {**about, "object": "chat.completion.chunk", "choices": [choice]}

    message = {"role": "assistant", "content": answer, "annotations": annotations}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    whole = {**about, "object": "chat.completion", "choices": [choice], "usage": USAGE}
    streams = {
        "text": [chunk(content=word) for word in WORDS],
        "citations": [chunk(content="x", annotations=annotations)] * 6,
        "a whole answer": [whole],
    }

    def parse(chunk):
        kind = types.ChatCompletion if "usage" in chunk else types.ChatCompletionChunk
        return models.construct_type(type_=kind, value=chunk)

    decode = anew(OpenAIChat, OpenAIChat())
    return Vendor(decode=decode, parse=parse, streams=streams)


def perplexity():
    types = pytest.importorskip("perplexity.types", reason="perplexityai is not installed")
    models = pytest.importorskip("perplexity._models")
    result = {"title": "A", "date": "2026-05-01", "snippet": MEMO[:400], "source": "web"}
    result["last_updated"] = "2026-05-02"
    cost = {"input_tokens_cost": 0.1, "output_tokens_cost": 0.1, "total_cost": 0.2}
    usage = {**USAGE, "search_context_size": "low", "cost": cost}
    results = [{**result, "url": f"https://a.example/{n}"} for n in range(10)]
    about = {"id": "c", "created": 1, "model": "x", "object": "chat.completion.chunk"}
    about |= {"search_results": results, "citations": [one["url"] for one in results]}

    def chunk(text):
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        return {**about, "choices": [choice]}

    answer = f"{MEMO[:400]}[1][3]\n" * 5
    message = {"role": "assistant", "content": answer}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "delta": message}
    streams = {
        "text": [chunk(word) for word in WORDS],
        "citations": [chunk(word) for word in ("rose", " [1", "][", "3]", ".", " Wages")],
        "a whole answer": [{**about, "choices": [choice], "usage": usage}],
    }

    def parse(chunk):
        return models.construct_type(type_=types.StreamChunk, value=chunk)

    decode = anew(Perplexity, Perplexity())
    return Vendor(decode=decode, parse=parse, streams=streams)


def mistral():
    models = pytest.importorskip("mistralai.client.models", reason="mistralai is not installed")
    serializers = pytest.importorskip("mistralai.client.utils.serializers")
    about = {"id": "c", "object": "chat.completion", "created": 1, "model": "x"}
    reference = {"type": "reference", "reference_ids": ["0", 1]}

    def chunk(content):
        choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
        return {**about, "choices": [choice]}

    content = [{"type": "text", "text": "".join(WORDS)}, reference] * 20
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": content}}
    streams = {
        "text": [chunk(word) for word in WORDS],
        "citations": [chunk([reference])] * 6,
        "a whole answer": [{**about, "choices": [choice], "usage": USAGE}],
    }

    def parse(chunk):
        whole = "usage" in chunk
        kind = models.ChatCompletionResponse if whole else models.CompletionChunk
        return serializers.unmarshal(chunk, kind, coerce_iterables=False)

    return Vendor(decode=anew(Mistral, Mistral()), parse=parse, streams=streams)


VENDORS = (anthropic, bedrock, gemini, cohere, openai, openai_chat, perplexity, mistral)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.__name__)
def test_decoding_costs_less_than_the_sdk_s_own_parsing(vendor):
    one = vendor()
    rows = []
    for name, chunks in one.streams.items():
        chunks = list(chunks)  # noqa: PLW2901 - read more than once
        parsed = [one.parse(chunk) for chunk in chunks]
        assert any(one.decode(chunk) for chunk in parsed)
        ratio = compare(
            lambda parsed=parsed: [one.decode(chunk) for chunk in parsed],
            lambda chunks=chunks: [one.parse(chunk) for chunk in chunks],
        )
        rows.append((f"{vendor.__name__}, {name}", ratio, GATE))
    print("\n" + report("decode against the SDK's parsing", rows))
    assert all(ratio.value >= gate for _, ratio, gate in rows)
