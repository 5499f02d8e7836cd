"""What one target of a marker cites: a registered source and the place in it, or a problem.

In: a source id and a locator as the model wrote them. Out: a source, a reference to it and the key
that it is recognised by, or why there is none. Nothing is guessed: an id that is not registered and
a place that does not exist never become a citation once something was registered.
"""

from typing import Any

import attrs

from ..markers import MarkerTarget
from ..model import CitationLocation, CitationSource
from ..sources import Located, SourceRegistry, Unlocated
from .collection import SourceKey, source_key

__all__ = ("CitedTarget", "TargetProblem", "TargetReader")


@attrs.frozen(kw_only=True)
class CitedTarget:
    """A target that can be cited: its source (the id is not set yet) and what a reference says.

    ``mark`` tells references apart that are otherwise alike.
    """

    key: SourceKey
    source: CitationSource
    cited_text: str | None = None
    location: CitationLocation | None = None
    metadata: dict[str, Any] = attrs.field(hash=False)
    mark: object = None


@attrs.frozen(kw_only=True)
class TargetProblem:
    """Why a target cannot be cited: the kind of issue, what to say, and ids that were meant."""

    kind: str
    message: str
    suggestions: tuple[str, ...] = ()


class TargetReader:
    """Reads targets against what was registered. ``unknown_sources`` is that of the options."""

    def __init__(self, registry: SourceRegistry | None, /, *, unknown_sources: str) -> None:
        self._registry = SourceRegistry() if registry is None else registry
        self._keep = unknown_sources == "keep" or (
            unknown_sources == "auto" and not self._registry.offered
        )

    def read(self, target: MarkerTarget, /, *, raw: str) -> CitedTarget | TargetProblem:
        """Read a target of the marker that was written as ``raw``."""
        metadata: dict[str, Any] = {"citableSourceId": target.source_id, "marker": raw}
        if target.locator is not None:
            metadata["locator"] = target.locator.text
        if self._keep and target.source_id not in self._registry:
            source = CitationSource(id="", provider="openai")
            key = source_key(source, metadata)
            mark = metadata.get("locator")
            return CitedTarget(key=key, source=source, metadata=metadata, mark=mark)
        found = self._locate(target)
        if isinstance(found, Located):
            return _cited(found, metadata)
        return TargetProblem(kind=found.kind, message=found.message, suggestions=found.near)

    def _locate(self, target: MarkerTarget) -> Located | Unlocated:
        where = target.locator
        if where is None:
            return self._registry.locate(target.source_id)
        return self._registry.locate(
            target.source_id, unit=where.unit, start=where.start, end=where.end
        )


def _cited(found: Located, metadata: dict[str, Any]) -> CitedTarget:
    source = CitationSource(
        id="", provider="client", title=found.title, url=found.url, path=found.path
    )
    if found.location is not None and found.location.type in {"block", "page"}:
        metadata["charRange"] = [found.start, found.end]
    return CitedTarget(
        key=source_key(source, {"citableSourceId": found.key}),
        source=source,
        cited_text=found.cited_text,
        location=found.location,
        metadata=metadata,
    )
