import io
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from citestream import cli, format_marker
from citestream.cli.app import run

DATA = Path(__file__).parents[1] / "data" / "copilot"
MARKERS = str(DATA / "live-openai-markers.jsonl")
ANSWER = """\
## On-call handoff

The outgoing engineer posts a summary in the channel before 09:00 UTC.[^1] Open incidents are \
reassigned explicitly, e.g. by editing the incident record.[^1][^2]

- Pager swap happens 🚨 at 09:15.[^2]
- 週次レビューは月曜日に行われます。[^3] 次の担当者が確認します。

| Step | Owner |
|---|---|
| Summary | outgoing[^1] |

Costs fell by 3.5% vs. plan, per Dr. Lee's note.[^1][^2][^4]

[^1]: turn0file0, L2-L3, L5, L2
[^2]: turn0file1, L1-L2
[^3]: turn0search2
[^4]: turn9file9
"""
A = format_marker("a", locator="L1-L3")


@pytest.fixture
def call(capsysbinary, monkeypatch):
    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run(list(arguments))
        out, err = capsysbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def event(kind, **data):
    return json.dumps(
        {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    ).encode()


def test_replay_prints_the_answer_with_footnotes(call):
    assert call("replay", MARKERS) == (0, ANSWER, "")


def test_replay_of_the_persisted_log_prints_the_same(call):
    assert call("replay", str(DATA / "persisted-openai-markers.jsonl")) == (0, ANSWER, "")


def test_replay_keeps_what_the_upstream_cited(call):
    status, out, err = call(
        "replay", "--format", "plain", str(DATA / "live-anthropic-citations.jsonl")
    )
    assert (status, err) == (0, "")
    assert "before termination [1].\n" in out
    assert out.endswith(
        "\n\n[5] Summary, https://legal.example/summary\n    > A summary of the agreement\n"
    )


def test_replay_shows_nothing_of_a_marker_that_is_cut_off(call):
    _, out, _ = call("replay", str(DATA / "live-openai-truncated-marker.jsonl"))
    assert out.split("\n\n")[1].endswith("e.g. by editi")


def test_replay_as_json_prints_the_processed_events(call):
    status, out, _ = call("replay", "--format", "json", MARKERS)
    events = [json.loads(line) for line in out.splitlines()]
    finals = [e["data"] for e in events if e["type"] == "assistant.message"]
    deltas = [e["data"] for e in events if e["type"] == "assistant.message_delta"]
    assert status == 0
    assert "".join(d["deltaContent"] for d in deltas) == finals[-1]["content"]
    assert [s["id"] for s in finals[-1]["citations"]["sources"]] == ["s0", "s1", "s2", "s3"]


def test_replay_names_damaged_lines_and_goes_on(call):
    log = b"\n".join(
        [event("assistant.message", messageId="m", content="One."), b"{broken", b"", b"\xff"]
    )
    status, out, err = call("replay", "-", stdin=log)
    assert (status, out) == (0, "One.\n")
    assert [line.split(": ")[:2] for line in err.splitlines()] == [
        ["-:2", "skipped"],
        ["-:4", "skipped"],
    ]


def test_replay_keeps_several_answers_apart(call):
    log = b"\n".join(
        [
            event("assistant.message", messageId="m", content=f"One. {A}"),
            event("assistant.message", messageId="n", content=""),
            event("assistant.message", messageId="n", content=f"Two. {A}"),
        ]
    )
    assert call("replay", "-", stdin=log)[1] == (
        "One.[^1]\n\n[^1]: a, L1-L3\n\n---\n\nTwo.[^2-1]\n\n[^2-1]: a, L1-L3\n"
    )


def test_replay_shows_an_answer_that_was_cut_off_as_far_as_it_goes(call):
    log = b"\n".join(
        [
            event("assistant.message_delta", messageId="m", deltaContent=f"One. {A[:-3]}"),
            event("assistant.message_delta", messageId="n", deltaContent=" "),
        ]
    )
    assert call("replay", "-", stdin=log) == (
        0,
        "One.\n",
        "-: message 'm' is cut off: its final event is missing\n",
    )


def test_replay_lets_nothing_steer_the_terminal(call):
    log = event("assistant.message", messageId="m", content="a\x1b[2Jb\u202ec")
    assert call("replay", "-", stdin=log)[1] == "a\ufffd[2Jb\ufffdc\n"


def test_extract_lists_markers_and_names_malformed_ones(call):
    text = f"A {A} b {format_marker('x', 'y')} c \ue200cite\ue202x y\ue201 \ue200ci"
    status, out, err = call("extract", stdin=text.encode())
    assert (status, out) == (0, "2\t16\tcite\ta L1-L3\n19\t29\tcite\tx y\n")
    assert err == (
        "-:32: a cite marker 'x y' is not a source id\n"
        "-:43: a cut marker is cut off by the end of the text\n"
    )


def test_extract_as_json(call, tmp_path):
    file = tmp_path / "answer.md"
    file.write_bytes(b"\xef\xbb\xbf" + f"A {A}".encode())
    _, out, _ = call("extract", str(file), "--format", "json")
    assert json.loads(out) == {
        "start": 2,
        "end": 16,
        "family": "cite",
        "sources": [{"id": "a", "locator": "L1-L3"}],
        "raw": A,
    }


def test_strip_prints_the_text_without_markers(call):
    assert call("strip", "-", stdin=f"A {A}.\r\nb".encode()) == (0, "A.\r\nb", "")


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (["replay", "nowhere.jsonl"], 1, "nowhere.jsonl: No such file or directory"),
        (["replay", "."], 1, ".: Is a directory"),
        (["replay", "-"], 1, "-: holds no events"),
        (["replay"], 2, "Missing argument 'FILE'."),
        (["cite"], 2, "No such command 'cite'."),
        (["replay", "--loud", "x"], 2, "No such option: --loud"),
    ],
)
def test_errors_are_one_line(call, arguments, status, problem):
    assert call(*arguments) == (status, "", f"citestream: error: {problem}\n")


