"""How answers are read: one frozen value that sessions, the resolver and ``resolve`` share."""

from typing import Any

import attrs

from ..claims import CLAIM_SPANS
from ..errors import OptionError, brief
from ..markers import DEFAULT_SYNTAX, OTHER_FAMILIES, MarkerSyntax

__all__ = ("CitationOptions",)


def _one_of(*choices: str) -> Any:  # noqa: ANN401 - an attrs validator
    def check(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
        if value not in choices:
            raise OptionError(
                f"{attribute.name}: wanted one of {', '.join(choices)}, got {brief(value)}"
            )

    return check


@attrs.frozen(kw_only=True)
class CitationOptions:
    """How answers are read (SPEC section 4 and 5).

    - ``syntax``: what a marker looks like.
    - ``spans``: what a citation covers: the ``sentence`` before its marker, the ``paragraph``
      before it, or just the ``point``.
    - ``other_families``: what becomes of markers that cite nothing: ``display`` keeps the words in
      them, ``strip`` takes them out, ``keep`` leaves them as they are.
    - ``unknown_sources``: ``keep`` citations of sources that were not registered, ``drop`` them, or
      ``auto``: keep them while nothing was ever registered.

    Raises OptionError for another choice.
    """

    syntax: MarkerSyntax = DEFAULT_SYNTAX
    spans: str = attrs.field(default="sentence", validator=_one_of(*CLAIM_SPANS))
    other_families: str = attrs.field(default="display", validator=_one_of(*OTHER_FAMILIES))
    unknown_sources: str = attrs.field(default="auto", validator=_one_of("auto", "keep", "drop"))
