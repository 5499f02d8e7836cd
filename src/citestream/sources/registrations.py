"""What was asked of a registry, call by call, as JSON-ready values and back.

In: the calls that a registry's ``recorder`` was told of. Out: values to keep; and from such values
the same calls again, which give the same ids, since ids depend on nothing but the order of calls.
Where a whole registry is kept at once, its ``snapshot`` does that.
"""

from collections.abc import Iterable
from typing import Any

from ..errors import DecodeError, LimitError, OptionError, brief
from .registered import Registration
from .registry import SourceRegistry
from .registry_snapshot import dump_document, read_document, read_granularity

__all__ = ("dump_registrations", "register_again")


def dump_registrations(calls: Iterable[Registration | None], /) -> list[dict[str, Any]]:
    """Return calls as JSON-ready values, in order; a turn that began is an empty object."""
    return [{} if call is None else _dumped(call) for call in calls]


def register_again(registry: SourceRegistry, stored: object, /, *, path: str = "$") -> None:
    """Make the calls that ``dump_registrations`` was given. What a limit refuses is refused again.

    Raises DecodeError for values that are no calls; ``path`` is where they stand.

    >>> from .documents import from_text
    >>> calls = []
    >>> registry = SourceRegistry()
    >>> registry.recorder = calls.append
    >>> _ = registry.add(from_text("Meals are paid."), alias="rules")
    >>> again = SourceRegistry()
    >>> register_again(again, dump_registrations(calls))
    >>> again.get("rules").id
    'turn0file0'
    """
    if not isinstance(stored, list):
        raise DecodeError(path=path, expected="an array", got=brief(stored))
    for index, call in enumerate(stored):
        where = f"{path}[{index}]"
        if not isinstance(call, dict):
            raise DecodeError(path=where, expected="an object", got=brief(call))
        if not call:
            registry.begin_turn()
            continue
        kind, alias = call.get("kind"), call.get("alias")
        if not isinstance(kind, str) or not isinstance(alias, str | None):
            raise DecodeError(path=where, expected="a kind and an alias", got=brief(kind))
        granularity = read_granularity(call, where)
        document = read_document(call, where)
        try:
            registry.add(document, kind=kind, granularity=granularity, alias=alias)
        except OptionError as error:
            raise DecodeError(path=where, expected="a source", got=str(error)) from error
        except LimitError:
            continue


def _dumped(call: Registration) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": call.kind, "granularity": call.granularity.value}
    if call.alias is not None:
        values["alias"] = call.alias
    return values | dump_document(call.document, granularity=call.granularity)
