"""What the user attaches to a message, read into documents that may be cited.

In: the mappings of the Copilot SDK. Out: ``ReadAttachment``, one for each document.

=============  ====================================================================================
``file``       ``path``, ``displayName?``, ``lineRange?`` {``start``, ``end``}: the whole file
``directory``  ``path``, ``displayName?``: its files, chosen as ``folders`` says
``selection``  ``filePath``, ``displayName?``, ``selection?`` {``start``, ``end``}, ``text?``: the
               text where there is one, else the whole file
``blob``       ``data`` in base64, ``mimeType``, ``displayName?``: text, HTML or PDF
=============  ====================================================================================

Paths are relative to a root folder, or absolute and inside of it; what leaves it is an error, links
included. PDFs are cited by page, all else by line. Files are read in a worker thread. Deliberately
elsewhere: the shapes (``shapes``), opening files (``files``), registering
and showing the documents (the session).
"""

import base64
import logging
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import attrs
from anyio import to_thread

from ..errors import CitestreamError, DecodeError, LimitError, OptionError, brief
from ..sources import DEFAULT_LIMITS, Granularity, Limits, SourceDocument, from_bytes, from_text
from ..sources.workspace_paths import file_name, relative_path
from .files import check_folder, path_inside, read_inside
from .folders import LeftOut, files_in
from .shapes import Attached, read_shapes

__all__ = ("ReadAttachment", "attachment_payloads", "read_attachments")

_logger = logging.getLogger("citestream.session")
_PDF = "application/pdf"
_SUFFIXES = {_PDF: ".pdf", "text/html": ".html", "application/xhtml+xml": ".xhtml"}
_TEXT = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml)"
    r"|application/(?:javascript|sql|toml|x-ndjson|x-yaml|yaml)"
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';]+)")
_UTF8 = frozenset({"utf-8", "utf8", "us-ascii"})


@attrs.frozen(kw_only=True)
class ReadAttachment:
    """A document of an attachment; a ``directory`` has many.

    ``index`` is the number of the attachment, from 0. ``granularity`` is how finely to cite it.
    ``lines`` is what of the file the user means, counted from 1, the last line inclusive; None
    for all of it. ``data`` is the file itself where it is a PDF, for vendors that read PDFs on
    their own; None for others, and for PDFs that would make all together exceed ``max_file_bytes``.
    """

    index: int
    document: SourceDocument
    granularity: Granularity
    lines: tuple[int, int] | None = None
    data: bytes | None = attrs.field(default=None, repr=False)

    @property
    def media_type(self) -> str:
        """The type of ``data``."""
        return "text/plain" if self.data is None else _PDF


