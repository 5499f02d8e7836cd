"""Every exception of the package, in one tree split by whose fault it is.

::

    CitestreamError
    ├── yours    StateError(RuntimeError)   a call that is not allowed now
    │            OptionError(ValueError)    an argument or option that cannot be used
    │            ModelError(ValueError)     a value that breaks an invariant of the model
    │            EncodeError(ValueError)    a value that the wire has no words for
    ├── theirs   DecodeError(ValueError)    input that is not what it claims to be
    │            SessionError(RuntimeError) a session failed: its model or its upstream said so
    ├── bounds   LimitError(ValueError)     a stated limit was reached
    └── disk     StoreError(OSError)        a store could not do what was asked
                 ├── StoreBusyError         others held the store for too long
                 ├── SessionNotFoundError   no such session, or one of another owner
                 ├── SessionExistsError     the id is taken
                 ├── SessionInUseError      someone else holds the session
                 └── SessionFenced          someone else took the session over

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
    "SessionError",
    "SessionExistsError",
    "SessionFenced",
    "SessionInUseError",
    "SessionNotFoundError",
    "StateError",
    "StoreBusyError",
    "StoreError",
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


class SessionError(CitestreamError, RuntimeError):
    """A session failed: its model, or whoever stands behind it, reported an error.

    ``error_type`` is the kind that the ``session.error`` event carries and ``status_code`` the HTTP
    status that a vendor answered with, None where there is none. What a vendor's client raised is
    the cause.
    """

    def __init__(
        self,
        message: str,
        /,
        *,
        error_type: str | None = None,
        status_code: int | None = None,
    ) -> None:
        self.error_type = error_type
        self.status_code = status_code
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_session_error, (str(self), self.error_type, self.status_code)


def _restore_session_error(
    message: str, error_type: str | None, status_code: int | None
) -> SessionError:
    return SessionError(message, error_type=error_type, status_code=status_code)


class StoreError(CitestreamError, OSError):
    """A store could not do what was asked: the disk is full, the file damaged or out of reach.

    Nothing that was acknowledged before is lost by it.
    """


class StoreBusyError(StoreError):
    """Others held the store for too long; trying again later is safe."""


class SessionNotFoundError(StoreError, LookupError):
    """No such session, or one that belongs to another owner: the two cannot be told apart."""


class SessionExistsError(StoreError):
    """A session was to be created with an id that is taken."""


class SessionInUseError(StoreError):
    """Someone else holds the session, and ``fail`` or ``wait`` asked not to take it over."""


class SessionFenced(StoreError):  # noqa: N818 - it is the name of a state, known from fencing tokens
    """Someone else took the session over: what this writer wanted to append was refused."""
