"""Who answers: the offline provider, or a vendor's model through the vendor's own client.

In: a name and a model. Out: a provider for ``citestream.Client``. A vendor's package is imported
only when it is asked for, and takes its key from its own environment variable.
"""

import os
from collections.abc import AsyncIterator, Callable

import anyio

from citestream import OfflineProvider, OptionError, Provider, VendorProvider
from citestream.providers import Anthropic, Gemini, OpenAIResponses
from citestream.session import Exchange, ProviderItem

__all__ = ("KEYS", "Paced", "vendor")

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
"""The vendors, and the environment variable of each one's key."""


class Paced:
    """The offline provider at the pace of a model: it quotes what matches a question best."""

    def __init__(self, *, seconds: float = 0.03) -> None:
        self._offline = OfflineProvider()
        self._seconds = seconds

    async def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the events of one answer."""
        async for item in self._offline.answer(exchange):
            await anyio.sleep(self._seconds)
            yield item


def vendor(name: str, /, *, model: str) -> Provider:
    """Return a provider that asks ``model`` of a vendor of ``KEYS``.

    Raises OptionError where the key or the vendor's package is missing.
    """
    if not os.environ.get(KEYS[name]):
        raise OptionError(f"--provider {name}: wanted a key in {KEYS[name]}, got none")
    try:
        return _VENDORS[name](model)
    except ImportError as error:
        raise OptionError(f"--provider {name} wants its package: {error}") from error


def _anthropic(model: str) -> Provider:
    import anthropic  # noqa: PLC0415 - only who asks for a vendor needs its package

    client = anthropic.AsyncAnthropic()
    return VendorProvider(Anthropic, client.messages.create, model=model, stream=True)


def _openai(model: str) -> Provider:
    import openai  # noqa: PLC0415

    client = openai.AsyncOpenAI()
    return VendorProvider(OpenAIResponses, client.responses.create, model=model, stream=True)


def _gemini(model: str) -> Provider:
    from google import genai  # noqa: PLC0415

    client = genai.Client(api_key=os.environ[KEYS["gemini"]])
    return VendorProvider(Gemini, client.aio.models.generate_content_stream, model=model)


_VENDORS: dict[str, Callable[[str], Provider]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "gemini": _gemini,
}
