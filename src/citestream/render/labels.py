"""What a source is called and how its number is told from the answer's own: shared by all sinks.

In: texts of strangers and prefixes of callers. Out: one line that cannot hide or turn anything, and
prefixes that nothing in the content begins with.
"""

import re
import unicodedata

from .characters import visible

__all__ = ("anchor", "free_prefix", "isolated", "one_line")

_BLANKS = re.compile("[\t ]+")  # others, as between Japanese words, are part of a name
# In a name they only make two look alike: blanks of no width, fillers, characters of private use.
_UNSEEN = re.compile("[\u200b\u2060-\u2064\ufeff\u3164\uffa0\ue000-\uf8ff\U000f0000-\U0010ffff]")
_ANCHOR = re.compile("[^A-Za-z0-9_.:-]")


def one_line(text: str, /) -> str:
    """Return ``text`` as one line of what is shown of it, ``""`` where nothing can be seen."""
    shown = text if text.isascii() and text.isprintable() else visible(_UNSEEN.sub("", text))
    return (_BLANKS.sub(" ", shown) if "  " in shown or "\t" in shown else shown).strip()


def isolated(text: str, /) -> str:
    """Return ``text`` so that what is written from right to left in it turns nothing around it."""
    if text.isascii() or not any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} for c in text):
        return text
    return f"\u2068{text}\u2069"


def anchor(prefix: str, /) -> str:
    """Return ``prefix`` in letters, digits and ``_.:-``: others become their number in hex.

    >>> anchor("m 7-")
    'm_20_7-'
    """
    return _ANCHOR.sub(lambda match: f"_{ord(match[0]):x}_", prefix)


def free_prefix(text: str, /, *, before: str, prefix: str, digits: bool) -> str:
    """Return ``prefix``, grown until nothing in ``text`` begins with it behind ``before``.

    With ``digits`` only what has a digit behind it counts. Letters of both cases are the same.
    """
    folded = text.casefold()
    behind = "[0-9]" if digits else ""
    while re.search(re.escape(f"{before}{prefix}".casefold()) + behind, folded):
        prefix += "s"
    return prefix
