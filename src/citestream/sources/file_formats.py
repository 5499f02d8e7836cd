"""The bytes of a file made a document: text, Markdown, HTML as text, PDF by page.

In: bytes and the path that names them. Out: ``SourceDocument``. The suffix of the path decides:
``.pdf``; ``.html``, ``.htm`` and ``.xhtml``; anything else is text. Text and HTML are UTF-8, and a
byte order mark is left out. pypdf (extra ``pdf``) reads PDF, justhtml (extra ``html``) HTML,
neither imported before it is needed. Deliberately elsewhere: opening files (``files``).
"""

import struct
import zlib
from io import BytesIO

from ..errors import DecodeError, LimitError, OptionError
from .documents import SourceDocument, from_pages, from_text
from .limits import DEFAULT_LIMITS, Limits
from .workspace_paths import file_name

__all__ = ("from_bytes",)

_HTML = (".html", ".htm", ".xhtml")
_PDF = (".pdf",)
# What Python and its libraries raise inside pypdf over a damaged file, beside its own errors.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


def from_bytes(
    data: bytes,
    /,
    *,
    path: str,
    title: str | None = None,
    url: str | None = None,
    updated: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SourceDocument:
    """Make a document of the bytes of a file called ``path``.

    ``path`` leaves the workspace only as a file name, which is the title where none is given (HTML
    has a title of its own). Raises DecodeError for bytes that are not what the suffix says (its
    ``path`` is the file name and the byte or page), LimitError for too many of them, OptionError
    where an extra is missing.

    >>> from_bytes(b"Meals are paid.", path="docs/rules.md").path
    'docs/rules.md'
    """
    limits.check("max_file_bytes", len(data))
    name = file_name(path)
    suffix = path.lower()
    if suffix.endswith(_PDF):
        pages = _pdf_pages(data, name, limits)
        return from_pages(
            pages, title=title or name or None, url=url, path=path, updated=updated, limits=limits
        )
    text = _utf8(data, name)
    if suffix.endswith(_HTML):
        text, own = _html_text(text)
        title = title or own
    limits.check("max_source_chars", len(text))
    return from_text(text, title=title or name or None, url=url, path=path, updated=updated)


def _utf8(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
        # The decoder counts behind the byte order mark that it took away.
        at += 3 if data.startswith(b"\xef\xbb\xbf") else 0
        got = f"0x{data[at]:02x}"
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            at, got = 0, "a UTF-16 byte order mark"
        raise DecodeError(path=f"{name}, byte {at}", expected="UTF-8 text", got=got) from None


def _html_text(html: str) -> tuple[str, str | None]:
    try:
        from .html_reduction import reduce_html  # noqa: PLC0415 - its library is an extra
    except ImportError as error:
        raise _missing("HTML", "html") from error
    return reduce_html(html)


def _pdf_pages(data: bytes, name: str, limits: Limits) -> list[str]:
    try:
        from pypdf import PdfReader, errors  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing("PDF", "pdf") from error
    pages: list[str] = []
    size = 0
    try:
        reader = PdfReader(BytesIO(data))
        limits.check("max_pages", len(reader.pages))
        for page in reader.pages:
            text = page.extract_text()
            # Counted page by page: a small file may unfold into a huge text.
            size += len(text)
            limits.check("max_source_chars", size)
            pages.append(text)
    except LimitError:
        raise
    except (errors.FileNotDecryptedError, errors.DependencyError) as error:
        # The other library is wanted for some ways to encrypt, and for nothing else of a text.
        raise _unreadable(name, "an encrypted one") from error
    except (errors.PyPdfError, errors.DeprecationError, *_DAMAGE) as error:
        raise _unreadable(f"{name}, page {len(pages) + 1}", "a damaged one") from error
    return pages


def _unreadable(path: str, got: str) -> DecodeError:
    return DecodeError(path=path, expected="a PDF that can be read", got=got)


def _missing(what: str, extra: str) -> OptionError:
    return OptionError(f'reading {what} wants an extra: pip install "citestream[{extra}]"')
