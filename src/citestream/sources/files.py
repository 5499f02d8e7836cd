"""Reading a file to cite: the one place of the package below the session that opens anything.

In: a path. Out: ``SourceDocument``. No more than the limit is ever read. Deliberately elsewhere:
what the bytes mean (``file_formats``), which paths may be shown (``workspace_paths``), folders and
globs (the caller). Links are followed: whoever takes paths from strangers must refuse links first.
"""

from typing import Protocol

from ..errors import OptionError
from .documents import SourceDocument
from .file_formats import from_bytes
from .limits import DEFAULT_LIMITS, Limits
from .workspace_paths import inside

__all__ = ("FilePath", "from_file")


class FilePath(Protocol):
    """Whatever spells a path, such as those of ``pathlib``."""

    def __fspath__(self) -> str: ...


def from_file(
    path: str | FilePath,
    /,
    *,
    root: str | FilePath | None = None,
    title: str | None = None,
    url: str | None = None,
    updated: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SourceDocument:
    """Read a text, Markdown, HTML or PDF file, told apart by suffix (see ``from_bytes``).

    With a ``root``, a relative ``path`` is relative to it and the document's path too; without one,
    a relative path stays as it is. A document never shows an absolute path or one with ``..``.

    Raises OptionError for a path outside ``root`` and for a missing extra, OSError where the file
    cannot be opened, DecodeError where its bytes are not what its suffix says, LimitError where it
    is too large.
    """
    opened = shown = _spelled(path)
    if root is not None:
        opened, shown = inside(opened, root=_spelled(root))
    if "\0" in opened:
        raise OptionError("wanted a path, got one with a null character")
    with open(opened, "rb") as file:  # noqa: PTH123 - no pathlib below the session
        data = file.read(limits.max_file_bytes + 1)
    return from_bytes(data, path=shown, title=title, url=url, updated=updated, limits=limits)


def _spelled(path: str | FilePath) -> str:
    return path if isinstance(path, str) else path.__fspath__()
