"""The numbers of the blocks of one turn: which belong to which document, found when asked for.

In: the documents of a turn that are cited by block, in order. Out: the number of a document's first
block, and the document and block behind a number. Documents are cut into blocks only as far as a
question needs it, so that registering costs nothing; the answers do not depend on when they are
asked for. Deliberately elsewhere: how ids are written (``registry``).
"""

from bisect import bisect_left, bisect_right, insort

from .documents import SourceDocument

__all__ = ("BlockNumbers",)


class BlockNumbers:
    """Counts the blocks of the documents of a turn through, from 0.

    ``taken`` holds numbers that belong to something else; they must all be known before the first
    document comes, else numbers given out already would move.
    """

    def __init__(self) -> None:
        self._taken: list[int] = []
        self._documents: list[SourceDocument] = []
        self._firsts: list[int] = []  # of the documents that are numbered already
        self._next = 0

    def take(self, number: int, /) -> bool:
        """Keep ``number`` from being given out; False where it is too late for that."""
        if self._documents:
            return False
        at = bisect_left(self._taken, number)
        if self._taken[at : at + 1] != [number]:
            insort(self._taken, number)
        return True

    def add(self, document: SourceDocument, /) -> int:
        """Add a document and return its place, counted from 0."""
        self._documents.append(document)
        return len(self._documents) - 1

    def range(self, place: int, /) -> range:
        """Return the numbers of the blocks of the document at ``place``."""
        while len(self._firsts) <= place:
            self._number()
        first = self._firsts[place]
        return range(first, first + len(self._documents[place].blocks))

    def find(self, number: int, /) -> tuple[int, int] | None:
        """Return the place and the block (from 0) behind ``number``, None where there is none."""
        while self._next <= number and len(self._firsts) < len(self._documents):
            self._number()
        place = bisect_right(self._firsts, number) - 1
        if place < 0:
            return None
        # A document without blocks shares its first number with the one behind it.
        numbers = self.range(place)
        return (place, number - numbers.start) if number in numbers else None

    def _number(self) -> None:
        count = len(self._documents[len(self._firsts)].blocks)
        first = self._next
        at = bisect_left(self._taken, first)
        for number in self._taken[at:]:
            if number >= first + count:
                break
            first = number + 1
        self._firsts.append(first)
        self._next = first + count
