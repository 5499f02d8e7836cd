"""Opening files of strangers' choice inside one folder, and nothing outside of it.

In: a root folder and a path in it. Out: the bytes of a regular file. No link is followed on the
way, wherever it leads: every folder is opened from the one above it, so that nobody who swaps names
meanwhile can lead outside. Where the platform cannot do that, the way is checked before and after.
Deliberately elsewhere: which paths may be shown (``sources.workspace_paths``), what the bytes mean.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..errors import OptionError
from ..sources.workspace_paths import relative_path

__all__ = ("check_folder", "path_inside", "read_inside")

_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
# Those that a platform does not know do nothing there. A FIFO must not wait for a writer.
_ANY = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"))
_FILE = _ANY | getattr(os, "O_BINARY", 0)
_FOLDER = _ANY | getattr(os, "O_DIRECTORY", 0)
_REFUSED = "wanted a regular file that no link leads to"


def path_inside(path: str, /, *, root: Path) -> str | None:
    r"""Return ``path`` relative to ``root`` in POSIX form, ``""`` for the root, None for others.

    A path that is not absolute is relative to ``root``; an absolute one must begin with it. It is
    spelling alone: nothing is decoded (``%2e`` is a name), ``..``, ``\``, drives, ``~`` and NUL
    are refused.

    >>> path_inside("docs/./plan.md", root=Path("/srv")), path_inside("../etc", root=Path("/srv"))
    ('docs/plan.md', None)
    """
    spelled = PurePosixPath(path)
    if spelled.is_absolute():
        bases = (os.path.abspath(root), os.path.realpath(root))  # noqa: PTH100 - links kept in one
        base = next((base for base in bases if spelled.is_relative_to(base)), None)
        if base is None:
            return None
        spelled = spelled.relative_to(base)
    if not spelled.parts:
        return ""
    shown = spelled.as_posix()
    return shown if relative_path(shown) == shown else None


def read_inside(root: Path, path: str, /, *, limit: int) -> bytes:
    """Read a file that ``path_inside`` found, at most ``limit`` bytes and one more.

    Raises OptionError for a link on the way and for anything but a regular file, OSError where the
    disk says no.
    """

    def opener(_path: str, _flags: int) -> int:
        return _opened(root, path.split("/")) if _STEPWISE else _opened_checked(root, path)

    with open(path, "rb", opener=opener) as file:
        _check_regular(os.fstat(file.fileno()))
        return file.read(limit + 1)


def check_folder(root: Path, path: str, /) -> None:
    """Check that ``path`` is a folder that no link leads to. Raises OptionError and OSError."""
    parts = path.split("/") if path else []
    if _STEPWISE:
        os.close(_entered(root, parts))
    elif not _way(root, parts).is_dir():
        raise OptionError("wanted a folder that no link leads to")


def _entered(root: Path, folders: Sequence[str]) -> int:
    """Open the folder at the end of ``folders``."""
    at = os.open(root, _FOLDER & ~os.O_NOFOLLOW)  # the root may be a link: the application chose it
    for name in folders:
        try:
            if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                raise OptionError("wanted a folder that no link leads to")
            below = os.open(name, _FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


def _opened(root: Path, parts: Sequence[str]) -> int:
    *folders, name = parts
    at = _entered(root, folders)
    try:
        # Before it is opened, too: to open a device may do something.
        _check_regular(os.stat(name, dir_fd=at, follow_symlinks=False))
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _opened_checked(root: Path, path: str) -> int:
    way = _way(root, path.split("/"))
    before = way.lstat()
    _check_regular(before)
    opened = os.open(way, _FILE)
    if not os.path.samestat(before, os.fstat(opened)):
        os.close(opened)
        raise OptionError(_REFUSED)
    return opened


def _way(root: Path, parts: Sequence[str]) -> Path:
    """Return the path below the root itself, made sure that no link is in it."""
    way = Path(os.path.realpath(root), *parts)
    if os.path.normcase(os.path.realpath(way)) != os.path.normcase(way):
        raise OptionError(_REFUSED)
    return way


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OptionError(_REFUSED)
