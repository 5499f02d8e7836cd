import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.errors import DependencyError

from citestream.errors import CitestreamError, DecodeError, LimitError, OptionError
from citestream.sources.file_formats import from_bytes
from citestream.sources.limits import Limits

DATA = Path(__file__).parents[1] / "data"
PDF = (DATA / "handbook.pdf").read_bytes()


@pytest.mark.parametrize("path", ["a.txt", "a.md", "a", "A.RST", "docs/a.py"])
def test_what_is_not_html_or_pdf_is_text(path):
    document = from_bytes("a\r\n漢<p>".encode(), path=path)
    assert document.content == "a\r\n漢<p>"
    assert document.path == path
    assert document.title == path.rsplit("/", maxsplit=1)[-1]


def test_a_byte_order_mark_is_left_out():
    assert from_bytes(b"\xef\xbb\xbfa", path="a.txt").content == "a"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ab\xffc", "a.txt, byte 2: expected UTF-8 text, got 0xff"),
        (b"\xef\xbb\xbfab\xc3", "a.txt, byte 5: expected UTF-8 text, got 0xc3"),
        (b"\xff\xfea\0", "a.txt, byte 0: expected UTF-8 text, got a UTF-16 byte order mark"),
        (b"\xed\xa0\x80", "a.txt, byte 0: expected UTF-8 text, got 0xed"),
    ],
)
def test_text_that_is_not_utf8_says_where(data, message):
    with pytest.raises(DecodeError) as caught:
        from_bytes(data, path="/home/kim/a.txt")
    assert str(caught.value) == message


@pytest.mark.parametrize("suffix", ["html", "HTM", "xhtml"])
def test_html_is_reduced_to_text(suffix):
    document = from_bytes((DATA / "handbook.html").read_bytes(), path=f"a.{suffix}", url="u")
    assert document.title == "Tidewater Instruments & friends: on-call"
    assert document.url == "u"
    assert "Ignore" not in document.content
    assert "S1\t5 minutes\n" in document.content
    assert "gaugectl drain --wait\n    gaugectl restart ingest" in document.content


def test_a_title_of_the_caller_comes_first():
    assert from_bytes(b"<title>a</title>", path="a.html", title="b", updated="c").title == "b"
    assert from_bytes(b"<p>a", path="a.html").title == "a.html"


def test_a_pdf_is_read_by_page():
    document = from_bytes(PDF, path="docs/manual.pdf")
    starts = [document.content[start:end].split("\n")[0] for start, end in document.pages]
    assert starts == [
        "Tidewater Instruments: field manual",
        "Cleaning and calibration",
        "After the visit",
    ]
    assert (document.title, document.path) == ("manual.pdf", "docs/manual.pdf")


def test_bytes_pages_and_characters_are_bounded():
    with pytest.raises(LimitError, match="max_file_bytes: at most 3, got 4"):
        from_bytes(b"abcd", path="a.txt", limits=Limits(max_file_bytes=3))
    with pytest.raises(LimitError, match="max_source_chars: at most 3, got 4"):
        from_bytes(b"abcd", path="a.txt", limits=Limits(max_source_chars=3))
    with pytest.raises(LimitError, match="max_pages: at most 2, got 3"):
        from_bytes(PDF, path="a.pdf", limits=Limits(max_pages=2))
    with pytest.raises(LimitError, match="max_source_chars: at most 200"):
        from_bytes(PDF, path="a.pdf", limits=Limits(max_source_chars=200))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"no pdf at all", PDF[:900]])
def test_a_damaged_pdf_says_where(data):
    with pytest.raises(DecodeError, match=r"^a\.pdf, page 1: expected a PDF that can be read"):
        from_bytes(data, path="x/a.pdf")


@pytest.mark.parametrize(("password", "readable"), [("secret", False), ("", True)])
def test_an_encrypted_pdf_is_not_called_damaged(password, readable):
    encrypted = BytesIO()
    writer = PdfWriter(clone_from=BytesIO(PDF))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    writer.write(encrypted)
    if readable:
        assert len(from_bytes(encrypted.getvalue(), path="a.pdf").pages) == 3
        return
    with pytest.raises(DecodeError) as caught:
        from_bytes(encrypted.getvalue(), path="x/a.pdf")
    assert str(caught.value) == "a.pdf: expected a PDF that can be read, got an encrypted one"


def test_an_encrypted_pdf_that_wants_another_library_is_called_encrypted(monkeypatch):
    def wanting(_stream):
        raise DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr("pypdf.PdfReader", wanting)
    with pytest.raises(DecodeError, match=r"^a\.pdf: .* got an encrypted one$"):
        from_bytes(PDF, path="a.pdf")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(PDF)), st.integers(0, 40), st.binary(max_size=12)),
        min_size=1,
        max_size=20,
    )
)
def test_damage_never_escapes(changes):
    data = PDF
    for at, cut, new in changes:
        data = data[:at] + new + data[at + cut :]
    try:
        from_bytes(data, path="a.pdf")
    except CitestreamError as error:
        assert isinstance(error, DecodeError)  # noqa: PT017 - it may also be read


@pytest.mark.parametrize(
    ("path", "module", "extra"),
    [("a.pdf", "pypdf", "pdf"), ("a.html", "citestream.sources.html_reduction", "html")],
)
def test_a_missing_extra_says_how_to_get_it(monkeypatch, path, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OptionError) as caught:
        from_bytes(b"", path=path)
    assert f'pip install "citestream[{extra}]"' in str(caught.value)
