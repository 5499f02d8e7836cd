"""Files to cite as a command line names them: files, folders, globs, ``-`` for standard input.

In: arguments. Out: documents, each with the path that is shown: relative to the working directory,
or to the folder that was named where that is elsewhere, in POSIX form. What is named by itself must
be readable; what a folder or a glob holds is told about and skipped where it is not.

A folder is read with all that is under it, by suffix; hidden names and links are left out, since
they may lead anywhere. Deliberately elsewhere: what the bytes mean (``sources``).
"""

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath

from ..errors import CitestreamError, DecodeError, OptionError
from ..sources import DEFAULT_LIMITS, SourceDocument, from_bytes

__all__ = ("SUFFIXES", "read_inputs")

SUFFIXES = frozenset(
    {
        *(".adoc", ".asciidoc", ".csv", ".htm", ".html", ".log", ".markdown", ".md", ".mdx"),
        *(".org", ".pdf", ".rst", ".tex", ".text", ".tsv", ".txt", ".xhtml"),
    }
)
"""Which files in a folder are read. A file that is named by itself may have any suffix."""

_GLOB = frozenset("*?[")


def read_inputs(
    arguments: Iterable[str],
    /,
    *,
    take: Callable[[SourceDocument], object],
    skip: Callable[[str], object],
) -> None:
    """Give the documents that ``arguments`` name to ``take``, each file once.

    ``skip`` is told of each file that was left out and why, in one line. ``take`` may raise a
    CitestreamError about a document. Raises one, or OSError, for what is named by itself and cannot
    be used, and OptionError for a folder or glob that gives nothing to read.
    """
    reader = _Reader(take, skip)
    for argument in arguments:
        if argument == "-":
            reader.read(sys.stdin.buffer.read(DEFAULT_LIMITS.max_file_bytes + 1), "-")
        elif Path(argument).is_dir():
            if not reader.read_found(_in_folder(argument, skip), folder=argument):
                raise OptionError(f"{argument}: holds no file that can be read")
        elif _GLOB.isdisjoint(argument) or os.path.lexists(argument):
            reader.read_named(argument)
        elif not reader.read_found(_matching(argument)):
            raise OptionError(f"{argument}: matches no file that can be read")


def _in_folder(folder: str, skip: Callable[[str], object]) -> Iterator[str]:
    """Give the paths of the files under ``folder`` that are read by suffix, ordered."""

    def closed(error: OSError) -> None:
        skip(f"{error.filename}: {error.strerror}")

    for root, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root, name)
            if name.startswith(".") or path.suffix.lower() not in SUFFIXES:
                continue
            if path.is_symlink() or not path.is_file():
                skip(f"{path.as_posix()}: a link or no regular file")
            else:
                yield str(path)


def _matching(pattern: str) -> Iterator[str]:
    # Not Path.glob: it wants to know where an absolute pattern begins.
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207 - see above
    return (path for path in sorted(found) if Path(path).is_file())


class _Reader:
    def __init__(
        self, take: Callable[[SourceDocument], object], skip: Callable[[str], object]
    ) -> None:
        self._take = take
        self._skip = skip
        self._shown: dict[str, str] = {}  # by absolute path

    def read_named(self, path: str) -> None:
        """Read a file that must be readable."""
        shown = self._show(path, None)
        if shown is not None:
            self.read(_bytes(path), shown)

    def read_found(self, paths: Iterable[str], *, folder: str | None = None) -> int:
        """Read what is readable of ``paths`` and return how many are read now."""
        count = 0
        for path in paths:
            shown = self._show(path, folder)
            try:
                if shown is not None:
                    self.read(_bytes(path), shown)
            except CitestreamError as error:
                self._skip(str(error))
            except OSError as error:
                self._skip(f"{shown}: {error.strerror}")
            else:
                count += 1
        return count

    def read(self, data: bytes, shown: str) -> None:
        """Make a document of ``data`` and give it on."""
        try:
            document = from_bytes(data, path=shown, title=shown)
            if not document.content.strip():
                raise OptionError("holds no text")
            self._take(document)
        except DecodeError as error:
            # It knows the last name of the path only.
            where = shown + error.path.removeprefix(PurePath(shown).name)
            raise DecodeError(path=where, expected=error.expected, got=error.got) from error
        except CitestreamError as error:
            raise OptionError(f"{shown}: {error}") from error

    def _show(self, path: str, folder: str | None) -> str | None:
        """Return how ``path`` is shown, None where it was read before. No two files look alike."""
        absolute = _absolute(path)
        if absolute in self._shown:
            return None
        parts = PurePath(absolute).parts
        shown = _relative(absolute, Path.cwd()) or (
            folder and _relative(absolute, PurePath(_absolute(folder)))
        )
        shown = shown or parts[-1]
        taken = set(self._shown.values())
        length = shown.count("/") + 1
        while shown in taken and length < len(parts):
            length += 1
            shown = "/".join(parts[-length:])
        self._shown[absolute] = shown
        return shown


def _absolute(path: str) -> str:
    """Return ``path`` as it is spelled from the root, without asking the disk about links."""
    return os.path.abspath(path)  # noqa: PTH100 - Path.resolve follows links


def _relative(absolute: str, root: PurePath) -> str | None:
    path = PurePath(absolute)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _bytes(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(DEFAULT_LIMITS.max_file_bytes + 1)
