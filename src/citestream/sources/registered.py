"""One source of a registry, its ids and its document, and what was asked to register it.

In: what the registry gave it. Out: ``RegisteredSource``, which the prompts show. The ids of its
blocks are counted when they are first asked for. Deliberately elsewhere: giving out ids
(``registry``).
"""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from .block_numbers import BlockNumbers
from .documents import SourceDocument
from .granularity import Granularity
from .locating import Located, Place

__all__ = ("Identity", "Recorder", "RegisteredSource", "Registration", "identity_of")

Identity: TypeAlias = tuple[object, ...]
"""What makes two registrations under one alias the same."""


@attrs.frozen(kw_only=True)
class RegisteredSource:
    """A source of a registry. ``SourceRegistry.add`` makes one.

    ``turn`` counts tool calls from 0. ``alias`` is the caller's own id, None where that does not
    name the source. ``replaces`` is the id of another source that the alias named before.
    """

    id: str
    turn: int
    kind: str
    granularity: Granularity
    document: SourceDocument
    alias: str | None = None
    replaces: str | None = None
    _numbers: BlockNumbers | None = attrs.field(default=None, eq=False, repr=False)
    _place: int = attrs.field(default=0, eq=False, repr=False)

    @property
    def block_ids(self) -> tuple[str, ...]:
        """The ids of the blocks, in order; empty where the source is not cited by block."""
        if self._numbers is None:
            return ()
        return tuple(f"turn{self.turn}block{n}" for n in self._numbers.range(self._place))

    @property
    def identity(self) -> Identity:
        """What another registration must share to be the same."""
        return identity_of(self.kind, self.granularity, self.document)

    def located(self, source_id: str, place: Place | None, /) -> Located:
        """Return what citing this source by ``source_id`` at ``place`` means."""
        document = self.document
        return Located(
            source_id=source_id,
            key=self.id,
            title=document.title,
            url=document.url,
            path=document.path,
            location=None if place is None else place.location,
            cited_text=None if place is None else place.text,
            start=None if place is None else place.start,
            end=None if place is None else place.end,
        )


@attrs.frozen(kw_only=True)
class Registration:
    """One call of ``SourceRegistry.add``, with all that it was given."""

    document: SourceDocument
    kind: str
    granularity: Granularity
    alias: str | None = None


Recorder: TypeAlias = Callable[[Registration | None], object]
"""What is told of every call: a registration, or None for ``begin_turn``."""


def identity_of(kind: str, granularity: Granularity, document: SourceDocument, /) -> Identity:
    """Return what makes a registration the same as another one under its alias."""
    d = document
    blocks = d.blocks if granularity is Granularity.BLOCK else d.marked_blocks
    return kind, granularity, d.content, d.title, d.url, d.path, d.updated, d.pages, blocks
