import json
import subprocess
import sys

import pytest
from hypothesis import given

from citestream.errors import DecodeError, EncodeError
from citestream.wire import decode_event, encode_event, encode_json, text
from citestream.wire.tree import MAX_DEPTH
from strategies import json_values

EVENT = '{"id": "e", "timestamp": "2026-01-01T00:00:00Z", "type": "x.y", "data": %s}'

both = pytest.mark.usefixtures("codec")


def nested(levels):
    return "[" * levels + "]" * levels


@both
@pytest.mark.parametrize(
    "source",
    [
        "",
        "{",
        "nonsense",
        b"\xff\xfe",
        b"\x80abc",
        EVENT.encode("utf-16"),
        EVENT % "NaN",
        EVENT % "-Infinity",
        EVENT % "1e999",
        EVENT % '"\t"',
        EVENT % "[1,]",
        EVENT % "01",
        EVENT % ("1" * 5000),
        EVENT % nested(200_000),
        EVENT % nested(900),
        nested(200_000),
        '{"a":' * 200_000,
        "\ufeff\ufeff" + EVENT % "1",
        "[" * 5_000_000,
        EVENT % "1" + " x",
        EVENT % "1" + EVENT % "1",
    ],
    ids=range(21),
)
def test_what_is_not_json_text_is_an_error_at_the_root(source):
    with pytest.raises(DecodeError) as caught:
        decode_event(source)
    assert caught.value.path == "$"
    assert len(str(caught.value)) < 250


@both
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[", "$: expected JSON text, got '[' (Expecting value at 1)"),
        (b"\xff", "$: expected JSON text, got bytes that are not UTF-8 (invalid start byte at 0)"),
        (EVENT % "NaN", "$: expected JSON text, got the number 'NaN'"),
        (EVENT % "-1e999", "$: expected JSON text, got the number '-1e999'"),
        ("[" * 200_000, "$: expected JSON text, got text that nests too deeply"),
        ("1" * 5000, "$: expected JSON text, got a number of more digits than Python reads"),
        (EVENT % nested(600), "$: expected at most 500 levels of nesting, got more of them"),
        ("[]", "$: expected an object, got an array of 0"),
        ("null", "$: expected an object, got None"),
        (7, "$: expected an object or its JSON text, got 7"),
        (None, "$: expected an object or its JSON text, got None"),
        ([], "$: expected an object or its JSON text, got an array of 0"),
    ],
)
def test_errors_say_what_came(source, message):
    with pytest.raises(DecodeError) as caught:
        decode_event(source)
    assert str(caught.value) == message


@both
@pytest.mark.parametrize(
    ("data", "value"),
    [
        ('"\\ud83d"', "\ud83d"),
        ('"\ud83d"', "\ud83d"),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("18446744073709551616", 2**64),
        ("[-9223372036854775809]", [-(2**63) - 1]),
        ('{"a": [12345678901234567890123]}', {"a": [12345678901234567890123]}),
        ("1e20", 1e20),
        ("9223372036854775808", 2**63),
        ("-0", 0),
        ("1e-400", 0.0),
        ("0.1", 0.1),
        ("2.0", 2.0),
        (nested(MAX_DEPTH), json.loads(nested(MAX_DEPTH))),
    ],
)
def test_values_are_the_same_with_and_without_the_extra(data, value):
    got = decode_event(EVENT % data).data.raw
    assert got == value
    assert json.dumps(got) == json.dumps(value)


@both
def test_text_bytes_and_a_byte_order_mark_read_alike():
    line = EVENT % '"\U0001f4ce 週"'
    event = decode_event(line)
    assert event.data.raw == "\U0001f4ce 週"
    marked = ("\ufeff" + line, b"\xef\xbb\xbf" + line.encode())
    for source in (line.encode(), *marked, f" \n{line}\t\r\n", line + "\n"):
        assert decode_event(source) == event


@both
def test_a_typed_integer_of_any_size_is_exact():
    line = EVENT.replace("x.y", "session.resume") % '{"eventCount": 36893488147419103232}'
    assert decode_event(line).data.event_count == 2**65


@both
def test_long_lines_are_read():
    line = EVENT % ("[" + ",".join(["1"] * 1_000_000) + "]")
    assert len(decode_event(line).data.raw) == 1_000_000


@both
@given(json_values)
def test_a_written_line_is_ascii_and_says_the_same(value):
    line = encode_json({"data": value})
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line) == {"data": value}


@pytest.mark.parametrize(
    "value", [{"a": float("nan")}, {"a": {1, 2}}, {("a",): 1}, {"a": 10**5000}]
)
def test_writing_refuses_what_is_not_json(value):
    with pytest.raises(EncodeError, match=r"^\$: expected values of JSON, got an object with 1 k"):
        encode_json(value)


def test_writing_refuses_what_holds_itself_or_never_ends():
    loop = {}
    loop["again"] = loop
    deep = {}
    for _ in range(200_000):
        deep = {"a": deep}
    for value in (loop, deep):
        with pytest.raises(EncodeError):
            encode_json(value)


def test_the_deepest_event_can_be_written():
    event = decode_event(EVENT % nested(MAX_DEPTH))
    assert decode_event(encode_json(encode_event(event))) == event


@pytest.mark.parametrize("found", [True, False])
def test_the_extra_is_used_where_it_is_installed(monkeypatch, found):
    # None makes the import fail as if nothing were installed.
    monkeypatch.setitem(sys.modules, "orjson", json if found else None)
    assert text._find_loads() is (json.loads if found else None)  # noqa: SLF001 - once per process


def test_importing_does_not_import_the_extra():
    code = "import sys, citestream.wire; print('orjson' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout.strip() == "False"
