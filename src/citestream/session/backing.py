"""What a client gives a session that it makes: one frozen value.

Deliberately elsewhere: what a session does with it (``work``), making it (``client``).
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path

import attrs
from anyio.abc import TaskGroup

from ..store import StoredEvent
from ..tools.permissions import PermissionHandlerFunction
from ..tools.tool import Tool
from .journal import Journal
from .provider import Provider

__all__ = ("Backing",)


@attrs.frozen(kw_only=True)
class Backing:
    """What a client gives a session that it makes.

    ``journal`` is None for a session that only observes what ``following`` gives; ``past`` is what
    was kept before.
    ``closed`` is called when the session has disconnected.
    """

    tasks: TaskGroup
    following: Callable[[], AsyncGenerator[list[StoredEvent], None]] | None = None
    journal: Journal | None = None
    past: tuple[StoredEvent, ...] = ()
    provider: Provider | None = None
    tools: Mapping[str, Tool] = attrs.field(factory=dict, hash=False)
    on_permission_request: PermissionHandlerFunction | None = None
    working_directory: Path | None = None
    closed: Callable[[], object] = lambda: None
