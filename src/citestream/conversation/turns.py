"""What a model is asked: turns, and what in them it may cite. The same for every vendor.

In: values made by whoever holds the conversation. Out: what every provider's ``request`` takes.
A provider turns material into what its vendor can cite natively (``sent_material``), or else
renders it with markers (``prompts``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from ..errors import OptionError, brief
from ..prompts import (
    PromptOptions,
    instructions,
    neutralise,
    render_context,
    render_tool_result,
)
from ..prompts.neutral import one_line
from ..sources import RegisteredSource
from .tool_definitions import ToolDefinition

__all__ = (
    "AssistantTurn",
    "Conversation",
    "Material",
    "Message",
    "ToolTurn",
    "Turn",
    "UserTurn",
    "add_blocks",
    "messages_of",
    "render_turns",
)

_UNREADABLE = "INVALID_JSON"  # as Anthropic calls it


def _origin(_instance: object, _attribute: object, value: object) -> None:
    if value not in {"attachment", "tool"}:
        raise OptionError(f"origin: wanted 'attachment' or 'tool', got {brief(value)}")


@attrs.frozen(kw_only=True)
class Material:
    """Something that the model may cite.

    ``origin`` tells an attachment of the user from the result of a tool. ``data`` is the file
    itself, of ``media_type``, for vendors that read files on their own (PDF); without it the text
    counts.
    """

    source: RegisteredSource
    origin: Literal["attachment", "tool"] = attrs.field(default="attachment", validator=_origin)
    data: bytes | None = attrs.field(default=None, repr=False)
    media_type: str = "text/plain"

    @property
    def pdf(self) -> bytes | None:
        """The file itself where it is a PDF, which some vendors read on their own."""
        return self.data or None if self.media_type == "application/pdf" else None

    @property
    def has_text(self) -> bool:
        """Whether there is text to show; vendors refuse blank ones."""
        return bool(self.source.document.content.strip())

    @property
    def names(self) -> tuple[str, str]:
        """What names the source to a vendor that wants a name and a title: url, path or id."""
        document = self.source.document
        name = neutralise(document.url or document.path or self.source.id)
        return name, one_line(document.title or name) or name


@attrs.frozen(kw_only=True)
class UserTurn:
    """What the user said, with what is attached to it."""

    text: str
    materials: tuple[Material, ...] = ()


@attrs.frozen(kw_only=True)
class AssistantTurn:
    """What the assistant answered before, as the reader saw it."""

    text: str


@attrs.frozen(kw_only=True)
class ToolTurn:
    """A call of a tool that the assistant made, and what came of it.

    Neighbours of the same ``round`` are calls that one message of the assistant made at once, and
    an AssistantTurn right before them is what that message says. With another ``round`` a message
    of its own begins, so calls that followed each other without a word need different ones.

    ``arguments`` are text where what the model wrote is no JSON object. ``provider_data`` is what
    came with the call and has to go back with it (``events.AnswerToolCall``); a vendor takes no
    notice of another's.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any] | str = attrs.field(factory=dict, hash=False)
    text: str = ""
    materials: tuple[Material, ...] = ()
    round: int = 0
    provider_data: Mapping[str, Any] | None = attrs.field(default=None, hash=False)

    @property
    def input(self) -> dict[str, Any]:
        """The arguments as an object, which vendors insist on: text is a member of one.

        >>> ToolTurn(call_id="c", name="look", arguments="{").input
        {'INVALID_JSON': '{'}
        """
        if isinstance(self.arguments, str):
            return {_UNREADABLE: self.arguments}
        return dict(self.arguments)


Turn: TypeAlias = UserTurn | AssistantTurn | ToolTurn
Message: TypeAlias = tuple[UserTurn | AssistantTurn, str, list[tuple[ToolTurn, str]]]
"""What is said and the material shown with it, then the calls and the material of each."""

_SILENT = AssistantTurn(text="")


def _tools(_instance: object, _attribute: object, value: tuple[ToolDefinition, ...]) -> None:
    twice = [name for name, count in Counter(tool.name for tool in value).items() if count > 1]
    if twice:
        raise OptionError(f"tools: wanted names that differ, got {brief(twice[0])} twice")


@attrs.frozen(kw_only=True)
class Conversation:
    """Everything that one request tells a model. ``turns`` are in order.

    ``tools`` are what the model may call now; turns may have calls of others.
    Raises OptionError for two tools of one name.
    """

    turns: tuple[Turn, ...]
    system: str | None = None
    tools: tuple[ToolDefinition, ...] = attrs.field(default=(), validator=_tools)

    def materials(self) -> Iterator[Material]:
        """Give all material, in order of the turns."""
        for turn in self.turns:
            if not isinstance(turn, AssistantTurn):
                yield from turn.materials


def render_turns(
    conversation: Conversation, /, *, options: PromptOptions
) -> tuple[str | None, list[tuple[Turn, str]]]:
    """Return the system prompt with the rules for markers, and every turn with its material shown.

    For models that do not cite natively. ``options`` tells all but the kind of the material and how
    finely it is cited. Raises OptionError where they do not fit that.
    """
    turns = conversation.turns
    tools = any(isinstance(turn, ToolTurn) and turn.materials for turn in turns)
    found = tuple(dict.fromkeys(one.source.granularity for one in conversation.materials()))
    if not found:
        return conversation.system, [(turn, "") for turn in turns]
    kind: Literal["tool", "context"] = "tool" if tools else "context"
    options = attrs.evolve(options, material=kind, granularities=found)
    show = render_tool_result if tools else render_context
    shown = []
    for turn in turns:
        materials = () if isinstance(turn, AssistantTurn) else turn.materials
        shown.append((turn, show((one.source for one in materials), options=options)))
    system = [conversation.system] if conversation.system else []
    return "\n\n".join([*system, instructions(options)]), shown


def messages_of(turns: Iterable[tuple[Turn, str]], /) -> list[Message]:
    """Return ``turns``, each with its material shown, as messages: calls go with what is said.

    Calls without a word before them go with an AssistantTurn that says nothing.
    """
    messages: list[Message] = []
    for turn, shown in turns:
        if not isinstance(turn, ToolTurn):
            messages.append((turn, shown, []))
            continue
        said, _, calls = messages[-1] if messages else (None, "", [])
        if not isinstance(said, AssistantTurn) or (calls and calls[-1][0].round != turn.round):
            calls = []
            messages.append((_SILENT, "", calls))
        calls.append((turn, shown))
    return messages


def add_blocks(
    messages: list[dict[str, Any]], role: str, blocks: Iterable[dict[str, Any]], /
) -> None:
    """Add content of ``role``, to the last message where that is its own: roles take turns."""
    content = list(blocks)
    if not content:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(content)
    else:
        messages.append({"role": role, "content": content})
