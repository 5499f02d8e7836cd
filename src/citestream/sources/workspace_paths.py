"""Paths as a citation may show them: relative to the workspace root, in POSIX form, or not at all.

In: a path as the application or a tool spelled it. Out: the form that may leave the process, or
None where it would tell what lies outside the workspace (absolute, with ``..``, with a drive, with
``~``). It is spelling alone: nothing here asks the disk, so links are not followed.
Deliberately elsewhere: opening files (``files``).
"""

import re

from ..errors import OptionError, brief

__all__ = ("file_name", "inside", "relative_path")

_DRIVE = re.compile(r"\A[A-Za-z]:")


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _segments(path: str) -> list[str]:
    return [part for part in _slashes(path).split("/") if part not in {"", "."}]


def _is_absolute(path: str) -> bool:
    return _slashes(path).startswith("/") or _DRIVE.match(path) is not None


def file_name(path: str, /) -> str:
    r"""Return the last name in ``path``, ``""`` where it has none.

    >>> file_name("C:\\Users\\kim\\plan.md")
    'plan.md'
    """
    last = (_segments(_DRIVE.sub("", path)) or [""])[-1]
    return "" if last == ".." else last


def relative_path(path: str, /) -> str | None:
    r"""Return ``path`` in POSIX form, None where it is not a path inside a workspace.

    >>> relative_path(".\\docs\\plan.md"), relative_path("/etc/passwd"), relative_path("a/../b")
    ('docs/plan.md', None, None)
    """
    parts = _segments(path)
    # "~" is a home directory to a shell, and so to whoever pastes the path into one.
    unsafe = _is_absolute(path) or "\0" in path or ".." in parts or path.startswith("~")
    if unsafe or not parts:
        return None
    # Dropping "." may uncover a drive or a "~": ask again about what is left.
    found = "/".join(parts)
    return None if _is_absolute(found) or found.startswith("~") else found


def inside(path: str, /, *, root: str) -> tuple[str, str]:
    """Return how to open ``path`` and its form relative to ``root``.

    A relative path is relative to ``root``, an absolute one must begin with it.
    Raises OptionError for a path that leaves ``root``.

    >>> inside("/srv/docs/a/plan.md", root="/srv/docs/")
    ('/srv/docs/a/plan.md', 'a/plan.md')
    """
    opened, rest = f"{_slashes(root).rstrip('/')}/{path}", path
    if _is_absolute(path):
        base, parts = _segments(root), _segments(path)
        under = _is_absolute(root) and parts[: len(base)] == base
        opened, rest = path, "/".join(parts[len(base) :]) if under else ".."
    relative = relative_path(rest)
    if relative is None:
        raise OptionError(f"wanted a path inside the root, got {brief(file_name(path))}")
    return opened, relative
