"""House rules that a linter cannot see. One test per rule."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import attrs
import pytest

from citestream import errors

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "citestream"
FILES = sorted(SRC.rglob("*.py"))
MODULES = [
    ".".join(("citestream", *f.relative_to(SRC).with_suffix("").parts)).removesuffix(".__init__")
    for f in FILES
]
NO_OWN_TEST = {"__init__"}


def own_public(module):
    return {
        n: o
        for n, o in vars(module).items()
        if not n.startswith("_")
        and (inspect.isclass(o) or inspect.isfunction(o))
        and o.__module__ == module.__name__
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SRC).as_posix())
def test_first_line_says_what_the_room_is_for(path):
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert doc, "no module docstring"
    assert len(doc.splitlines()[0]) <= 100


@pytest.mark.parametrize("name", MODULES)
def test_all_is_a_complete_tuple(name):
    module = importlib.import_module(name)
    assert isinstance(module.__all__, tuple)
    assert set(own_public(module)) <= set(module.__all__) <= set(dir(module))


def test_every_error_has_one_root():
    for cls in filter(inspect.isclass, own_public(errors).values()):
        assert issubclass(cls, errors.CitestreamError)
    for name in MODULES:
        for cls in own_public(importlib.import_module(name)).values():
            if inspect.isclass(cls) and issubclass(cls, BaseException):
                assert cls.__module__ == "citestream.errors"


@pytest.mark.parametrize("name", MODULES)
def test_values_are_frozen_slotted_and_keyword_only(name):
    for cls in own_public(importlib.import_module(name)).values():
        if inspect.isclass(cls) and attrs.has(cls):
            shape = attrs.inspect(cls)
            assert shape.is_frozen
            assert shape.is_slotted
            assert all(f.kw_only for f in attrs.fields(cls) if f.init)


FOREIGN_CODE = {
    "session/asking.py": 2,
    "session/delivery.py": 2,
    "tools/permissions.py": 1,
    "tools/tool.py": 1,
}
"""Where code of strangers is called, which may raise anything, and how often that is caught."""


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SRC).as_posix())
def test_no_assert_and_no_bare_except_in_src(path):
    broad = 0
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            name = node.type.id if isinstance(node.type, ast.Name) else ""
            assert name != "BaseException"
            broad += name == "Exception"
    assert broad == FOREIGN_CODE.get(path.relative_to(SRC).as_posix(), 0)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SRC).as_posix())
def test_a_room_fits_in_the_head(path):
    assert path.read_text(encoding="utf-8").count("\n") <= 400


def test_tests_mirror_modules():
    want = {f.stem for f in FILES} - NO_OWN_TEST
    have = {f.stem.removeprefix("test_") for f in (ROOT / "tests").rglob("test_*.py")}
    assert want - have == set()


def test_readme_runs_on_its_first_screen():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(re.match(r"```(sh|py|console)", line) for line in lines[:15])


def test_the_project_speaks_of_itself_alone():
    private = re.compile(r"/work/|/root/|/tmp/|\.\./shared|pypi-more|issue #?[0-9]", re.IGNORECASE)
    for path in (*FILES, *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.md"), *ROOT.glob("*.toml")):
        if path != Path(__file__):
            found = private.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path.relative_to(ROOT)}: {found}"


def test_changelog_top_release_is_the_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    heads = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert next(h for h in heads if h.lower() != "unreleased") == version


def test_import_is_light():
    heavy = "('asyncio', 'ssl', 'trio', 'http.client')"
    code = f"import sys, citestream; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout.strip() == ""