def test_help_and_version(call):
    assert "extract" in call()[1]
    assert "Usage: citestream replay" in call("replay", "--help")[1]
    assert call("--version") == (0, f"citestream {version('citestream')}\n", "")


def command(*arguments, **options):
    code = "from citestream.cli import main; main()"
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


def test_a_reader_that_goes_away_is_no_error():
    code = (
        "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
        f"sys.argv = ['citestream', 'replay', {MARKERS!r}];"
        "from citestream.cli import main; main()"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (1, b"")


def test_what_is_left_to_write_to_a_reader_that_went_away_goes_nowhere(monkeypatch):
    def gone(_text):
        raise BrokenPipeError

    moved = []
    monkeypatch.setattr("citestream.cli.app.write", gone)
    with Path(os.devnull).open("wb") as null, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", null)
        patch.setattr("os.dup2", lambda old, new: moved.append((os.close(old), new)))
        assert run(["--version"]) == 1
        assert moved == [(None, null.fileno())]


def test_closed_streams_are_one_line_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["citestream", "replay", "-"])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == "citestream: error: -: holds no events\n"
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == "citestream: error: standard output is closed"


def test_main_ends_with_the_status(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["citestream", "--version"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("citestream ")


def test_text_that_is_not_utf8_is_one_line_too(call, tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"abc\xff")
    status, out, err = call("strip", str(file))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"citestream: error: {file}, byte 3: expected UTF-8")


def test_an_interrupt_ends_quietly(monkeypatch):
    def interrupted(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("citestream.cli.app.run", interrupted)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 130


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "citestream.cli.app", None)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert "pip install 'citestream[cli]'" in caught.value.code


def test_the_module_runs_as_the_command_does():
    done = command("replay", MARKERS, env={"PYTHONIOENCODING": "ascii", "PATH": ""})
    assert (done.returncode, done.stdout.decode()) == (0, ANSWER)
