"""One call of a model: what it is told goes in, the raw events of its answer come out.

Deliberately elsewhere: what is done about them (``work``), what vendors send (``providers``).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from inspect import iscoroutine
from typing import Any

import anyio

from ..cancellation import is_cancelled
from ..errors import CitestreamError, SessionError, brief
from ..events import (
    AnswerCitation,
    AnswerEnd,
    AnswerFailure,
    AnswerText,
    AnswerToolCall,
    AssistantMessageData,
    SessionErrorData,
    SessionEvent,
)
from ..resolver import AnswerAssembler
from .options import SessionOptions
from .provider import Exchange, Provider, ProviderItem

__all__ = ("ask_model",)

_CUT_OFF = "the answer broke off before its end"
_TYPE = "provider"
_ITEMS = (AnswerText, AnswerCitation, AnswerToolCall, AnswerEnd)


async def ask_model(
    provider: Provider, exchange: Exchange, options: SessionOptions, /
) -> AsyncGenerator[SessionEvent, None]:
    """Give the events of one answer, until its message.

    Raises SessionError for a failure that the vendor reports, for whatever the provider raises, and
    for an answer without an end. What strangers raise may hold keys and words of the user: the
    error names its type, and is caused by it.
    """
    assembler = AnswerAssembler(options.citations)
    complete = False
    async with AsyncExitStack() as stack:
        items = _begun(provider, exchange)
        if isinstance(items, AsyncGenerator):
            await stack.enter_async_context(aclosing(items))
        while (item := await _next(items)) is not None:
            if isinstance(item, AnswerFailure):
                raise SessionError(item.message, error_type=item.error_type)
            for event in _events(item, assembler):
                complete = complete or isinstance(
                    event.data, AssistantMessageData | SessionErrorData
                )
                yield event
    if not complete:
        raise SessionError(_CUT_OFF, error_type=_TYPE)


def _begun(provider: Provider, exchange: Exchange) -> AsyncIterator[ProviderItem]:
    try:
        items = provider.answer(exchange)
    except Exception as error:  # whatever a provider raises must not end the session
        raise _failure(error) from error
    if not isinstance(items, AsyncIterator):
        if iscoroutine(items):
            items.close()
        raise SessionError(
            f"the provider's answer: wanted an async iterator, got {brief(items)}", error_type=_TYPE
        )
    return items


def _events(item: ProviderItem, assembler: AnswerAssembler) -> list[SessionEvent]:
    if isinstance(item, SessionEvent):
        return [item]
    if not isinstance(item, _ITEMS) or not isinstance(getattr(item, "text", ""), str):
        raise SessionError(
            f"the provider gave {brief(item)}, wanted an item of an answer or an event",
            error_type=_TYPE,
        )
    return assembler.feed(item)


async def _next(items: AsyncIterator[ProviderItem]) -> ProviderItem | None:
    try:
        return await anext(items, None)
    except anyio.get_cancelled_exc_class() as error:
        if is_cancelled():
            raise
        raise SessionError("the provider was cancelled from inside", error_type=_TYPE) from error
    except GeneratorExit as error:
        raise SessionError("the provider left its answer", error_type=_TYPE) from error
    except Exception as error:  # whatever a vendor's client raises must not end the session
        raise _failure(error) from error


def _failure(error: Exception) -> SessionError:
    if isinstance(error, CitestreamError):
        return SessionError(str(error), error_type=_TYPE)
    status = _status(error)
    shown = "" if status is None else f" (status {status})"
    message = f"the provider raised {type(error).__name__}{shown}"
    return SessionError(message, error_type=_TYPE, status_code=status)


def _status(error: Any) -> int | None:  # noqa: ANN401 - the vendor's own
    """Return the status of HTTP that an error has, as the clients of vendors tell it.

    Google calls it a code, boto3 has it deep in the response. What is none of an error is left out:
    some clients tell the one of the stream in which an error was reported.
    """
    response = getattr(error, "response", None)
    metadata = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
    inner = metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None
    told = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(response, "status_code", None),
        inner,
    )
    return next((one for one in told if isinstance(one, int) and 400 <= one < 600), None)  # noqa: PLR2004
