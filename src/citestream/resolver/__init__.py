"""From events to citations, without I/O: the heart of the package.

``engine`` has the push object that a session runs; ``answer`` reads one whole answer, also for
those who have no events, into a ``resolution``; ``collection`` deduplicates and numbers;
``positions`` moves ranges; ``options`` says how. ``assembly`` and ``ranges`` make events of what
providers hand on.
"""

from .answer import resolve
from .assembly import AnswerAssembler
from .collection import CitationCollection, source_key
from .engine import MAX_OPEN_MESSAGES, MessageKey, Resolver
from .options import CitationOptions
from .positions import visible_ranges
from .resolution import Resolution

__all__ = (
    "MAX_OPEN_MESSAGES",
    "AnswerAssembler",
    "CitationCollection",
    "CitationOptions",
    "MessageKey",
    "Resolution",
    "Resolver",
    "resolve",
    "source_key",
    "visible_ranges",
)
