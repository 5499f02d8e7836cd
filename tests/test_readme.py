"""Every code block of the README runs, and prints what the README says."""

import contextlib
import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from citestream.cli.app import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [
    (code, BLOCKS[index + 1][1]) for index, (kind, code) in enumerate(BLOCKS) if kind == "python"
]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch, tmp_path):
    """A folder with what the README's paths name, in which its code may leave files."""
    for folder in ("examples", "tests/data/copilot"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("code", "printed"), PYTHON)
def test_python_prints_what_follows(code, printed):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - our README
    assert out.getvalue() == printed


COMMANDS = [
    (command.rpartition(".venv/bin/citestream ")[2], BLOCKS[index + 1][1])
    for index, (kind, command) in enumerate(BLOCKS)
    if kind == "sh" and ".venv/bin/citestream " in command
]


@pytest.mark.parametrize(("command", "printed"), COMMANDS)
def test_commands_print_what_follows(capsysbinary, command, printed):
    assert run(shlex.split(command)) == 0
    assert capsysbinary.readouterr().out.decode() == printed


def test_the_first_command_asks_about_an_example():
    assert BLOCKS[0][1].rpartition("/citestream ")[2].startswith('ask "')
    example, original = ROOT / "examples" / "handbook.md", ROOT / "tests" / "data" / "handbook.md"
    assert example.read_bytes() == original.read_bytes()
    assert len(COMMANDS) >= 2


def test_the_second_command_is_what_ci_runs():
    kind, command = BLOCKS[2]
    assert kind == "sh"
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_nothing_else_is_shown_as_code():
    assert {kind for kind, _ in BLOCKS} == {"sh", "python", "text"}
    assert len(PYTHON) >= 3
    assert sys.version_info >= (3, 11)
