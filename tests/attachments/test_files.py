import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.attachments import files as room
from citestream.attachments.files import check_folder, path_inside, read_inside
from citestream.errors import OptionError
from citestream.sources.workspace_paths import relative_path

REFUSED = "wanted a regular file that no link leads to"
FOLDER = "wanted a (folder|regular file) that no link leads to"


@pytest.fixture(params=[True, False], ids=["stepwise", "checked"])
def way(request, monkeypatch):
    """Open files in both ways: the second is for platforms without the means of the first."""
    monkeypatch.setattr(room, "_STEPWISE", request.param)


both_ways = pytest.mark.usefixtures("way")


@pytest.fixture
def place(tmp_path):
    """A root beside a folder that lies outside of it."""
    (tmp_path / "root" / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "away").mkdir()
    (tmp_path / "root" / "docs" / "a.md").write_text("Meals.")
    (tmp_path / "root" / "docs" / "sub" / "b.md").write_text("Taxis.")
    (tmp_path / "away" / "secret.md").write_text("Secret.")
    (tmp_path / "secret.md").write_text("Secret.")
    return tmp_path


def read(root, path):
    return read_inside(root, path, limit=100)


# -- paths


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a.md", "a.md"),
        ("docs/a.md", "docs/a.md"),
        ("./docs//./a.md/", "docs/a.md"),
        ("/srv/kb/docs/a.md", "docs/a.md"),
        ("/srv/kb/./docs//a.md", "docs/a.md"),
        ("%2e%2e/a.md", "%2e%2e/a.md"),
        ("docs/~kim.md", "docs/~kim.md"),
        ("...", "..."),
        (".", ""),
        ("/srv/kb", ""),
        ("/srv/kb/", ""),
    ],
)
def test_paths_inside_the_root_are_relative_to_it(path, inside):
    assert path_inside(path, root=Path("/srv/kb")) == inside


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret.md",
        "docs/../../secret.md",
        "docs/../docs/a.md",
        "/etc/passwd",
        "/srv",
        "/srv/kb/../secret.md",
        "/srv/kb2/a.md",
        "//srv/kb/a.md",
        "//server/share/a.md",
        r"\\server\share\a.md",
        r"\\?\C:\a.md",
        r"C:\a.md",
        "C:/a.md",
        "c:a.md",
        "./c:a.md",
        r"docs\a.md",
        r"docs\..\..\secret.md",
        "~",
        "~kim/a.md",
        "./~/a.md",
        "a\0.md",
        "/srv/kb/a\0.md",
        "file:///etc/passwd/..",
    ],
)
def test_paths_that_leave_the_root_are_none(path):
    assert path_inside(path, root=Path("/srv/kb")) is None


def test_a_root_may_be_spelled_through_a_link(place):
    (place / "short").symlink_to(place / "root")
    for root in (place / "root", place / "short"):
        assert path_inside(str(root / "docs" / "a.md"), root=root) == "docs/a.md"
    real = str(place / "root" / "docs" / "a.md")
    assert path_inside(real, root=place / "short") == "docs/a.md"
    assert read(place / "short", "docs/a.md") == b"Meals."


PATHS = st.lists(
    st.sampled_from(["..", ".", "", "a", "~", "C:", "\\", "/", "\0", "%2e%2e", "srv", "kb"])
).map("/".join)


@given(PATHS | st.text(), st.booleans())
def test_no_path_inside_leads_out(path, under):
    root = Path("/srv/kb")
    found = path_inside(f"/srv/kb/{path}" if under else path, root=root)
    if found:
        assert Path(os.path.normpath(root / found)).is_relative_to(root)
        assert relative_path(found) == found


# -- files


@both_ways
def test_files_are_read_up_to_one_byte_beyond_the_limit(place):
    assert read(place / "root", "docs/sub/b.md") == b"Taxis."
    assert read_inside(place / "root", "docs/a.md", limit=3) == b"Meal"
    with pytest.raises(FileNotFoundError):
        read(place / "root", "docs/none.md")
    with pytest.raises((NotADirectoryError, FileNotFoundError)):
        read(place / "root", "docs/a.md/b.md")


@both_ways
def test_an_encoded_path_is_a_name(place):
    with pytest.raises(FileNotFoundError):
        read(place / "root", "%2e%2e/secret.md")
    (place / "root" / "%2e%2e").mkdir()
    (place / "root" / "%2e%2e" / "a.md").write_text("A name.")
    assert read(place / "root", "%2e%2e/a.md") == b"A name."


