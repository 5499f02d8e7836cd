"""JSON text on one side, values read from it on the other: the only room that parses and writes it.

The ``fast`` extra (orjson) reads where it is installed, but the standard library decides: whatever
orjson refuses (lone surrogates, a byte order mark), whatever does not decode, and whatever holds a
number that orjson may have rounded, is read again by the standard library. So results and errors
are the same with and without the extra.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from math import isfinite
from typing import Any, TypeAlias, TypeVar

from ..errors import DecodeError, EncodeError, brief
from .tree import MAX_DEPTH, MAX_VALUES, TYPED_DEPTH, copied, misfit, settle

__all__ = ("Reader", "encode_json", "read")

_T = TypeVar("_T")
Reader: TypeAlias = Callable[[Any, list[Any]], _T]
"""Turns a JSON value into a typed one, and collects what it passes on unread in the list."""


def encode_json(value: Mapping[str, Any], /) -> str:
    r"""Write an encoded event or encoded citations as one line of JSON, without the line's end.

    The line is ASCII, so that a lone surrogate (half of a character that was cut in two) survives.
    Raises EncodeError for what JSON cannot say.

    >>> encode_json({"deltaContent": "📎"})
    '{"deltaContent":"\\ud83d\\udcce"}'
    """
    try:
        return _write(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(
            path="$", expected="values of JSON", got=f"{brief(value)} ({str(error)[:80]})"
        ) from error


def read(source: Mapping[str, Any] | str | bytes, reader: Reader[_T], /) -> _T:
    """Read JSON text, or a mapping that stands for it, with ``reader``. Raises DecodeError."""
    if type(source) is str or isinstance(source, _TEXT):
        loads = _fast_loads()
        if loads is not None:
            try:
                unread: list[Any] = []
                value = reader(loads(source), unread)
                if not unread or settle(unread):
                    return value
            except ValueError:
                pass  # orjson's, or a DecodeError: the standard library has the last word
        tree = _parse(source)
    elif isinstance(source, Mapping):
        levels = MAX_DEPTH + TYPED_DEPTH
        tree = copied(source, None, error=DecodeError, levels=levels, values=MAX_VALUES)
    else:
        raise misfit(DecodeError, None, "an object or its JSON text", source)
    unread = []
    value = reader(tree, unread)
    if unread:
        settle(unread)
    return value


def _find_loads() -> Callable[[str | bytes], Any] | None:
    # At the first use, since importing the package must not import what its extras brought.
    try:
        module = import_module("orjson")
    except ImportError:
        return None
    loads: Callable[[str | bytes], Any] = module.loads
    return loads


def _parse(source: str | bytes) -> Any:  # noqa: ANN401 - a JSON value
    try:
        return _loads(source if isinstance(source, str) else source.decode())
    except DecodeError:
        raise
    except JSONDecodeError as error:
        got = f"{brief(source)} ({error.msg.removesuffix(' at')} at {error.pos})"
    except UnicodeDecodeError as error:
        got = f"bytes that are not UTF-8 ({error.reason} at {error.start})"
    except RecursionError:
        got = "text that nests too deeply"
    except ValueError:
        got = "a number of more digits than Python reads"
    raise DecodeError(path="$", expected="JSON text", got=got)


def _loads(text: str) -> Any:  # noqa: ANN401 - a JSON value
    try:
        value, end = _scan(text)
        if end == len(text) or not text[end:].strip(_BLANK):
            return value
    except JSONDecodeError:
        pass  # for a blank or a mark at the beginning, or an error that the other one words
    return _decode(text.removeprefix("\ufeff"))


def _finite(text: str) -> float:
    value = float(text)
    if isfinite(value):
        return value
    raise _no_number(text)


def _constant(text: str) -> Any:  # noqa: ANN401 - never returns
    raise _no_number(text)


def _no_number(text: str) -> DecodeError:
    return DecodeError(path="$", expected="JSON text", got=f"the number {brief(text)}")


_fast_loads = cache(_find_loads)
_TEXT = (str, bytes)
_BLANK = " \t\r\n"
_decoder = JSONDecoder(parse_float=_finite, parse_constant=_constant)
_scan = _decoder.raw_decode
_decode = _decoder.decode
# What holds itself reaches the limit of recursion: to look for it costs a fifth of the writing.
_write = JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode
