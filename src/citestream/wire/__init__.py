"""The doors between JSON and the package's values: ``decode_event``, ``encode_event`` and kin.

Decoding is open: unknown keys, kinds, providers and location types survive and come back when
encoded. It is also strict: whatever comes in, out comes a value or a DecodeError that names the
place. Encoding is strict, and gives fresh containers. One table of fields per class drives both;
no converter library, since what a long answer costs is mostly the making of its many small values,
which such a library does not make any cheaper than their constructors do.

The spans of long citations are checked when decoding, like all else, and made at first use.

``event`` has the envelope, ``payloads`` and ``citations`` what it holds, ``fields`` the tables,
``columns`` and ``usual`` the quick ways for many values, ``tree`` and ``text`` what JSON is,
``build`` how values are made.
"""

from collections.abc import Mapping
from typing import Any

from ..events import SessionEvent
from ..model import Citations
from .citations import CITATIONS
from .event import decode_tree, encode_tree
from .text import encode_json, read

__all__ = ("decode_citations", "decode_event", "encode_citations", "encode_event", "encode_json")


def decode_event(source: Mapping[str, Any] | str | bytes, /) -> SessionEvent:
    """Decode an event from a JSON object, or from the text of one (UTF-8, as bytes).

    Raises DecodeError. Nothing of the source is written to or kept.

    >>> event = decode_event(
    ...     '{"id": "e1", "timestamp": "2026-11-30T04:55:10Z", "type": "abort", "data": {}}'
    ... )
    >>> event.type, event.data
    (<SessionEventType.ABORT: 'abort'>, AbortData(reason=None))
    """
    return read(source, decode_tree)


def encode_event(event: SessionEvent, /) -> dict[str, Any]:
    """Encode an event as a JSON object that the caller may change. Raises EncodeError."""
    return encode_tree(event)


def decode_citations(source: Mapping[str, Any] | str | bytes, /) -> Citations:
    """Decode citations from a JSON object, or from the text of one. Raises DecodeError.

    >>> decode_citations({"sources": [], "spans": []})
    Citations(sources=(), spans=())
    """
    return read(source, _read_citations)


def encode_citations(citations: Citations, /) -> dict[str, Any]:
    """Encode citations as a JSON object that the caller may change. Raises EncodeError."""
    tree: dict[str, Any] = CITATIONS.encode(citations, None)
    return tree


def _read_citations(tree: Any, unread: list[Any]) -> Citations:  # noqa: ANN401 - a JSON value
    citations: Citations = CITATIONS.decode(tree, None, unread)
    return citations
