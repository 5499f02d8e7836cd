"""The parameters of a function as a JSON schema, and what a model wrote made into its arguments.

In: a function with type hints. Out: ``Parameters``: the schema that a model is shown, and ``bind``,
which checks and converts the JSON object that it wrote. msgspec knows the types: those of Python
and ``typing``, enums, dates, dataclasses, attrs classes, TypedDicts, NamedTuples, Structs. It is
imported with the first function, for who has no tools does not pay for it. Deliberately elsewhere:
calling the function (``tools``).
"""

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from math import inf
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import attrs

from ..errors import OptionError, brief

__all__ = ("Parameters", "read_parameters")

_CONSTANTS = (str, int, float, NoneType, Enum)  # defaults that may stand in a schema
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.VAR_POSITIONAL: "one for any number of values",
    inspect.Parameter.VAR_KEYWORD: "one for any number of keywords",
}


@attrs.frozen(kw_only=True)
class Parameters:
    """What a function takes. ``schema`` is a JSON schema of type ``object``; do not change it."""

    schema: dict[str, Any] = attrs.field(hash=False)
    _struct: type[Any] = attrs.field(repr=False)
    _given: tuple[str, ...] = attrs.field(repr=False)

    def bind(self, arguments: Mapping[str, Any], /, *, given: object) -> dict[str, Any] | str:
        """Return the keyword arguments for the function, or in words why there are none.

        ``given`` goes to the parameters that are not the model's. A number, a boolean or null may
        be spelled as a string, and a whole number as a float: models do so. Raises what the classes
        of the function raise when they are made, ValueError and TypeError apart.
        """
        import msgspec  # noqa: PLC0415 - imported already

        try:
            made = msgspec.convert(dict(arguments), self._struct, strict=False, str_keys=True)
        except msgspec.ValidationError as error:
            return str(error)
        values = {name: getattr(made, name) for name in self._struct.__struct_fields__}
        return values | dict.fromkeys(self._given, given)


def read_parameters(function: Callable[..., Any], /, *, given: type[Any]) -> Parameters:
    """Read what ``function`` takes. Parameters of the type ``given`` are not the model's to fill.

    ``Annotated[str, "what it is"]`` describes a parameter, ``msgspec.Meta`` bounds its values.
    Raises OptionError, which names the parameter, for one without a type hint or with a type that
    JSON has no words for, and for ``*args``, ``**kwargs`` and positional-only ones.
    """
    import msgspec  # noqa: PLC0415 - who has no tools does not pay for it

    hints = _hints(function)
    fields: list[tuple[str, Any, Any]] = []
    passed: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in _KINDS:
            raise _unfit(function, name, "one that can be named", _KINDS[parameter.kind])
        if name not in hints:
            raise _unfit(function, name, "a type hint", "none")
        if hints[name] is given:
            passed.append(name)
            continue
        hint = _described(hints[name])
        _check_type(function, name, hint)
        fields.append((name, hint, _default(parameter.default)))
    struct = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)
    return Parameters(
        schema=_inlined(msgspec.json.schema(struct)), struct=struct, given=tuple(passed)
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        problem = f"wanted type hints that can be read where it is defined, got: {error}"
        raise OptionError(f"{function.__qualname__}: {problem}") from error


def _described(hint: Any) -> Any:  # noqa: ANN401 - a type hint
    """Make a string of ``Annotated`` the description that msgspec reads."""
    import msgspec  # noqa: PLC0415 - imported already

    if get_origin(hint) is not Annotated:
        return hint
    metas = (
        msgspec.Meta(description=one) if isinstance(one, str) else one for one in get_args(hint)
    )
    return Annotated[tuple(metas)]


def _check_type(function: Callable[..., Any], name: str, hint: Any) -> None:  # noqa: ANN401 - a type hint
    import msgspec  # noqa: PLC0415 - imported already

    try:
        msgspec.json.schema(hint)
    except (TypeError, ValueError, NameError) as error:
        got = str(error).splitlines()[-1]
        raise _unfit(function, name, "a type that JSON has words for", got) from error


def _default(value: object) -> Any:  # noqa: ANN401 - a default of msgspec's
    import msgspec  # noqa: PLC0415 - imported already

    if value is inspect.Parameter.empty:
        return msgspec.NODEFAULT
    if isinstance(value, _CONSTANTS) and value not in {inf, -inf}:
        return value
    # As the function itself would: whoever leaves the argument out gets the same object.
    return msgspec.field(default_factory=lambda: value)


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Put the object itself at the root, where models want it, and keep what it refers to."""
    others: dict[str, Any] = schema["$defs"]
    root: dict[str, Any] = others.pop(schema["$ref"].removeprefix("#/$defs/"))
    del root["title"]
    return root | {"$defs": others} if others else root


def _unfit(function: Callable[..., Any], name: str, wanted: str, got: str) -> OptionError:
    return OptionError(
        f"{function.__qualname__}, parameter {brief(name)}: wanted {wanted}, got {got}"
    )
