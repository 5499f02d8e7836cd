"""Reading one whole answer: clean content, its citations, and what is wrong with them.

``resolve`` is the one place where markers and an upstream's own citations become ``Citations``. It
is pure: a session does the same to every final message.
"""

from collections.abc import Mapping, Sequence

import attrs

from ..claims import claim_spans
from ..issues import Issue
from ..markers import FamilyKind, MarkerTarget, ParsedMarker, PlacedMarker, parse_markers
from ..model import CitationReference, Citations, CitationSpan
from ..offsets import from_utf16_many, to_utf16_many, utf16_length, well_formed
from ..sources import SourceRegistry
from .collection import CitationCollection, source_key
from .options import CitationOptions
from .placement import misplaced
from .positions import visible_ranges
from .references import TargetProblem, TargetReader

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
    registry: SourceRegistry | None = None,
    *,
    citations: Citations | None = None,
    options: CitationOptions | None = None,
) -> Resolution:
    r"""Read the answer ``text``; never raises for what a model wrote.

    ``registry`` holds what the model was given to cite. ``citations`` are those that an upstream
    found itself; their spans count UTF-16 code units of ``text`` and are moved to where their words
    stand in the clean content.

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

    def resolve(self, upstream: Citations | None) -> Resolution:
        if upstream is not None:
            self._add_upstream(upstream)
        self._add_markers(self._read.markers)
        self._check_cited()
        content, issues = self._read.content, self._issues()
        del self._read  # the markers of a long answer take more memory than its text
        return Resolution(content=content, citations=self._collection.build(), issues=issues)

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
        for placed, kind, message in misplaced(self._text, self._read, citing):
            self._note(placed, kind, f"{_name(placed.marker)} {message}")

    def _add_target(
        self, span: tuple[int, int], placed: PlacedMarker, target: MarkerTarget
    ) -> None:
        cited = self._targets.read(target, raw=placed.marker.raw)
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
