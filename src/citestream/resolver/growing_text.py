"""A text that comes in many small pieces, kept in little more memory than its characters take.

In: pieces. Out: all of it. A list of the pieces takes ten times as much where they are deltas of a
few characters, and to join at every piece takes time that is quadratic in them.
"""

__all__ = ("GrowingText",)

_TOGETHER = 64


class GrowingText:
    """Pieces of text, joined when they are many.

    >>> text = GrowingText()
    >>> text.add("Rents "); text.add("rose.")
    >>> str(text)
    'Rents rose.'
    """

    __slots__ = ("_joined", "_pieces")

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []

    def add(self, piece: str, /) -> None:
        """Append ``piece``."""
        self._pieces.append(piece)
        if len(self._pieces) == _TOGETHER:
            self._joined.append("".join(self._pieces))
            self._pieces.clear()

    def __str__(self) -> str:
        return "".join((*self._joined, *self._pieces))
