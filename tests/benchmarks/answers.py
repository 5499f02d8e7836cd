"""Long answers to measure with: words, sentences, and a marker every so many characters."""

import random

from citestream import format_marker

__all__ = ("answer",)

_WORDS = "rents rose in the north while wages fell by three percent".split()  # noqa: SIM905 - prose


def answer(size: int, *, every: int = 200, paragraph: int = 2_000) -> str:
    """Return an answer of ``size`` code points with one marker in every ``every``.

    Markers name 1 to 3 sources, four in ten with a line locator; a paragraph ends every
    ``paragraph`` characters or so.
    """
    draw = random.Random(size)  # noqa: S311 - not for secrets
    pieces: list[str] = []
    length = since_break = 0
    while length < size:
        ids = [
            f"turn{draw.randrange(9)}search{draw.randrange(20)}"
            for _ in range(draw.choice((1, 1, 2, 3)))
        ]
        line = draw.randrange(1, 90)
        locator = f"L{line}-L{line + draw.randrange(9)}" if draw.random() < 0.4 else None
        marker = format_marker(*ids, locator=locator)
        words: list[str] = []
        room = every - len(marker) - 3
        while room > 0:
            words.append(draw.choice(_WORDS))
            room -= len(words[-1]) + 1
        since_break += every
        end = "\n\n" if since_break >= paragraph else " "
        since_break %= paragraph
        pieces.append(f"{' '.join(words).capitalize()}. {marker}{end}")
        length += len(pieces[-1])
    return "".join(pieces)[:size]
