"""Who answers: the offline provider, or a vendor's model through the vendor's own client.

In: a name and a model. Out: a provider for ``citestream.Client``. A vendor's package is imported
only when it is asked for, and takes its key from its own environment variable.
"""

import os
from collections.abc import AsyncIterator, Callable
from weakref import WeakKeyDictionary

import anyio
import attrs

from citestream import MarkerSyntax, OptionError, Provider, SourceRegistry, VendorProvider
from citestream.events import SessionIdleData
from citestream.markers import LINES, PAGES
from citestream.prompts import PromptOptions
from citestream.providers import (
    Anthropic,
    Extractive,
    Gemini,
    Material,
    OpenAIResponses,
    UserTurn,
)
from citestream.session import Exchange
from citestream.session.provider import ProviderItem

__all__ = ("KEYS", "SYNTAX", "Quoting", "WithSources", "vendor")

SYNTAX = MarkerSyntax(locators=(LINES, PAGES))
"""What markers look like here: they may name lines, and pages."""

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
"""The vendors, and the environment variable of each one's key."""


class WithSources:
    """A provider that shows the model all that may be cited, with the first question."""

    def __init__(self, provider: Provider, /) -> None:
        self._provider = provider

    def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the items of one answer."""
        conversation, sources = exchange.conversation, exchange.sources.sources
        turns = list(conversation.turns)
        for number, turn in enumerate(turns):
            if isinstance(turn, UserTurn):
                materials = tuple(Material(source=source) for source in sources)
                turns[number] = UserTurn(text=turn.text, materials=materials)
                break
        shown = attrs.evolve(conversation, turns=tuple(turns))
        return self._provider.answer(attrs.evolve(exchange, conversation=shown))


class Quoting:
    """Quotes the passages that match a question best, at the pace of a model: no key, no network.

    It is ``citestream.OfflineProvider``, but for the pace and for locators of pages.
    """

    def __init__(self, *, seconds: float = 0.03) -> None:
        self._seconds = seconds
        # What a session's sources hold is indexed once, not for every question.
        self._known: WeakKeyDictionary[SourceRegistry, Extractive] = WeakKeyDictionary()

    async def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the events of one answer."""
        sources = exchange.sources
        if sources not in self._known:
            self._known[sources] = Extractive(sources, syntax=SYNTAX)
        turns = reversed(exchange.conversation.turns)
        question = next((turn.text for turn in turns if isinstance(turn, UserTurn)), "")
        for event in self._known[sources].answer(question):
            if not isinstance(event.data, SessionIdleData):
                await anyio.sleep(self._seconds)
                yield event


def vendor(name: str, /, *, model: str) -> Provider:
    """Return a provider that asks ``model`` of a vendor of ``KEYS``.

    Raises OptionError where the key or the vendor's package is missing.
    """
    if not os.environ.get(KEYS[name]):
        raise OptionError(f"--provider {name}: wanted a key in {KEYS[name]}, got none")
    try:
        return WithSources(_VENDORS[name](model))
    except ImportError as error:
        raise OptionError(f"--provider {name} wants its package: {error}") from error


def _anthropic(model: str) -> Provider:
    import anthropic  # noqa: PLC0415 - only who asks for a vendor needs its package

    client = anthropic.AsyncAnthropic()
    return VendorProvider(Anthropic, client.messages.create, model=model, stream=True)


def _openai(model: str) -> Provider:
    import openai  # noqa: PLC0415

    call, options = openai.AsyncOpenAI().responses.create, PromptOptions(syntax=SYNTAX)
    return VendorProvider(OpenAIResponses, call, model=model, stream=True, options=options)


def _gemini(model: str) -> Provider:
    from google import genai  # noqa: PLC0415

    client = genai.Client(api_key=os.environ[KEYS["gemini"]])
    call, options = client.aio.models.generate_content_stream, PromptOptions(syntax=SYNTAX)
    return VendorProvider(Gemini, call, model=model, options=options)


_VENDORS: dict[str, Callable[[str], Provider]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "gemini": _gemini,
}
