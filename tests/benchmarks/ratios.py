"""Compare two ways to do one job in one process: interleaved rounds, median of pairwise ratios."""

import gc
import statistics
import time
from collections.abc import Callable, Iterable

import attrs

__all__ = ("Ratio", "compare", "report")

_ROUND_SECONDS = 0.02  # long against the clock's grain, short against a noisy neighbour


@attrs.frozen(kw_only=True)
class Ratio:
    """How many times faster ours is; ``ours`` and ``theirs`` are seconds per call (medians)."""

    value: float
    ours: float
    theirs: float


def _calls(job: Callable[[], object]) -> int:
    """How often ``job`` fits into a round."""
    calls = 1
    while True:
        spent = _time(job, calls)
        if spent >= _ROUND_SECONDS / 4:
            return max(1, round(calls * _ROUND_SECONDS / spent))
        calls *= 4


def _time(job: Callable[[], object], calls: int) -> float:
    repeat = range(calls)
    start = time.perf_counter()
    for _ in repeat:
        job()
    return time.perf_counter() - start


def compare(ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int = 11) -> Ratio:
    """Time both, in turn, ``rounds`` times; the ratio is the median of those of the rounds.

    Absolute times swing with the machine's load, the ratio of neighbours in time hardly does.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        our_calls, their_calls = _calls(ours), _calls(theirs)
        pairs = [
            (_time(ours, our_calls) / our_calls, _time(theirs, their_calls) / their_calls)
            for _ in range(rounds)
        ]
    finally:
        gc.collect()
        if was_enabled:
            gc.enable()
    return Ratio(
        value=statistics.median(their / our for our, their in pairs),
        ours=statistics.median(our for our, _ in pairs),
        theirs=statistics.median(their for _, their in pairs),
    )


def report(title: str, rows: Iterable[tuple[str, Ratio, float]]) -> str:
    """Write a table of named ratios, each with the gate it must reach."""
    lines = [title, f"{'':44}{'ours':>12}{'theirs':>12}{'ratio':>9}{'gate':>8}"]
    lines += [
        f"{name:44}{ratio.ours * 1e6:>9.1f} us{ratio.theirs * 1e6:>9.1f} us"
        f"{ratio.value:>8.2f}x{gate:>7.2f}x"
        for name, ratio, gate in rows
    ]
    return "\n".join(lines)
