"""An answer as HTML: its Markdown, marks that lead to the list of sources, and what they cover.

In: content, citations. Out: a fragment for any page: no scripts, styles or handlers (it passes a
strict content security policy), no images, and all text escaped. Classes are there to style it.
Deliberately elsewhere: which elements there are (``elements``).
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypeAlias

import attrs

from ..errors import OptionError, brief
from ..model import Citations
from .elements import LINK, block_html, inline_html, text_html
from .labels import anchor
from .notes import Note, notes, span_numbers
from .placement import Mark, marked, normal, positions, whole
from .structure import Leaf, Structure, read, read_text

__all__ = ("Markup", "html")

Markup: TypeAlias = Literal["markdown", "text"]
"""What the content is: Markdown, or text in which every character stands for itself."""

_SEAM = re.compile(r'(</mark>)?<mark data-sources="([0-9 ]+)">')
_SAID = 32  # sources that are named at a stretch of text; more overlap only on purpose
_NONE = Citations(sources=(), spans=())


def html(
    content: str,
    citations: Citations | None,
    /,
    *,
    anchor_prefix: str = "",
    quotes: bool = False,
    markup: Markup = "markdown",
) -> str:
    r"""Return ``content`` as HTML with a number behind what a source supports, and the sources.

    Numbers lead to ``<li id="source-1">``, which leads back to ``id="ref-1-1"`` and so on;
    ``anchor_prefix`` goes before every id, so that several answers share a page. What is cited is
    in ``<mark data-sources="1 2">``. Raw HTML and images are shown as words. With ``quotes`` there
    is a number for every place of which the source's text is known, and that text under it.

    Raises OptionError for another markup, and for a content that is no text.

    >>> from citestream.resolver import resolve
    >>> answer = resolve("Rents rose. \ue200cite\ue202a\ue202L8\ue201")
    >>> print(html(answer.content, answer.citations))
    <p><mark data-sources="1">Rents rose.</mark><sup class="citation"><a id="ref-1-1" href="#source-1" aria-label="Source 1: a">1</a></sup></p>
    <section class="sources" aria-label="Sources">
    <ol>
    <li id="source-1"><bdi>a</bdi>, <bdi>L8</bdi> <a href="#ref-1-1" class="back" aria-label="Back to reference 1">↩</a></li>
    </ol>
    </section>
    <BLANKLINE>
    """  # noqa: E501 - HTML has long lines
    if markup not in {"markdown", "text"}:
        raise OptionError(f"markup: wanted markdown or text, got {brief(markup)}")
    known = _NONE if citations is None else citations
    text = normal(content)
    structure = read(text, html=False) if markup == "markdown" else read_text(text)
    listed = notes(citations, quoted_in=content if quotes else None)
    page = _Page(anchor(anchor_prefix), listed)
    changes = _changes(content, text, known, quotes=quotes)
    marks = marked(content, known, quotes=quotes, structure=structure).marks
    body = _joined("".join(_blocks(structure, changes, marks, page)))
    return body + page.sources()


class _Page:
    """The numbers and ids of one answer."""

    def __init__(self, prefix: str, listed: list[Note]) -> None:
        self._prefix = prefix
        self._notes = {note.number: note for note in listed}
        self._uses: Counter[int] = Counter()

    def reference(self, number: int) -> str:
        self._uses[number] += 1
        place = f"{self._prefix}ref-{number}-{self._uses[number]}"
        label = text_html(f"Source {number}: {self._notes[number].label}")
        return (
            f'<sup class="citation"><a id="{place}" href="#{self._prefix}source-{number}"'
            f' aria-label="{label}">{number}</a></sup>'
        )

    def sources(self) -> str:
        if not self._notes:
            return ""
        items = "".join(map(self._item, self._notes.values()))
        return f'<section class="sources" aria-label="Sources">\n<ol>\n{items}</ol>\n</section>\n'

    def _item(self, note: Note) -> str:
        label = f"<bdi>{text_html(note.label)}</bdi>"
        if note.url:
            label = f'<a href="{text_html(note.url)}" {LINK}>{label}</a>'
        places = "".join(f", <bdi>{text_html(place)}</bdi>" for place in note.places)
        back = "".join(
            f' <a href="#{self._prefix}ref-{note.number}-{use}" class="back"'
            f' aria-label="Back to reference {use}">↩</a>'
            for use in range(1, self._uses[note.number] + 1)
        )
        quote = "<br>\n".join(map(text_html, note.quote))
        quoted = f'\n<blockquote dir="auto">{quote}</blockquote>\n' if quote else ""
        return f'<li id="{self._prefix}source-{note.number}">{label}{places}{back}{quoted}</li>\n'


@attrs.frozen(kw_only=True, eq=False)
class _Changes:
    """From which positions of the text on which numbers cover it."""

    at: list[int]
    numbers: list[str]

    def within(self, leaf: Leaf) -> list[tuple[int, str]]:
        """Return from which offsets of the content of a leaf on which numbers cover it."""
        if not leaf.outer:
            return [(0, "")]
        first = bisect_right(self.at, leaf.outer[0])
        found = [(0, self.numbers[first - 1] if first else "")]
        last = bisect_left(self.at, leaf.end)
        inner = map(leaf.to_inner, self.at[first:last])
        return [*found, *zip(inner, self.numbers[first:last], strict=True)]


def _changes(content: str, text: str, citations: Citations, *, quotes: bool) -> _Changes:
    bounds = [bound for span in citations.spans for bound in (span.start_index, span.end_index)]
    points = positions(content, bounds)
    events: dict[int, list[tuple[int, int]]] = {}
    for index, numbers in enumerate(span_numbers(citations, quotes=quotes)):
        start, end = points[2 * index], points[2 * index + 1]
        if start >= end:
            continue
        start, end = whole(text, start, end)
        for number in numbers:
            events.setdefault(start, []).append((1, number))
            events.setdefault(end, []).append((-1, number))
    changes = _Changes(at=sorted(events), numbers=[])
    active: dict[int, int] = {}
    for point in changes.at:
        for step, number in sorted(events[point], reverse=True):
            active[number] = active.get(number, 0) + step
            if not active[number]:
                del active[number]
        changes.numbers.append(" ".join(map(str, sorted(islice(active, _SAID)))))
    return changes


def _blocks(
    structure: Structure, changes: _Changes, marks: tuple[Mark, ...], page: _Page
) -> Iterator[str]:
    leaves = enumerate(structure.leaves)
    number, leaf = next(leaves, (0, None))
    inside: dict[int, list[Mark]] = {}
    apart: dict[int, list[Mark]] = {}
    for mark in marks:
        place = apart.setdefault(mark.top, []) if mark.apart else inside.setdefault(mark.leaf, [])
        place.append(mark)
    top = 0
    for index, token in enumerate(structure.tokens):
        if leaf is None or leaf.token != index:
            yield block_html(token)
        else:
            here = inside.get(number, [])
            words = _Words(leaf, changes, here, page)
            if token.type == "inline":
                tokens, found = structure.inline(leaf.content)
                yield inline_html(tokens, found, words.write, words.references if here else None)
            else:
                yield block_html(token, words.write(leaf.content, 0, len(leaf.content)))
            number, leaf = next(leaves, (0, None))
        if token.nesting <= 0 and not token.level and token.type != "inline":
            if top in apart:
                yield _paragraph(apart.pop(top), page)
            top += 1
    yield from (_paragraph(left, page) for left in apart.values())


def _paragraph(marks: list[Mark], page: _Page) -> str:
    numbers = "".join(page.reference(number) for mark in marks for number in mark.numbers)
    return f"<p>{numbers}</p>\n"


class _Words:
    """Writes the words of a leaf: what is cited is marked, and the numbers stand behind it."""

    def __init__(self, leaf: Leaf, changes: _Changes, marks: list[Mark], page: _Page) -> None:
        self._content = leaf.content
        self._covers = changes.within(leaf)
        self._cover = 0
        self._marks = marks
        self._next = 0
        self._never = len(leaf.content) + 1
        self._page = page

    def write(self, words: str, start: int, end: int) -> str:
        """Return the HTML of words that stand in a range, and of the numbers within it.

        Ranges come in order. Words that are not what stands there, such as those of an entity,
        stay in one piece.
        """
        covers = self._covers
        while self._cover + 1 < len(covers) and covers[self._cover + 1][0] <= start:
            self._cover += 1
        numbers = covers[self._cover][1]
        if words != self._content[start:end]:
            return _cited(words, numbers)
        pieces = []
        position = start
        while position < end:
            following = self._cover + 1
            change = covers[following][0] if following < len(covers) else end
            stop = min(change, self._due(), end)
            pieces.append(_cited(self._content[position:stop], numbers))
            if stop == end:
                break
            if stop == self._due():
                pieces.append(self._reference())
            else:
                self._cover = following
                numbers = covers[following][1]
            position = stop
        return "".join(pieces)

    def references(self, end: int) -> str:
        """Return the HTML of the numbers up to an offset where nothing is open."""
        pieces = []
        while self._due() <= end:
            pieces.append(self._reference())
        return "".join(pieces)

    def _due(self) -> int:
        return self._marks[self._next].inner if self._next < len(self._marks) else self._never

    def _reference(self) -> str:
        mark = self._marks[self._next]
        self._next += 1
        return "".join(map(self._page.reference, mark.numbers))


def _cited(text: str, numbers: str) -> str:
    shown = text_html(text)
    return f'<mark data-sources="{numbers}">{shown}</mark>' if numbers and text else shown


def _joined(made: str) -> str:
    """Join what is cited from the same sources without anything between."""
    current = ""

    def seam(match: re.Match[str]) -> str:
        nonlocal current
        same = match[1] and match[2] == current
        current = match[2]
        return "" if same else match[0]

    return _SEAM.sub(seam, made)
