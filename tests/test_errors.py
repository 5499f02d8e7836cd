import pickle
from types import MappingProxyType

import pytest

from citestream import errors
from citestream.errors import brief

AT = {"path": "$.a", "expected": "a string", "got": "5"}


@pytest.mark.parametrize(
    ("error", "base", "text"),
    [
        (errors.StateError("not now"), RuntimeError, "not now"),
        (errors.OptionError("no such option"), ValueError, "no such option"),
        (errors.ModelError("wrong"), ValueError, "wrong"),
        (errors.LimitError("too many"), ValueError, "too many"),
        (errors.DecodeError(**AT), ValueError, "$.a: expected a string, got 5"),
        (errors.EncodeError(**AT), ValueError, "$.a: expected a string, got 5"),
        (errors.SessionError("failed"), RuntimeError, "failed"),
        (
            errors.SessionError("failed", error_type="provider", status_code=429),
            RuntimeError,
            "failed",
        ),
        (errors.StoreError("the disk is full"), OSError, "the disk is full"),
        (errors.StoreBusyError("busy"), errors.StoreError, "busy"),
        (errors.SessionNotFoundError("no such session"), LookupError, "no such session"),
        (errors.SessionExistsError("taken"), errors.StoreError, "taken"),
        (errors.SessionInUseError("in use"), errors.StoreError, "in use"),
        (errors.SessionFenced("fenced"), errors.StoreError, "fenced"),
    ],
    ids=[
        *("state", "option", "model", "limit", "decode", "encode", "session", "session, whole"),
        *("store", "busy", "not found", "exists", "in use", "fenced"),
    ],
)
def test_each_kind_has_one_root_and_the_builtin_that_callers_catch(error, base, text):
    assert isinstance(error, errors.CitestreamError)
    assert isinstance(error, base)
    assert str(error) == text
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is type(error)
    assert str(again) == text
    assert vars(again) == vars(error)


def test_the_drawn_tree_names_every_kind():
    for name in errors.__all__:
        if name[0].isupper():
            assert name in errors.__doc__


def test_a_place_is_told_in_parts():
    for kind in (errors.DecodeError, errors.EncodeError):
        error = kind(**AT)
        assert (error.path, error.expected, error.got) == ("$.a", "a string", "5")


class Rude:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (5, "5"),
        (2.5, "2.5"),
        (float("nan"), "nan"),
        ("abc", "'abc'"),
        ("\ud83d\u00e9\n", r"'\ud83d\xe9\n'"),
        ([1, 2], "an array of 2"),
        ((), "an array of 0"),
        ({"a": 1}, "an object with 1 keys"),
        (MappingProxyType({}), "an object with 0 keys"),
        (10**5000, "an integer of 16610 bits"),
        (Rude(), "a value of type Rude"),
        ({1, 2}, "a value of type set"),
        (type("Größe", (), {})(), r"a value of type Gr\xf6\xdfe"),
    ],
    ids=range(15),
)
def test_a_strangers_value_is_described(value, text):
    assert brief(value) == text


@pytest.mark.parametrize(
    "value", ["x" * 5_000_000, "\U0001f4ce" * 60, "\n" * 40, "'\"" * 50], ids=range(4)
)
def test_a_description_stays_short(value):
    assert len(brief(value)) <= 80
    assert brief(value).isascii()
