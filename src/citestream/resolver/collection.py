"""Gathering the citations of one answer: sources once, spans in order, ids by first citation.

In: sources and references, from markers and from an upstream. Out: one ``Citations`` (SPEC section
2), or None when there is nothing.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

import attrs

from ..model import NO_EXTRA, CitationReference, Citations, CitationSource, CitationSpan, Extra

__all__ = ("CitationCollection", "SourceKey", "source_key")

SourceKey: TypeAlias = tuple[object, ...]
"""What makes two sources the same."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


_Reference: TypeAlias = tuple[SourceKey, CitationReference, object]  # key, reference, mark
_MANY = 16


def source_key(source: CitationSource, metadata: object = None, /) -> SourceKey:
    """Return what ``source`` is recognised by: URL, path, our id, document, or vendor's id.

    ``metadata`` is the ``provider_metadata`` of a reference to it.
    """
    if source.url:
        return "url", _normal_url(source.url)
    if source.path:
        return "path", source.path
    if isinstance(metadata, Mapping):
        if isinstance(metadata.get("citableSourceId"), str):
            return "citableSourceId", metadata["citableSourceId"]
        if isinstance(metadata.get("documentIndex"), int):
            return "document", metadata["documentIndex"], source.title
        if isinstance(metadata.get("fileId"), str):
            return "fileId", metadata["fileId"]
    return "id", source.id


def _normal_url(url: str) -> str:
    """Return ``url`` without fragment, scheme and host in lower case; other text as it is."""
    if not _SCHEME.match(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed IPv6 address: compared as it is written
        return url
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, user + at + host.lower(), parts.path, parts.query, ""))


class CitationCollection:
    """Collects the citations of one answer. Ranges are UTF-16 code units of its content."""

    def __init__(self) -> None:
        self._sources: dict[SourceKey, CitationSource] = {}
        self._references: dict[tuple[int, int], list[_Reference]] = {}
        self._expected: dict[SourceKey, str] = {}
        self._seen: dict[tuple[int, int], set[object]] = {}  # of spans with many references
        self._span_extras: dict[tuple[int, int], Extra] = {}
        self.extra = NO_EXTRA

    def add_source(self, key: SourceKey, source: CitationSource, /) -> str:
        """Add a source and return the id it has if sources are cited in the order they are added.

        The first title wins; a later one fills a missing one.
        """
        known = self._sources.get(key)
        if known is None:
            self._sources[key] = source
        elif known.title is None and source.title is not None:
            self._sources[key] = attrs.evolve(known, title=source.title)
        return self._expected.setdefault(key, f"s{len(self._expected)}")

    def add(
        self,
        span: tuple[int, int],
        key: SourceKey,
        reference: CitationReference,
        /,
        *,
        mark: object = None,
    ) -> bool:
        """Add a reference to the source ``key``; False when the span has the same one already.

        ``mark`` tells references apart that are otherwise alike.
        """
        references = self._references.setdefault(span, [])
        if self._has(span, references, (key, reference, mark)):
            return False
        references.append((key, reference, mark))
        return True

    def _has(
        self, span: tuple[int, int], references: list["_Reference"], new: "_Reference"
    ) -> bool:
        """Tell whether ``references`` have one like ``new``; most spans have one or two in all."""
        if len(references) < _MANY:
            return any(map(_identity(new).__eq__, map(_identity, references)))
        if span not in self._seen:
            self._seen[span] = set(map(_identity, references))
        size = len(self._seen[span])
        self._seen[span].add(_identity(new))
        return len(self._seen[span]) == size

    def add_span(self, span: tuple[int, int], /, *, extra: Extra = NO_EXTRA) -> None:
        """Add a span, also one without references."""
        self._references.setdefault(span, [])
        if extra and span not in self._span_extras:
            self._span_extras[span] = extra

    @property
    def cites(self) -> bool:
        """Whether any span was added."""
        return bool(self._references)

    def build(self) -> Citations | None:
        """Return what was collected; None when there is neither source nor span."""
        if not self._sources and not self._references and not self.extra:
            return None
        ids: dict[SourceKey, str] = {}
        spans = tuple(self._spans(ids))
        for key in self._sources:
            ids.setdefault(key, f"s{len(ids)}")
        sources = [
            source if source.id == ids[key] else attrs.evolve(source, id=ids[key])
            for key, source in sorted(self._sources.items(), key=lambda item: int(ids[item[0]][1:]))
        ]
        return Citations(sources=tuple(sources), spans=spans, extra=self.extra)

    def _spans(self, ids: dict[SourceKey, str]) -> Iterator[CitationSpan]:
        for (start, end), found in sorted(self._references.items(), key=lambda item: item[0]):
            references = []
            for key, reference, _ in found:
                source_id = ids.setdefault(key, f"s{len(ids)}")
                if reference.source_id != source_id:
                    reference = attrs.evolve(reference, source_id=source_id)  # noqa: PLW2901 - renamed
                references.append(reference)
            yield CitationSpan(
                start_index=start,
                end_index=end,
                references=tuple(references),
                extra=self._span_extras.get((start, end), NO_EXTRA),
            )


def _identity(entry: _Reference) -> tuple[object, ...]:
    key, reference, mark = entry
    return key, reference.cited_text, reference.location, mark
