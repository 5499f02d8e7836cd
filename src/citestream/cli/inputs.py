"""Files to cite as a command line names them: files, folders, globs, ``-`` for standard input.

In: arguments. Out: documents, each with the path that is shown: relative to the working directory,
or to the folder that was named where that is elsewhere, in POSIX form. What is named by itself must
be readable; what a folder or a glob holds is told about and skipped where it is not.

A folder is read with all that is under it, by suffix, a glob by what it matches. Both leave out
hidden names, and links; what is named by itself, and what a glob names before its first wildcard,
may be a link. Deliberately elsewhere: going through a folder (``attachments.folders``), what the
bytes mean (``sources``).
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePath

from ..attachments.folders import LINKED_FOLDER, LeftOut, files_in, unhidden
from ..errors import CitestreamError, DecodeError, LimitError, OptionError
from ..sources import DEFAULT_LIMITS, SourceDocument, from_bytes

__all__ = ("read_inputs",)

_GLOB = frozenset("*?[")
_STANDARD_INPUT = "standard input"
_PDF = b"%PDF-"

_LINKED_FILE: LeftOut = ("linked file", "linked files")


def read_inputs(
    arguments: Iterable[str],
    /,
    *,
    take: Callable[[SourceDocument], object],
    skip: Callable[[str], object],
    note: Callable[[str], object],
) -> None:
    """Give the documents that ``arguments`` name to ``take``, each file once.

    ``skip`` is told of each file that was left out and why, in one line, and ``note`` of a folder
    or glob how much else of it was not read, in one line each. ``take`` may raise a CitestreamError
    about a document; a LimitError ends the reading of folders and globs.

    Raises a CitestreamError or OSError for what is named by itself and cannot be used, and
    OptionError for a folder or glob that gives nothing to read.
    """
    reader = _Reader(take, skip)
    for argument in arguments:
        left_out: dict[str, LeftOut] = {}  # by path
        if argument == "-":
            reader.read_standard_input()
        elif Path(argument).is_dir():
            found = files_in(argument, skip=skip, leave_out=left_out.__setitem__)
            count = reader.read_found(found, folder=argument)
            if not count and not reader.full:
                raise OptionError(_told(f"{argument}: holds no file that can be read", left_out))
        elif _GLOB.isdisjoint(argument) or os.path.lexists(argument):
            reader.read_named(argument)
        elif not reader.read_found(_matching(argument, left_out)) and not reader.full:
            raise OptionError(_told(f"{argument}: matches no file that can be read", left_out))
        if left_out and not reader.full:
            note(f"{argument}: {_counted(left_out)}")


def _told(problem: str, left_out: dict[str, LeftOut]) -> str:
    return f"{problem}; {_counted(left_out)}" if left_out else problem


def _counted(left_out: dict[str, LeftOut]) -> str:
    counts = Counter(left_out.values()).items()
    return ", ".join(f"{count} {kind[count > 1]}" for kind, count in counts) + " not read"


def _matching(pattern: str, left_out: dict[str, LeftOut]) -> Iterator[str]:
    """Give the paths of the files that ``pattern`` matches, ordered.

    Not the standard library's globs: they go through links.
    """
    parts = PurePath(pattern).parts
    fixed = next(number for number, part in enumerate(parts) if not _GLOB.isdisjoint(part))
    middle, last = parts[fixed:-1], parts[-1]
    if last == "**":
        middle, last = parts[fixed:], "*"
    base = Path(*parts[:fixed])

    def step(
        places: Iterable[Path], part: str, fits: Callable[[Path], bool], linked: LeftOut
    ) -> Iterator[Path]:
        # Each once: "**/**" finds every folder more than once.
        for path in dict.fromkeys(p for place in places for p in _matches(place, part) if fits(p)):
            if path != base and path.is_symlink():
                left_out[str(path)] = linked
            else:
                yield path

    places: Iterable[Path] = [base]
    for part in middle:
        places = step(places, part, os.path.isdir, LINKED_FOLDER)
    yield from sorted(map(str, step(places, last, os.path.isfile, _LINKED_FILE)))


def _matches(place: Path, part: str) -> Iterator[Path]:
    """Give what one part of a pattern matches in the folder ``place``, links included."""
    if part == "**":
        yield place
        for root, folders, _ in os.walk(place):
            folders[:] = unhidden(folders)
            yield from (Path(root, name) for name in folders)
    elif _GLOB.isdisjoint(part):
        yield place / part
    else:
        names = next(([*folders, *files] for _, folders, files in os.walk(place)), [])
        shown = names if part.startswith(".") else unhidden(names)
        yield from (place / name for name in shown if fnmatch(name, part))


class _Reader:
    def __init__(
        self, take: Callable[[SourceDocument], object], skip: Callable[[str], object]
    ) -> None:
        self._take = take
        self._skip = skip
        self._shown = {"-": _STANDARD_INPUT}  # by absolute path
        self.full = False
        """Whether nothing more is taken."""

    def read_standard_input(self) -> None:
        """Read standard input, which must be a text."""
        data = sys.stdin.buffer.read(DEFAULT_LIMITS.max_file_bytes + 1)
        if data.startswith(_PDF):
            raise OptionError(f"{_STANDARD_INPUT}: takes text only, got a PDF")
        self._read(data, "", _STANDARD_INPUT)

    def read_named(self, path: str) -> None:
        """Read a file that must be readable."""
        shown = self._show(path, None)
        if shown is not None:
            self._read(_bytes(path), shown, shown)

    def read_found(self, paths: Iterable[str], *, folder: str | None = None) -> int:
        """Read what is readable of ``paths`` and return how many are read now; none when full."""
        count = 0
        if self.full:
            return count
        for path in paths:
            shown = self._show(path, folder)
            try:
                if shown is not None:
                    self._read(_bytes(path), shown, shown)
            except CitestreamError as error:
                if self.full:
                    self._skip(f"{error}; no more files of folders and globs are read")
                    break
                self._skip(str(error))
            except OSError as error:
                self._skip(f"{shown}: {error.strerror}")
            else:
                count += 1
        return count

    def _read(self, data: bytes, path: str, shown: str) -> None:
        """Make a document of ``data`` and give it on."""
        try:
            document = from_bytes(data, path=path, title=shown)
            if not document.content.strip():
                raise OptionError("holds no text")
            self._give(document)
        except DecodeError as error:
            # It knows the last name of the path only.
            where = shown + error.path.removeprefix(PurePath(path).name)
            raise DecodeError(path=where, expected=error.expected, got=error.got) from error
        except CitestreamError as error:
            raise OptionError(f"{shown}: {error}") from error

    def _give(self, document: SourceDocument) -> None:
        try:
            self._take(document)
        except LimitError:
            self.full = True
            raise

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
