"""A registry as JSON-ready values and back.

In: registered sources. Out: dicts, lists, strings and integers; and from such values, which may be
damaged, what the registry is rebuilt from (DecodeError with the path otherwise). Blocks are stored
as ranges, so that ids given out keep their meaning when a later version cuts texts otherwise.

::

    {"version": 1, "turns": 2,
     "sources": [{"id": "turn0file0", "granularity": "block", "content": "...", "title": "...",
                  "blocks": [[0, 40]], "alias": "rules"}],
     "aliases": {"rules": ["turn0file0"]}, "ambiguous": []}

The last id under an alias is the source that it names; what is ambiguous names none.
Deliberately elsewhere: JSON text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import attrs

from ..errors import DecodeError, ModelError, brief
from .documents import SourceDocument
from .granularity import Granularity
from .registered import RegisteredSource

__all__ = (
    "VERSION",
    "Snapshot",
    "StoredSource",
    "dump_document",
    "dump_source",
    "read_document",
    "read_granularity",
    "read_snapshot",
)

VERSION = 1
"""Of the form below. A registry that finds another one refuses it."""

_T = TypeVar("_T")
_ID = re.compile("turn(0|[1-9][0-9]{0,8})([a-z]{1,32})(0|[1-9][0-9]{0,8})")
_MOST_TURNS = 10**9  # what nine digits of an id can count
_NAMES = ("title", "url", "path", "updated")
_KINDS = {str: "a string", int: "an integer", list: "an array", dict: "an object"}


@attrs.frozen(kw_only=True)
class StoredSource:
    """A source as it was stored; ``number`` is the last part of its id."""

    id: str
    turn: int
    kind: str
    number: int
    granularity: Granularity
    document: SourceDocument
    alias: str | None
    replaces: str | None


@attrs.frozen(kw_only=True)
class Snapshot:
    """A registry as it was stored: ``turns`` counts the turns begun."""

    turns: int
    sources: tuple[StoredSource, ...]
    aliases: Mapping[str, tuple[str, ...]]
    ambiguous: tuple[str, ...] = ()


def dump_source(source: RegisteredSource, /) -> dict[str, Any]:
    """Return a source as JSON-ready values."""
    values: dict[str, Any] = {
        "id": source.id,
        "granularity": source.granularity.value,
        "alias": source.alias,
        "replaces": source.replaces,
    }
    values = {name: value for name, value in values.items() if value is not None}
    return values | dump_document(source.document, granularity=source.granularity)


def dump_document(document: SourceDocument, /, *, granularity: Granularity) -> dict[str, Any]:
    """Return a document as JSON-ready values, its blocks as they are cited."""
    blocks = document.blocks if granularity is Granularity.BLOCK else document.marked_blocks
    values: dict[str, Any] = {"content": document.content}
    values |= {name: getattr(document, name) for name in _NAMES}
    values["pages"] = [list(page) for page in document.pages] or None
    values["blocks"] = [list(block) for block in blocks] or None
    return {name: value for name, value in values.items() if value is not None}


def read_document(stored: dict[str, Any], path: str, /) -> SourceDocument:
    """Read what ``dump_document`` gave. ``path`` is where it stands. Raises DecodeError."""
    names = {name: _optional(stored.get(name), str, f"{path}.{name}") for name in _NAMES}
    try:
        return SourceDocument(
            content=_typed(stored.get("content"), str, f"{path}.content"),
            pages=tuple(_ranges(stored, "pages", path)),
            marked_blocks=tuple(_ranges(stored, "blocks", path)),
            **names,
        )
    except ModelError as error:
        raise DecodeError(path=path, expected="a document", got=str(error)) from error


def read_granularity(stored: dict[str, Any], path: str, /) -> Granularity:
    """Read the granularity of what is stored at ``path``. Raises DecodeError."""
    granularity = _typed(stored.get("granularity"), str, f"{path}.granularity")
    if granularity not in {known.value for known in Granularity}:
        raise _wrong(f"{path}.granularity", "a granularity", granularity)
    return Granularity(granularity)


def read_snapshot(value: object, /) -> Snapshot:
    """Read what a registry stored. Raises DecodeError for anything else."""
    root = _typed(dict(value) if isinstance(value, Mapping) else value, dict, "$")
    version = root.get("version")
    if version != VERSION or isinstance(version, bool):
        raise _wrong("$.version", f"the version {VERSION}", version)
    turns = _typed(root.get("turns"), int, "$.turns")
    if not 0 <= turns <= _MOST_TURNS:
        raise _wrong("$.turns", f"0 to {_MOST_TURNS}", turns)
    sources: dict[str, StoredSource] = {}
    turn = 0
    for index, stored in enumerate(_typed(root.get("sources"), list, "$.sources")):
        path = f"$.sources[{index}]"
        source = _source(_typed(stored, dict, path), path)
        if source.id in sources or not turn <= source.turn < turns:
            raise _wrong(f"{path}.id", "ids that differ, in the order of turns", source.id)
        turn = source.turn
        sources[source.id] = source
    aliases = dict(_aliases(_typed(root.get("aliases"), dict, "$.aliases"), sources))
    for index, source in enumerate(sources.values()):
        if source.alias is not None and source.id not in aliases.get(source.alias, ()):
            raise _wrong(f"$.sources[{index}].alias", "one of the aliases", source.alias)
    ambiguous = _typed(root.get("ambiguous", []), list, "$.ambiguous")
    for index, one in enumerate(ambiguous):
        _typed(one, str, f"$.ambiguous[{index}]")
    return Snapshot(
        turns=turns,
        sources=tuple(sources.values()),
        aliases=aliases,
        ambiguous=tuple(ambiguous),
    )


def _source(stored: dict[str, Any], path: str) -> StoredSource:
    source_id = _typed(stored.get("id"), str, f"{path}.id")
    parts = _ID.fullmatch(source_id)
    if parts is None or parts[2] == Granularity.BLOCK.value:
        raise _wrong(f"{path}.id", "an id such as turn0file0", source_id)
    return StoredSource(
        id=source_id,
        turn=int(parts[1]),
        kind=parts[2],
        number=int(parts[3]),
        granularity=read_granularity(stored, path),
        document=read_document(stored, path),
        alias=_optional(stored.get("alias"), str, f"{path}.alias"),
        replaces=_optional(stored.get("replaces"), str, f"{path}.replaces"),
    )


def _ranges(stored: dict[str, Any], name: str, path: str) -> Iterator[tuple[int, int]]:
    values = _optional(stored.get(name), list, f"{path}.{name}")
    for index, value in enumerate(values or ()):
        where = f"{path}.{name}[{index}]"
        pair = _typed(value, list, where)
        if len(pair) != 2:  # noqa: PLR2004 - a start and an end
            raise _wrong(where, "a start and an end", pair)
        yield _typed(pair[0], int, f"{where}[0]"), _typed(pair[1], int, f"{where}[1]")


def _aliases(
    stored: dict[Any, Any], sources: Mapping[str, StoredSource]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for alias, value in stored.items():
        path = "$.aliases"
        if not isinstance(alias, str) or alias in sources:
            raise _wrong(path, "strings that are no ids of sources", alias)
        ids = _typed(value, list, f"{path}.{alias[:40]}")
        if not ids or not all(isinstance(one, str) and one in sources for one in ids):
            raise _wrong(f"{path}.{alias[:40]}", "the ids of sources", ids)
        yield alias, tuple(ids)


def _typed(value: object, kind: type[_T], path: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _wrong(path, _KINDS[kind], value)
    return value


def _optional(value: object, kind: type[_T], path: str) -> _T | None:
    return None if value is None else _typed(value, kind, path)


def _wrong(path: str, expected: str, got: object) -> DecodeError:
    return DecodeError(path=path, expected=expected, got=brief(got))
