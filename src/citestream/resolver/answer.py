"""Reading one whole answer: clean content, its citations, and what is wrong with them.

``resolve`` is the one place where markers and an upstream's own citations become ``Citations``. It
is pure: a session does the same to every final message.
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from ..claims import claim_spans
from ..issues import Issue
from ..markers import FamilyKind, MarkerTarget, ParsedMarker, PlacedMarker, parse_markers
from ..model import CitationReference, Citations, CitationSource, CitationSpan
from ..offsets import from_utf16_many, to_utf16_many, utf16_length, well_formed
from ..sources import SourceRegistry
from .collection import CitationCollection, SourceKey, source_key
from .options import CitationOptions
from .placement import misplaced
from .positions import visible_ranges
from .references import CitedTarget, TargetProblem, TargetReader
from .resolution import Resolution

__all__ = ("resolve",)

_Native: TypeAlias = tuple[SourceKey, CitationReference]  # of an upstream, with its source
_Cited: TypeAlias = CitedTarget | TargetProblem
_NO_REFERENCE = CitationReference(source_id="")


def resolve(
    text: str,
    /,
    registry: SourceRegistry | None = None,
    *,
    citations: Citations | None = None,
    options: CitationOptions | None = None,
) -> Resolution:
    r"""Read the answer ``text``; never raises for what a model wrote.

    ``registry`` holds what the model was given to cite. ``citations`` are those that an upstream
    found itself; their spans count UTF-16 code units of ``text`` and are moved to where their words
    stand in the clean content. One whose words are a marker says the same as the marker: it covers
    what that supports, and names its source.

    >>> from citestream.sources import SourceRegistry, from_text
    >>> registry = SourceRegistry()
    >>> registry.add(from_text("Wages fell.\nRents rose 4 %.", title="Report")).id
    'turn0file0'
    >>> answer = resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L2\ue201 Oh.", registry)
    >>> answer.content, answer.citations.spans[0].references[0].cited_text
    ('Rents rose. Oh.', 'Rents rose 4 %.')
    """
    return _Answer(text, registry, options or CitationOptions()).resolve(citations)


class _Answer:
    def __init__(
        self, text: str, registry: SourceRegistry | None, options: CitationOptions
    ) -> None:
        self._text = well_formed(text)
        self._options = options
        self._registry = registry
        self._read = parse_markers(
            self._text,
            syntax=options.syntax,
            known=() if registry is None else registry,
            other_families=options.other_families,
        )
        self._targets = TargetReader(registry, unknown_sources=options.unknown_sources)
        self._collection = CitationCollection()
        self._noted: list[tuple[int, Issue]] = []
        self._citing = [placed for placed in self._read.markers if placed.marker.targets]
        self._claims = self._claims_of(self._citing)
        self._natives = _Natives()

    def resolve(self, upstream: Citations | None) -> Resolution:
        if upstream is not None:
            self._add_upstream(upstream)
        self._add_markers(self._read.markers)
        self._check_cited()
        content, issues = self._read.content, self._issues()
        # The markers of a long answer take more memory than its text.
        del self._read, self._citing, self._claims
        return Resolution(content=content, citations=self._collection.build(), issues=issues)

    def _claims_of(self, citing: Sequence[PlacedMarker]) -> dict[int, tuple[int, int]]:
        """Return the range of the content that each marker supports, by its start in the text."""
        content, spans = self._read.content, self._options.spans
        claims = claim_spans(content, [placed.position for placed in citing], spans=spans)
        if spans != "point":
            claims = [placed.claim or claim for placed, claim in zip(citing, claims, strict=True)]
        starts = [placed.marker.start for placed in citing]
        return dict(zip(starts, claims, strict=True))

    def _check_cited(self) -> None:
        given = self._registry is not None and len(self._registry) > 0
        if given and not self._collection.cites and self._read.content.strip():
            message = "the answer cites none of the sources that it was given"
            self._noted.append((0, Issue(kind="uncited", message=message)))

    # -- what an upstream cited

    def _add_upstream(self, upstream: Citations) -> None:
        collection = self._collection
        collection.extra = upstream.extra
        metadata = {
            reference.source_id: reference.provider_metadata
            for span in reversed(upstream.spans)
            for reference in reversed(span.references)
        }
        keys = {}
        for source in upstream.sources:
            keys[source.id] = source_key(source, metadata.get(source.id))
            collection.add_source(keys[source.id], source)
            self._natives.sources[keys[source.id]] = source
        fitting = self._fitting(upstream)
        places, markers = self._placed(fitting)
        for span, marker in zip(fitting, markers, strict=True):
            if marker is not None:
                found = [(keys[reference.source_id], reference) for reference in span.references]
                self._natives.add(marker, found)
        self._natives.name(self._unregistered, self._read_target)
        for span, place, marker in zip(fitting, places, markers, strict=True):
            collection.add_span(place, extra=span.extra)
            for reference in span.references:
                key = keys[reference.source_id]
                if marker is None or not self._natives.takes(marker, (key, reference)):
                    mark = (_hashable(reference.provider_metadata), _hashable(reference.extra))
                    collection.add(place, key, reference, mark=mark)

    def _fitting(self, upstream: Citations) -> list[CitationSpan]:
        """Return the spans that lie inside the text; report the others."""
        size = utf16_length(self._text)
        # What the Copilot runtime calls cited text there is the answer's own (SPEC section 7).
        echoing = {source.id for source in upstream.sources if source.provider == "openai"}
        fitting = []
        for span in upstream.spans:
            if span.end_index <= size:
                fitting.append(_without_echo(span, self._text, echoing))
            else:
                place = f"{span.start_index} to {span.end_index}"
                message = f"a citation of {place} does not lie in the answer of {size} UTF-16 units"
                self._noted.append((0, Issue(kind="out_of_range", message=message)))
        return fitting

    def _placed(
        self, spans: Sequence[CitationSpan]
    ) -> tuple[list[tuple[int, int]], list[ParsedMarker | None]]:
        """Return where ``spans`` stand in the content, and the marker that each is the text of.

        Spans of nothing but what was taken out cover what the marker there supports.
        """
        edges = [edge for span in spans for edge in (span.start_index, span.end_index)]
        points = from_utf16_many(self._text, edges)
        pairs = list(zip(points[::2], points[1::2], strict=True))
        ranges = visible_ranges(self._read, pairs)
        starts = [placed.marker.start for placed in self._read.markers]
        markers: list[ParsedMarker | None] = [None] * len(pairs)
        lost: dict[int, int] = {}  # spans that no citing marker holds, and where they stood
        for number, (pair, visible) in enumerate(zip(pairs, ranges, strict=True)):
            placed = self._marker_at(pair, starts)
            if visible[0] < visible[1]:
                ranges[number] = self._without_edges(pair, visible, starts)
                continue
            if pair[0] == pair[1] and placed is None:
                continue
            if placed is None:
                lost[number] = visible[0]
                continue
            marker = placed.marker
            if marker.start not in self._claims:
                lost[number] = placed.position
                continue
            ranges[number] = self._claims[marker.start]
            if marker.start <= pair[0] and pair[1] <= marker.end:
                markers[number] = marker
        self._claim_lost(ranges, lost)
        units = to_utf16_many(self._read.content, [edge for pair in ranges for edge in pair])
        return list(zip(units[::2], units[1::2], strict=True)), markers

    def _without_edges(
        self, pair: tuple[int, int], visible: tuple[int, int], starts: Sequence[int]
    ) -> tuple[int, int]:
        """Leave out the blanks at an edge where a marker stood: they were between it and words."""
        start, end = visible
        words = self._read.content[start:end]
        if self._marker_at((pair[0], pair[0] + 1), starts) is not None:
            start += len(words) - len(words.lstrip())
        if self._marker_at((pair[1] - 1, pair[1]), starts) is not None:
            end -= len(words) - len(words.rstrip())
        return (start, end) if start < end else visible

    def _marker_at(self, pair: tuple[int, int], starts: Sequence[int]) -> PlacedMarker | None:
        """Return the first marker that the range overlaps, or that the point lies inside of."""
        start, end = pair
        index = bisect_right(starts, start) - 1
        if index >= 0 and start < self._read.markers[index].marker.end:
            return self._read.markers[index] if start < end or starts[index] < start else None
        following = index + 1
        return (
            self._read.markers[following]
            if starts[following:] and starts[following] < end
            else None
        )

    def _claim_lost(self, ranges: list[tuple[int, int]], lost: Mapping[int, int]) -> None:
        """Give spans of which nothing is left what a marker in their place would support."""
        places = sorted(set(lost.values()))
        claims = claim_spans(self._read.content, places, spans=self._options.spans)
        claimed = dict(zip(places, claims, strict=True))
        for number, place in lost.items():
            ranges[number] = claimed[place]

    # -- what markers cite

    def _add_markers(self, markers: Sequence[PlacedMarker]) -> None:
        citing = self._citing
        edges = [edge for placed in citing for edge in self._claims[placed.marker.start]]
        units = to_utf16_many(self._read.content, edges)
        for placed, start, end in zip(citing, units[::2], units[1::2], strict=True):
            for target in placed.marker.targets:
                self._add_target((start, end), placed, target)
        for placed in markers:
            for kind, message in _problems(placed.marker):
                self._note(placed, kind, message)
        for placed, kind, message in misplaced(self._text, self._read, citing):
            self._note(placed, kind, f"{_name(placed.marker)} {message}")

    def _add_target(
        self, span: tuple[int, int], placed: PlacedMarker, target: MarkerTarget
    ) -> None:
        cited = self._read_target(target, placed.marker)
        if isinstance(cited, TargetProblem):
            self._note(placed, cited.kind, cited.message, cited.suggestions)
            return
        reference = CitationReference(
            source_id=self._collection.add_source(cited.key, cited.source),
            cited_text=cited.cited_text,
            location=cited.location,
            provider_metadata=cited.metadata,
        )
        self._collection.add(span, cited.key, reference, mark=cited.mark)

    def _read_target(self, target: MarkerTarget, marker: ParsedMarker) -> _Cited:
        native = self._natives.named(marker, target.source_id)
        if native is None or not self._unregistered(target):
            return self._targets.read(target, raw=marker.raw)
        key, reference = native
        metadata: dict[str, Any] = {}
        if isinstance(reference.provider_metadata, Mapping):
            metadata |= reference.provider_metadata
        metadata |= {"citableSourceId": target.source_id, "marker": marker.raw}
        if target.locator is not None:
            metadata["locator"] = target.locator.text
        return CitedTarget(
            key=key,
            source=self._natives.sources[key],
            cited_text=reference.cited_text,
            location=reference.location,
            metadata=metadata,
            mark=metadata.get("locator"),
        )

    def _unregistered(self, target: MarkerTarget) -> bool:
        return self._registry is None or target.source_id not in self._registry

    # -- what is wrong

    def _note(
        self, placed: PlacedMarker, kind: str, message: str, suggestions: tuple[str, ...] = ()
    ) -> None:
        """Remember an issue; where it stands is converted for all of them at once."""
        raw = placed.marker.raw
        issue = Issue(kind=kind, message=message, raw=raw, suggestions=suggestions)
        self._noted.append((placed.position, issue))

    def _issues(self) -> tuple[Issue, ...]:
        self._noted.sort(key=lambda noted: noted[0])
        indexes = to_utf16_many(self._read.content, [position for position, _ in self._noted])
        pairs = zip(self._noted, indexes, strict=True)
        return tuple(attrs.evolve(issue, index=index) for (_, issue), index in pairs)


class _Natives:
    """What an upstream cited with the very text of a marker: one citation that was written twice.

    So its source is the one that an id of the marker stands for, here and in the other markers.
    """

    def __init__(self) -> None:
        self.sources: dict[SourceKey, CitationSource] = {}
        self._at: dict[int, tuple[ParsedMarker, list[_Native]]] = {}  # by the marker's start
        self._here: dict[tuple[int, str], _Native] = {}
        self._elsewhere: dict[str, SourceKey] = {}
        self._said: dict[tuple[int, SourceKey], object] = {}  # by markers, of sources of natives

    def add(self, marker: ParsedMarker, natives: Sequence[_Native]) -> None:
        """Note what was cited with the text of ``marker``."""
        _, found = self._at.setdefault(marker.start, (marker, []))
        found.extend(natives)

    def name(
        self,
        unregistered: Callable[[MarkerTarget], bool],
        read: Callable[[MarkerTarget, ParsedMarker], _Cited],
    ) -> None:
        """Find out which source each id stands for, where there is as many of both.

        An id that is registered stands for what was registered.
        """
        unclear = []
        for start, (marker, natives) in self._at.items():
            open_keys: dict[SourceKey, CitationReference] = {}
            for key, reference in natives:
                open_keys.setdefault(key, reference)
            ids = dict.fromkeys(t.source_id for t in marker.targets if unregistered(t))
            for target in marker.targets:
                cited = None if target.source_id in ids else read(target, marker)
                if isinstance(cited, CitedTarget) and open_keys.pop(cited.key, None) is not None:
                    self._said[start, cited.key] = cited.cited_text, cited.location
            if len(ids) == len(open_keys):
                self._pair(start, zip(ids, open_keys.items(), strict=True))
            else:
                unclear.append((start, ids, open_keys))
        for start, ids, open_keys in unclear:
            known = ((one, self._elsewhere.get(one)) for one in ids)
            self._pair(start, [(i, (k, open_keys[k])) for i, k in known if k in open_keys])

    def _pair(self, start: int, pairs: Iterable[tuple[str, _Native]]) -> None:
        for source_id, (key, reference) in pairs:
            self._here[start, source_id] = key, reference
            self._elsewhere.setdefault(source_id, key)
            self._said[start, key] = reference.cited_text, reference.location

    def takes(self, marker: ParsedMarker, native: _Native) -> bool:
        """Tell whether a marker says all that ``native`` says."""
        key, reference = native
        says = reference.cited_text, reference.location
        said = self._said.get((marker.start, key))
        return said is not None and says in {(None, None), said}

    def named(self, marker: ParsedMarker, source_id: str) -> _Native | None:
        """Return what ``source_id`` stands for in ``marker``, None for what no upstream says."""
        here = self._here.get((marker.start, source_id))
        if here is None and source_id in self._elsewhere:
            return self._elsewhere[source_id], _NO_REFERENCE
        return here


def _without_echo(span: CitationSpan, text: str, sources: Container[str]) -> CitationSpan:
    """Return ``span`` without cited text of ``sources`` that is what the answer says itself."""
    if not any(r.cited_text is not None and r.source_id in sources for r in span.references):
        return span
    said = span.slice(text)
    references = [
        attrs.evolve(r, cited_text=None) if r.cited_text == said and r.source_id in sources else r
        for r in span.references
    ]
    return attrs.evolve(span, references=references)


def _name(marker: ParsedMarker) -> str:
    return f"a {marker.family} marker" if marker.family else "a marker"


def _problems(marker: ParsedMarker) -> list[tuple[str, str]]:
    name = _name(marker)
    problems = [(p.kind, f"{name} {p.message}") for p in marker.problems]
    if marker.kind is FamilyKind.WIDGET and not problems:
        problems.append(("widget", f"{name} stands for something that is not shown"))
    return problems


def _hashable(value: object) -> object:
    """Return what stands for a JSON value in a comparison."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return type(value), value
