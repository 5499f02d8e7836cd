"""Citations and what they are made of: frozen values with the wire's words in snake case.

In: keyword arguments. Out: values that cannot be invalid: the invariants of SPEC section 2 are
checked when a value is made (ModelError). The names are those of the Copilot SDK. ``extra`` holds
what an upstream sent beyond the known fields, so that it survives decoding and encoding.

Deliberately elsewhere: JSON (``wire``), offsets (``offsets``), where citations come from
(``resolver``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import attrs

from .errors import ModelError, brief
from .offsets import utf16_slice

__all__ = (
    "NO_EXTRA",
    "CitableSource",
    "CitationLocation",
    "CitationLocationBlock",
    "CitationLocationChar",
    "CitationLocationOther",
    "CitationLocationPage",
    "CitationReference",
    "CitationSource",
    "CitationSpan",
    "Citations",
    "Extra",
)

_T = TypeVar("_T")


class Extra(Mapping[str, Any]):
    """A read-only mapping of wire keys that have no field of their own, with their JSON values."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Any], /) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Extra({self._items!r})"


NO_EXTRA = Extra({})
"""The ``extra`` of a value whose upstream sent nothing beyond the known fields."""


def _range(start: str, end: str) -> Any:  # noqa: ANN401 - an attrs validator
    def check(instance: object, _attribute: object, value: int) -> None:
        low, high = getattr(instance, start), value
        for name, number in ((start, low), (end, high)):
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise ModelError(f"{name}: expected an integer of 0 or more, got {brief(number)}")
        if high < low:
            raise ModelError(f"{end}: expected {start} ({low}) or more, got {high}")

    return check


def _text(instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, str):
        raise ModelError(
            f"{type(instance).__name__}.{attribute.name}: expected a string, got {brief(value)}"
        )


