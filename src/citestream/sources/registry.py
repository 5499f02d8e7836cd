"""The register of what may be cited: ids given out, ids resolved, kept across runs.

In: documents, in the order of the tool calls that returned them. Out: ``RegisteredSource`` with its
ids, and for an id with a locator ``Located`` or ``Unlocated``.

::

    id = "turn" N kind M       N counts tool calls from 0, M the results of that call by kind
    turn0file0                 a source          turn0block3     a block of one, with its own id

Ids depend on nothing but the order of calls, so they are the same in every run, and a restored
registry goes on where the stored one was. The caller's own id of a source (its alias) resolves too:

- It must have the form of an id (``id_pattern``, at most 128 characters); any other is not
  registered.
- An alias that spells an id given out here to another source is not registered: the model may have
  seen either, so from then on the id means neither. Ids given out later keep clear of aliases.
- The same source again under the same alias is the source registered before. Another source under
  it takes the alias over (a tool that reads a file anew means the new text), which ``replaces`` of
  the new source tells; the former keeps its own id.

Deliberately elsewhere: showing sources to a model (``prompts``), markers (``markers``).
"""

import re
from collections.abc import Mapping
from itertools import chain, islice
from typing import Any, TypeAlias

from ..errors import DecodeError, OptionError, brief
from ..model import CitableSource
from .block_numbers import BlockNumbers
from .documents import SourceDocument, from_citable
from .granularity import Granularity
from .limits import DEFAULT_LIMITS, Limits
from .locating import Located, Place, Unlocated, locate_in
from .near_misses import POOL, near_misses
from .registered import Identity, Recorder, RegisteredSource, Registration, identity_of
from .registry_snapshot import VERSION, dump_source, read_snapshot

__all__ = ("ID_PATTERN", "SourceRegistry")

ID_PATTERN = "[A-Za-z0-9_-]+"
"""The form of a source id, as OpenAI's guide has it and as the default syntax of markers reads."""

_LONGEST_ALIAS = 128
_KIND = re.compile("[a-z]{1,32}")
_BLOCK = Granularity.BLOCK.value
_BLOCK_ID = re.compile("turn(0|[1-9][0-9]{0,8})block(0|[1-9][0-9]{0,8})")

_Use: TypeAlias = tuple[str, Granularity, SourceDocument]


