"""What a model is told of a session: its events, as the turns of a conversation.

In: the events that a session gives out, in order. Out: turns, with what may be cited in each. The
same from live events and from kept ones. Sub-agents talk among themselves: they are left out.
Deliberately elsewhere: what a vendor makes of turns (``providers``).
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..conversation import AssistantTurn, Material, ToolTurn, UserTurn
from ..conversation.turns import Turn
from ..events import (
    AssistantMessageData,
    SessionEvent,
    ToolExecutionCompleteData,
    UserMessageData,
)
from ..model import CitableSource
from ..prompts import neutralise
from ..sources import RegisteredSource, SourceRegistry

__all__ = ("SOURCE_IDS", "Transcript")

SOURCE_IDS = "sourceIds"
"""The key of a ``user.message`` under which the ids of what was attached to it stand."""

_UNFINISHED = "The call was interrupted: it gave no result."


class Transcript:
    """The turns of one session, so far.

    ``citing`` says whether material is told as what may be cited; else it is told as text.
    ``files`` holds attachments that are sent as files, by source id. ``shown`` has the ids of all
    sources that are told somewhere.
    """

    def __init__(
        self, sources: SourceRegistry, files: Mapping[str, Any], /, *, citing: bool
    ) -> None:
        self._sources = sources
        self._files = files
        self._citing = citing
        self._turns: list[Turn] = []
        self._calls: dict[str, int] = {}  # where the turn of a call stands that has no result yet
        self._round = 0
        self.shown: set[str] = set()

    def take(self, event: SessionEvent, /) -> None:
        """Take the next event that is given out."""
        data = event.data
        if event.agent_id is not None:
            return
        if isinstance(data, UserMessageData):
            self._user(data)
        elif isinstance(data, AssistantMessageData):
            self._assistant(data)
        elif isinstance(data, ToolExecutionCompleteData):
            self._result(data)

    def take_all(self, events: Iterable[SessionEvent], /) -> None:
        """Take the events that are given out next, in order."""
        for event in events:
            self.take(event)

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns so far; a call without a result is told as interrupted."""
        return tuple(self._turns)

    def _user(self, data: UserMessageData) -> None:
        ids = data.extra.get(SOURCE_IDS)
        known = map(self._sources.get, filter(_is_text, ids if isinstance(ids, list) else ()))
        text = "\n\n".join([data.content, *map(_meant, filter(_has_lines, data.attachments or ()))])
        self._add(UserTurn(text=text), "attachment", [one for one in known if one])

    def _assistant(self, data: AssistantMessageData) -> None:
        self._round += 1
        if data.content.strip():
            self._turns.append(AssistantTurn(text=data.content))
        ids: set[str] = set()
        for request in data.tool_requests or ():
            call_id = request.get("toolCallId") if isinstance(request, Mapping) else None
            if isinstance(call_id, str) and call_id not in ids:
                ids.add(call_id)  # of two calls with one id only one runs
                self._calls[call_id] = len(self._turns)
                self._turns.append(_call(request, self._round))

    def _result(self, data: ToolExecutionCompleteData) -> None:
        place = self._calls.pop(data.tool_call_id, None)
        turn = None if place is None else self._turns[place]
        if place is None or not isinstance(turn, ToolTurn):
            return
        text = data.result.content if data.result else _error_text(data.error)
        cited = (data.result and data.result.citable_sources) or ()
        self._turns.pop(place)
        self._add(
            attrs.evolve(turn, text=neutralise(text)),  # a tool may tell what strangers wrote
            "tool",
            [found for one in cited if (found := self._registered(one))],
            at=place,
        )

    def _add(
        self,
        turn: UserTurn | ToolTurn,
        origin: Any,  # noqa: ANN401 - one of two words, checked by Material
        sources: list[RegisteredSource],
        *,
        at: int | None = None,
    ) -> None:
        self.shown.update(source.id for source in sources)
        materials = tuple(self._material(source, origin) for source in sources)
        if self._citing:
            turn = attrs.evolve(turn, materials=materials)
        elif materials and origin == "attachment":
            shown = "\n\n".join(map(_shown, sources))
            turn = attrs.evolve(turn, text=f"{shown}\n\n{turn.text}")
        self._turns.insert(len(self._turns) if at is None else at, turn)

    def _material(self, source: RegisteredSource, origin: Any) -> Material:  # noqa: ANN401
        file = self._files.get(source.id)
        if not isinstance(file, Mapping):
            return Material(source=source, origin=origin)
        try:
            data = b64decode(str(file.get("data")), validate=True)
        except Base64Error:
            return Material(source=source, origin=origin)
        return Material(
            source=source, origin=origin, data=data, media_type=str(file.get("mimeType"))
        )

    def _registered(self, source: CitableSource) -> RegisteredSource | None:
        """Return what the registry has for a source of the tool that ran last."""
        found = self._sources.get(source.id)
        if found is not None and found.document.content == source.content:
            return found
        same = (one for one in reversed(self._sources.sources) if _is_same(one, source))
        return next(same, None)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _has_lines(attachment: object) -> bool:
    lines = attachment.get("lineRange") if isinstance(attachment, Mapping) else None
    return isinstance(lines, Mapping) and {"start", "end"} <= lines.keys()


def _meant(attachment: Mapping[str, Any]) -> str:
    lines = attachment["lineRange"]
    return f"Of {attachment.get('path')}, lines {lines['start']} to {lines['end']} are meant."


def _is_same(one: RegisteredSource, source: CitableSource) -> bool:
    document = one.document
    return (document.content, document.title) == (source.content, source.title)


def _call(request: Mapping[str, Any], number: int) -> ToolTurn:
    arguments, data = request.get("arguments"), request.get("providerData")
    return ToolTurn(
        call_id=request["toolCallId"],
        name=str(request.get("name")),
        arguments=arguments if isinstance(arguments, Mapping | str) else {},
        text=_UNFINISHED,
        round=number,
        provider_data=data if isinstance(data, Mapping) else None,
    )


def _error_text(error: object) -> str:
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else "The tool failed."


def _shown(source: RegisteredSource) -> str:
    name = source.document.title or source.document.path or source.id
    return f"{name}:\n\n{source.document.content}"
