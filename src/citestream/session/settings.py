"""The settings of a session that a client makes, checked before anything is made.

In: keyword arguments of ``create_session`` and ``resume_session``. Out: one frozen value.
Deliberately elsewhere: how a session reads and behaves (``options``).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import attrs

from ..errors import OptionError, brief
from ..tools.permissions import PermissionHandlerFunction
from ..tools.tool import Tool
from .delivery import EventHandler
from .options import CLIENT_OPTIONS, SessionOptions

__all__ = ("CheckedSettings", "SessionSettings", "check_settings")


class SessionSettings(TypedDict, total=False):
    """What ``create_session`` and ``resume_session`` both take."""

    enable_citations: bool
    tools: Sequence[Tool] | None
    on_permission_request: PermissionHandlerFunction | None
    on_event: EventHandler | None
    options: SessionOptions | None
    owner: str | None


def _is(kind: type, wanted: str) -> Any:  # noqa: ANN401 - an attrs validator
    def check(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
        if value is not None and not isinstance(value, kind):
            raise OptionError(f"{attribute.name}: wanted {wanted}, got {brief(value)}")

    return check


def _callable(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if value is not None and not callable(value):
        raise OptionError(f"{attribute.name}: wanted a callable, got {brief(value)}")


def _switch(_instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, bool):
        raise OptionError(f"{attribute.name}: wanted True or False, got {brief(value)}")


def _by_name(tools: Sequence[Tool] | None) -> dict[str, Tool]:
    named: dict[str, Tool] = {}
    for one in tools or ():
        if not isinstance(one, Tool):
            raise OptionError(f"tools: wanted what citestream.tool makes, got {brief(one)}")
        if one.name in named:
            raise OptionError(f"tools: wanted names that differ, got {one.name!r} twice")
        named[one.name] = one
    return named


def _options(options: SessionOptions | None) -> SessionOptions:
    return CLIENT_OPTIONS if options is None else options


@attrs.frozen(kw_only=True)
class CheckedSettings:
    """Settings with nothing wrong in them; ``tools`` by name."""

    enable_citations: bool = attrs.field(default=False, validator=_switch)
    tools: Mapping[str, Tool] = attrs.field(default=None, converter=_by_name, hash=False)
    on_permission_request: PermissionHandlerFunction | None = attrs.field(
        default=None, validator=_callable
    )
    on_event: EventHandler | None = attrs.field(default=None, validator=_callable)
    options: SessionOptions = attrs.field(
        default=None, converter=_options, validator=_is(SessionOptions, "a SessionOptions")
    )
    owner: str | None = attrs.field(default=None, validator=_is(str, "a text"))


_NAMES = tuple(field.name for field in attrs.fields(CheckedSettings))


def check_settings(settings: Mapping[str, Any], /) -> CheckedSettings:
    """Return ``settings`` checked. Raises OptionError for unknown names and values that do not fit.

    >>> check_settings({"enable_citation": True})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    citestream.errors.OptionError: enable_citation: no such setting of a session; there are ...
    """
    for name in settings:
        if name not in _NAMES:
            known = ", ".join(_NAMES)
            raise OptionError(f"{name}: no such setting of a session; there are {known}")
    return CheckedSettings(**settings)
