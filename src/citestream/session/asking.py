"""One call of a model: what it is told goes in, the raw events of its answer come out.

Deliberately elsewhere: what is done about them (``work``), what vendors send (``providers``).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Any

from ..errors import CitestreamError, SessionError
from ..events import AnswerFailure, AssistantMessageData, SessionErrorData, SessionEvent
from ..resolver import AnswerAssembler
from .options import SessionOptions
from .provider import Exchange, Provider, ProviderItem

__all__ = ("ask_model",)

_CUT_OFF = "the answer broke off before its end"


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
        items = provider.answer(exchange)
        if isinstance(items, AsyncGenerator):
            await stack.enter_async_context(aclosing(items))
        while (item := await _next(items)) is not None:
            if isinstance(item, AnswerFailure):
                raise SessionError(item.message, error_type=item.error_type)
            events = [item] if isinstance(item, SessionEvent) else assembler.feed(item)
            for event in events:
                complete = complete or isinstance(
                    event.data, AssistantMessageData | SessionErrorData
                )
                yield event
    if not complete:
        raise SessionError(_CUT_OFF, error_type="provider")


async def _next(items: AsyncIterator[ProviderItem]) -> ProviderItem | None:
    try:
        return await anext(items, None)
    except CitestreamError as error:
        raise SessionError(str(error), error_type="provider") from error
    except Exception as error:  # whatever a vendor's client raises must not end the session
        status = _status(error)
        shown = "" if status is None else f" (status {status})"
        message = f"the provider raised {type(error).__name__}{shown}"
        raise SessionError(message, error_type="provider", status_code=status) from error


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
