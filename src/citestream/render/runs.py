"""What stands in a block, character by character: text, code, links, emphasis, breaks.

In: the content of a leaf and its inline tokens. Out: the range of every token in that content, and
the stretches where a mark harms nothing: in plain text, and behind code, links, HTML and emphasis.
Offsets count code points of the leaf's content.
"""

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from .parser import Token

__all__ = ("Places", "places", "ranges")

_MARKERS = ("em_", "strong_", "s_")
_BREAKS = ("softbreak", "hardbreak")
_TAG = re.compile("<(/?)([A-Za-z][A-Za-z0-9-]*)")


def ranges(tokens: "list[Token]", content: str, /) -> list[tuple[int, int]] | None:
    """Return the range of every token in ``content``; None where what they say is not there.

    Marks of emphasis are ranges of their own. What is opened and what closes it are two tokens.
    """
    found = []
    position = 0
    for token in tokens:
        at = token.meta.get("at")
        if token.type == "text":
            start, end, said = position, position + len(token.content), token.content
        elif token.type.startswith(_MARKERS):
            start, end, said = position, position + len(token.markup), token.markup
        elif at is not None:
            # Where it closes, a link says where the whole of it stands.
            start, end, said = max(position, at[0]), at[1], ""
            if end < start:
                return None
        else:  # a link opens, with a bracket or as an address in angles
            start, end, said = position, position + 1, content[position : position + 1]
        if not content.startswith(said, start):
            return None
        found.append((start, end))
        position = end
    return found


@attrs.frozen(kw_only=True, eq=False)
class Places:
    """Where marks may stand: ``lows[i]`` to ``highs[i]``, both inclusive, in order.

    Up to ``back[i]`` there is nothing but the end of a line behind stretch ``i``.
    """

    lows: list[int]
    highs: list[int]
    back: list[int]

    def nearest(self, offset: int, /) -> int | None:
        """Return the first place at or behind ``offset``, before a line's end; None without any."""
        index = bisect_right(self.lows, offset) - 1
        if index >= 0 and offset <= max(self.highs[index], self.back[index]):
            return min(offset, self.highs[index])
        if index + 1 < len(self.lows):
            return self.lows[index + 1]
        return self.highs[-1] if self.highs else None

    def stretch(self, offset: int, /) -> tuple[int, int]:
        """Return the stretch that holds the place ``offset``."""
        index = bisect_right(self.lows, offset) - 1
        return self.lows[index], self.highs[index]


def places(tokens: "list[Token]", found: list[tuple[int, int]], /) -> Places:
    """Return where marks may stand among ``tokens``, whose ranges are ``found``."""
    made = Places(lows=[], highs=[], back=[])
    tags = _Tags(tokens)
    depth = 0
    fresh = 1  # 1 where nothing of a line has been seen, so that no mark begins one
    for token, (start, end) in zip(tokens, found, strict=True):
        depth += token.nesting
        inside = tags.inside(token)
        if token.type in _BREAKS:
            if made.back and not (depth or inside):
                made.back[-1] = end
            fresh = 1
            continue
        if depth or inside:
            fresh = 0
            continue
        low = start + fresh if token.type == "text" else end
        if low <= end:
            _add(made, low, end)
        fresh = 0
    return made


def _add(made: Places, low: int, high: int) -> None:
    if made.highs and low <= made.highs[-1]:
        made.highs[-1] = high
    else:
        made.lows.append(low)
        made.highs.append(high)
        made.back.append(0)


class _Tags:
    """Which HTML tags are open that will be closed."""

    def __init__(self, tokens: "list[Token]") -> None:
        self._open: list[str] = []
        self._names: Counter[str] = Counter()  # of those
        self._closings: Counter[str] = Counter()  # that are still to come
        for token in tokens:
            tag = _TAG.match(token.content) if token.type == "html_inline" else None
            if tag is not None and tag[1]:
                self._closings[tag[2].lower()] += 1

    def inside(self, token: "Token") -> bool:
        """Tell whether something is open behind ``token``, which comes next."""
        tag = _TAG.match(token.content) if self._closings and token.type == "html_inline" else None
        if tag is not None:
            name = tag[2].lower()
            if tag[1]:
                self._closings[name] -= 1
                if self._names[name]:
                    while (last := self._open.pop()) != name:
                        self._names[last] -= 1
                    self._names[name] -= 1
            elif self._closings[name] > 0 and not token.content.endswith("/>"):
                self._open.append(name)
                self._names[name] += 1
        return bool(self._open)
