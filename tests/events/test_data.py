from types import MappingProxyType
from typing import get_args

import attrs
import pytest

from citestream import events
from citestream.events import RawSessionEventData, SessionEventData, ToolExecutionCompleteResult
from citestream.model import NO_EXTRA

CLASSES = [*get_args(SessionEventData), ToolExecutionCompleteResult]


@pytest.mark.parametrize("cls", CLASSES)
def test_payloads_are_frozen_and_taken_by_keyword(cls):
    shape = attrs.inspect(cls)
    assert shape.is_frozen
    assert shape.is_slotted
    assert all(field.kw_only for field in attrs.fields(cls))
    assert cls.__name__ in events.__all__


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls is not RawSessionEventData])
def test_payloads_keep_what_has_no_field(cls):
    *_, extra = attrs.fields(cls)
    assert extra.name == "extra"
    assert extra.default is NO_EXTRA


def test_a_raw_payload_is_read_like_a_mapping():
    for raw in ({"a": 1}, MappingProxyType({"a": 1})):
        data = RawSessionEventData(raw=raw)
        assert data["a"] == 1
        with pytest.raises(KeyError, match="b"):
            data["b"]


@pytest.mark.parametrize("raw", [None, [1], "a", 5])
def test_a_raw_payload_without_keys_has_none(raw):
    with pytest.raises(KeyError):
        RawSessionEventData(raw=raw)["a"]
