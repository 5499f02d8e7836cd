"""Logs with the damage that users of the Copilot CLI report, made on the spot.

``record`` makes a line of a log, ``SHAPES`` has each kind of damage with what must survive it, and
``damaged_logs`` draws any mixture of them.
"""

import json

from hypothesis import strategies as st

from strategies import texts

__all__ = ("ONE", "SHAPES", "THREE", "TWO", "damaged_logs", "record")


def record(name, content="What is paid for?", /, *, ascii_only=True, **envelope):
    """Return the JSON of an event of the id ``name``, in the order in which the CLI writes keys."""
    event = {
        "type": "user.message",
        "data": {"content": content, "attachments": [{"path": "a"}]},
        "id": name,
        "timestamp": "2026-11-30T04:55:10.123Z",
        "parentId": None,
    }
    text = json.dumps(event | envelope, ensure_ascii=ascii_only, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


ONE, TWO, THREE = record("e1"), record("e2", "Alcohol?\nAnd \n\n tips?"), record("e3")
HALF = TWO[:60]
BROKEN = TWO.replace(b"\\n", b"\n")
SEPARATED = record("e2", "a\u2028b\u2029c\x85", ascii_only=False)
NEWER = record("e2", type="assistant.hologram", depth=3).replace(b'"content"', b'"volume"')

# name: (the log, the ids that survive, the reports as kind, line, offset and lost bytes)
SHAPES = {
    "a torn tail": (ONE + b"\n" + HALF, ["e1"], [("cut", 2, len(ONE) + 1, 60)]),
    "a tail of NULs": (
        ONE + b"\n" + HALF + bytes(1728),
        ["e1"],
        [("cut", 2, len(ONE) + 1, 60), ("nul", 2, len(ONE) + 61, 1728)],
    ),
    "lines of NULs": (
        ONE + b"\n" + bytes(7) + b"\n" + bytes(3) + TWO + b"\n",
        ["e1", "e2"],
        [("nul", 2, len(ONE) + 1, 7), ("nul", 3, len(ONE) + 9, 3)],
    ),
    "raw separators of lines": (SEPARATED + b"\n" + THREE, ["e2", "e3"], []),
    "raw newlines inside a record": (
        ONE + b"\n" + BROKEN + b"\n" + THREE,
        ["e1", "e2", "e3"],
        [("repaired", 2, len(ONE) + 1, 0)],
    ),
    "a torn record glued to the next": (
        HALF + ONE + b"\n" + THREE,
        ["e1", "e3"],
        [("cut", 1, 0, 60)],
    ),
    "a strict schema": (
        NEWER + b"\n" + record("e3", ephemeral="yes") + b"\n",
        ["e2", "e3"],
        [("field", 2, len(NEWER) + 1, 0)],
    ),
    "events twice": (
        (ONE + b"\n" + TWO + b"\n") * 2 + THREE,
        ["e1", "e2", "e3"],
        [("repeated", 3, len(ONE) + len(TWO) + 2, 0)],
    ),
}


class _Part:
    """A stretch of a log: its bytes, and the id of the record that it holds whole, if any."""

    def __init__(self, data, name=None):
        self.data, self.name = data, name

    def __repr__(self):
        return f"Part({self.data!r}, {self.name!r})"


@st.composite
def _parts(draw, number):
    """Draw one record and what became of it."""
    content = draw(st.lists(st.sampled_from(['{"', '"', "\\", "\n", "}", "é\u2028", "x"]) | texts))
    ascii_only = draw(st.booleans())
    name = f"e{number}"
    whole = record(name, "".join(content).replace("\0", ""), ascii_only=ascii_only)
    if not ascii_only:
        whole = whole.decode("utf-8", "replace").encode()
    if draw(st.booleans()):
        whole = whole.replace(b"\\n", b"\n") if b"\\\\" not in whole else whole
    fate = draw(st.sampled_from(["whole", "whole", "cut", "holed", "twice"]))
    if fate == "cut":
        return [_Part(whole[: draw(st.integers(1, len(whole) - 1))])]
    if fate == "holed":
        start = draw(st.integers(1, len(whole) - 1))
        return [_Part(whole[:start]), _Part(bytes(draw(st.integers(1, 9)))), _Part(whole[start:])]
    parts = [_Part(whole, name)]
    return [*parts, _Part(b"\n"), *parts] if fate == "twice" else parts


@st.composite
def damaged_logs(draw):
    """Draw the parts of a log; between records stands a newline, or nothing, or NULs."""
    parts = []
    for number in range(draw(st.integers(1, 6))):
        parts += draw(_parts(number))
        end = draw(st.sampled_from([b"\n", b"\n", b"\n", b"", b"\r\n", b"\0\0", b"\0\n", b"\n\n"]))
        parts.append(_Part(end))
    return parts