def _text_or_none(instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if value is not None:
        _text(instance, attribute, value)


def _members(items: Iterable[_T], kind: type[_T], name: str) -> tuple[_T, ...]:
    members = tuple(items)
    for member in members:
        if not isinstance(member, kind):
            raise ModelError(f"{name}: expected a {kind.__name__}, got {brief(member)}")
    return members


def _extra() -> Any:  # noqa: ANN401 - an attrs field
    return attrs.field(default=NO_EXTRA, repr=False, hash=False)


@attrs.frozen(kw_only=True)
class CitationLocationChar:
    """A range of characters in the source text, 0-based and half-open."""

    type: ClassVar[str] = "char"
    start_index: int
    end_index: int = attrs.field(validator=_range("start_index", "end_index"))
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class CitationLocationPage:
    """A range of pages of the source, 1-based, the last page inclusive."""

    type: ClassVar[str] = "page"
    start_page: int
    end_page: int = attrs.field(validator=_range("start_page", "end_page"))
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class CitationLocationBlock:
    """A range of content blocks of the source, 0-based, the end exclusive."""

    type: ClassVar[str] = "block"
    start_block: int
    end_block: int = attrs.field(validator=_range("start_block", "end_block"))
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class CitationLocationOther:
    """A location of a kind that this package does not know, kept as it came."""

    type: str = attrs.field(validator=_text)
    extra: Extra = _extra()


CitationLocation: TypeAlias = (
    CitationLocationChar | CitationLocationPage | CitationLocationBlock | CitationLocationOther
)


@attrs.frozen(kw_only=True)
class CitationSource:
    """Something that was cited, listed once however often it is cited.

    ``provider`` is an open string (``anthropic``, ``openai``, ``client``, ...). ``path`` is
    relative to the workspace root, in POSIX form.
    """

    id: str = attrs.field(validator=_text)
    provider: str = attrs.field(validator=_text)
    title: str | None = attrs.field(default=None, validator=_text_or_none)
    url: str | None = attrs.field(default=None, validator=_text_or_none)
    path: str | None = attrs.field(default=None, validator=_text_or_none)
    extra: Extra = _extra()


@attrs.frozen(kw_only=True)
class CitationReference:
    """One reason for a span: which source supports it, and where in that source.

    ``cited_text`` is the exact text of the source, never the answer's own words.
    ``provider_metadata`` is opaque JSON.
    """

    source_id: str = attrs.field(validator=_text)
    cited_text: str | None = attrs.field(default=None, validator=_text_or_none)
    location: CitationLocation | None = None
    provider_metadata: Any = attrs.field(default=None, hash=False)
    extra: Extra = _extra()


def _references(references: Iterable[CitationReference]) -> tuple[CitationReference, ...]:
    return _members(references, CitationReference, "references")


@attrs.frozen(kw_only=True)
class CitationSpan:
    """A stretch of the answer and what supports it.

    ``start_index`` and ``end_index`` are UTF-16 code units of the final content, 0-based,
    half-open.
    """

    start_index: int
    end_index: int = attrs.field(validator=_range("start_index", "end_index"))
    references: tuple[CitationReference, ...] = attrs.field(converter=_references)
    extra: Extra = _extra()

    def slice(self, content: str, /) -> str:
        """Return the words of ``content`` that this span covers; characters stay whole.

        >>> span = CitationSpan(start_index=3, end_index=7, references=())
        >>> span.slice("📎 memo.")
        'memo'
        """
        return utf16_slice(content, self.start_index, self.end_index)


def _sources(sources: Iterable[CitationSource]) -> tuple[CitationSource, ...]:
    return _members(sources, CitationSource, "sources")


def _spans(spans: Iterable[CitationSpan]) -> tuple[CitationSpan, ...]:
    return _members(spans, CitationSpan, "spans")


class _SpansAtFirstUse:
    """What lets the spans of Citations be made when they are first asked for.

    A long answer has hundreds of spans, references and locations, and to make so many values costs
    more than to check them. Yet what is only passed on (in a log that is filtered, in a session
    without citations) is never asked for its spans, and so never pays. The price is memory: until
    then the JSON objects are held, about half as large again as the values. All checks come first,
    so asking cannot fail. Threads that are the first to ask at once get equal tuples.
    """

    __slots__ = ("_pending",)

    if TYPE_CHECKING:
        _pending: Callable[[], Iterable["CitationSpan"]] | None
    else:

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an attribute
            # Reached only for what the instance lacks: a slot that is empty, or an unknown name.
            make = getattr(self, "_pending", None) if name == "spans" else None
            if make is not None:
                object.__setattr__(self, "spans", tuple(make()))
                object.__setattr__(self, "_pending", None)
            # Where nothing was pending, another thread may have filled the slot by now.
            return object.__getattribute__(self, name)


@attrs.frozen(kw_only=True)
class Citations(_SpansAtFirstUse):
    """The sources of an answer and the spans that cite them. Every reference names a source.

    The spans of citations that were decoded are made when they are first asked for.
    """

    sources: tuple[CitationSource, ...] = attrs.field(converter=_sources)
    spans: tuple[CitationSpan, ...] = attrs.field(converter=_spans)
    extra: Extra = _extra()

    @spans.validator
    def _check_references(self, _attribute: object, spans: tuple[CitationSpan, ...]) -> None:
        known = {source.id for source in self.sources}
        if len(known) != len(self.sources):
            raise ModelError("sources: expected ids that differ, got the same id twice")
        for span in spans:
            for reference in span.references:
                if reference.source_id not in known:
                    raise ModelError(
                        f"references: expected the id of a source, got {brief(reference.source_id)}"
                    )


@attrs.frozen(kw_only=True)
class CitableSource:
    """A piece of a tool result that the model may cite (``citableSources`` on the wire)."""

    id: str = attrs.field(validator=_text)
    content: str = attrs.field(validator=_text)
    title: str | None = attrs.field(default=None, validator=_text_or_none)
    url: str | None = attrs.field(default=None, validator=_text_or_none)
    path: str | None = attrs.field(default=None, validator=_text_or_none)
    extra: Extra = _extra()
