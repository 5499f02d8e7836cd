"""Ids that resemble one that nobody registered: what a model may have meant.

In: the id that was cited, and a registry's ids through narrow questions. Out: at most three ids,
best first. It is a hint for people and never resolves anything. The work is bounded whatever the
model wrote and however much is registered: at most ``POOL`` ids are compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

__all__ = ("POOL", "near_misses")

POOL = 64
"""Ids that are compared: less than a millisecond of work."""
_LONGEST = 128
_CUTOFF = 0.85  # one wrong, missing or doubled character in an id such as turn0file1
_MOST = 3
_NUMBERS = re.compile("[^0-9]*([0-9]{1,9})[^0-9]+([0-9]{1,9})")


def near_misses(
    source_id: str,
    /,
    *,
    recent: Iterable[str],
    kinds: Iterable[str],
    exists: Callable[[str], bool],
) -> tuple[str, ...]:
    """Return up to three ids that resemble ``source_id``.

    ``recent`` gives ids to compare with, ``kinds`` the kinds of generated ids, ``exists`` tells
    whether an id is registered.

    >>> known = ["turn0file0", "turn0file1"]
    >>> near_misses("turn0fil1", recent=known, kinds=["file"], exists=known.__contains__)
    ('turn0file1',)
    """
    if len(source_id) > _LONGEST:
        return ()
    spelled = (other for other in _respelled(source_id, kinds) if exists(other))
    pool = dict.fromkeys(islice(spelled, POOL // 2))
    pool.update(dict.fromkeys(islice(recent, POOL - len(pool))))
    pool.pop(source_id, None)
    return tuple(get_close_matches(source_id, pool, n=_MOST, cutoff=_CUTOFF))


def _respelled(source_id: str, kinds: Iterable[str]) -> Iterator[str]:
    """Give the generated ids with the numbers of ``source_id``, and their neighbours."""
    numbers = _NUMBERS.match(source_id)
    if numbers:
        turn, item = int(numbers[1]), int(numbers[2])
        for kind in islice(kinds, POOL):
            yield f"turn{turn}{kind}{item}"
            yield f"turn{turn}{kind}{item - 1}"
