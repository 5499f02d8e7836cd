import io
import os
import sys
from pathlib import Path

import pytest

from citestream.cli import inputs
from citestream.cli.inputs import read_inputs
from citestream.errors import DecodeError, LimitError, OptionError
from citestream.sources import Limits

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory beside a folder that lies outside of it."""
    for name in ("here/docs/sub", "here/docs/.git", "away"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def write(path, data="Meals are paid."):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def read(*arguments, take=None):
    documents, skipped = [], []

    def keep(document):
        if take is not None:
            take(document)
        documents.append(document)

    read_inputs(arguments, take=keep, skip=skipped.append, note=skipped.append)
    assert all(document.title for document in documents)
    return [document.title for document in documents], skipped


def test_files_are_shown_relative_to_the_working_directory(place):
    write(Path("docs/a.md"))
    write(place / "away" / "b.txt")
    names = [str(place / "here" / "docs" / "a.md"), "docs/../docs/./a.md", "../away/b.txt"]
    assert read(*names) == (["docs/a.md", "b.txt"], [])


def test_a_folder_is_read_with_all_under_it_by_suffix(place):
    for name in ("docs/b.MD", "docs/a.txt", "docs/sub/c.html", "docs/d.png", "docs/.hid.md"):
        write(Path(name))
    write(Path("docs/.git/e.md"))
    write(place / "away" / "f.md")
    names = ["docs/a.txt", "docs/b.MD", "docs/sub/c.html"]
    assert read("docs") == (names, ["docs: 1 file of another kind not read"])
    assert read("../away", "docs/sub") == (["f.md", "docs/sub/c.html"], [])


def test_what_a_folder_leaves_out_is_counted_in_one_line(place):
    for name in ("a.md", "b.docx", "c.json", "sub/d.yaml", "sub/e", ".hid.json", ".git/f.json"):
        write(Path("docs", name))
    write(place / "away" / "secret.md")
    Path("docs/linked").symlink_to(place / "away")
    Path("docs/sub/loop").symlink_to("..")
    Path("docs/.hidden").symlink_to(place / "away")
    left_out = "2 linked folders, 4 files of other kinds not read"
    assert read("docs") == (["docs/a.md"], [f"docs: {left_out}"])
    Path("docs/a.md").unlink()
    with pytest.raises(OptionError) as caught:
        read("docs")
    assert str(caught.value) == f"docs: holds no file that can be read; {left_out}"
    assert read("docs/linked") == (["docs/linked/secret.md"], [])


def test_unreadable_files_in_a_folder_are_named_and_skipped(place):
    write(Path("docs/a.md"))
    write(Path("docs/b.md"), b"abc\xff")
    write(Path("docs/c.md"), " \n")
    write(Path("docs/d.pdf"), b"%PDF-nonsense")
    write(place / "away" / "secret.md")
    Path("docs/e.md").symlink_to(place / "away" / "secret.md")
    os.mkfifo("docs/f.md")
    names, skipped = read("docs")
    assert names == ["docs/a.md"]
    assert sorted(line.partition(":")[0].partition(",")[0] for line in skipped) == [
        f"docs/{name}" for name in ("b.md", "c.md", "d.pdf", "e.md", "f.md")
    ]
    assert "docs/b.md, byte 3: expected UTF-8 text, got 0xff" in skipped
    assert "docs/c.md: holds no text" in skipped


def test_what_may_not_be_opened_is_skipped_in_a_folder(place, monkeypatch):
    write(Path("docs/a.md"))
    write(Path("docs/sub/b.md"))

    def denied(path):
        if path.endswith("b.md"):
            raise PermissionError(13, "Permission denied", path)
        return b"Meals."

    monkeypatch.setattr(inputs, "_bytes", denied)
    assert read("docs") == (["docs/a.md"], ["docs/sub/b.md: Permission denied"])
    with pytest.raises(PermissionError):
        read("docs/sub/b.md")
    assert place


def test_a_folder_that_may_not_be_listed_is_named(place, monkeypatch):
    def walk(folder, *, onerror):
        onerror(PermissionError(13, "Permission denied", f"{folder}/sub"))
        yield folder, [], ["a.md"]

    write(Path("docs/a.md"))
    monkeypatch.setattr(os, "walk", walk)
    assert read("docs") == (["docs/a.md"], ["docs/sub: Permission denied"])
    assert place


def test_globs_are_expanded_where_the_shell_did_not(place):
    for name in ("docs/a.md", "docs/b.xyz", "docs/sub/c.md", "docs/[d].md"):
        write(Path(name))
    write(Path("docs/e.xyz"), b"\xff")
    assert read("docs/*.md") == (["docs/[d].md", "docs/a.md"], [])
    assert read("docs/**/*.md")[0] == ["docs/[d].md", "docs/a.md", "docs/sub/c.md"]
    assert read("docs/[d].md")[0] == ["docs/[d].md"]
    names, skipped = read("docs/*", str(place / "here" / "docs" / "*.md"))
    assert names == ["docs/[d].md", "docs/a.md", "docs/b.xyz"]
    assert skipped == ["docs/e.xyz, byte 0: expected UTF-8 text, got 0xff"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("./**/*.txt", ["a.txt", "docs/b.txt", "docs/sub/c.txt"]),
        ("**/docs/**/**/*.txt", ["docs/b.txt", "docs/sub/c.txt"]),
        ("docs/**", ["docs/b.txt", "docs/e", "docs/sub/c.txt", "docs/sub/d.md"]),
        ("*/[!d].txt", ["docs/b.txt"]),
        ("d?cs/sub/c.txt", ["docs/sub/c.txt"]),
        ("docs/*/../b.txt", ["docs/b.txt"]),
        ("docs/.*/*.md", ["docs/.git/f.md"]),
        ("docs/.h*", ["docs/.hid.txt"]),
        ("*.txt", ["a.txt"]),
        ("*/*/*", ["docs/sub/c.txt", "docs/sub/d.md"]),
    ],
)
def test_globs_match_as_in_a_shell(place, pattern, names):
    for name in ("b.txt", "e", "sub/c.txt", "sub/d.md", ".hid.txt", ".git/f.md"):
        write(Path("docs", name))
    write(Path("a.txt"))
    assert read(pattern)[0] == names
    assert read(str(place / "here" / pattern))[0] == names


def test_globs_follow_no_links(place):
    write(Path("docs/a.txt"))
    write(place / "away" / "secret.txt")
    write(place / "away" / "sub.txt")
    for name in ("loop", "docs/again"):
        Path(name).symlink_to(place / "here")
    Path("docs/secret.txt").symlink_to(place / "away" / "secret.txt")
    Path("docs/none.txt").symlink_to("nowhere")
    Path("docs/other.md").symlink_to(place / "away" / "sub.txt")
    names, told = read("./**/*.txt")
    assert names == ["docs/a.txt"]
    assert told == ["./**/*.txt: 2 linked folders, 1 linked file not read"]
    assert read("docs/*") == (["docs/a.txt"], ["docs/*: 2 linked files not read"])
    assert read("*/a.txt") == (["docs/a.txt"], ["*/a.txt: 1 linked folder not read"])
    told = "1 linked file not read"
    with pytest.raises(OptionError, match=rf"matches no file that can be read; {told}"):
        read("docs/s*.txt")
    with pytest.raises(OptionError, match=rf"matches no file that can be read; {told}"):
        read("d*/secret.txt")


def test_what_stands_before_the_first_wildcard_may_be_a_link(place):
    write(place / "away" / "a.txt")
    Path("linked").symlink_to(place / "away")
    assert read("linked/*.txt") == (["linked/a.txt"], [])
    assert read("linked/**/*.txt") == (["linked/a.txt"], [])


def test_many_links_in_circles_take_no_time(place):
    write(Path("docs/a.txt"))
    for number in range(40):
        Path(f"docs/loop{number}").symlink_to(".")
    assert read("**/*.txt") == (["docs/a.txt"], ["**/*.txt: 40 linked folders not read"])
    assert place


def test_no_two_files_look_alike(place):
    for name in ("away/x", "away/y", "here/y"):
        (place / name).mkdir()
        write(place / name / "a.md")
    write(Path("a.md"))
    assert read("a.md", "../away/x", "../away/y/a.md", "y/a.md")[0] == [
        "a.md",
        "x/a.md",
        "y/a.md",
        "here/y/a.md",
    ]


def test_standard_input_is_a_text(place, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Meals are paid.")))
    write(Path("standard input"))
    documents = []
    assert read("-", "standard input", take=documents.append) == (
        ["standard input", "here/standard input"],
        [],
    )
    assert [document.path for document in documents] == [None, "here/standard input"]
    assert place


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "standard input: takes text only, got a PDF"),
        (b"", "standard input: holds no text"),
        (b"abc\xff", "standard input, byte 3: expected UTF-8 text, got 0xff"),
    ],
)
def test_standard_input_that_is_no_text_is_an_error(monkeypatch, data, problem):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises((DecodeError, OptionError)) as caught:
        read("-")
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("argument", "error", "problem"),
    [
        ("nowhere.md", FileNotFoundError, "nowhere.md"),
        ("docs/bad.md", DecodeError, "docs/bad.md, byte 0: expected UTF-8 text, got 0xff"),
        ("docs/empty.md", OptionError, "docs/empty.md: holds no text"),
        ("docs/sub", OptionError, "docs/sub: holds no file that can be read"),
        ("*.md", OptionError, r"\*.md: matches no file that can be read"),
        ("docs/*.png", OptionError, "matches no file that can be read"),
    ],
)
def test_what_is_named_and_cannot_be_used_is_an_error(place, argument, error, problem):
    write(Path("docs/bad.md"), b"\xff")
    write(Path("docs/empty.md"), "\n")
    with pytest.raises(error, match=problem):
        read(argument)
    assert place


def test_a_document_that_is_refused_is_an_error(place):
    write(Path("docs/a.md"))

    def refuse(_document):
        raise LimitError("max_sources: at most 0, got 1")

    with pytest.raises(OptionError, match=r"docs/a\.md: max_sources: at most 0, got 1"):
        read("docs/a.md", take=refuse)
    assert place


def test_when_nothing_more_is_taken_one_line_says_so(place):
    for name in ("docs/a.md", "docs/b.md", "docs/c.md", "docs/sub/d.md", "docs/e.png"):
        write(Path(name))
    write(place / "away" / "f.md")
    taken = []

    def take(document):
        taken.append(document)
        Limits(max_sources=1).check("max_sources", len(taken))

    names, told = read("docs", "../away", "docs/sub", "docs/*.md", "*.none", take=take)
    assert names == ["docs/a.md"]
    assert told == [
        "docs/b.md: max_sources: at most 1, got 2; no more files of folders and globs are read"
    ]
    assert len(taken) == 2
    with pytest.raises(OptionError, match=r"docs/c\.md: max_sources: at most 1, got 4"):
        read("docs/*.md", "docs/c.md", take=take)


def test_no_more_of_a_file_is_read_than_the_limit(place, monkeypatch):
    write(Path("docs/a.md"))
    sizes = []

    def sized(data, **_names):
        sizes.append(len(data))
        raise LimitError("max_file_bytes: at most 4, got 5")

    monkeypatch.setattr(inputs, "from_bytes", sized)
    monkeypatch.setattr(inputs, "DEFAULT_LIMITS", Limits(max_file_bytes=4))
    with pytest.raises(OptionError, match=r"docs/a\.md: max_file_bytes: at most 4"):
        read("docs/a.md")
    assert sizes == [5]
    assert place
