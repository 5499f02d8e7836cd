"""What goes wrong with a database, told as errors of this package.

In: what ``sqlite3`` and the operating system raise. Out: StoreError that names the file.
"""

import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ...errors import StoreBusyError, StoreError

__all__ = ("FAILURES", "failure", "is_busy", "is_harmless", "patiently")

T = TypeVar("T")

FAILURES = (sqlite3.Error, OSError, MemoryError, OverflowError, TypeError, UnicodeError)
"""What a database raises, also for what is too long or of a wrong type."""

_PAUSE = 0.002, 0.02  # seconds, drawn anew each time: who waits in step, fails in step
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_HARMLESS = _BUSY | {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_TOOBIG,
}


def failure(path: Path, error: BaseException, /) -> StoreError:
    """Return the StoreError that tells of ``error``; one that is a StoreError already stays."""
    if isinstance(error, StoreError):
        told: StoreError = type(error)(*error.args)
    elif is_busy(error):
        told = StoreBusyError(f"{path}: others held the file for too long ({error}); try again")
    else:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        told = StoreError(f"{path}: {error} ({name})")
    told.__cause__ = error
    return told


def is_busy(error: BaseException, /) -> bool:
    """Tell whether others hold the file, so that trying again helps."""
    return isinstance(error, StoreBusyError) or _code(error) in _BUSY


def is_harmless(error: BaseException, /) -> bool:
    """Tell whether the connection is as good as it was before."""
    return not isinstance(error, sqlite3.Error) or _code(error) in _HARMLESS


def patiently(work: Callable[[], T], /, *, seconds: float) -> T:
    """Do ``work``, and again for as long as others hold the file, up to ``seconds``."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return work()
        except (sqlite3.OperationalError, StoreBusyError) as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(random.uniform(*_PAUSE))  # noqa: S311 - not for secrets


def _code(error: BaseException) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF  # without what extended codes add