class SourceRegistry:
    r"""What may be cited in a session. Its length is the number of sources, blocks not counted.

    >>> from .documents import from_text
    >>> registry = SourceRegistry()
    >>> registry.add(from_text("Meals are paid.\nTaxis are not."), alias="rules").id
    'turn0file0'
    >>> registry.locate("rules", unit="line", start=2, end=2).cited_text
    'Taxis are not.'
    >>> registry.locate("turn0file0", unit="line", start=3, end=3).message
    'turn0file0 has 2 lines: there is no line 3'
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS, id_pattern: str = ID_PATTERN) -> None:
        self._limits = limits
        self._form = re.compile(id_pattern)
        self._offered = False
        self._ambiguous: dict[str, None] = {}
        self._turns = 0
        self._chars = 0
        self._counts: dict[str, int] = {}  # of the present turn, by kind
        self._kinds: dict[str, None] = {_BLOCK: None}
        self._sources: dict[str, RegisteredSource] = {}
        self._aliases: dict[str, RegisteredSource] = {}
        # All sources of an alias, for the aliases that ever named more than one.
        self._namesakes: dict[str, dict[Identity, RegisteredSource]] = {}
        self._numbers: dict[int, BlockNumbers] = {}
        self._by_block: dict[int, list[RegisteredSource]] = {}
        self.recorder: Recorder | None = None

    # -- registering

    def begin_turn(self) -> int:
        """Say that a tool call returned, also one without sources, and return its number.

        What is added before the first call belongs to turn 0, as if this had been called.
        """
        if self.recorder is not None:
            self.recorder(None)
        return self._begin_turn()

    def _begin_turn(self) -> int:
        self._turns += 1
        self._counts.clear()
        return self._turns - 1

    def add(
        self,
        source: SourceDocument | CitableSource,
        /,
        *,
        kind: str = "file",
        granularity: Granularity = Granularity.BLOCK,
        alias: str | None = None,
    ) -> RegisteredSource:
        """Register a source in the present turn and return it with its ids.

        ``kind`` is the word in its id (lower-case letters; ``block`` is kept for blocks), ``alias``
        the caller's own id, by default that of a CitableSource. Where someone else shows the
        sources to the model, by ids of their own, give such sources a kind of their own: their
        ids then never meet those that are given out here.

        Raises LimitError for too many or too large sources (the registry stays as it was) and
        OptionError for another type of source, a kind that does not fit, or pages that the source
        does not have.
        """
        self._offered = True
        if isinstance(source, CitableSource):
            alias = source.id if alias is None else alias
            source = from_citable(source)
        _check_use(kind, granularity, source)
        if self.recorder is not None:
            self.recorder(
                Registration(document=source, kind=kind, granularity=granularity, alias=alias)
            )
        identity = (kind, granularity, source)
        again = self._again(alias, identity)
        if again is not None:
            return again
        self._charge(source)
        source_id = self._new_id(kind)
        if alias is not None and not self._is_free(alias, source_id):
            self._note_ambiguous(alias, source)
            alias = None
        held = None if alias is None else self._aliases.get(alias)
        turn = self._turns - 1
        numbers, place = self._block_place(turn, granularity, source)
        new = RegisteredSource(
            id=source_id,
            turn=turn,
            kind=kind,
            granularity=granularity,
            document=source,
            alias=alias,
            replaces=None if held is None else held.id,
            numbers=numbers,
            place=place,
        )
        self._keep(new)
        if alias is not None:
            if held is not None:
                namesakes = self._namesakes.setdefault(alias, {held.identity: held})
                namesakes[identity_of(*identity)] = new
            self._aliases[alias] = new
        return new

    def _again(self, alias: str | None, use: _Use) -> RegisteredSource | None:
        """Return the source that was registered under ``alias`` with the same content and use."""
        held = None if alias is None else self._aliases.get(alias)
        if alias is None or held is None:
            return None
        namesakes = self._namesakes.get(alias)
        if namesakes is not None:
            same = namesakes.get(identity_of(*use))
        else:
            same = held if held.identity == identity_of(*use) else None
        if same is not None:
            self._aliases[alias] = same
        return same

    def _charge(self, document: SourceDocument) -> None:
        total = self._chars + document.size
        check = self._limits.check
        check("max_source_chars", len(document.content))
        check("max_sources", len(self._sources) + 1)
        check("max_total_chars", total)
        self._chars = total

    def _new_id(self, kind: str) -> str:
        if not self._turns:
            self._begin_turn()
        prefix = f"turn{self._turns - 1}{kind}"
        number = self._counts.get(kind, 0)
        while f"{prefix}{number}" in self._aliases:
            number += 1
        self._counts[kind] = number + 1
        return f"{prefix}{number}"

    def _is_free(self, alias: str, source_id: str) -> bool:
        """Tell whether ``alias`` may name the source that gets the id ``source_id``."""
        if alias in self._aliases:
            return True
        if alias in self._sources or alias == source_id or alias in self._ambiguous:
            return False
        if len(alias) > _LONGEST_ALIAS or self._form.fullmatch(alias) is None:
            return False
        block = _BLOCK_ID.fullmatch(alias)
        return block is None or self._blocks_of(int(block[1])).take(int(block[2]))

    def _note_ambiguous(self, alias: str, document: SourceDocument) -> None:
        """Remember an alias that is the id of another source: nobody can tell which is meant."""
        found = self._find(alias)
        if found is not None and (found[1] is not None or not found[0].document.says(document)):
            self._ambiguous[alias] = None

    def _blocks_of(self, turn: int) -> BlockNumbers:
        numbers = self._numbers.get(turn)
        if numbers is None:
            numbers = self._numbers[turn] = BlockNumbers()
        return numbers

    def _block_place(
        self, turn: int, granularity: Granularity, document: SourceDocument
    ) -> tuple[BlockNumbers | None, int]:
        if granularity is not Granularity.BLOCK:
            return None, 0
        numbers = self._blocks_of(turn)
        return numbers, numbers.add(document)

    def _keep(self, source: RegisteredSource) -> None:
        self._sources[source.id] = source
        self._kinds[source.kind] = None
        if source.granularity is Granularity.BLOCK:
            self._by_block.setdefault(source.turn, []).append(source)

    # -- asking

    @property
    def offered(self) -> bool:
        """Whether anything was ever to be registered, also what a limit refused."""
        return self._offered

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, source_id: object, /) -> bool:
        """Tell whether an id, an alias or the id of a block is registered."""
        return isinstance(source_id, str) and self._find(source_id) is not None

    @property
    def sources(self) -> tuple[RegisteredSource, ...]:
        """All sources, in the order of registration."""
        return tuple(self._sources.values())

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids that resolve: those of sources, then aliases, then those of blocks.

        Counting the blocks takes time linear in the sources that are cited by block.
        """
        blocks = chain.from_iterable(source.block_ids for source in self._sources.values())
        every = chain(self._sources, self._aliases, blocks)
        return tuple(one for one in every if one not in self._ambiguous)

    def get(self, source_id: str, /) -> RegisteredSource | None:
        """Return the source that an id, an alias or the id of one of its blocks means."""
        found = self._find(source_id)
        return None if found is None else found[0]

    def _find(self, source_id: str) -> tuple[RegisteredSource, int | None] | None:
        if source_id in self._ambiguous:
            return None
        source = self._sources.get(source_id) or self._aliases.get(source_id)
        if source is not None:
            return source, None
        block = _BLOCK_ID.fullmatch(source_id)
        numbers = None if block is None else self._numbers.get(int(block[1]))
        found = None if block is None or numbers is None else numbers.find(int(block[2]))
        if block is None or found is None:
            return None
        place, index = found
        return self._by_block[int(block[1])][place], index

    def near(self, source_id: str, /) -> tuple[str, ...]:
        """Return up to three ids that resemble one that is not registered, best first.

        The work is bounded: generated ids with the same numbers and the last ids registered.
        """
        last = islice(reversed(self._sources.values()), POOL)
        recent = (one for source in last for one in (source.id, source.alias) if one is not None)
        return near_misses(source_id, recent=recent, kinds=self._kinds, exists=self.__contains__)

    def locate(
        self, source_id: str, /, *, unit: str | None = None, start: int = 0, end: int = 0
    ) -> Located | Unlocated:
        """Return what an id and a locator mean, or what is wrong with them. Never raises.

        ``unit`` is that of the locator, None for none: ``line``, ``page`` and ``block`` count from
        1 with ``end`` inclusive, ``char`` from 0 with ``end`` exclusive, in code points of the
        source text. The id of a block means that block; it takes no locator.
        """
        found = self._find(source_id)
        if found is None:
            twice = source_id in self._ambiguous
            says = "more than one source has" if twice else "no source has"
            return Unlocated(
                source_id=source_id,
                kind="unknown_source",
                message=f"{says} the id {brief(source_id)}",
                near=() if twice else self.near(source_id),
            )
        source, block = found
        if unit is None and block is None:
            return source.located(source_id, None)
        if block is not None:
            if unit is not None:
                message = f"{source_id} is one block of {source.id} and takes no locator"
                return Unlocated(source_id=source_id, kind="out_of_range", message=message)
            unit, start, end = "block", block + 1, block + 1
        place = locate_in(source.document, unit=unit or "", start=start, end=end)
        if isinstance(place, Place):
            return source.located(source_id, place)
        kind, message = place
        return Unlocated(source_id=source_id, kind=kind, message=f"{source_id} {message}")

    # -- keeping

    def snapshot(self) -> dict[str, Any]:
        """Return the registry as JSON-ready values, for ``restore``. Takes time linear in it."""
        ids = list(self._sources)
        order = {source_id: number for number, source_id in enumerate(ids)}
        aliases = {}
        for alias, holder in self._aliases.items():
            namesakes = self._namesakes.get(alias, {}).values()
            # In the order of registration, whoever held the alias last: restoring keeps no other.
            former = sorted(order[one.id] for one in namesakes if one is not holder)
            aliases[alias] = [*(ids[number] for number in former), holder.id]
        sources = [dump_source(source) for source in self._sources.values()]
        return {
            "version": VERSION,
            "turns": self._turns,
            "sources": sources,
            "aliases": aliases,
            "ambiguous": list(self._ambiguous),
        }

    @classmethod
    def restore(
        cls,
        snapshot: Mapping[str, Any],
        /,
        *,
        limits: Limits = DEFAULT_LIMITS,
        id_pattern: str = ID_PATTERN,
    ) -> "SourceRegistry":
        """Rebuild the registry that ``snapshot`` was taken of: same ids, same turn.

        Raises DecodeError for damaged values and LimitError for too many.

        >>> registry = SourceRegistry.restore(SourceRegistry().snapshot())
        >>> registry.begin_turn()
        0
        """
        stored = read_snapshot(snapshot)
        registry = cls(limits=limits, id_pattern=id_pattern)
        registry._turns = stored.turns
        registry._offered = bool(stored.sources)
        for alias in stored.aliases:
            if not registry._is_free(alias, ""):
                raise DecodeError(path="$.aliases", expected="source ids", got=brief(alias))
        for one in stored.sources:
            registry._charge(one.document)
            numbers, place = registry._block_place(one.turn, one.granularity, one.document)
            source = RegisteredSource(
                id=one.id,
                turn=one.turn,
                kind=one.kind,
                granularity=one.granularity,
                document=one.document,
                alias=one.alias,
                replaces=one.replaces,
                numbers=numbers,
                place=place,
            )
            registry._keep(source)
            if one.turn == stored.turns - 1:
                registry._counts[one.kind] = one.number + 1
        for alias, ids in stored.aliases.items():
            named = [registry._sources[source_id] for source_id in ids]
            registry._aliases[alias] = named[-1]
            if len(named) > 1:
                registry._namesakes[alias] = {one.identity: one for one in named}
        registry._ambiguous = dict.fromkeys(stored.ambiguous)
        return registry


def _check_use(kind: str, granularity: Granularity, document: SourceDocument) -> None:
    if not isinstance(document, SourceDocument):
        raise OptionError(f"a source wants to be a document or citable, got {brief(document)}")
    if not isinstance(granularity, Granularity):
        raise OptionError(f"granularity: wanted a Granularity, got {brief(granularity)}")
    if _KIND.fullmatch(kind) is None or kind == _BLOCK:
        raise OptionError(f"kind: wanted lower-case letters, not 'block', got {brief(kind)}")
    if granularity is Granularity.PAGE and not document.pages:
        raise OptionError("granularity: wanted a source with pages to cite it by page")
