from pathlib import Path

import pytest

from citestream.errors import LimitError, OptionError
from citestream.sources.files import from_file
from citestream.sources.limits import Limits

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("name", ["handbook.md", "handbook.ja.txt"])
@pytest.mark.parametrize("spell", [str, Path])
def test_a_file_under_a_root_shows_its_path_from_there(name, spell):
    for path in (spell(DATA / name), spell(name)):
        document = from_file(path, root=DATA)
        assert document.content == (DATA / name).read_text(encoding="utf-8")
        assert (document.path, document.title) == (name, name)


def test_without_a_root_an_absolute_path_shows_its_name_alone():
    document = from_file(DATA / "handbook.md", title=None)
    assert (document.path, document.title) == (None, "handbook.md")


def test_without_a_root_a_relative_path_stays(monkeypatch):
    monkeypatch.chdir(DATA.parent)
    assert from_file("data/handbook.md", url="u", updated="d").path == "data/handbook.md"
    assert from_file("../tests/data/handbook.md").path is None


def test_names_of_the_caller_come_first():
    document = from_file(DATA / "handbook.md", title="t", url="u", updated="d")
    assert (document.title, document.url, document.updated) == ("t", "u", "d")


def test_a_file_outside_the_root_is_not_opened():
    with pytest.raises(OptionError, match="inside the root"):
        from_file("../test_house.py", root=DATA)


def test_a_path_with_a_null_character_is_refused():
    with pytest.raises(OptionError, match="null character"):
        from_file("a\0b")


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        from_file(tmp_path / "none.md")


def test_no_more_than_the_limit_is_read(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"x" * 11)
    assert len(from_file(file, limits=Limits(max_file_bytes=11)).content) == 11
    with pytest.raises(LimitError, match="max_file_bytes: at most 10, got 11"):
        from_file(file, limits=Limits(max_file_bytes=10))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="wants an endless file")
def test_an_endless_file_is_refused_in_bounded_memory():
    with pytest.raises(LimitError, match="max_file_bytes"):
        from_file("/dev/zero", limits=Limits(max_file_bytes=1000))
