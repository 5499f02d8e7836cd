import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.errors import OptionError
from citestream.sources.workspace_paths import file_name, inside, relative_path

spellings = st.lists(
    st.sampled_from(["a", "b.md", ".", "..", "/", "\\", "C:", "~", " ", "\0", "%2e%2e", "漢"]),
    max_size=8,
).map("".join)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("plan.md", "plan.md"),
        ("docs/plan.md", "docs/plan.md"),
        ("docs//./plan.md", "docs/plan.md"),
        ("./plan.md", "plan.md"),
        ("docs\\sub\\plan.md", "docs/sub/plan.md"),
        ("docs/..plan", "docs/..plan"),
        ("資料/計画.md", "資料/計画.md"),
        ("a~", "a~"),
        ("", None),
        (".", None),
        ("/etc/passwd", None),
        ("\\\\server\\share\\a", None),
        ("//server/a", None),
        ("C:\\a", None),
        ("c:a", None),
        ("./c:a", None),
        ("../a", None),
        ("a/../b", None),
        ("a\\..\\b", None),
        ("~/a", None),
        ("~kim/a", None),
        ("./~/a", None),
        ("a\0b", None),
    ],
)
def test_only_paths_inside_a_workspace_are_shown(path, shown):
    assert relative_path(path) == shown


@given(spellings)
def test_what_is_shown_is_relative_posix_and_stays_as_it_is(path):
    shown = relative_path(path)
    if shown is not None:
        assert not shown.startswith(("/", "~"))
        assert "\\" not in shown
        assert ".." not in shown.split("/")
        assert relative_path(shown) == shown


@given(spellings)
def test_a_file_name_tells_nothing_about_folders(path):
    name = file_name(path)
    assert not {"/", "\\"} & set(name)
    assert name != ".."


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/b.md", "b.md"), ("C:b.md", "b.md"), ("a\\b.md", "b.md"), ("..", ""), ("/", ""), ("", "")],
)
def test_the_file_name_is_the_last_name(path, name):
    assert file_name(path) == name


@pytest.mark.parametrize(
    ("path", "root", "found"),
    [
        ("a.md", "/srv/docs", ("/srv/docs/a.md", "a.md")),
        ("sub/./a.md", "docs/", ("docs/sub/./a.md", "sub/a.md")),
        ("/srv/docs/a.md", "/srv/docs", ("/srv/docs/a.md", "a.md")),
        ("/srv//docs/sub/a.md", "/srv/docs/", ("/srv//docs/sub/a.md", "sub/a.md")),
        ("C:\\docs\\a.md", "C:\\docs", ("C:\\docs\\a.md", "a.md")),
        ("/a.md", "/", ("/a.md", "a.md")),
    ],
)
def test_a_path_under_the_root_is_relative_to_it(path, root, found):
    assert inside(path, root=root) == found


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("../a.md", "/srv/docs"),
        ("/srv/docs/../a.md", "/srv/docs"),
        ("/srv/docs2/a.md", "/srv/docs"),
        ("/etc/passwd", "docs"),
        ("/docs/a.md", "docs"),
        ("/srv/docs", "/srv/docs"),
        ("", "docs"),
        ("~/a.md", "docs"),
    ],
)
def test_a_path_that_leaves_the_root_is_refused(path, root):
    with pytest.raises(OptionError, match="wanted a path inside the root"):
        inside(path, root=root)


def test_the_refusal_does_not_tell_where_the_root_is():
    with pytest.raises(OptionError) as caught:
        inside("/home/kim/secret/a.md", root="/srv/docs")
    assert "kim" not in str(caught.value)
    assert "srv" not in str(caught.value)
