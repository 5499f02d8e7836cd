"""What a provider hands on of a vendor's answer: text, citations, calls of tools, and the end.

A provider translates words, nothing else: offsets are handed on as they came, with their unit and
with what the vendor says the range should hold. Converting and checking them, naming sources and
merging them with markers is the resolver's.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

import attrs

from ..errors import ModelError, brief
from ..model import CitationLocation

__all__ = (
    "AnswerCitation",
    "AnswerEnd",
    "AnswerFailure",
    "AnswerItem",
    "AnswerText",
    "AnswerToolCall",
    "OffsetUnit",
    "SourceFacts",
    "TextRange",
)


class OffsetUnit(Enum):
    """What a vendor counts in."""

    CODE_POINT = "code point"
    UTF16 = "UTF-16 code unit"
    UTF8 = "UTF-8 byte"


@attrs.frozen(kw_only=True)
class AnswerText:
    """The next piece of text of a part of the answer.

    Parts are a vendor's content blocks, by any number; the answer is their text joined, in the
    order in which the parts first came.
    """

    text: str
    part: int = 0


@attrs.frozen(kw_only=True)
class TextRange:
    """A range as a vendor gives it: 0-based, half-open, in ``unit``, from where ``part`` begins.

    ``part`` None counts from the beginning of the answer. ``expected`` is the text that the vendor
    says stands there, ``holds`` a text that must occur in it; where no unit makes it so, the range
    is not trusted. An empty range is a point: what stands before it is cited.
    """

    start: int
    end: int
    unit: OffsetUnit
    part: int | None = None
    expected: str | None = None
    holds: str | None = None


@attrs.frozen(kw_only=True)
class SourceFacts:
    """What a vendor tells of a source. ``key`` is how the vendor tells sources apart."""

    provider: str
    key: tuple[object, ...] = ()
    title: str | None = None
    url: str | None = None
    path: str | None = None


def _place(_instance: object, _attribute: object, value: Any) -> None:  # noqa: ANN401 - checked here
    if not isinstance(value, TextRange | int | None) or isinstance(value, bool):
        raise ModelError(
            f"AnswerCitation.place: expected a range, a part or None, got {brief(value)}"
        )


@attrs.frozen(kw_only=True)
class AnswerCitation:
    """One citation: ``place`` is the part that it covers as a whole, or a range.

    None is nowhere: the vendor names a source of the answer and no words that it supports.

    ``cited_text`` is text of the source, never of the answer; ``location`` is in the source.
    """

    source: SourceFacts
    place: TextRange | int | None = attrs.field(validator=_place)
    cited_text: str | None = None
    location: CitationLocation | None = None
    metadata: dict[str, Any] | None = attrs.field(default=None, hash=False)


@attrs.frozen(kw_only=True)
class AnswerToolCall:
    """The model asks for a tool. ``arguments`` are the object that it wrote.

    What it wrote is kept as text where that is no JSON object: whoever runs tools says so to the
    model. ``call_id`` is what the vendor wants the result to name. ``provider_data`` is a JSON
    object that has to go back to the vendor with the call, such as the thoughts that led to it.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any] | str = attrs.field(factory=dict, hash=False)
    provider_data: Mapping[str, Any] | None = attrs.field(default=None, hash=False)


@attrs.frozen(kw_only=True)
class AnswerFailure:
    """The vendor reported an error in the stream."""

    message: str
    error_type: str = "provider"


@attrs.frozen(kw_only=True)
class AnswerEnd:
    """The answer is complete. ``model`` is the name that the vendor gave."""

    model: str | None = None


AnswerItem: TypeAlias = AnswerText | AnswerCitation | AnswerToolCall | AnswerFailure | AnswerEnd
