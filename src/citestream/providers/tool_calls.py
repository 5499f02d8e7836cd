"""Calls of tools in an answer: put together from their pieces, given at its end.

In: what a vendor says of a call, streamed or whole. Out: one ``AnswerToolCall`` for each, in the
order in which they began. They wait for the end because only then it is known whether a limit cut
the last one off; an answer that breaks off gives none.

Deliberately elsewhere: what tools there are (``tool_definitions``), running them (``session``).
"""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from ..conversation.turns import ToolTurn
from ..errors import DecodeError, brief
from ..events import AnswerItem, AnswerToolCall
from ..wire import encode_json
from ..wire.text import read
from .chunks import field, number, text

__all__ = ("EXTRA", "ToolCalls", "decoded", "function_call", "read_arguments")

EXTRA = "extra_content"
"""What Chat Completions of Gemini add to a call, and its name in ``provider_data``."""

_FROM_URLS = str.maketrans("-_", "+/")
_NO_ID = "null"  # as Mistral's SDK says it


class _Call:
    """One call as far as it came: arguments whole, or the pieces of their text."""

    def __init__(self, call_id: str | None, name: str | None) -> None:
        self.call_id = call_id
        self.name = name
        self.whole: object = None
        self.pieces: list[str] = []
        self.provider_data: dict[str, Any] | None = None

    def add(self, arguments: object) -> None:
        if isinstance(arguments, str):
            self.pieces.append(arguments)
        elif arguments is not None:
            self.whole = arguments

    def arguments(self) -> dict[str, Any] | str:
        """Return what came; an object that was whole from the start counts if no text followed."""
        words = "".join(self.pieces)
        return read_arguments(words if words.strip() else self.whole)


class ToolCalls:
    """The calls of one answer. ``key`` is what a vendor tells them apart by while they stream."""

    def __init__(self) -> None:
        self._calls: dict[object, _Call] = {}
        self._keys: dict[int | None, object] = {}  # of the last call under every index

    def __bool__(self) -> bool:
        """Tell whether any call began."""
        return bool(self._calls)

    def __contains__(self, key: object) -> bool:
        """Tell whether the call ``key`` began."""
        return key in self._calls

    def clear(self) -> None:
        """Forget them all."""
        self._calls.clear()
        self._keys.clear()

    def begin(
        self,
        key: object,
        /,
        *,
        call_id: str | None,
        name: str | None,
        arguments: object = None,
        provider_data: dict[str, Any] | None = None,
    ) -> None:
        """Note a call, anew if it was noted already; ``arguments`` are all or the first of them."""
        call = self._calls[key] = _Call(call_id, name)
        call.add(arguments)
        call.provider_data = provider_data

    def add(self, key: object, arguments: object, /) -> None:
        """Add a piece of the arguments of a call that began."""
        call = self._calls.get(key)
        if call is not None:
            call.add(arguments)

    def note(self, calls: Iterable[object], /) -> None:
        """Note whole calls in the form of Chat Completions."""
        for call in calls:
            self._begin(call, field(call, "function"))

    def gather(self, pieces: Iterable[object], /) -> None:
        """Note pieces of calls in the form of Chat Completions.

        What continues a call has its index, or none, and no id of another: there are servers that
        give every call the same index, and servers that repeat id and name.
        """
        for piece in pieces:
            function = field(piece, "function")
            index, call_id, name = number(piece, "index"), _id(piece), text(function, "name")
            call = self._calls.get(self._keys.get(index))
            if call is not None and call_id is not None:
                goes_on = call.call_id == call_id or (call.call_id is None and index is not None)
            else:
                goes_on = index is not None or name is None
            if call is None or not goes_on:
                self._keys[index] = self._keys[None] = self._begin(piece, function)
                continue
            call.call_id = call.call_id or call_id
            call.name = call.name or name
            call.add(field(function, "arguments"))

    def take(self, *, cut: bool = False) -> list[AnswerItem]:
        """Return the calls and forget them; those without a name are none.

        ``cut`` says that the answer ended before it was complete: its last call only counts if its
        arguments are an object with members.
        """
        calls = [(one, one.arguments()) for one in self._calls.values() if one.name]
        self.clear()
        if cut and calls and not (calls[-1][1] and isinstance(calls[-1][1], dict)):
            calls.pop()
        return [
            AnswerToolCall(
                call_id=call.call_id or f"call_{uuid4().hex}",
                name=call.name or "",
                arguments=arguments,
                provider_data=call.provider_data,
            )
            for call, arguments in calls
        ]

    def _begin(self, call: object, function: object) -> object:
        key = ("chat", len(self._calls))
        extra = read_arguments(field(call, EXTRA))
        self.begin(
            key,
            call_id=_id(call),
            name=text(function, "name"),
            arguments=field(function, "arguments"),
            provider_data={EXTRA: extra} if extra and isinstance(extra, dict) else None,
        )
        return key


def function_call(turn: ToolTurn, /) -> dict[str, Any]:
    """Return a call as Chat Completions take it back, and the vendors that resemble it.

    Raises EncodeError for arguments that JSON cannot say.
    """
    function = {"name": turn.name, "arguments": encode_json(turn.input)}
    return {"id": turn.call_id, "type": "function", "function": function}


def decoded(written: str | None, /) -> bytes | None:
    r"""Return bytes that ``provider_data`` has in base 64 of either alphabet, None for none.

    >>> decoded("-_8="), decoded("+/8="), decoded("x")
    (b'\xfb\xff', b'\xfb\xff', None)
    """
    try:
        return b64decode((written or "").translate(_FROM_URLS), validate=True) or None
    except ValueError:
        return None


def read_arguments(value: object, /) -> dict[str, Any] | str:
    """Return what a model wrote as arguments: an object, or text where it is none.

    >>> read_arguments('{"q": "rent"}'), read_arguments(""), read_arguments('{"q": "re')
    ({'q': 'rent'}, {}, '{"q": "re')
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str | Mapping):
        try:
            return read(value, _object)
        except DecodeError:
            return value if isinstance(value, str) else brief(value)
    return brief(value)


def _object(tree: Any, unread: list[Any]) -> dict[str, Any]:  # noqa: ANN401 - a JSON value
    if not isinstance(tree, dict):
        raise DecodeError(path="$", expected="an object", got=brief(tree))
    unread.append(tree)
    return tree


def _id(call: object) -> str | None:
    found = text(call, "id")
    return None if found == _NO_ID else found
