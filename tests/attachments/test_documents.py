import base64
import os
import sys
from io import BytesIO
from pathlib import Path

import attrs
import pytest
from pypdf import PdfWriter

from citestream.attachments import attachment_payloads, read_attachments
from citestream.errors import DecodeError, LimitError, OptionError
from citestream.sources import Granularity, Limits, SourceRegistry

pytestmark = pytest.mark.anyio
DATA = Path(__file__).parents[1] / "data"
PDF = (DATA / "handbook.pdf").read_bytes()
LOCKED = BytesIO()
writer = PdfWriter(clone_from=BytesIO(PDF))
writer.encrypt("secret", "owner", algorithm="RC4-128")
writer.write(LOCKED)
HTML = "<title>Rules</title><p>Meals are paid.</p>"


@pytest.fixture
def root(tmp_path):
    """A working directory with files in it, beside what lies outside."""
    root = tmp_path / "kb"
    for name in ("docs/sub", "docs/.git", "empty"):
        (root / name).mkdir(parents=True)
    (root / "docs" / "a.md").write_text("Meals are paid.\nTaxis are not.")
    (root / "docs" / "b.html").write_text(HTML)
    (root / "docs" / "sub" / "c.pdf").write_bytes(PDF)
    (root / "docs" / "d.png").write_bytes(b"\x89PNG")
    (root / "docs" / ".git" / "e.md").write_text("Hidden.")
    (root / "blank.txt").write_text(" \n")
    (root / "code.py").write_text("x = 1\ny = 2\n")
    (tmp_path / "secret.md").write_text("Secret.")
    return root


def blob(data, mime_type, **more):
    encoded = base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()
    return {"type": "blob", "data": encoded, "mimeType": mime_type, **more}


def file(path, **more):
    return {"type": "file", "path": str(path), **more}


# -- what is read


async def test_a_file_is_read_whole(root):
    lines = {"start": 2, "end": 2}
    (one,) = await read_attachments([file("docs/a.md", lineRange=lines)], root=root)
    assert one.document.content == "Meals are paid.\nTaxis are not."
    assert (one.document.title, one.document.path) == ("a.md", "docs/a.md")
    assert (one.granularity, one.lines) == (Granularity.LINE, (2, 2))
    assert (one.index, one.data, one.media_type) == (0, None, "text/plain")


async def test_paths_may_be_absolute_and_are_shown_relative(root):
    (one,) = await read_attachments([file(root / "docs" / "a.md")], root=root)
    assert one.document.path == "docs/a.md"


async def test_without_a_root_it_is_the_working_directory(root, monkeypatch):
    monkeypatch.chdir(root / "docs")
    for given_root in (None, Path()):
        (one,) = await read_attachments([file("a.md", displayName="A")], root=given_root)
        assert (one.document.path, one.document.title) == ("a.md", "A")
    with pytest.raises(OptionError, match=r"path: wanted a path inside docs, got 'blank.txt'"):
        await read_attachments([file("../blank.txt")])


async def test_a_pdf_is_cited_by_page_and_kept(root):
    (one,) = await read_attachments([file("docs/sub/c.pdf")], root=root)
    assert one.granularity is Granularity.PAGE
    assert (one.data, one.media_type) == (PDF, "application/pdf")
    assert SourceRegistry().add(one.document, granularity=one.granularity).id == "turn0file0"


async def test_pdfs_are_kept_as_long_as_together_they_may_be_sent(root):
    limits = Limits(max_file_bytes=len(PDF) * 2 - 1)
    twice = [file("docs/sub/c.pdf"), blob(PDF, "application/pdf")]
    first, second = await read_attachments(twice, root=root, limits=limits)
    assert (first.data, second.data) == (PDF, None)
    assert second.granularity is Granularity.PAGE
    assert second.media_type == "text/plain"
    limits = Limits(max_file_bytes=len(PDF) * 2)
    assert (await read_attachments(twice, root=root, limits=limits))[1].data == PDF


