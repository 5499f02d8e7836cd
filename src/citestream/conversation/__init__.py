"""What a model is told, the same for every vendor: turns, material to cite, tools to call.

``turns`` has the values and what every vendor makes of them alike, ``tool_definitions`` the tools.
What a single vendor is sent is in ``citestream.providers``.
"""

from .tool_definitions import ToolDefinition
from .turns import AssistantTurn, Conversation, Material, ToolTurn, UserTurn

__all__ = (
    "AssistantTurn",
    "Conversation",
    "Material",
    "ToolDefinition",
    "ToolTurn",
    "UserTurn",
)
