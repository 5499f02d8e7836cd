"""The one way to feed a text in pieces: whole, by characters, at every cut, at drawn cuts.

It feeds anything with ``feed(item) -> list`` and ``finish() -> list``: a filter of text, a
tokenizer, or a resolver, for which ``item`` makes an event of a piece. What comes out must not
depend on the cuts; ``view`` says what of it is compared.
"""

from itertools import pairwise

from hypothesis import strategies as st

__all__ = ("cuts", "feed_all", "same_however_cut", "split", "ways_to_cut")

cuts = st.lists(st.integers(min_value=0, max_value=400), max_size=12)
"""Where to cut a text; places beyond its end do no harm."""


def split(text, places):
    """Cut ``text`` at ``places``, in any order; twice the same place makes an empty piece."""
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def ways_to_cut(text, drawn=(), *, every=True):
    """Give ``text`` in pieces: whole, by characters, cut in two everywhere, cut at ``drawn``."""
    yield [text]
    yield list(text)
    yield split(text, drawn)
    if every:
        for place in range(1, len(text)):
            yield [text[:place], text[place:]]


def feed_all(push, items):
    """Feed ``items`` and return everything that ``push`` gave for them."""
    given = [output for item in items for output in push.feed(item)]
    return [*given, *push.finish()]


def same_however_cut(text, make, *, drawn=(), every=True, item=str, view="".join):
    """Feed ``text`` to what ``make()`` returns, in every way; return what all ways give."""
    results = [
        (pieces, view(feed_all(make(), map(item, pieces))))
        for pieces in ways_to_cut(text, drawn, every=every)
    ]
    _, wanted = results[0]
    for pieces, result in results:
        assert result == wanted, pieces
    return wanted
