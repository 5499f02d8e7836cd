"""What vendors send of an answer that cites what they were sent, each in its own way.

In: the body of the request that came, and what is said with the words that each piece rests on.
Out: chunks of a stream. A vendor cites only what it finds in the request, under the number, id or
marker that stands there: a request without the material fails the test that asked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from citestream import format_marker
from providers.calling import WIRES

__all__ = ("ANSWERS", "Piece", "leaves", "marker_of")


@attrs.frozen
class Piece:
    """A piece of an answer, and the words of a source that it rests on, "" for none.

    ``tool`` says that the source is what a tool returned.
    """

    text: str
    rests_on: str = ""
    tool: bool = False


def leaves(tree: Any) -> Iterator[Any]:
    """Give everything in a tree that has nothing below it."""
    if isinstance(tree, dict | list | tuple):
        for one in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(one)
    else:
        yield tree


def found(tree: Any, key: str) -> list[Any]:
    """Return what stands under ``key``, wherever it is, in order."""
    if isinstance(tree, list):
        return [one for member in tree for one in found(member, key)]
    if not isinstance(tree, dict):
        return []
    below = [one for member in tree.values() for one in found(member, key)]
    return [tree[key], *below] if key in tree else below


def cut(text: str) -> list[str]:
    """Cut ``text`` as models do, in the middle of words and of markers."""
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def which(many: Iterable[Any], words: str) -> tuple[int, Any]:
    """Return the one of ``many`` that holds ``words``, and its number."""
    [place] = [
        (number, one)
        for number, one in enumerate(many)
        if any(words in leaf for leaf in leaves(one) if isinstance(leaf, str))
    ]
    return place


# -- markers


_NAMED = re.compile(r'(?:<BLOCK id="|Marker: \ue200cite\ue202)(\w+)')
_LINE = re.compile(r"^\[(L\d+)\]", re.MULTILINE)


def marker_of(body: Any, words: str) -> str:
    """Return the marker that a model writes for ``words``, from what it was shown."""
    _, told = which(leaves(body), words)
    before = told[: told.index(words)]
    return format_marker(_NAMED.findall(before)[-1], locator=_LINE.findall(before)[-1])


def _marked(body: Any, said: Sequence[Piece]) -> str:
    return "".join(
        one.text + (marker_of(body, one.rests_on) if one.rests_on else "") for one in said
    )


def _chat(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["openai_chat"]
    texts = [chunk for piece in cut(_marked(body, said)) for chunk in wire.text(0, piece)]
    return [*wire.open, *texts, *wire.close("stop", [])]


def _gemini(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["gemini"]
    texts = [chunk for piece in cut(_marked(body, said)) for chunk in wire.text(0, piece)]
    return [*texts, *wire.close("STOP", [])]


def _openai(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["openai"]
    text = _marked(body, said)
    whole = wire.text(0, text)
    deltas = [{**whole[0], "delta": piece} for piece in cut(text)]
    return [*wire.open, *deltas, *whole[1:], *wire.close("completed", [])]


# -- what vendors cite themselves


def _anthropic(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["anthropic"]
    blocks = [one for message in body["messages"] for one in message["content"]]
    documents = [one for one in blocks if one["type"] == "document"]
    results = [
        one
        for block in blocks
        if block["type"] == "tool_result"
        for one in block["content"]
        if one["type"] == "search_result"
    ]
    chunks = [*wire.open]
    for at, one in enumerate(said):
        start, delta, stop = wire.text(at, "")
        texts = [
            {**delta, "delta": {"type": "text_delta", "text": piece}} for piece in cut(one.text)
        ]
        noted = []
        if one.tool:
            number, result = which(results, one.rests_on)
            place, block = which(result["content"], one.rests_on)
            noted = [
                {
                    "type": "search_result_location",
                    "cited_text": block["text"],
                    "search_result_index": number,
                    "source": result["source"],
                    "title": result["title"],
                    "start_block_index": place,
                    "end_block_index": place + 1,
                }
            ]
        elif one.rests_on:
            number, document = which(documents, one.rests_on)
            begin = document["source"]["data"].index(one.rests_on)
            noted = [
                {
                    "type": "char_location",
                    "cited_text": one.rests_on,
                    "document_index": number,
                    "document_title": document["title"],
                    "file_id": None,
                    "start_char_index": begin,
                    "end_char_index": begin + len(one.rests_on),
                }
            ]
        cited = [
            {**delta, "delta": {"type": "citations_delta", "citation": citation}}
            for citation in noted
        ]
        chunks += [start, *cited, *texts, stop]
    return [*chunks, *wire.close("end_turn", [])]


def _bedrock(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["bedrock"]
    documents, results = found(body, "document"), found(body, "searchResult")
    chunks = [*wire.open]
    for at, one in enumerate(said):
        texts = [wire.text(at, piece)[0] for piece in cut(one.text)]
        if one.tool:
            number, result = which(results, one.rests_on)
            place, block = which(result["content"], one.rests_on)
            where = {"searchResultIndex": number, "start": place, "end": place + 1}
            citation = {
                "title": result["title"],
                "source": result["source"],
                "sourceContent": [{"text": block["text"]}],
                "location": {"searchResultLocation": where},
            }
        elif one.rests_on:
            number, document = which(documents, one.rests_on)
            begin = document["source"]["text"].index(one.rests_on)
            end = begin + len(one.rests_on)
            citation = {
                "title": document["name"],
                "sourceContent": [{"text": one.rests_on}],
                "location": {"documentChar": {"documentIndex": number, "start": begin, "end": end}},
            }
        else:
            citation = None
        if citation is not None:
            about = {"contentBlockIndex": at, "delta": {"citation": citation}}
            texts.append({"contentBlockDelta": about})
        chunks += [*texts, {"contentBlockStop": {"contentBlockIndex": at}}]
    return [*chunks, *wire.close("end_turn", [])]


def _cohere(body: Any, said: Sequence[Piece]) -> list[Any]:
    wire = WIRES["cohere"]
    results = {
        f"{message['tool_call_id']}:{number}": content["document"]
        for message in body["messages"]
        if message["role"] == "tool"
        for number, content in enumerate(message["content"])
        if content["type"] == "document"
    }
    text = "".join(one.text for one in said)
    start, delta, end = wire.text(0, "")
    chunks = [*wire.open[:1], start]
    chunks += [{**delta, "delta": {"message": {"content": {"text": one}}}} for one in cut(text)]
    for index, one in enumerate(one for one in said if one.rests_on):
        if one.tool:
            number, document = which(results.values(), one.rests_on)
            source = {"type": "tool", "id": [*results][number], "tool_output": document["data"]}
        else:
            _, document = which(body["documents"], one.rests_on)
            shown = {"id": document["id"], **document["data"]}
            source = {"type": "document", "id": document["id"], "document": shown}
        begin = text.index(one.text)
        citation = {
            "start": begin,
            "end": begin + len(one.text),
            "text": one.text,
            "sources": [source],
            "type": "TEXT_CONTENT",
            "content_index": 0,
        }
        about = {"delta": {"message": {"citations": citation}}}
        chunks += [
            {"type": "citation-start", "index": index, **about},
            {"type": "citation-end", "index": index},
        ]
    return [*chunks, end, *wire.close("COMPLETE", [])]


def _mistral(body: Any, said: Sequence[Piece]) -> list[Any]:
    """Cite results of tools by their keys, and what was attached by markers."""
    wire = WIRES["mistral"]
    told = [one["content"] for one in body["messages"] if one["role"] == "tool"]
    contents: list[Any] = []
    for one in said:
        marker = marker_of(body, one.rests_on) if one.rests_on and not one.tool else ""
        contents += cut(one.text + marker)
        if one.tool:
            entries = {key: value for text in told for key, value in json.loads(text).items()}
            number, _ = which(entries.values(), one.rests_on)
            reference = {"type": "reference", "reference_ids": [int([*entries][number])]}
            contents.append([reference])
    chunks = [chunk for content in contents for chunk in wire.text(0, content)]
    return [*wire.open, *chunks, *wire.close("stop", [])]


ANSWERS = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "gemini": _gemini,
    "mistral": _mistral,
    "openai": _openai,
    "openai_chat": _chat,
}
"""By the names of ``providers.calling.WIRES``: what each sends."""
