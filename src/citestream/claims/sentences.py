"""Cutting text into sentences, with sentencex kept from what it stumbles over.

In: any text. Out: its sentences, which joined are as long as the text.
"""

import re

from sentencex import segment

from ..offsets import well_formed

__all__ = ("SENTENCE_WINDOW", "split_sentences")

SENTENCE_WINDOW = 4096
"""Code points to split at once: sentencex takes quadratic time for some texts, such as Chinese."""

# sentencex panics at a blank of more than one byte between a letter and a full stop, and a panic of
# its runtime is no Exception: it would end the program. An ASCII blank means the same to it.
_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")


def split_sentences(text: str, /) -> list[str]:
    """Return the sentences of ``text``, whatever language it is in.

    Each is as many code points as it has in ``text``; blanks beyond ASCII come back as spaces, and
    surrogates as U+FFFD.

    >>> split_sentences("Rents rose, per Dr. Lee. 賃金は下がった。そう。")
    ['Rents rose, per Dr. Lee. ', '賃金は下がった。', 'そう。']
    """
    plain = _WIDE_BLANK.sub(" ", text)
    try:
        return list(segment("en", plain))
    except UnicodeEncodeError:  # surrogates, each of which has to stay one code point
        return list(segment("en", "".join(map(well_formed, plain))))
