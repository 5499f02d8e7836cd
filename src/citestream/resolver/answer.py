"""Reading one whole answer: clean content, its citations, and what is wrong with them.

``resolve`` is the one place where markers and an upstream's own citations become ``Citations``. It
is pure: a session does the same to every final message.
"""

from collections.abc import Mapping, Sequence

import attrs

from ..claims import claim_spans
from ..issues import Issue
from ..markers import FamilyKind, MarkerTarget, ParsedMarker, PlacedMarker, parse_markers
from ..model import CitationReference, Citations, CitationSource, CitationSpan
from ..offsets import from_utf16_many, to_utf16_many, utf16_length, well_formed
from .collection import CitationCollection, source_key
from .options import CitationOptions
from .positions import visible_ranges

__all__ = ("Resolution", "resolve")


@attrs.frozen(kw_only=True)
class Resolution:
    """An answer read whole.

    ``content`` is what a reader sees; the spans of ``citations`` (None when nothing was cited) and
    the indexes of ``issues`` count its UTF-16 code units.
    """

    content: str
    citations: Citations | None = None
    issues: tuple[Issue, ...] = ()


def resolve(
    text: str,
    /,
    *,
    citations: Citations | None = None,
    options: CitationOptions | None = None,
) -> Resolution:
    r"""Read the answer ``text``; never raises for what a model wrote.

    ``citations`` are those that an upstream found itself; their spans count UTF-16 code units of
    ``text`` and are moved to where their words stand in the clean content.

    >>> answer = resolve("Rents rose. \ue200cite\ue202a\ue202L2\ue201 Wages fell.")
    >>> answer.content, answer.citations.spans[0].slice(answer.content)
    ('Rents rose. Wages fell.', 'Rents rose.')
    """
    return _Answer(text, options or CitationOptions()).resolve(citations)


class _Answer:
    def __init__(self, text: str, options: CitationOptions) -> None:
        self._text = well_formed(text)
        self._options = options
        self._read = parse_markers(
            self._text, syntax=options.syntax, other_families=options.other_families
        )
        self._collection = CitationCollection()
        self._noted: list[tuple[int, Issue]] = []

    def resolve(self, upstream: Citations | None) -> Resolution:
        if upstream is not None:
            self._add_upstream(upstream)
        self._add_markers(self._read.markers)
        content, issues = self._read.content, self._issues()
        del self._read  # the markers of a long answer take more memory than its text
        return Resolution(content=content, citations=self._collection.build(), issues=issues)

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
        fitting = self._fitting(upstream)
        edges = [edge for span in fitting for edge in (span.start_index, span.end_index)]
        for span, place in zip(fitting, self._moved(edges), strict=True):
            collection.add_span(place, extra=span.extra)
            for reference in span.references:
                mark = (_hashable(reference.provider_metadata), _hashable(reference.extra))
                collection.add(place, keys[reference.source_id], reference, mark=mark)

    def _fitting(self, upstream: Citations) -> list[CitationSpan]:
        """Return the spans that lie inside the text; report the others."""
        size = utf16_length(self._text)
        fitting = []
        for span in upstream.spans:
            if span.end_index <= size:
                fitting.append(span)
            else:
                place = f"{span.start_index} to {span.end_index}"
                message = f"a citation of {place} does not lie in the answer of {size} UTF-16 units"
                self._noted.append((0, Issue(kind="out_of_range", message=message)))
        return fitting

    def _moved(self, edges: Sequence[int]) -> list[tuple[int, int]]:
        """Move pairs of edges from the text to the content."""
        points = from_utf16_many(self._text, edges)
        pairs = list(zip(points[::2], points[1::2], strict=True))
        ranges = visible_ranges(self._read, pairs)
        units = to_utf16_many(self._read.content, [edge for pair in ranges for edge in pair])
        return list(zip(units[::2], units[1::2], strict=True))

    # -- what markers cite

    def _add_markers(self, markers: Sequence[PlacedMarker]) -> None:
        content = self._read.content
        citing = [m for m in markers if m.marker.targets]
        claims = claim_spans(content, [m.position for m in citing], spans=self._options.spans)
        ranges = [m.claim or claim for m, claim in zip(citing, claims, strict=True)]
        if self._options.spans == "point":
            ranges = claims
        units = to_utf16_many(content, [edge for pair in ranges for edge in pair])
        for placed, start, end in zip(citing, units[::2], units[1::2], strict=True):
            for target in placed.marker.targets:
                self._add_target((start, end), placed, target)
        for placed in markers:
            for kind, message in _problems(placed.marker):
                self._note(placed, kind, message)

    def _add_target(
        self, span: tuple[int, int], placed: PlacedMarker, target: MarkerTarget
    ) -> None:
        if self._options.unknown_sources == "drop":
            message = f"{target.source_id} is not a source of this conversation"
            self._note(placed, "unknown_source", message)
            return
        metadata = {"citableSourceId": target.source_id, "marker": placed.marker.raw}
        if target.locator is not None:
            metadata["locator"] = target.locator.text
        key = ("citableSourceId", target.source_id)
        source = CitationSource(id="", provider="openai")
        source_id = self._collection.add_source(key, source)
        reference = CitationReference(source_id=source_id, provider_metadata=metadata)
        self._collection.add(span, key, reference, mark=metadata.get("locator"))

    # -- what is wrong

    def _note(self, placed: PlacedMarker, kind: str, message: str) -> None:
        """Remember an issue; where it stands is converted for all of them at once."""
        issue = Issue(kind=kind, message=message, raw=placed.marker.raw)
        self._noted.append((placed.position, issue))

    def _issues(self) -> tuple[Issue, ...]:
        self._noted.sort(key=lambda noted: noted[0])
        indexes = to_utf16_many(self._read.content, [position for position, _ in self._noted])
        pairs = zip(self._noted, indexes, strict=True)
        return tuple(attrs.evolve(issue, index=index) for (_, issue), index in pairs)


def _problems(marker: ParsedMarker) -> list[tuple[str, str]]:
    name = f"a {marker.family} marker" if marker.family else "a marker"
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
