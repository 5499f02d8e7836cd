"""A question and what becomes of it.

Deliberately elsewhere: answering it (``work``).
"""

from collections.abc import Sequence
from typing import Any

import anyio

from ..errors import CitestreamError, SessionError, StateError
from ..events import AssistantMessageData, SessionErrorData, SessionEvent, UserMessageData

__all__ = ("Question",)


class Question:
    """A question. ``source_ids`` are those of what is attached to it, ``files`` their files.

    ``begun`` is set when it is kept, ``done`` when nothing more comes of it.
    """

    def __init__(
        self, data: UserMessageData, files: dict[str, Any], source_ids: list[str], /
    ) -> None:
        self.message_id: str = data.message_id or ""
        self.data = data
        self.files = files
        self.source_ids = source_ids
        self.begun: anyio.Event = anyio.Event()
        self.done: anyio.Event = anyio.Event()
        self.answer: SessionEvent | None = None
        self.error: CitestreamError | None = None

    async def wait(self) -> SessionEvent | None:
        """Return the last message of the root agent when all is done. Raises what went wrong."""
        await self.done.wait()
        if self.error is not None:
            raise self.error
        return self.answer

    def saw(self, events: Sequence[SessionEvent]) -> None:
        """Note what was given out while the question was being answered."""
        for event in events:
            data = event.data
            if event.agent_id is not None:
                continue  # sub-agents neither answer nor fail for the root agent
            if isinstance(data, AssistantMessageData):
                self.answer = event
            elif isinstance(data, SessionErrorData) and self.error is None:
                self.error = SessionError(
                    data.message, error_type=data.error_type, status_code=data.status_code
                )

    def end(self, *, unless_done: str | None = None) -> None:
        """Say that nothing more comes of it; ``unless_done`` says why, where that is too early."""
        if unless_done is not None and not self.done.is_set():
            self.error = self.error or StateError(unless_done)
        self.begun.set()
        self.done.set()
