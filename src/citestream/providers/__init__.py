"""Where answers come from: one provider per file, each of them pure.

======================  ===========================================================================
``anthropic``           Anthropic Messages
``bedrock``             Amazon Bedrock, Converse and ConverseStream
``cohere``              Cohere v2 chat
``gemini``              Google Gemini, generateContent and Interactions
``mistral``             Mistral chat and conversations
``openai``              OpenAI Responses; ``openai_chat`` Chat Completions and what resembles it
``perplexity``          Perplexity chat
``copilot``             events of the Copilot SDK (attaching to a session is in ``session``)
``extractive``          answers offline, with the passages of the sources that match a question best
======================  ===========================================================================

A vendor's provider is one object for one exchange: ``request(conversation, ...)`` makes the
arguments of the vendor's own client, ``decode(chunk)`` reads what that client gives back, its
objects or plain dicts, streamed or whole. Feed what ``decode`` returns to
``resolver.AnswerAssembler`` and its events to a ``Session`` or a ``Resolver``. ``conversation`` has
what a request is made of, ``chunks`` reads fields, ``gemini_sources`` and ``openai_annotations``
what their vendors cite, ``bracket_numbers`` hides the marks of Perplexity; ``passages``, ``terms``
and ``ranking`` serve ``extractive``.
"""

from .anthropic import Anthropic
from .bedrock import Bedrock
from .cohere import Cohere
from .conversation import AssistantTurn, Conversation, Material, ToolTurn, UserTurn
from .extractive import Extractive, ExtractiveOptions
from .gemini import Gemini
from .mistral import Mistral
from .openai import OpenAIResponses
from .openai_chat import OpenAIChat
from .perplexity import Perplexity

__all__ = (
    "Anthropic",
    "AssistantTurn",
    "Bedrock",
    "Cohere",
    "Conversation",
    "Extractive",
    "ExtractiveOptions",
    "Gemini",
    "Material",
    "Mistral",
    "OpenAIChat",
    "OpenAIResponses",
    "Perplexity",
    "ToolTurn",
    "UserTurn",
)
