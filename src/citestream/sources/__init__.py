"""What may be cited: documents, ids for them, and from an id with a locator to the exact text.

======================  ===========================================================================
``documents``           ``SourceDocument`` and making one of text, pages or blocks
``files``               reading a file; ``file_formats`` and ``html_reduction`` make text of it
``registry``            giving out ids, resolving them, keeping them across runs
``locating``            a unit and two numbers become a location and the exact text
``lines``, ``chunks``   where lines and paragraph-sized blocks begin and end
``limits``              the bounds of it all
======================  ===========================================================================

Showing sources to a model is in ``citestream.prompts``; markers are in ``citestream.markers``.
"""

from .documents import SourceDocument, from_blocks, from_citable, from_pages, from_text
from .file_formats import from_bytes
from .files import from_file
from .granularity import Granularity
from .limits import DEFAULT_LIMITS, Limits
from .lines import LineTable
from .locating import Located, Unlocated
from .registered import RegisteredSource
from .registry import SourceRegistry

__all__ = (
    "DEFAULT_LIMITS",
    "Granularity",
    "Limits",
    "LineTable",
    "Located",
    "RegisteredSource",
    "SourceDocument",
    "SourceRegistry",
    "Unlocated",
    "from_blocks",
    "from_bytes",
    "from_citable",
    "from_file",
    "from_pages",
    "from_text",
)
