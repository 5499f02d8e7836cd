"""One source of a registry: its ids, its document and how finely it is cited.

In: what the registry gave it. Out: ``RegisteredSource``, which the prompts show. The ids of its
blocks are counted when they are first asked for. Deliberately elsewhere: giving out ids
(``registry``).
"""

import attrs

from .block_numbers import BlockNumbers
from .documents import SourceDocument
from .granularity import Granularity

__all__ = ("RegisteredSource",)


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