async def test_a_folder_gives_its_files_by_suffix(root, caplog):
    (root / "docs" / "bad.md").write_bytes(b"abc\xff")
    (root / "docs" / "blank.md").write_text("\n")
    (root / "docs" / "z.md").symlink_to(root.parent / "secret.md")
    (root / "docs" / "back\\slash.md").write_text("Meals.")
    attached = [file("code.py"), {"type": "directory", "path": "docs"}]
    read = await read_attachments(attached, root=root)
    assert [(one.index, one.document.title, one.granularity.value) for one in read] == [
        (0, "code.py", "line"),
        (1, "docs/a.md", "line"),
        (1, "docs/b.html", "line"),
        (1, "docs/sub/c.pdf", "page"),
    ]
    assert [one.document.path for one in read[1:]] == [one.document.title for one in read[1:]]
    assert sorted(record.getMessage() for record in caplog.records) == [
        "attachments[1]: left out docs/back\\slash.md: its name is read otherwise elsewhere",
        "attachments[1]: left out docs/bad.md, byte 3: expected UTF-8 text, got 0xff",
        "attachments[1]: left out docs/blank.md: holds no text",
        "attachments[1]: left out docs/z.md: a link or no regular file",
    ]


async def test_the_root_itself_may_be_attached(root, caplog):
    read = await read_attachments([{"type": "directory", "path": "."}], root=root / "docs")
    assert [one.document.path for one in read] == ["a.md", "b.html", "sub/c.pdf"]
    assert caplog.records == []


async def test_a_file_that_goes_while_its_folder_is_read_is_left_out(root, caplog, monkeypatch):
    real = os.open

    def gone(path, *args, **names):
        if path == "b.html":
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path, *args, **names)

    monkeypatch.setattr(os, "open", gone)
    read = await read_attachments([{"type": "directory", "path": "docs"}], root=root)
    assert [one.document.path for one in read] == ["docs/a.md", "docs/sub/c.pdf"]
    told = "attachments[0]: left out docs/b.html: No such file or directory"
    assert [record.getMessage() for record in caplog.records] == [told]


async def test_a_selection_is_its_text(root):
    where = {"start": {"line": 4, "character": 0}, "end": {"line": 6, "character": 2}}
    attached = {
        "type": "selection",
        "filePath": "docs/gone.py",
        "displayName": "gone.py:5-7",
        "selection": where,
        "text": "a\nb\nc",
    }
    (one,) = await read_attachments([attached], root=root)
    assert (one.document.content, one.document.title) == ("a\nb\nc", "gone.py:5-7")
    assert (one.document.path, one.lines) == ("docs/gone.py", (5, 7))
    del attached["displayName"]
    assert (await read_attachments([attached], root=root))[0].document.title == "gone.py"


async def test_a_selection_without_text_is_the_file(root):
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    attached = {"type": "selection", "filePath": "code.py", "selection": where}
    (one,) = await read_attachments([attached], root=root)
    assert (one.document.content, one.lines) == ("x = 1\ny = 2\n", (2, 2))


@pytest.mark.parametrize(
    ("data", "mime_type", "content"),
    [
        ("Meals.", "text/plain", "Meals."),
        ("# M", "Text/Markdown; charset=UTF-8", "# M"),
        ("a,b", "text/csv; header=present", "a,b"),
        ("{}", "application/json", "{}"),
        ("{}", "application/vnd.api+json; charset=us-ascii", "{}"),
        ("<a/>", "application/xml", "<a/>"),
        ("a: 1", "application/yaml", "a: 1"),
        (HTML, "text/html; charset='utf-8'", "Meals are paid."),
        (HTML, "application/xhtml+xml", "Meals are paid."),
    ],
)
async def test_a_blob_is_read_by_its_type(root, data, mime_type, content):
    (one,) = await read_attachments([blob(data, mime_type)], root=root)
    assert one.document.content == content
    assert (one.document.path, one.granularity, one.data) == (None, Granularity.LINE, None)


async def test_a_blob_has_a_title_and_no_path(root):
    attached = [
        blob("Meals.", "text/plain", displayName="../../etc/passwd"),
        blob("Meals.", "text/plain"),
        blob(HTML, "text/html"),
        blob(PDF, "application/pdf"),
    ]
    read = await read_attachments(attached, root=root)
    titles = ["../../etc/passwd", "attachment-2.txt", "Rules", "attachment-4.pdf"]
    assert [one.document.title for one in read] == titles
    assert {one.document.path for one in read} == {None}
    assert (read[3].granularity, read[3].data) == (Granularity.PAGE, PDF)