async def read_attachments(
    attachments: Iterable[Mapping[str, Any]],
    /,
    *,
    root: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[ReadAttachment]:
    """Read ``attachments``, in order. ``root`` is the working directory where none is given.

    What a ``directory`` holds and cannot be read is logged and left out. Raises OptionError for
    mappings of another shape, paths outside of the root, links, and what cannot be read or holds no
    text; DecodeError for bytes that are not what they claim to be; LimitError for too many.
    """
    reader = _Reader(_root(root), limits)
    checked = [(one, reader.inside(one)) for one in read_shapes(attachments)]
    return await to_thread.run_sync(partial(reader.read, checked), abandon_on_cancel=True)


def attachment_payloads(
    attachments: Iterable[Mapping[str, Any]], /, *, root: Path | None = None
) -> tuple[dict[str, Any], ...]:
    """Return ``attachments`` as a ``user.message`` event may carry them.

    Paths are relative to ``root``, in POSIX form; ``displayName`` is always there, as the Copilot
    SDK wants it; of a ``blob`` the length stands for its bytes. Raises OptionError as
    ``read_attachments`` does, and reads nothing.
    """
    reader = _Reader(_root(root), DEFAULT_LIMITS)
    return tuple(_payload(one, reader.inside(one)) for one in read_shapes(attachments))


def _root(root: Path | None) -> Path:
    return Path.cwd() if root is None else root.absolute()


def _payload(one: Attached, path: str) -> dict[str, Any]:
    payload: dict[str, Any] = dict(one.given)
    name = f"attachment-{one.index + 1}"
    if one.type == "blob":
        payload["byteLength"] = _decoded_size(payload.pop("data"))
    else:
        payload["filePath" if one.type == "selection" else "path"] = path or "."
        name = file_name(path) or "."
    payload["displayName"] = one.display_name or name
    return payload


class _Reader:
    """Reads attachments into one list, and counts what that takes."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self._root = root
        self._limits = limits
        self._found: list[ReadAttachment] = []
        self._chars = 0
        self._bytes = 0

    def inside(self, one: Attached) -> str:
        """Return the path of an attachment relative to the root, ``""`` for one without."""
        if one.type == "blob":
            return ""
        found = path_inside(one.path, root=self._root)
        if found is None or (not found and one.type != "directory"):
            key = one.where("filePath" if one.type == "selection" else "path")
            got = brief(file_name(one.path))
            raise OptionError(f"{key}: wanted a path inside {self._root.name or '/'}, got {got}")
        return found

    def read(self, checked: Iterable[tuple[Attached, str]]) -> list[ReadAttachment]:
        """Read the attachments with these paths."""
        for one, path in checked:
            try:
                self._read(one, path)
            except (CitestreamError, OSError) as error:
                raise _about(error, path, where=f"attachments[{one.index}]") from error
        return self._found

    def _read(self, one: Attached, path: str) -> None:
        if one.type == "directory":
            self._read_folder(one, path)
        elif one.type == "blob":
            data = _decoded(one, self._limits)
            made_up = f"attachment-{one.index + 1}{_suffix(one.mime_type)}"
            document = self._document(data, made_up, title=one.display_name)
            self._add(one, attrs.evolve(document, path=None), data)
        elif one.text is not None:
            self._limits.check("max_source_chars", len(one.text))
            title = one.display_name or file_name(path)
            self._add(one, _with_text(from_text(one.text, title=title, path=path)))
        else:
            data = self._bytes_of(path)
            self._add(one, self._document(data, path, title=one.display_name), data)

    def _read_folder(self, one: Attached, folder: str) -> None:
        check_folder(self._root, folder)
        before = len(self._found)
        left_out: dict[str, LeftOut] = {}

        def skip(line: str) -> None:
            told = line.removeprefix(f"{self._root.as_posix()}/")
            _logger.warning("attachments[%d]: left out %s", one.index, told)

        whole = str(self._root / folder)
        for found in files_in(whole, skip=skip, leave_out=left_out.__setitem__):
            path = PurePath(found).relative_to(self._root).as_posix()
            try:
                if relative_path(path) != path:
                    raise OptionError("its name is read otherwise elsewhere")
                data = self._bytes_of(path)
                document = self._document(data, path, title=path)
            except (CitestreamError, OSError) as error:
                skip(str(_about(error, path)))
            else:
                self._add(one, document, data)
        if len(self._found) == before:
            others = f" ({len(left_out)} others)" if left_out else ""
            raise OptionError(f"holds no file that can be read{others}")

    def _bytes_of(self, path: str) -> bytes:
        return read_inside(self._root, path, limit=self._limits.max_file_bytes)

    def _document(self, data: bytes, path: str, *, title: str | None) -> SourceDocument:
        return _with_text(from_bytes(data, path=path, title=title, limits=self._limits))

    def _add(self, one: Attached, document: SourceDocument, data: bytes = b"") -> None:
        self._chars += document.size
        self._limits.check("max_total_chars", self._chars)
        self._limits.check("max_sources", len(self._found) + 1)
        kept = bool(document.pages) and self._bytes + len(data) <= self._limits.max_file_bytes
        if kept:
            self._bytes += len(data)
        self._found.append(
            ReadAttachment(
                index=one.index,
                document=document,
                granularity=Granularity.PAGE if document.pages else Granularity.LINE,
                lines=one.lines,
                data=data if kept else None,
            )
        )


def _with_text(document: SourceDocument) -> SourceDocument:
    # A PDF of pictures has none, and yet there are vendors that can read it.
    if not document.pages and not document.content.strip():
        raise OptionError("holds no text")
    return document


def _about(
    error: CitestreamError | OSError, path: str, *, where: str | None = None
) -> CitestreamError:
    """Return ``error`` with what it is about, and without a trace of where the root is."""
    shown = f"{where}, {path}" if where and path else where or path
    if isinstance(error, DecodeError):
        # It knows the last name of the path only, and of a blob one that was made up.
        _, comma, place = error.path.removeprefix(file_name(path)).partition(", ")
        return DecodeError(path=f"{shown}{comma}{place}", expected=error.expected, got=error.got)
    if isinstance(error, OSError):
        return OptionError(f"{shown}: {error.strerror}")
    kind = LimitError if isinstance(error, LimitError) else OptionError
    return kind(f"{shown}: {error}")


def _decoded(one: Attached, limits: Limits) -> bytes:
    limits.check("max_file_bytes", _decoded_size(one.data))
    try:
        return base64.b64decode(one.data, validate=True)
    except ValueError as error:
        raise OptionError(f"data: wanted base64, got {brief(one.data)} ({error})") from error


def _decoded_size(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")


def _suffix(mime_type: str) -> str:
    """Return the suffix that says how a blob is read."""
    kind, _, parameters = mime_type.lower().partition(";")
    kind = kind.strip()
    charset = _CHARSET.search(parameters)
    if charset is not None and charset[1] not in _UTF8:
        raise OptionError(f"mimeType: wanted the charset utf-8, got {brief(charset[1])}")
    suffix = _SUFFIXES.get(kind) or (".txt" if _TEXT.fullmatch(kind) else None)
    if suffix is None:
        raise OptionError(f"mimeType: wanted that of a text, HTML or a PDF, got {brief(mime_type)}")
    return suffix
