import tracemalloc
from itertools import accumulate

import pytest
from hypothesis import given

from citestream import OptionError, StateError
from citestream.logs import LogDamage, LogReader
from citestream.logs.reader import MAX_LINE
from damaged import ONE, SHAPES, THREE, TWO, damaged_logs, record
from feeding import cuts, feed_all, same_however_cut


def as_bytes(piece):
    return bytes([piece]) if isinstance(piece, int) else piece


def read(data, **options):
    return feed_all(LogReader(**options), [data])


def ids(items):
    return [item.id for item in items if not isinstance(item, LogDamage)]


def reports(items):
    return [
        (item.kind, item.line, item.offset, item.lost)
        for item in items
        if isinstance(item, LogDamage)
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_whole_record_survives_and_every_loss_is_reported(shape):
    data, survivors, damage = SHAPES[shape]
    items = same_however_cut(data, LogReader, item=as_bytes, view=list)
    assert (ids(items), reports(items)) == (survivors, damage)


def test_what_survives_is_what_was_written():
    items = read(SHAPES["raw newlines inside a record"][0])
    assert items[2].data.content == "Alcohol?\nAnd \n\n tips?"
    (separated, _) = read(SHAPES["raw separators of lines"][0])
    assert separated.data.content == "a\u2028b\u2029c\x85"
    newer, report, event = read(SHAPES["a strict schema"][0])
    assert (newer.raw_type, newer.extra["depth"]) == ("assistant.hologram", 3)
    assert report.problem == (
        "part of an event was left out: $.ephemeral: expected true or false, got 'yes'"
    )
    assert event.ephemeral is None


def spans(parts):
    """Give each part with its start and end in the log."""
    ends = list(accumulate(len(part.data) for part in parts))
    return [(part, end - len(part.data), end) for part, end in zip(parts, ends, strict=True)]


@given(damaged_logs(), cuts)
def test_any_mixture_of_damage_costs_what_it_hit(parts, places):
    data = b"".join(part.data for part in parts)
    items = same_however_cut(data, LogReader, drawn=places, every=False, item=as_bytes, view=list)
    assert ids(items) == list(dict.fromkeys(part.name for part in parts if part.name))
    lost = set()
    for item in items:
        if isinstance(item, LogDamage):
            assert item.line == 1 + data.count(b"\n", 0, item.offset)
            if item.kind != "repaired":
                place = range(item.offset, item.offset + item.lost)
                assert lost.isdisjoint(place)
                lost.update(place)
    for part, start, end in spans(parts):
        if part.name:
            assert lost.isdisjoint(range(start, end))
        else:
            blank = {at for at in range(start, end) if data[at] in b" \t\r\n"}
            assert set(range(start, end)) - blank <= lost


@pytest.mark.parametrize("cut", range(1, len(TWO)))
@pytest.mark.parametrize("glue", [b"", b"\n", b" ", b"\0", b"\n\n"])
def test_a_record_behind_one_that_is_cut_off_anywhere_is_found(cut, glue):
    for following in (THREE, record("e3", "x\ny").replace(b"\\n", b"\n")):
        items = read(ONE + b"\n" + TWO[:cut] + glue + following + b"\n")
        assert ids(items) == ["e1", "e3"]
        assert [kind for kind, *_ in reports(items) if kind not in {"nul", "repaired"}] == ["cut"]


def test_a_line_that_is_an_event_is_never_part_of_another():
    items = read(b'{"a":\n' + ONE + b"\n}\n" + TWO)
    assert ids(items) == ["e1", "e2"]
    assert reports(items) == [("cut", 1, 0, 5), ("foreign", 3, len(ONE) + 7, 1)]


def test_events_of_one_id_that_differ_are_all_given():
    other = record("e1", "Else?")
    items = read(b"\n".join([ONE, other, ONE, other, other]))
    assert ids(items) == ["e1", "e1"]
    assert items[-1].problem == "3 events that came before were dropped"
    assert read(ONE + b"\n" + ONE)[-1].problem == "1 event that came before was dropped"


@pytest.mark.parametrize(
    ("data", "survivors"),
    [
        (b"", 0),
        (b"\n\r\n  \n", 0),
        (b"\xef\xbb\xbf", 0),
        (b"\xef\xbb\xbf" + ONE, 1),
        (ONE + b"\r\n\r\n" + TWO + b"\n", 2),
        (ONE + b"\n\xef\xbb\xbf  " + TWO, 2),
    ],
)
def test_what_is_no_damage_is_not_reported(data, survivors):
    items = read(data)
    assert len(ids(items)) == len(items) == survivors


def test_a_mark_before_damage_is_no_damage():
    assert reports(read(b"\xef\xbb\xbf" + TWO[:60] + ONE)) == [("cut", 1, 3, 60)]


def test_a_line_that_is_too_long_is_given_up():
    size = max(map(len, (ONE, TWO)))
    data = ONE + b"\n" + b"x" * 3 * size + b"\n" + TWO + b"\0" + b"y" * 2 * size
    items = same_however_cut(
        data, lambda: LogReader(max_line=size), item=as_bytes, view=list, every=False
    )
    assert ids(items) == ["e1", "e2"]
    assert items[1].problem == f"a line of {3 * size} bytes is longer than {size}"
    assert [kind for kind, *_ in reports(items)] == ["long", "nul", "long"]


def test_a_record_that_goes_on_for_too_many_lines_is_given_up():
    data = TWO[:60] + b"\n" + b"x\n" * 200 + ONE
    items = read(data, max_line=len(ONE))
    assert ids(items) == ["e1"]
    assert sum(lost for *_, lost in reports(items)) >= 260
    assert {kind for kind, *_ in reports(items)} == {"cut", "foreign"}


def test_a_long_log_takes_no_more_memory_than_a_line_and_the_ids():
    line = record("e", "w " * 1000)
    reader, count = LogReader(max_line=100_000), 0
    tracemalloc.start()
    for number in range(10_000):
        piece = line.replace(b'"e"', b'"e%d"' % number) + b"\n"
        count += len(ids(reader.feed(piece)))
    for _ in range(200):
        reader.feed(b"{" + b"x" * 50_000 + bytes(50_000))
    reader.feed(TWO[:60])
    for _ in range(10_000):
        reader.feed(b"\n" + b"y" * 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 10_000
    assert peak < 4_000_000


def test_a_log_ends_once():
    reader = LogReader()
    assert reader.feed(ONE) == []
    assert ids(reader.finish()) == ["e1"]
    assert reader.finish() == []
    with pytest.raises(StateError, match="feed: the log was finished"):
        reader.feed(b"")
    with pytest.raises(OptionError, match="max_line: wanted an integer of 1 or more, got 0"):
        LogReader(max_line=0)
    assert MAX_LINE > 20_000_000
