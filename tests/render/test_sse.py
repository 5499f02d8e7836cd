import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import DecodeError, OptionError, SessionEventType
from citestream.render import sse
from render.grammars import frames
from render.hostile import PAYLOADS

texts = st.text(st.characters(exclude_categories=()))


@given(
    st.dictionaries(texts, texts, max_size=3),
    st.one_of(
        st.none(), st.integers(0), st.from_regex("[a-z0-9][a-z0-9._:-]{0,9}", fullmatch=True)
    ),
    st.one_of(st.none(), texts, st.sampled_from([kind.value for kind in SessionEventType])),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_one_frame_is_one_event(value, cursor, event, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    frame = sse.frame(text, id=cursor, event=event)
    assert frame.isascii()
    assert frame.isprintable() is False
    assert not set(frame) & set("\r\t")
    (read,) = frames(frame)
    assert json.loads(read["data"]) == json.loads(json.dumps(value))  # joins surrogates
    assert read["id"] == (None if cursor is None else str(cursor))
    assert read["event"] in {"message", event}
    assert sse.parse_last_event_id(read["id"]) == read["id"]


@pytest.mark.parametrize("payload", [text for family in PAYLOADS.values() for text in family])
def test_no_payload_makes_a_frame_of_its_own(payload):
    text = json.dumps({"text": payload}, ensure_ascii=False)
    stream = sse.frame(text, id=1, event=payload) + sse.frame("{}", id=2, event="x")
    first, second = frames(stream)
    assert json.loads(first["data"]) == {"text": payload}
    assert second == {"data": "{}", "event": "x", "id": "2"}
    with pytest.raises(OptionError, match="id: wanted 1 to 128 of"):
        sse.frame(text, id=f"{payload} ")
    with pytest.raises(DecodeError, match="Last-Event-ID: expected 1 to 128 of"):
        sse.parse_last_event_id(f"{payload}\n")


@pytest.mark.parametrize("event", ["", "A", "a b", "a\nb", "é", "a" * 129])
def test_types_that_are_no_names_are_left_out(event):
    assert sse.frame("{}", event=event) == "data: {}\n\n"


@pytest.mark.parametrize("cursor", [-1, True, "", "a b", "-x", "1\n", "é", "a" * 129])
def test_cursors_are_checked(cursor):
    with pytest.raises(OptionError):
        sse.frame("{}", id=cursor)


@pytest.mark.parametrize(("header", "cursor"), [(None, None), ("", None), ("7-12", "7-12")])
def test_last_event_ids_are_cursors(header, cursor):
    assert sse.parse_last_event_id(header) == cursor
