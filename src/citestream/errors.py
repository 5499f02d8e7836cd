"""Every exception of the package, in one tree split by whose fault it is.

::

    CitestreamError
    ├── yours    StateError(RuntimeError)   a call that is not allowed now
    │            OptionError(ValueError)    an argument or option that cannot be used
    │            ModelError(ValueError)     a value that breaks an invariant of the model
    │            EncodeError(ValueError)    a value that the wire has no words for
    ├── theirs   DecodeError(ValueError)    input that is not what it claims to be
    └── bounds   LimitError(ValueError)     a stated limit was reached

Each kind also derives from the builtin that a caller would already catch. Untrusted *text* never
raises: malformed markers become issues (see ``citestream.issues``), not exceptions.
"""

from collections.abc import Mapping
from typing import Any

__all__ = (
    "CitestreamError",
    "DecodeError",
    "EncodeError",
    "LimitError",
    "ModelError",
    "OptionError",
    "StateError",
    "brief",
)


_SHOWN = 74  # characters of a text, bits of a number
_LINE = 80


def brief(value: object, /) -> str:
    """Describe a value that came from outside, in printable ASCII of at most 80 characters."""
    if isinstance(value, Mapping):
        return f"an object with {len(value)} keys"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    if isinstance(value, str | bytes | bytearray):
        shown = ascii(value[:_SHOWN])
        whole = len(value) <= _SHOWN and len(shown) <= _LINE
        return shown if whole else shown[:_SHOWN] + "..."
    if isinstance(value, int) and value.bit_length() > _SHOWN:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, int | float):
        return ascii(value)[:_LINE]
    # The repr of a stranger's object may raise, or never end.
    return f"a value of type {ascii(type(value).__name__)[1:-1][:60]}"


class CitestreamError(Exception):
    """The base of every error that this package raises."""


class StateError(CitestreamError, RuntimeError):
    """A call that is not allowed in the present state, such as ``feed`` after ``finish``."""


class OptionError(CitestreamError, ValueError):
    """An argument or option that cannot be used."""


class ModelError(CitestreamError, ValueError):
    """A value that breaks an invariant of the model, such as a span that ends before it starts."""


class _PathError(CitestreamError, ValueError):
    def __init__(self, *, path: str, expected: str, got: str) -> None:
        self.path = path
        self.expected = expected
        self.got = got
        super().__init__(f"{path}: expected {expected}, got {got}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.path, self.expected, self.got)


def _restore(kind: type[_PathError], path: str, expected: str, got: str) -> _PathError:
    return kind(path=path, expected=expected, got=got)


class DecodeError(_PathError):
    """Input that is not what it claims to be.

    ``path`` is where, in wire names from the root ``$`` (``$.data.citations.spans[3].startIndex``);
    ``expected`` says what was wanted; ``got`` describes what came.
    """


class EncodeError(_PathError):
    """A value that the wire has no words for, such as a field of the wrong type.

    ``path``, ``expected`` and ``got`` are those of DecodeError.
    """


class LimitError(CitestreamError, ValueError):
    """A stated limit was reached: the message names the limit, its value and what came."""