async def test_nothing_attached_is_nothing_read(root):
    assert await read_attachments([], root=root) == []
    assert attachment_payloads([], root=root) == ()


# -- what is refused


@pytest.mark.parametrize(
    "path", ["../secret.md", "/etc/passwd", "docs/../../secret.md", r"..\secret.md", "C:/a", "."]
)
@pytest.mark.parametrize(("kind", "key"), [("file", "path"), ("selection", "filePath")])
async def test_what_leaves_the_root_is_misuse(root, kind, key, path):
    attached = [file("docs/a.md"), {"type": kind, key: path}]
    problem = rf"attachments\[1\]\.{key}: wanted a path inside kb"
    with pytest.raises(OptionError, match=problem):
        await read_attachments(attached, root=root)
    with pytest.raises(OptionError, match=problem):
        attachment_payloads(attached, root=root)


async def test_a_folder_outside_of_the_root_is_misuse(root):
    with pytest.raises(OptionError, match=r"attachments\[0\]\.path: wanted a path inside kb"):
        await read_attachments([{"type": "directory", "path": ".."}], root=root)


@pytest.mark.parametrize(
    ("attached", "error", "problem"),
    [
        (file("none.md"), OptionError, "attachments[0], none.md: No such file or directory"),
        (
            file("docs/out.md"),
            OptionError,
            "attachments[0], docs/out.md: wanted a regular file that no link leads to",
        ),
        (
            file("docs"),
            OptionError,
            "attachments[0], docs: wanted a regular file that no link leads to",
        ),
        (file("blank.txt"), OptionError, "attachments[0], blank.txt: holds no text"),
        (
            file("docs/d.png"),
            DecodeError,
            "attachments[0], docs/d.png, byte 0: expected UTF-8 text, got 0x89",
        ),
        (
            file("docs/bad.pdf"),
            DecodeError,
            "attachments[0], docs/bad.pdf, page 1: expected a PDF that can be read, got a damaged",
        ),
        (
            {"type": "directory", "path": "empty"},
            OptionError,
            "attachments[0], empty: holds no file that can be read",
        ),
        (
            {"type": "directory", "path": "away"},
            OptionError,
            "attachments[0], away: wanted a folder that no link leads to",
        ),
        (
            {"type": "directory", "path": "none"},
            OptionError,
            "attachments[0], none: No such file or directory",
        ),
        (
            {"type": "selection", "filePath": "code.py", "text": " "},
            OptionError,
            "attachments[0], code.py: holds no text",
        ),
        (
            {"type": "blob", "data": "a b", "mimeType": "text/plain"},
            OptionError,
            "attachments[0]: data: wanted base64, got 'a b'",
        ),
        (
            {"type": "blob", "data": "é", "mimeType": "text/plain"},
            OptionError,
            "attachments[0]: data: wanted base64",
        ),
        (
            blob("x", "image/png"),
            OptionError,
            "attachments[0]: mimeType: wanted that of a text, HTML or a PDF, got 'image/png'",
        ),
        (
            blob("x", "application/octet-stream"),
            OptionError,
            "attachments[0]: mimeType: wanted that of a text, HTML or a PDF, got 'application/oct",
        ),
        (blob("<svg/>", "image/svg+xml"), OptionError, "attachments[0]: mimeType: wanted that"),
        (
            blob("x", "text/plain; charset=latin-1"),
            OptionError,
            "attachments[0]: mimeType: wanted the charset utf-8, got 'latin-1'",
        ),
        (blob(b"\xff", "text/plain"), DecodeError, "attachments[0], byte 0: expected UTF-8 text"),
        (
            blob(LOCKED.getvalue(), "application/pdf"),
            DecodeError,
            "attachments[0]: expected a PDF that can be read, got an encrypted one",
        ),
    ],
)
async def test_what_cannot_be_read_says_which_it_is(root, attached, error, problem):
    (root / "docs" / "out.md").symlink_to(root.parent / "secret.md")
    (root / "docs" / "bad.pdf").write_bytes(b"%PDF-nonsense")
    (root / "away").symlink_to(root.parent)
    with pytest.raises(error) as caught:
        await read_attachments([attached], root=root)
    assert str(caught.value).startswith(problem)
    assert str(root) not in str(caught.value)


