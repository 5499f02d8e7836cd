"""Every exception of the package, in one tree split by whose fault it is.

::

    CitestreamError
    ├── yours    StateError(RuntimeError)   a call that is not allowed now
    │            OptionError(ValueError)    an argument or option that cannot be used
    │            ModelError(ValueError)     a value that breaks an invariant of the model
    ├── theirs   DecodeError(ValueError)    input that is not what it claims to be
    └── bounds   LimitError(ValueError)     a stated limit was reached

Each kind also derives from the builtin that a caller would already catch. Untrusted *text* never
raises: malformed markers become issues (see ``citestream.issues``), not exceptions.
"""

from typing import Any

__all__ = (
    "CitestreamError",
    "DecodeError",
    "LimitError",
    "ModelError",
    "OptionError",
    "StateError",
    "brief",
)


def brief(value: object, /) -> str:
    """Describe a value that came from outside, in printable ASCII of at most 80 characters."""
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    if isinstance(value, str):
        shown = ascii(value[:60])
        return shown[:74] + "..." if len(shown) > 74 or len(value) > 60 else shown
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    return ascii(value)[:80]


class CitestreamError(Exception):
    """The base of every error that this package raises."""


class StateError(CitestreamError, RuntimeError):
    """A call that is not allowed in the present state, such as ``feed`` after ``finish``."""


class OptionError(CitestreamError, ValueError):
    """An argument or option that cannot be used."""


class ModelError(CitestreamError, ValueError):
    """A value that breaks an invariant of the model, such as a span that ends before it starts."""


class DecodeError(CitestreamError, ValueError):
    """Input that is not what it claims to be.

    ``path`` is where, in wire names from the root ``$`` (``$.data.citations.spans[3].startIndex``);
    ``expected`` says what was wanted; ``got`` describes what came.
    """

    def __init__(self, *, path: str, expected: str, got: str) -> None:
        self.path = path
        self.expected = expected
        self.got = got
        super().__init__(f"{path}: expected {expected}, got {got}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_decode_error, (self.path, self.expected, self.got)


def _restore_decode_error(path: str, expected: str, got: str) -> DecodeError:
    return DecodeError(path=path, expected=expected, got=got)


class LimitError(CitestreamError, ValueError):
    """A stated limit was reached: the message names the limit, its value and what came."""
