"""Which passages match a question, best first, by BM25.

In: the terms of passages, and those of a question. Out: numbers of passages. The scores are those
of bm25s; what is too far from the question is left out, so that nothing is cited only because
nothing better was there. Deliberately elsewhere: terms (``terms``), passages (``passages``).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log1p

from bm25s import BM25

__all__ = ("Ranking",)

_COVERED = 0.25
"""How much of a question, by the weight of its terms, a passage must hold."""
_NEAR = 0.5
"""How near its score must be to that of the best passage."""
_EQUAL = 0.9
"""Scores of this part of another one count as equal to it: the earlier passage comes first."""
_LENGTH = 0.3
"""How much less a term counts in a longer passage; sentences differ less in length than texts."""


class Ranking:
    """Ranks texts, each given as its terms, by how well they match a question.

    >>> ranking = Ranking([["meal", "paid"], ["taxi", "reason"], []])
    >>> list(ranking.best(["taxi"])), list(ranking.best(["parking"]))
    ([1], [])
    """

    def __init__(self, texts: Sequence[Sequence[str]], /) -> None:
        self._numbers: dict[str, int] = {}
        number = self._numbers
        self._indexes = [index for index, terms in enumerate(texts) if terms]
        self._ids = [
            [number.setdefault(term, len(number)) for term in texts[index]]
            for index in self._indexes
        ]
        self._holding = Counter(term for ids in self._ids for term in set(ids))
        self._bm25: BM25 | None = None
        if self._ids:
            self._bm25 = BM25(b=_LENGTH)
            self._bm25.index((self._ids, number), create_empty_token=False, show_progress=False)

    def best(self, question: Sequence[str], /) -> Iterator[int]:
        """Give the indexes of the texts that match the terms of ``question``, best first."""
        known = [self._numbers[term] for term in question if term in self._numbers]
        if self._bm25 is None or not known:
            return
        scores = self._bm25.get_scores_from_ids(known).tolist()
        weights = {term: self._weight(self._holding[term]) for term in known}
        wanted = sum(weights.values()) + (len(question) - len(known)) * self._weight(0)
        least = 0.0
        for place in _order(scores):
            if scores[place] < least:
                continue
            held = sum(weights[term] for term in weights.keys() & set(self._ids[place]))
            if held >= _COVERED * wanted:
                least = least or _NEAR * scores[place]
                yield self._indexes[place]

    def _weight(self, holding: int) -> float:
        """Return what a term of ``holding`` texts counts: its BM25 weight, and 1 for being asked.

        Among few texts the weight alone would be next to nothing for what all of them hold.
        """
        return 1 + log1p((len(self._ids) - holding + 0.5) / (holding + 0.5))


def _order(scores: Sequence[float]) -> list[int]:
    """Return the places of the scores above 0, the best first, of equal ones the earlier."""
    places = sorted((p for p, s in enumerate(scores) if s > 0), key=lambda place: -scores[place])
    order: list[int] = []
    while places:
        near = bisect_left(places, -_EQUAL * scores[places[0]], key=lambda place: -scores[place])
        equal = places[: max(1, near)]
        order += sorted(equal)
        del places[: len(equal)]
    return order