async def test_a_folder_without_texts_says_how_much_else_it_holds(root):
    (root / "empty" / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(OptionError, match=r"empty: holds no file that can be read \(1 others\)"):
        await read_attachments([{"type": "directory", "path": "empty"}], root=root)


async def test_a_root_that_is_none_is_misuse(root):
    with pytest.raises(OptionError, match=r"attachments\[0\], a\.md: No such file or directory"):
        await read_attachments([file("a.md")], root=root / "none")


ALL = [file("docs/a.md"), {"type": "directory", "path": "docs"}]
SIZE = 30  # characters of docs/a.md


@pytest.mark.parametrize(
    ("attached", "limits", "enough", "problem"),
    [
        (ALL, "max_sources", 4, r"\[1\], docs: max_sources: at most 3, got 4"),
        ([ALL[0]], "max_file_bytes", SIZE, r"docs/a.md: max_file_bytes: at most 29, got 30"),
        ([ALL[0]], "max_source_chars", SIZE, r"docs/a.md: max_source_chars: at most 29, got 30"),
        ([ALL[0]], "max_total_chars", SIZE + 13, r"max_total_chars: at most 42, got 43"),
        ([blob("a" * 9, "text/plain")], "max_file_bytes", 9, r"\[0\]: max_file_bytes: at most 8"),
        (
            [{"type": "selection", "filePath": "a", "text": "abc"}],
            "max_source_chars",
            3,
            r"\[0\], a: max_source_chars: at most 2, got 3",
        ),
    ],
)
async def test_limits_hold(root, attached, limits, enough, problem):
    at = Limits(**{limits: enough})
    assert await read_attachments(attached, root=root, limits=at)
    below = attrs.evolve(at, **{limits: enough - 1})
    with pytest.raises(LimitError, match=problem):
        await read_attachments(attached, root=root, limits=below)


async def test_one_file_that_is_too_large_costs_a_folder_no_other(root, caplog):
    limits = Limits(max_file_bytes=100)
    attached = [{"type": "directory", "path": "docs"}]
    read = await read_attachments(attached, root=root, limits=limits)
    assert [one.document.path for one in read] == ["docs/a.md", "docs/b.html"]
    assert [record.getMessage() for record in caplog.records] == [
        "attachments[0]: left out docs/sub/c.pdf: max_file_bytes: at most 100, got 101"
    ]


async def test_a_missing_extra_costs_a_folder_no_other_file(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    read = await read_attachments([{"type": "directory", "path": "docs"}], root=root)
    assert [one.document.path for one in read] == ["docs/a.md", "docs/b.html"]
    with pytest.raises(OptionError, match=r"c\.pdf: reading PDF wants an extra"):
        await read_attachments([file("docs/sub/c.pdf")], root=root)


# -- what events carry


async def test_events_carry_relative_paths_and_no_bytes(root):
    lines = {"start": 2, "end": 2}
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    attached = [
        file(root / "docs" / "a.md", lineRange=lines),
        {"type": "directory", "path": "./docs/sub/"},
        {"type": "directory", "path": str(root), "displayName": "All"},
        {
            "type": "selection",
            "filePath": "code.py",
            "displayName": "Code",
            "selection": where,
            "text": "x",
        },
        blob("abcd", "text/plain"),
        blob("abc", "text/plain", displayName="Note"),
    ]
    payloads = attachment_payloads(attached, root=root)
    assert payloads == (
        {"type": "file", "path": "docs/a.md", "lineRange": lines, "displayName": "a.md"},
        {"type": "directory", "path": "docs/sub", "displayName": "sub"},
        {"type": "directory", "path": ".", "displayName": "All"},
        {
            "type": "selection",
            "filePath": "code.py",
            "displayName": "Code",
            "selection": where,
            "text": "x",
        },
        {
            "type": "blob",
            "mimeType": "text/plain",
            "byteLength": 4,
            "displayName": "attachment-5",
        },
        {"type": "blob", "mimeType": "text/plain", "byteLength": 3, "displayName": "Note"},
    )
    assert str(root) not in str(payloads)
    assert "data" in attached[4]
