r"""Stream model answers together with their citations.

The names of daily use; everything else is in the rooms below: ``markers``, ``resolver``,
``session``, ``sources``, ``prompts``, ``wire``, ``render``, ``offsets`` and the rest.

>>> import citestream
>>> answer = citestream.resolve("Rents rose. \ue200cite\ue202turn0file0\ue202L8\ue201")
>>> print(citestream.render.markdown(answer.content, answer.citations))
Rents rose.[^1]
<BLANKLINE>
[^1]: turn0file0, L8
"""

from . import errors, events, logs, markers, offsets, prompts, render, sources, store, wire
from .errors import (
    CitestreamError,
    DecodeError,
    EncodeError,
    LimitError,
    ModelError,
    OptionError,
    SessionError,
    SessionExistsError,
    SessionFenced,
    SessionInUseError,
    SessionNotFoundError,
    StateError,
    StoreBusyError,
    StoreError,
)
from .events import SessionEvent, SessionEventType
from .issues import Issue
from .markers import (
    MarkerFilter,
    MarkerSyntax,
    extract_citations,
    format_marker,
    parse_markers,
    strip_citations,
)
from .model import (
    CitableSource,
    CitationLocation,
    CitationLocationBlock,
    CitationLocationChar,
    CitationLocationOther,
    CitationLocationPage,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)
from .resolver import CitationOptions, Resolution, Resolver, resolve
from .session import (
    Client,
    FollowedEvent,
    OfflineProvider,
    Provider,
    Session,
    SessionMetadata,
    SessionOptions,
    VendorProvider,
)
from .sources import Limits, SourceRegistry
from .store import MemoryStore, SQLiteOptions, SQLiteStore, Store
from .tools import (
    PermissionHandler,
    PermissionRequest,
    PermissionRequestResult,
    Tool,
    ToolInvocation,
    ToolResult,
    tool,
)

__version__ = "0.1.0"

__all__ = (
    "CitableSource",
    "CitationLocation",
    "CitationLocationBlock",
    "CitationLocationChar",
    "CitationLocationOther",
    "CitationLocationPage",
    "CitationOptions",
    "CitationReference",
    "CitationSource",
    "CitationSpan",
    "Citations",
    "CitestreamError",
    "Client",
    "DecodeError",
    "EncodeError",
    "FollowedEvent",
    "Issue",
    "LimitError",
    "Limits",
    "MarkerFilter",
    "MarkerSyntax",
    "MemoryStore",
    "ModelError",
    "OfflineProvider",
    "OptionError",
    "PermissionHandler",
    "PermissionRequest",
    "PermissionRequestResult",
    "Provider",
    "Resolution",
    "Resolver",
    "SQLiteOptions",
    "SQLiteStore",
    "Session",
    "SessionError",
    "SessionEvent",
    "SessionEventType",
    "SessionExistsError",
    "SessionFenced",
    "SessionInUseError",
    "SessionMetadata",
    "SessionNotFoundError",
    "SessionOptions",
    "SourceRegistry",
    "StateError",
    "Store",
    "StoreBusyError",
    "StoreError",
    "Tool",
    "ToolInvocation",
    "ToolResult",
    "VendorProvider",
    "errors",
    "events",
    "extract_citations",
    "format_marker",
    "logs",
    "markers",
    "offsets",
    "parse_markers",
    "prompts",
    "render",
    "resolve",
    "sources",
    "store",
    "strip_citations",
    "tool",
    "wire",
)
