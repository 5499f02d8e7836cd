"""The choices that rendered sources and instructions must share, as one frozen value.

In: keyword arguments. Out: ``PromptOptions``, checked. The same value goes to ``instructions`` and
to the functions of ``rendering``, so the rules always fit what is shown. Deliberately elsewhere:
how finely a source is cited (it says so itself), the syntax of markers (``markers.MarkerSyntax``).
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any, Literal

import attrs

from ..errors import OptionError, brief
from ..markers import DEFAULT_SYNTAX, FamilyKind, MarkerSyntax
from ..sources import Granularity

__all__ = ("DEFAULT_OPTIONS", "Consideration", "PromptOptions")


class Consideration(Enum):
    """What a model shall weigh when it chooses among sources."""

    RELEVANCE = "relevance"
    """Cite what carries the sentence, not what merely mentions its subject."""
    DIVERSITY = "diversity"
    """Draw on independent sources where there are several."""
    TRUST = "trust"
    """Prefer sources that are in a position to know, and recent ones."""


def _one_of(*choices: str) -> Any:  # noqa: ANN401 - an attrs validator
    def check(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
        if value not in choices:
            raise OptionError(
                f"{attribute.name}: wanted {' or '.join(choices)}, got {brief(value)}"
            )

    return check


def _members(kind: type[Enum]) -> Any:  # noqa: ANN401 - an attrs validator
    def check(
        _instance: object, attribute: "attrs.Attribute[Any]", values: tuple[object, ...]
    ) -> None:
        for value in values:
            if not isinstance(value, kind):
                raise OptionError(f"{attribute.name}: wanted a {kind.__name__}, got {brief(value)}")

    return check


# Spelled out, since type checkers cannot tell what ``tuple`` takes as a converter.
def _granularities(values: Iterable[Granularity]) -> tuple[Granularity, ...]:
    return tuple(values)


def _considerations(values: Iterable[Consideration]) -> tuple[Consideration, ...]:
    return tuple(values)


@attrs.frozen(kw_only=True)
class PromptOptions:
    """How sources are shown and cited.

    - ``syntax`` and ``family`` make the markers.
    - ``material``: ``tool`` for results of tools, ``context`` for sources put into the prompt.
    - ``granularities`` are those of the sources, for the instructions.
    - ``ids_per_marker``: ``one`` source in a marker or ``many``.
    - ``blocks``: ``ids`` gives every block of a source that is cited by block an id of its own,
      ``numbers`` gives it a number under the id of the source.
    - ``considerations`` adds rules for choosing among sources.

    Lines, pages and numbered blocks want a syntax that has locators for them. Raises OptionError.
    """

    syntax: MarkerSyntax = DEFAULT_SYNTAX
    family: str = "cite"
    material: Literal["tool", "context"] = attrs.field(
        default="tool", validator=_one_of("tool", "context")
    )
    granularities: tuple[Granularity, ...] = attrs.field(
        default=(Granularity.BLOCK,), converter=_granularities, validator=_members(Granularity)
    )
    ids_per_marker: Literal["one", "many"] = attrs.field(
        default="one", validator=_one_of("one", "many")
    )
    blocks: Literal["ids", "numbers"] = attrs.field(
        default="ids", validator=_one_of("ids", "numbers")
    )
    considerations: tuple[Consideration, ...] = attrs.field(
        default=(), converter=_considerations, validator=_members(Consideration)
    )

    def __attrs_post_init__(self) -> None:
        citing = [f.name for f in self.syntax.families if f.kind is FamilyKind.CITING]
        if self.family not in citing:
            raise OptionError(
                f"family: wanted a citing one of the syntax, got {brief(self.family)}"
            )
        if not self.granularities:
            raise OptionError("granularities: wanted at least one")
        for granularity in self.granularities:
            self.unit(granularity)

    def unit(self, granularity: Granularity, /) -> str | None:
        """Return the unit that is numbered in sources of ``granularity``, None for none.

        Raises OptionError where the syntax has no locators of that unit.
        """
        if granularity is Granularity.DOCUMENT:
            return None
        if granularity is Granularity.BLOCK and self.blocks == "ids":
            return None
        unit: str = granularity.value
        self.prefix(unit)
        return unit

    def prefix(self, unit: str, /) -> str:
        """Return the letter before a number of ``unit``. Raises OptionError where there is none."""
        for pattern in self.syntax.locators:
            if pattern.unit == unit:
                return pattern.prefix
        raise OptionError(f"syntax: wanted locators for {unit}s, as in MarkerSyntax(locators=...)")


DEFAULT_OPTIONS = PromptOptions()
"""Results of tools, every block with an id of its own, one id in a marker."""
