"""Whose cancellation it is: of the task that runs now, or of what strangers' code awaited in it.

A handler, a provider or a tool may await a task of its own that someone cancels; what it then
raises looks as if we were to stop. Deliberately elsewhere: what is done about it.
"""

import math
import sys

import anyio

__all__ = ("is_cancelled",)


def is_cancelled() -> bool:
    """Tell whether the task that runs now was asked to stop, by a scope or by itself."""
    if anyio.current_effective_deadline() == -math.inf:
        return True
    asyncio = sys.modules.get("asyncio")
    try:
        task = asyncio.current_task() if asyncio is not None else None
    except RuntimeError:  # another event loop
        task = None
    return task is not None and task.cancelling() > 0
