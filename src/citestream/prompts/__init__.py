"""What a model is shown: sources with their markers, and the rules for citing them.

======================  ===========================================================================
``rendering``           sources as a tool result, or as sections of a prompt
``instructions``        the rules for citing, as text for a system prompt
``neutral``             making the text of a source harmless inside a prompt
``prompt_options``      the choices that all of them share, one frozen value
``shown_markers``       the markers in them, each of which is read back as written
======================  ===========================================================================

Sources and their ids are in ``citestream.sources``; reading the answer is in ``citestream.markers``
and ``citestream.resolver``.
"""

from .instructions import SAMPLE_IDS, instructions
from .neutral import neutralise
from .prompt_options import Consideration, PromptOptions
from .rendering import render_context, render_tool_result

__all__ = (
    "SAMPLE_IDS",
    "Consideration",
    "PromptOptions",
    "instructions",
    "neutralise",
    "render_context",
    "render_tool_result",
)
