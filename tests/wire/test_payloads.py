from typing import get_args

import attrs
import pytest

from citestream.errors import DecodeError, EncodeError
from citestream.events import (
    AssistantMessageDeltaData,
    RawSessionEventData,
    SessionEventData,
    SessionEventType,
    ToolExecutionCompleteResult,
)
from citestream.model import CitableSource, Extra
from citestream.wire.payloads import CLASSES, PAYLOADS, RAW

DELTA = PAYLOADS[SessionEventType.ASSISTANT_MESSAGE_DELTA]


def test_each_payload_class_has_its_kind():
    assert {*CLASSES.values(), RawSessionEventData} == set(get_args(SessionEventData))
    assert set(PAYLOADS) == set(CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.value)
def test_the_required_keys_are_those_without_a_default(kind):
    required = [f for f in attrs.fields(CLASSES[kind]) if f.default is attrs.NOTHING]
    if not required:
        assert PAYLOADS[kind].decode({}, None, []) == CLASSES[kind]()
        return
    with pytest.raises(DecodeError, match="required, got nothing"):
        PAYLOADS[kind].decode({}, None, [])


@pytest.mark.parametrize(
    "tree",
    [
        {"messageId": "m", "deltaContent": "d"},
        {"messageId": "m", "deltaContent": "d", "parentToolCallId": "p"},
        {"messageId": "m", "deltaContent": "d", "parentToolCallId": None, "new": 1},
    ],
)
def test_a_delta_of_any_shape_comes_back(tree):
    data = DELTA.decode(tree, None, [])
    assert type(data) is AssistantMessageDeltaData
    assert (data.message_id, data.delta_content) == ("m", "d")
    assert DELTA.encode(data, None) == tree


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (None, "$: expected an object, got None"),
        ({"messageId": "m", "delta": "d"}, "$.deltaContent: expected a value, since this key is"),
        ({"messageId": "m", "deltaContent": 5}, "$.deltaContent: expected a string, got 5"),
        ({"messageId": [], "deltaContent": "d"}, "$.messageId: expected a string, got an array"),
    ],
)
def test_a_delta_of_the_wrong_shape_is_an_error(tree, message):
    with pytest.raises(DecodeError) as caught:
        DELTA.decode(tree, None, [])
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"message_id": 5}, "$.messageId: expected a string, got 5"),
        ({"delta_content": None}, "$.deltaContent: expected a string, got None"),
        ({"parent_tool_call_id": 5}, "$.parentToolCallId: expected a string, got 5"),
        ({"extra": Extra({"messageId": "x"})}, "$.messageId: expected null, as this key has a"),
    ],
)
def test_a_delta_that_would_not_come_back_is_refused(changes, message):
    data = AssistantMessageDeltaData(**{"message_id": "m", "delta_content": "d"} | changes)
    with pytest.raises(EncodeError) as caught:
        DELTA.encode(data, None)
    assert str(caught.value).startswith(message)


def test_a_tool_result_and_what_of_it_may_be_cited():
    tree = {
        "toolCallId": "t",
        "success": True,
        "error": {"message": "none", "code": None},
        "result": {
            "content": "c",
            "citableSources": [{"id": "a", "content": "b", "path": "x.md", "rank": 1}],
        },
    }
    kind = PAYLOADS[SessionEventType.TOOL_EXECUTION_COMPLETE]
    data = kind.decode(tree, None, [])
    assert data.result == ToolExecutionCompleteResult(
        content="c",
        citable_sources=(
            CitableSource(id="a", content="b", path="x.md", extra=Extra({"rank": 1})),
        ),
    )
    assert kind.encode(data, None) == tree
    tree["result"]["citableSources"][0]["content"] = None
    with pytest.raises(DecodeError, match=r"^\$\.result\.citableSources\[0\]\.content: "):
        kind.decode(tree, None, [])


def test_other_payloads_pass():
    assert RAW.decode([1], None, []) == RawSessionEventData(raw=[1])
    assert RAW.encode(RawSessionEventData(raw=[1]), None) == [1]
    with pytest.raises(EncodeError, match="expected a value of type RawSessionEventData, got 5"):
        RAW.encode(5, None)
