from collections import UserDict
from types import SimpleNamespace

import pytest

from citestream.providers.chunks import field, items, number, text

MAKERS = [dict, UserDict, lambda pairs: SimpleNamespace(**pairs)]


@pytest.mark.parametrize("make", MAKERS)
def test_dicts_mappings_and_objects_look_the_same(make):
    chunk = make({"text": "a", "index": 3, "parts": (1, 2)})
    assert (field(chunk, "text"), field(chunk, "other")) == ("a", None)
    assert (text(chunk, "text"), number(chunk, "index")) == ("a", 3)
    assert items(chunk, "parts") == [1, 2]


@pytest.mark.parametrize("value", [None, 5, "", [], b"a", {"a": 1}])
def test_what_is_no_text_reads_as_absent(value):
    assert text({"x": value}, "x") is None


@pytest.mark.parametrize("value", [None, "5", 2.0, -1, True, [3]])
def test_what_is_no_number_reads_as_absent(value):
    assert number({"x": value}, "x") is None


@pytest.mark.parametrize("value", [None, "abc", {"a": 1}, 5, iter([1])])
def test_what_is_no_list_has_no_items(value):
    assert items({"x": value}, "x") == []


@pytest.mark.parametrize("chunk", [None, 7, "index", [], b"text"])
def test_what_has_no_fields_reads_as_empty(chunk):
    assert text(chunk, "text") is None
    assert number(chunk, "index") is None
    assert items(chunk, "parts") == []


class Model:
    """Looks as the models of pydantic do, which are slow to say that they lack a field."""

    __pydantic_extra__ = None

    def __getattr__(self, name):
        pytest.fail(f"asked for {name}")


@pytest.mark.parametrize("extra", [None, {}, {"note": "b"}])
def test_fields_of_models_are_read_without_asking_for_those_they_lack(extra):
    chunk = Model()
    vars(chunk).update(text="a", gone=None, __pydantic_extra__=extra)
    assert (text(chunk, "text"), field(chunk, "gone"), field(chunk, "other")) == ("a", None, None)
    assert text(chunk, "note") == (extra or {}).get("note")
