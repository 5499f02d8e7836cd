"""The options of an SQLite store, as one frozen value."""

from typing import Any, Literal

import attrs

from ...errors import OptionError, brief
from ...validators import positive
from .. import names

__all__ = ("SQLiteOptions",)


def _seconds(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    names.check_seconds(attribute.name, value)


def _journal_mode(_instance: object, _attribute: object, value: object) -> None:
    if value not in {"wal", "truncate"}:
        raise OptionError(f"journal_mode: wanted 'wal' or 'truncate', got {brief(value)}")


@attrs.frozen(kw_only=True)
class SQLiteOptions:
    """How an SQLite store behaves. All times are in seconds.

    ``journal_mode`` is ``wal``, or ``truncate`` for file systems without shared memory: slower, and
    as safe as the locks of that file system. ``lease_seconds`` is for how long a session counts as
    in use after its writer was last heard of. ``busy_seconds`` is how long to wait for other
    processes that write. ``accept_seconds`` is how long accepted pieces wait for company:
    what a crash may lose. ``poll_seconds`` is how often to look, while anyone waits for events,
    whether another process wrote some. ``readers`` bounds the reads at one time, ``max_accepted``
    the pieces that wait to be kept when the disk does not keep up.

    Raises OptionError for what is not positive, and for an unknown journal mode.
    """

    journal_mode: Literal["wal", "truncate"] = attrs.field(default="wal", validator=_journal_mode)
    lease_seconds: float = attrs.field(default=30.0, validator=_seconds)
    busy_seconds: float = attrs.field(default=30.0, validator=_seconds)
    accept_seconds: float = attrs.field(default=0.025, validator=_seconds)
    poll_seconds: float = attrs.field(default=0.02, validator=_seconds)
    readers: int = attrs.field(default=4, validator=positive)
    max_accepted: int = attrs.field(default=250_000, validator=positive)
