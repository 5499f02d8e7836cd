import os

import pytest

from citestream.attachments.folders import LINKED_FOLDER, OTHER_FILE, SUFFIXES, files_in, unhidden


def walk(folder):
    skipped, left_out = [], {}
    found = list(files_in(str(folder), skip=skipped.append, leave_out=left_out.__setitem__))

    def short(path):
        return os.path.relpath(path, folder)

    return [short(path) for path in found], skipped, {short(p): k for p, k in left_out.items()}


@pytest.fixture
def place(tmp_path):
    for name in ("docs/sub", "docs/.git", "away"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("b.MD", "a.txt", "sub/c.html", "d.png", "sub/e", ".hid.md", ".git/f.md"):
        (tmp_path / "docs" / name).write_text("Meals are paid.")
    (tmp_path / "away" / "secret.md").write_text("Secret.")
    return tmp_path


def test_files_are_found_in_order_by_suffix(place):
    assert walk(place / "docs") == (
        ["a.txt", "b.MD", "sub/c.html"],
        [],
        {"d.png": OTHER_FILE, "sub/e": OTHER_FILE},
    )


def test_no_link_is_followed(place):
    docs = place / "docs"
    (docs / "linked").symlink_to(place / "away")
    (docs / "sub" / "loop").symlink_to("..")
    (docs / ".hidden").symlink_to(place / "away")
    (docs / "z.md").symlink_to(place / "away" / "secret.md")
    found, skipped, left_out = walk(docs)
    assert found == ["a.txt", "b.MD", "sub/c.html"]
    assert skipped == [f"{docs.as_posix()}/z.md: a link or no regular file"]
    assert [p for p, kind in left_out.items() if kind is LINKED_FOLDER] == ["linked", "sub/loop"]


def test_what_is_no_regular_file_is_told(place):
    os.mkfifo(place / "docs" / "f.md")
    assert walk(place / "docs")[1] == [f"{place.as_posix()}/docs/f.md: a link or no regular file"]


def test_a_folder_that_may_not_be_listed_is_told(place):
    assert walk(place / "none") == ([], [f"{place}/none: No such file or directory"], {})


def test_the_suffixes_are_those_of_texts():
    assert {".md", ".txt", ".html", ".pdf"} <= SUFFIXES


def test_hidden_names_are_left_out():
    assert unhidden(["b", ".c", "a"]) == ["a", "b"]
