import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from citestream import resolve
from citestream.cli.app import run
from citestream.sources import SourceRegistry, from_file

ROOT = Path(__file__).parents[2]


@pytest.fixture
def call(capsysbinary, monkeypatch):
    monkeypatch.chdir(ROOT / "tests" / "data")

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run(list(arguments))
        out, err = capsysbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def test_markdown_is_answered_by_line(call):
    assert call("ask", "How far ahead are flights booked?", "handbook.md", "--top", "1") == (
        0,
        """\
No model wrote this: it quotes what matches your question best in the sources.

- Flights are booked in economy, at least 14 days ahead where that is possible.[^1]

[^1]: handbook.md, line 59
    > - Flights are booked in economy, at least 14 days ahead where that is possible.
""",
        "",
    )


def test_a_pdf_is_answered_by_page(call):
    status, out, _ = call("ask", "May I use a wire brush?", "handbook.pdf")
    assert status == 0
    assert "- Never use a wire brush: it scratches the float.[^1]\n" in out
    assert "[^1]: handbook.pdf, page 2\n    > Cleaning and calibration\n" in out


def test_japanese_is_answered_by_line(call):
    status, out, _ = call("ask", "食事代はいくらまで支給されますか", "handbook.ja.txt")
    assert status == 0
    assert out.endswith(
        """
- 出張中の食事代は、領収書を添えて一日六千円まで支給する。[^1]

[^1]: handbook.ja.txt, line 12
    > 出張中の食事代は、領収書を添えて一日六千円まで支給する。酒代は支給しない。
"""
    )


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("How much is paid for meals?", "handbook.md"),
        ("When is the tide gauge visited and who goes?", "handbook.pdf"),
        ("当番と経費の申請", "handbook.ja.txt"),
    ],
)
def test_every_footnote_names_the_file_and_the_place_of_what_it_quotes(call, question, file):
    _, out, _ = call("ask", question, file, "--top", "9", "--format", "plain")
    content = from_file(file).content
    pages = [content[start:end] for start, end in from_file(file).pages]
    lines = content.splitlines()
    body, *notes = out.split("\n\n[")
    assert notes
    assert set(re.findall(r"\[(\d+)\]", body)) == {note.partition("]")[0] for note in notes}
    for note in notes:
        head, *quoted = note.rstrip("\n").split("\n")
        place = re.fullmatch(rf"\d+\] {re.escape(file)}, (line|lines|page) (\d+)(?:-(\d+))?", head)
        first, last = int(place[2]), int(place[3] or place[2])
        quote = "\n".join(line.removeprefix("    > ") for line in quoted)
        here = pages[first - 1] if pages else "\n".join(lines[first - 1 : last])
        assert quote == here


def test_json_is_the_processed_events_with_exact_locations(call):
    status, out, _ = call(
        "ask", "How much is paid for meals?", "handbook.md", "--format", "json", "--top", "1"
    )
    events = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [event["type"] for event in events[-2:]] == ["assistant.message", "session.idle"]
    message = events[-2]["data"]
    deltas = [e["data"]["deltaContent"] for e in events if e["type"] == "assistant.message_delta"]
    assert "".join(deltas) == message["content"]
    (reference,) = message["citations"]["spans"][0]["references"]
    place = reference["location"]
    content = from_file("handbook.md").content
    assert content[place["startIndex"] : place["endIndex"]] == reference["citedText"]
    assert message["citations"]["sources"][0]["path"] == "handbook.md"
    again = call("replay", "-", stdin=out.encode())
    assert again == call("ask", "How much is paid for meals?", "handbook.md", "--top", "1")


@pytest.mark.parametrize(
    ("granularity", "place"),
    [
        ("block", "handbook.md, block 14\n    > \\### 2.3 Hotels\n    >\n    > Up to"),
        ("document", "handbook.md\n"),
        ("line", "handbook.md, line 63\n"),
    ],
)
def test_the_granularity_may_be_chosen(call, granularity, place):
    _, out, _ = call("ask", "hotel night", "handbook.md", "--granularity", granularity)
    assert place in out


def test_several_files_are_answered_from_and_the_unreadable_named(call, tmp_path):
    (tmp_path / "a.md").write_text("Hotels cost 140 EUR.\n")
    (tmp_path / "b.md").write_bytes(b"\xff")
    status, out, err = call("ask", "hotel", str(tmp_path), "handbook.*d")
    assert status == 0
    assert "[^1]: a.md, line 1\n" in out
    assert ": handbook.md, lines 53-54\n" in out
    assert err == "skipped: b.md, byte 0: expected UTF-8 text, got 0xff\n"


def test_nothing_relevant_is_said(call):
    assert call("ask", "What is the capital of France?", "handbook.md") == (
        0,
        "No model wrote this. Nothing in the sources matches your question, so nothing is cited.\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (["ask", "x", "nowhere.md"], 1, "nowhere.md: No such file or directory"),
        (["ask", "x", "no*.md"], 1, "no*.md: matches no file that can be read"),
        (
            ["ask", "x", "copilot"],
            1,
            "copilot: holds no file that can be read; 7 files of other kinds not read",
        ),
        (["ask", "x" * 10_001, "handbook.md"], 1, "max_question_chars: at most 10000, got 10001"),
        (
            ["ask", "x", "handbook.md", "--granularity", "page"],
            1,
            "handbook.md: granularity: wanted a source with pages to cite it by page",
        ),
        (["ask", "x"], 2, "Missing argument 'FILE'."),
        (["prompt"], 2, "Missing argument 'FILE'."),
        (["prompt", "nowhere.md"], 1, "nowhere.md: No such file or directory"),
    ],
)
def test_errors_are_one_line(call, arguments, status, problem):
    assert call(*arguments) == (status, "", f"citestream: error: {problem}\n")


