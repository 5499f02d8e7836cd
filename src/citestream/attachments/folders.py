"""The files of a folder that are worth reading, for whoever attaches or names a whole folder.

In: a folder. Out: the paths of its files and those of its folders, in order, chosen by suffix.
Hidden names and links are left out, since links may lead anywhere and in circles. Deliberately
elsewhere: reading the files.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

__all__ = ("LINKED_FOLDER", "OTHER_FILE", "SUFFIXES", "LeftOut", "files_in", "unhidden")

SUFFIXES = frozenset(
    {
        *(".adoc", ".asciidoc", ".csv", ".htm", ".html", ".log", ".markdown", ".md", ".mdx"),
        *(".org", ".pdf", ".rst", ".tex", ".text", ".tsv", ".txt", ".xhtml"),
    }
)
"""Which files in a folder are read. A file that is named by itself may have any suffix."""

LeftOut: TypeAlias = tuple[str, str]
"""What was left out without a line of its own: one of it and more of it."""

OTHER_FILE: LeftOut = ("file of another kind", "files of other kinds")
LINKED_FOLDER: LeftOut = ("linked folder", "linked folders")


def files_in(
    folder: str,
    /,
    *,
    skip: Callable[[str], object],
    leave_out: Callable[[str, LeftOut], object],
) -> Iterator[str]:
    """Give the paths of the files under ``folder`` that are read by suffix, ordered.

    ``skip`` is told in one line of what looks right and cannot be read, ``leave_out`` the path and
    the kind of what was not looked for.
    """

    def closed(error: OSError) -> None:
        skip(f"{error.filename}: {error.strerror}")

    for root, folders, files in os.walk(folder, onerror=closed):
        folders[:] = unhidden(folders)
        for path in (Path(root, name) for name in folders):
            if path.is_symlink():
                leave_out(str(path), LINKED_FOLDER)
        for path in (Path(root, name) for name in unhidden(files)):
            if path.suffix.lower() not in SUFFIXES:
                leave_out(str(path), OTHER_FILE)
            elif path.is_symlink() or not path.is_file():
                skip(f"{path.as_posix()}: a link or no regular file")
            else:
                yield str(path)


def unhidden(names: Iterable[str], /) -> list[str]:
    """Return ``names`` without the hidden ones, ordered."""
    return sorted(name for name in names if not name.startswith("."))
