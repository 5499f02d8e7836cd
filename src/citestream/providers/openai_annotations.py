"""What the annotations and errors of OpenAI say, wherever they come from.

In: annotations of Responses or Chat Completions, as objects or plain dicts. Out: ``Annotation``,
checked, and the citation that it becomes once the text is known.

===========================  ==========================  =========================================
annotation                   source                      place
===========================  ==========================  =========================================
``url_citation``             the url                     the range, which is that of a link or of a
                                                         marker; without one, none
``file_citation``            the file                    a point: what stands before it is cited
``container_file_citation``  the file of the container   the range; without one, none
``file_path``, any other     none: they cite nothing
===========================  ==========================  =========================================

Ranges count code points. Where a link can be checked, its url must stand in its range.
"""

from typing import Any

import attrs

from ..events import AnswerCitation, AnswerFailure, OffsetUnit, SourceFacts, TextRange
from ..markers import DEFAULT_SYNTAX
from .chunks import field, number, text

__all__ = ("Annotation", "failure", "joined", "read_annotation")

_MARKS = (DEFAULT_SYNTAX.start, "\u3010")  # what the service writes in place of a link
_TITLE = 1_000  # characters of a link's text, and of the title behind its url
_UNSAID = "the vendor reported an error"


@attrs.frozen(kw_only=True)
class Annotation:
    """What an annotation says, checked: a source and a range, or None for where there is none."""

    kind: str
    url: str | None = None
    file_id: str | None = None
    container_id: str | None = None
    title: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two annotations the same, however much each tells of the source."""
        return self.kind, self.url, self.file_id, self.container_id, self.start, self.end

    def cite(
        self, words: str, /, *, part: int, provider: str, quote: str | None = None
    ) -> AnswerCitation:
        """Return the citation in ``part``, whose text is ``words``; ``quote`` is of the source."""
        metadata: dict[str, Any] = {}
        if self.container_id is not None:
            metadata["containerId"] = self.container_id
        if self.file_id is not None:
            metadata["fileId"] = self.file_id
        if self.start is not None:
            metadata |= {"startIndex": self.start, "endIndex": self.end}
        key = () if self.file_id is None else ("file", self.container_id, self.file_id)
        return AnswerCitation(
            source=SourceFacts(provider=provider, key=key, title=self.title, url=self.url),
            place=self._place(words, part),
            cited_text=self.quote or quote,
            metadata=metadata or None,
        )

    def _place(self, words: str, part: int) -> TextRange | None:
        if self.start is None or self.end is None:
            return None
        if self.kind != "file_citation" and self.start == self.end == 0:
            return None  # what who has no range sends
        return TextRange(
            start=self.start,
            end=self.end,
            unit=OffsetUnit.CODE_POINT,
            part=part,
            holds=self._holds(words, self.start, self.end),
        )

    def _holds(self, words: str, start: int, end: int) -> str | None:
        """Return what must stand in the range; None where nothing can be said."""
        name = self.url or self.title
        if name is None or name not in words or start == end:
            return None
        if words[start:end].startswith(_MARKS):
            return None
        return _link(words, name, start, end) or name


def _link(words: str, url: str, start: int, end: int) -> str | None:
    """Return the Markdown link to ``url`` that the range touches, with parentheses where they fit.

    A range that counts something else than code points may hold the url and yet cut the link.
    """
    target = f"]({url}"
    at = words.find(target, max(0, start - len(target)), end + len(target))
    close = words.find(")", at + len(target), at + len(target) + _TITLE)
    begin = at
    depth = 1
    while depth and begin > 0 and at - begin < _TITLE:
        begin -= 1
        depth += (words[begin] == "]") - (words[begin] == "[")
    if at < 0 or close < 0 or depth:
        return None
    close += 1
    wraps = words[:begin].endswith("(") and words.startswith(")", close)
    if wraps and end - start >= close - begin + 2:
        return words[begin - 1 : close + 1]
    return words[begin:close]


def read_annotation(annotation: object, /) -> Annotation | None:
    """Read an annotation of Responses or Chat Completions; None for what cites nothing."""
    kind = text(annotation, "type")
    inner = field(annotation, "url_citation")
    if inner is not None:
        kind, annotation = "url_citation", inner
    start, end = number(annotation, "start_index"), number(annotation, "end_index")
    if start is None or end is None:
        start = end = None
    url, file_id = text(annotation, "url"), text(annotation, "file_id")
    if url is not None and kind in {"url_citation", None}:
        return Annotation(
            kind="url_citation",
            url=url,
            title=text(annotation, "title"),
            start=start,
            end=end,
            quote=text(annotation, "content"),
        )
    if file_id is None or kind not in {"file_citation", "container_file_citation"}:
        return None
    if start is None and kind == "file_citation":
        start = end = number(annotation, "index")
    return Annotation(
        kind=kind,
        file_id=file_id,
        container_id=text(annotation, "container_id"),
        title=text(annotation, "filename"),
        start=start,
        end=end,
        quote=text(annotation, "quote"),
    )


def failure(error: object, /) -> AnswerFailure:
    """Return what an error of the vendor becomes: an object that has a message, or just that."""
    if isinstance(error, str) and error:
        return AnswerFailure(message=error)
    message = text(error, "message") or _UNSAID
    kinds = (text(error, "code"), text(error, "type"))
    kind = next((one for one in kinds if one is not None and one != "error"), None)
    return (
        AnswerFailure(message=message)
        if kind is None
        else AnswerFailure(message=message, error_type=kind)
    )


def joined(*texts: str) -> str:
    """Join what is to be read one after the other, without what is empty."""
    return "\n\n".join(one for one in texts if one)