def test_prompt_prints_the_rules_and_the_files(call):
    status, out, err = call("prompt", "handbook.md", "handbook.ja.txt")
    assert (status, err) == (0, "")
    assert out.startswith("# Citing sources\n")
    assert '<BLOCK id="turn0file0" title="handbook.md" path="handbook.md">\n[L1] # Tide' in out
    assert "[L5] 当番は" in out
    assert out.endswith("</BLOCK>\n")


def test_prompt_prints_what_a_tool_would_return(call):
    _, out, _ = call("prompt", "--material", "tool", "handbook.pdf")
    assert "Citation Marker: \ue200cite\ue202turn0file0\ue201\nTitle: handbook.pdf\n" in out
    assert "[P2]\nCleaning and calibration" in out
    assert "\ue202P8" in out
    assert "\ue202L8" not in out


def test_what_a_model_answers_to_the_prompt_can_be_resolved(call):
    _, out, _ = call("prompt", "handbook.md", "--granularity", "block")
    assert '<BLOCK id="turn0block13"' in out
    registry = SourceRegistry()
    registry.add(from_file("handbook.md"))
    answer = resolve("Up to 140 EUR. \ue200cite\ue202turn0block13\ue201", registry)
    assert "140 EUR" in answer.citations.spans[0].references[0].cited_text


def test_lines_of_html_are_those_of_its_text(call, tmp_path):
    (tmp_path / "a.html").write_text("<title>Rules</title><p>One.<p>Meals are\npaid.")
    file = str(tmp_path / "a.html")
    assert (
        "[^1]: a.html, line 3 of its text\n    > Meals are paid.\n" in call("ask", "meals", file)[1]
    )
    _, out, _ = call("ask", "wire brush", "handbook.pdf", "--granularity", "line")
    assert re.search(r"\[\^1\]: handbook\.pdf, lines? [0-9]+(-[0-9]+)? of its text\n", out)
    told = " ".join(call("ask", "--help")[1].split())
    assert "Lines of HTML and PDF count the text that was read out of them." in told


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("کتاب‌ها", "من می\u200cخواهم کتاب\u200cها را ببینم."),
        ("family travels", "The family 👨\u200d👩\u200d👧\u200d👦 travels ❤\ufe0f by train."),
        ("वाक्\u200dय", "यह वाक्\u200dय क्\u200dष लिखता है।"),
        ("Dampfschiff", "Das Dampf\u00adschiff und das Dampfschiff."),
        ("出張の食事代", "出張の食事代は　六千円まで。"),
    ],
)
@pytest.mark.parametrize("style", ["plain", "markdown"])
def test_quotes_are_found_in_the_source_as_they_are(call, tmp_path, question, line, style):
    (tmp_path / "a.txt").write_text(f"Other.\n\n{line}\n", encoding="utf-8")
    _, out, _ = call("ask", question, str(tmp_path / "a.txt"), "--format", style)
    assert f"a.txt, line 3\n    > {line}\n" in out


def test_standard_input_is_called_so(call):
    _, out, _ = call("ask", "meals", "-", stdin=b"Meals are paid.")
    assert "[^1]: standard input, line 1\n" in out
    problem = "citestream: error: standard input: takes text only, got a PDF\n"
    pdf = Path("handbook.pdf").read_bytes()
    assert call("ask", "meals", "-", stdin=pdf) == (1, "", problem)


def test_what_a_folder_and_a_glob_leave_out_is_said(call, tmp_path):
    (tmp_path / "a.txt").write_text("Meals are paid.\n")
    (tmp_path / "b.docx").write_text("x")
    (tmp_path / "loop").symlink_to(".")
    left_out = "1 linked folder, 1 file of another kind not read"
    assert call("ask", "meals", str(tmp_path))[::2] == (0, f"{tmp_path}: {left_out}\n")
    pattern = str(tmp_path / "**" / "*.txt")
    assert call("ask", "meals", pattern)[::2] == (0, f"{pattern}: 1 linked folder not read\n")


def test_what_the_library_logs_about_a_pdf_stays_out_of_the_one_line(tmp_path):
    (tmp_path / "a.pdf").write_bytes(Path(ROOT, "tests/data/handbook.pdf").read_bytes()[:900])
    code = "from citestream.cli import main; main()"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, "ask", "x", "a.pdf"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (
        1,
        "",
        "citestream: error: a.pdf, page 1: expected a PDF that can be read, got a damaged one\n",
    )


def test_nothing_in_a_file_steers_the_terminal(call, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Meals \x1b[2J are paid.\n")
    for arguments in (["ask", "meals"], ["ask", "meals", "--format", "plain"], ["prompt"]):
        assert "\x1b" not in call(*arguments, str(tmp_path / "a.txt"))[1]