@both_ways
def test_no_link_is_followed(place):
    docs = place / "root" / "docs"
    (docs / "out.md").symlink_to(place / "away" / "secret.md")
    (docs / "in.md").symlink_to(docs / "a.md")
    (docs / "none.md").symlink_to("nowhere")
    (docs / "away").symlink_to(place / "away")
    (docs / "again").symlink_to("sub")
    for name in ("out.md", "in.md", "none.md", "away/secret.md", "again/b.md"):
        with pytest.raises(OptionError, match=FOLDER):
            read(place / "root", f"docs/{name}")


@both_ways
def test_only_regular_files_are_read(place):
    os.mkfifo(place / "root" / "pipe.md")
    for name in ("pipe.md", "docs"):
        with pytest.raises(OptionError, match=REFUSED):
            read(place / "root", name)
    for name in ("null", "zero", "tty"):
        if Path("/dev", name).exists():
            with pytest.raises(OptionError, match=REFUSED):
                read(Path("/dev"), name)


@both_ways
def test_folders_are_checked_for_links(place):
    docs = place / "root" / "docs"
    (docs / "away").symlink_to(place / "away")
    for folder in ("", "docs", "docs/sub"):
        check_folder(place / "root", folder)
    for folder in ("docs/away", "docs/away/more"):
        with pytest.raises(OptionError, match=FOLDER):
            check_folder(place / "root", folder)
    for folder in ("docs/a.md", "docs/none"):
        with pytest.raises((OptionError, OSError)):
            check_folder(place / "root", folder)


@both_ways
def test_a_file_that_becomes_another_kind_meanwhile_is_refused(place, monkeypatch):
    pipe = place / "root" / "docs" / "a.md"
    before = pipe.lstat()
    pipe.unlink()
    os.mkfifo(pipe)
    # It was a regular file when it was looked at, and is none when it is opened.
    monkeypatch.setattr(os, "stat", lambda *_args, **_names: before)
    monkeypatch.setattr(Path, "lstat", lambda _path: before)
    with pytest.raises(OptionError, match=REFUSED):
        read(place / "root", "docs/a.md")


def test_a_file_that_is_swapped_between_the_checks_is_refused(place, monkeypatch):
    monkeypatch.setattr(room, "_STEPWISE", False)
    opened = os.open

    def swap_and_open(path, flags):
        (place / "away" / "secret.md").replace(path)
        return opened(path, flags)

    monkeypatch.setattr(os, "open", swap_and_open)
    with pytest.raises(OptionError, match=REFUSED):
        read(place / "root", "docs/a.md")


def opened_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what Linux shows")
@both_ways
def test_nothing_stays_open(place):
    (place / "root" / "docs" / "away").symlink_to(place / "away")
    before = opened_files()
    read(place / "root", "docs/sub/b.md")
    check_folder(place / "root", "docs/sub")
    for name in ("docs/away/secret.md", "docs/none/b.md", "docs", "docs/none.md"):
        with pytest.raises((OptionError, OSError)):
            read(place / "root", name)
    assert opened_files() == before


def swapping(target, kept, link, times):
    """Make ``target`` in turn what is kept aside and a link, by renaming, ``times`` times."""
    aside = target.with_name("aside")
    for _ in range(times):
        target.rename(aside)
        link.rename(target)
        target.rename(link)
        aside.rename(target)
    assert kept.exists()


@pytest.mark.parametrize("name", ["docs", "docs/sub/b.md"])
def test_names_that_are_swapped_meanwhile_lead_nowhere(place, name):
    root = place / "root"
    target = root / name
    outside = place / "away" / "docs"
    (outside / "sub").mkdir(parents=True)
    (outside / "sub" / "b.md").write_text("Secret.")
    link = place / "link"
    link.symlink_to(outside if target.is_dir() else outside / "sub" / "b.md")
    swaps = threading.Thread(target=swapping, args=(target, target, link, 400))
    swaps.start()
    seen = set()
    while swaps.is_alive():
        try:
            seen.add(read(root, "docs/sub/b.md"))
        except (OptionError, OSError):
            seen.add(b"refused")
    swaps.join()
    assert seen <= {b"Taxis.", b"refused"}
    assert read(root, "docs/sub/b.md") == b"Taxis."
    assert stat.S_ISLNK(link.lstat().st_mode)
