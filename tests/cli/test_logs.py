import io
import json

import pytest

from citestream.cli import logs

EVENT = json.dumps(
    {"id": "e", "timestamp": "2026-11-30T04:55:10Z", "type": "abort", "data": {}}
).encode()


def read(data):
    problems, sizes = [], []
    events = list(
        logs.read_log(
            io.BytesIO(data),
            damaged=lambda number, problem: problems.append((number, problem)),
            progress=sizes.append,
        )
    )
    assert sum(sizes) == len(data)
    return len(events), problems


def test_lines_of_every_ending_are_events():
    assert read(EVENT + b"\n" + EVENT + b"\r\n\n  \n" + EVENT) == (3, [])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"{", "JSON text"),
        (b"[]", "array"),
        (b'{"type": "abort"}', "$.id"),
        (b"[" * 200_000, "$"),
    ],
)
def test_a_damaged_line_is_named_and_hides_no_other(line, problem):
    count, problems = read(EVENT + b"\n" + line + b"\n" + EVENT)
    assert count == 2
    assert [number for number, _ in problems] == [2]
    assert problem in problems[0][1]
    assert len(problems[0][1]) < 300


def test_a_line_without_end_is_not_read_into_memory(monkeypatch):
    monkeypatch.setattr(logs, "MAX_LINE", len(EVENT) + 1)
    long = b"x" * (3 * len(EVENT))
    assert read(EVENT + b"\n" + long + b"\n" + EVENT + b"\n" + long) == (
        2,
        [
            (2, f"a line of {len(long) + 1} bytes is longer than {len(EVENT) + 1}"),
            (4, f"a line of {len(long)} bytes is longer than {len(EVENT) + 1}"),
        ],
    )


def test_nobody_has_to_watch():
    assert len(list(logs.read_log(io.BytesIO(EVENT), damaged=print))) == 1
