import json

import pytest

from citestream.logs.damage import DamagedLines, Found, LogDamage
from damaged import ONE, THREE, TWO, record

TOOL = {
    "toolCallId": "c",
    "success": True,
    "result": {"content": "found", "citableSources": [1, {"id": "a", "content": "b"}, {"id": 2}]},
}


def found(*lines, number=1, offset=0):
    """Return what comes of lines: ids, and reports as kind, line, offset, lost bytes, problem."""
    damaged = DamagedLines(number, offset)
    items = [item for line in lines for item in damaged.extend(line)]
    return [_shown(item) for item in [*items, *damaged.finish()]]


def _shown(item):
    if isinstance(item, Found):
        return item.event.id, item.line, item.offset
    assert isinstance(item, LogDamage)
    return item.kind, item.line, item.offset, item.lost, item.problem


CUT = "a record is cut off or broken"
FOREIGN = "what stands here is no record"


def test_places_count_from_the_log():
    assert found(TWO[:60] + ONE, number=7, offset=1000) == [
        ("cut", 7, 1000, 60, CUT),
        ("e1", 7, 1060),
    ]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (ONE + THREE, ["e1", "e3"]),
        (ONE + b" " + TWO[:60] + THREE, ["e1", "cut", "e3"]),
        (TWO[:60] + TWO[:70] + THREE + ONE[:50] + ONE, ["cut", "e3", "cut", "e1"]),
        (ONE + b"x", ["e1", "foreign"]),
        (b"x" + ONE, ["foreign", "e1"]),
        (b'{"a":{"b":' + ONE, ["cut", "e1"]),
        (b'{"a":{"b":' + ONE + b"}]", ["cut"]),  # it may be a value of the other
        (b'{"a":["b",' + ONE + b"x", ["cut", "e1", "foreign"]),
        (b'{"a":{"b":' + ONE + b"]", ["cut"]),
        (b"x:" + ONE + b',"c":1}', ["foreign"]),
        (TWO[-20:], ["foreign"]),
        (b'x{"a":1}', ["foreign"]),
        (b'x{"a":1},' + ONE, ["foreign", "e1"]),
        (b"{}" + ONE, ["unreadable", "e1"]),
        (b'{ "a"' + ONE, ["cut", "e1"]),
        (b'x"' + ONE, ["foreign", "e1"]),
        (b'{"a":1 "' + ONE, ["cut", "e1"]),
        (b'{"a":"  "', ["cut"]),
        (b"[1]", ["foreign"]),
        (b'{"a":NaN}', ["cut"]),
    ],
    ids=str,
)
def test_records_of_one_line(line, names):
    assert [item[0] for item in found(line)] == names


def test_records_of_several_lines():
    pretty = json.dumps(json.loads(ONE), indent=2).encode().split(b"\n")
    assert found(*pretty) == [("e1", 1, 0)]
    broken = TWO.replace(b"\\n", b"\n").split(b"\n")
    start = len(TWO[:60])
    assert found(b"x" + TWO[:60] + broken[0], *broken[1:])[-1] == ("e2", 1, start + 1)
    assert found(TWO[:60], b"", THREE[:40] + ONE) == [("cut", 1, 0, 102, CUT), ("e1", 3, 102)]
    # Between two texts, the one that is glued is read as a value at first.
    assert found(b'{"a":' + broken[0], *broken[1:], b"")[-1] == ("e2", 1, 5)


def test_what_is_settled_is_let_go():
    damaged = DamagedLines(1, 0)
    assert [_shown(item) for item in damaged.extend(ONE + TWO[:60])] == [("e1", 1, 0)]
    assert (damaged.open, damaged.size) == (True, 60)
    list(damaged.extend(b"x" + THREE[:48]))
    assert damaged.open
    assert [_shown(item) for item in damaged.finish()] == [("cut", 1, len(ONE), 110, CUT)]
    assert not damaged.open
    assert list(damaged.finish()) == []


def test_lines_are_counted_when_what_is_settled_was_let_go():
    glued = [ONE + TWO[:60], b"x" + THREE + TWO[:60], b"", b"y" + ONE]
    assert [item[:2] for item in found(*glued)] == [
        ("e1", 1),
        ("cut", 1),
        ("e3", 2),
        ("cut", 2),
        ("e1", 4),
    ]


def test_what_no_event_can_do_without_costs_the_event():
    ((kind, *_, lost, problem),) = found(record("e1", timestamp=7))
    assert (kind, lost) == ("unreadable", len(record("e1", timestamp=7)))
    assert problem == "$.timestamp: expected a string, got 7"
    nested = json.dumps({"id": "e", "x": 1}).replace("1", "[" * 510 + "]" * 510).encode()
    assert found(nested)[0][4] == "$: expected at most 500 levels of nesting, got more of them"
    assert found(b'{"a":1e999}')[0][4].endswith("the number '1e999'")


def test_a_field_costs_no_event():
    line = record("e1", parentId=5, ephemeral="yes")
    assert found(line) == [
        (
            "field",
            1,
            0,
            0,
            "part of an event was left out: $.parentId: expected a string, got 5, and 1 more",
        ),
        ("e1", 1, 0),
    ]
    line = record("e1", type="tool.execution_complete", data=TOOL)
    assert [item[0] for item in found(line)] == ["field", "e1"]


def test_what_json_does_not_allow_in_texts_is_repaired():
    damaged = DamagedLines(1, 0)
    tabbed, bad, both = damaged.extend(ONE.replace(b"What", b"a\tb\x1b\xff\xfe"))
    assert (tabbed.kind, tabbed.lost) == ("repaired", 0)
    assert (bad.kind, bad.lost) == ("repaired", 2)
    assert both.event.data.content == "a\tb\x1b\ufffd\ufffd is paid for?"
    assert found(ONE.replace(b'":"', b'"\t:\t"')) == [("e1", 1, 0)]
    cut = ONE.replace(b"What", b"\xe3\x81\xff").replace(b'":"', b'"\t:\t"')
    assert [item[0] for item in found(cut)] == ["repaired", "e1"]
