"""Which characters of a stranger's text are shown: all but those that control, turn or hide it.

In: a text. Out: the same text without them. What words are written with stays, seen or not: joiners
(Persian, Indic scripts, emoji), variation selectors, soft hyphens, the marks of direction, blanks
of every width. Left out are control characters, overrides, embeddings and isolates of direction,
tags (they spell text that nobody sees), the characters of markers and lone surrogates.
"""

import re
import unicodedata

from ..offsets import well_formed

__all__ = ("harmless", "visible")

_BLANK = re.compile("[\n-\r\x1c-\x1f\x85\u2028\u2029]")  # what may end a line
_DROPPED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u202a-\u202e\u2066-\u206f\ufff9-\ufffb"
    "\ue200-\ue206\ud800-\udfff\U000e0000-\U000e007f]"
)
# Line feeds and tabs stay. Turning the text around is a spoof where nobody sees the source.
_STEERING = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]")


def harmless(text: str, /) -> str:
    r"""Return ``text`` without what steers a terminal, of which an escape is shown as ``␛``.

    Line feeds and tabs stay; a lone surrogate becomes U+FFFD.

    >>> harmless("Rents\x1b[2J\trose.\a")
    'Rents␛[2J\trose.'
    """
    return _STEERING.sub("", well_formed(text)).replace("\x1b", "␛")


def visible(text: str, /) -> str:
    r"""Return what is shown of ``text``, ``""`` where nothing of it can be seen.

    A line end becomes a blank.

    >>> visible("Meals\n\x1b[2J\u202e are paid."), visible("\u200b")
    ('Meals [2J are paid.', '')
    """
    shown = _DROPPED.sub("", _BLANK.sub(" ", text))
    return shown if any(map(_seen, shown)) else ""


def _seen(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) != "Cf"
