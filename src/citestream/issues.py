"""Issues: what is wrong with the citations of an answer, found without ever raising.

An Issue says what is wrong, where in the content that the reader sees, and what the model wrote.
Sessions send issues as ``session.warning`` events of the type ``citation.`` and the kind.
"""

import attrs

from .errors import ModelError, brief

__all__ = ("ISSUE_KINDS", "Issue")

ISSUE_KINDS = (
    "malformed_marker",
    "truncated_marker",
    "unknown_source",
    "out_of_range",
    "reversed_range",
    "duplicate_reference",
    "offset_repaired",
    "in_code",
    "in_emphasis",
    "alone_on_line",
    "uncited",
    "widget",
)
"""All kinds. ``widget`` is a marker that stands for something drawn: ``raw`` says what."""


def _kind(_instance: object, _attribute: object, value: str) -> None:
    if value not in ISSUE_KINDS:
        raise ModelError(
            f"Issue.kind: expected one of {', '.join(ISSUE_KINDS)}, got {brief(value)}"
        )


@attrs.frozen(kw_only=True)
class Issue:
    """Something wrong with a citation.

    ``index`` is where it stood in the content, in UTF-16 code units; ``raw`` is what was written
    there, markers and all, so it is not for readers; ``message`` is. ``suggestions`` are source
    ids that may have been meant.
    """

    kind: str = attrs.field(validator=_kind)
    message: str
    index: int = 0
    raw: str = ""
    suggestions: tuple[str, ...] = ()
