import json
import re

import pytest
from hypothesis import given

from citestream.logs.json_objects import BEGINNING, STRING, ObjectScan
from citestream.wire.tree import MAX_DEPTH, TYPED_DEPTH
from strategies import json_objects

WHOLE = b'{"a":[1,-2.5e3,true,false,null,"x\\"y",{},[],[{"b":{}}]] , "c" : {"d":"e"}}'


def scan(data, start=0):
    one = ObjectScan(start)
    return one.run(bytearray(data)), one


def test_a_whole_object_ends_at_its_brace():
    outcome, one = scan(b"xy" + WHOLE + b' {"next"', 2)
    assert (outcome, one.position) == ("whole", 2 + len(WHOLE))


@given(json_objects)
def test_whatever_json_writes_is_whole(value):
    for indent in (None, 1):
        text = json.dumps(value, indent=indent).encode()
        outcome, one = scan(text + b"}")
        assert (outcome, one.position) == ("whole", len(text))


INSIDE = re.compile(rb"[\w.-](?=[\w.-])|\\")
"""After what a record cannot go on in another line: part of a number or a word, a backslash."""


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_it_goes_on_where_it_was_open(cut):
    data = bytearray(WHOLE[:cut])
    one = ObjectScan(0)
    outcome = one.run(data)
    if outcome == "open":
        data += WHOLE[cut:]
        outcome = one.run(data)
    torn = INSIDE.match(WHOLE, cut - 1) is not None
    assert outcome == ("broken" if torn else "whole")
    assert torn or one.position == len(WHOLE)


def test_texts_may_hold_any_bytes():
    assert scan(b'{"a\n":"\x00\xff\t"}')[0] == "whole"
    assert STRING.findall(b'x"a\n\\"b" "c') == [b'"a\n\\"b"']


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b'{"a" 1}', 5),
        (b'{"a":1,}', 7),
        (b'{"a":[1,]}', 8),
        (b'{"a":[1}', 7),
        (b'{"a":1]', 6),
        (b'{"a":tru{"b"', 5),
        (b'{"a":1  {"b"', 8),
        (b'{"a":"x{"type":1}', 9),
        (b"{1:2}", 1),
        (b'{"a"::1}', 5),
        (b'{"a":NaN}', 5),
    ],
)
def test_it_breaks_at_what_cannot_follow(data, position):
    outcome, one = scan(data)
    assert (outcome, one.position) == ("broken", position)


def test_the_object_that_ended_last_is_known():
    outcome, one = scan(b'{"a":[{"b":1},{"c":[{}]} ')
    assert (outcome, one.closed) == ("open", (14, 24))
    one.move(0)
    assert scan(b'{"a":[1]')[1].closed is None


def test_what_stands_before_it_can_be_taken_away():
    data = bytearray(b'xxx{"a":{"b":1},"c":{"d":"')
    one = ObjectScan(3)
    assert one.run(data) == "open"
    del data[:3]
    one.move(3)
    assert (one.start, one.closed, one.position) == (0, (5, 12), len(data))
    data += b'"}}'
    assert (one.run(data), one.closed) == ("whole", (0, len(data)))
    early = ObjectScan(1)
    early.move(1)
    assert (early.start, early.closed) == (0, None)


def test_what_nests_too_deeply_to_be_read_is_broken():
    most = MAX_DEPTH + TYPED_DEPTH
    assert scan(b'{"a":' * (most - 1) + b"{}" + b"}" * (most - 1))[0] == "whole"
    outcome, one = scan(b'{"a":' * most + b"{}" + b"}" * most)
    assert (outcome, one.position) == ("broken", 5 * most)


def test_how_an_object_with_a_name_begins():
    assert BEGINNING.search(b'{} {"1" { \n"type"').start() == 8
