import io
import json
import sys

import pytest

from citestream.cli.answers import AnswerFormat
from citestream.cli.logs import opened, print_events, read_log
from citestream.wire import decode_event
from damaged import ONE, SHAPES, TWO, record


def read(data):
    sizes = []
    events = list(read_log("log", io.BytesIO(data), progress=sizes.append))
    assert sum(sizes) == len(data)
    return [event.id for event in events]


@pytest.mark.parametrize("shape", SHAPES)
def test_damage_is_named_and_hides_no_event(shape, capsys):
    data, survivors, damage = SHAPES[shape]
    assert read(data) == survivors
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"log:{line}" for _, line, *_ in damage]


def test_what_is_skipped_is_told_with_its_place(capsys):
    read(TWO[:60] + ONE + b"\n\0\n" + record("e3", ephemeral=1))
    assert capsys.readouterr().err.splitlines() == [
        "log:1: skipped: a record is cut off or broken (60 bytes from byte 0)",
        f"log:2: skipped: NUL bytes (1 byte from byte {61 + len(ONE)})",
        "log:3: part of an event was left out: $.ephemeral: expected true or false, got 1",
    ]


def test_long_lines_are_read_in_pieces():
    assert read(record("e", "x" * 200_000) + b"\n" + ONE) == ["e", "e1"]


def test_nobody_has_to_watch():
    assert len(list(read_log("log", io.BytesIO(ONE)))) == 1


def test_files_are_opened_with_their_size(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_bytes(ONE)
    with opened(str(path)) as (stream, size):
        assert (stream.read(), size) == (ONE, len(ONE))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TWO)))
    with opened("-") as (stream, size):
        assert (stream.read(), size) == (TWO, None)
    assert not sys.stdin.buffer.closed


def event(kind, **data):
    return decode_event(
        {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": data}
    )


EVENTS = [
    event("user.message", content="First?"),
    event("assistant.message", messageId="m", content=""),
    event("assistant.message", messageId="m", content="One."),
    event("assistant.message", messageId="n", content="Two."),
    event("user.message", content="Nobody?\n\x1b[2J<b>"),
    event("user.message", content="Last?"),
    event("assistant.message_delta", messageId="o", deltaContent="Thr"),
    event("assistant.message_delta", messageId="p", deltaContent=" "),
]
CUT = "log: message 'o' is cut off: its final event is missing\n"


@pytest.mark.parametrize(
    ("style", "printed"),
    [
        (
            AnswerFormat.MARKDOWN,
            """\
> First?

One.

---

Two.

---

> Nobody?
> \ufffd[2J<b>

---

> Last?

Thr
""",
        ),
        (
            AnswerFormat.HTML,
            """\
<!doctype html>
<meta charset="utf-8">
<title>citestream</title>
<blockquote>
<p>First?</p>
</blockquote>
<p>One.</p>
<hr>
<p>Two.</p>
<hr>
<blockquote>
<p>Nobody?<br>
[2J&lt;b&gt;</p>
</blockquote>
<hr>
<blockquote>
<p>Last?</p>
</blockquote>
<p>Thr</p>
""",
        ),
    ],
)
def test_questions_stand_before_their_answers(capsysbinary, style, printed):
    print_events("log", EVENTS, style=style, questions=True)
    out, err = capsysbinary.readouterr()
    assert (out.decode(), err.decode()) == (printed, CUT)


def test_questions_are_shown_where_asked(capsysbinary):
    print_events("log", EVENTS, style=AnswerFormat.PLAIN)
    assert capsysbinary.readouterr().out == b"One.\n\n---\n\nTwo.\n\n---\n\nThr\n"


def test_a_question_without_answer_is_shown_at_the_end(capsysbinary):
    print_events("log", EVENTS[:1], style=AnswerFormat.PLAIN, questions=True)
    assert capsysbinary.readouterr().out == b"> First?\n"


def test_json_has_every_event(capsysbinary):
    print_events("log", EVENTS, style=AnswerFormat.JSON)
    lines = capsysbinary.readouterr().out.splitlines()
    assert [decode_event(line) for line in lines] == EVENTS
    assert json.loads(lines[0])["type"] == "user.message"
