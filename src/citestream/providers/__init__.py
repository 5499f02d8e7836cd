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
``resolver.AnswerAssembler`` and its events to a ``Session`` or a ``Resolver``.

Every vendor but Perplexity calls tools. ``Conversation.tools`` are what it may call, an
``AnswerToolCall`` right before the end of an answer is a call, and a ``ToolTurn`` of the next
conversation is that call again, with its result. Tools that a vendor runs itself are passed to
``request`` in the vendor's own form; what they do is no call.

``citestream.conversation`` has what a request is made of. ``sent_material`` has what was sent to be
cited; ``anthropic_messages``, ``bedrock_messages`` and
``gemini_contents`` write what these vendors are sent. ``chunks`` reads fields, ``tool_calls`` puts
calls together, ``gemini_sources`` and ``openai_annotations`` read what is cited,
``bracket_numbers`` hides the marks of Perplexity; ``passages``, ``terms`` and ``ranking`` serve
``extractive``.
"""

from ..conversation import (
    AssistantTurn,
    Conversation,
    Material,
    ToolDefinition,
    ToolTurn,
    UserTurn,
)
from .anthropic import Anthropic
from .bedrock import Bedrock
from .cohere import Cohere
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
    "ToolDefinition",
    "ToolTurn",
    "UserTurn",
)
