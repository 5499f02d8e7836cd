"""One call of a model: what it is told goes in, the raw events of its answer come out.

Deliberately elsewhere: what is done about them (``work``), what vendors send (``providers``).
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

from ..errors import CitestreamError, SessionError
from ..events import AssistantMessageData, SessionErrorData, SessionEvent
from ..resolver import AnswerAssembler
from .options import SessionOptions
from .provider import Exchange, Provider, ProviderItem

__all__ = ("ask_model",)

_CUT_OFF = "the answer broke off before its end"


async def ask_model(
    provider: Provider, exchange: Exchange, options: SessionOptions, /
) -> AsyncGenerator[SessionEvent, None]:
    """Give the events of one answer, until its message.

    Raises SessionError for whatever the provider raises, and for an answer without an end. What
    strangers raise may hold keys and words of the user: the error names its type, and is caused by
    it.
    """
    assembler = AnswerAssembler(options.citations)
    complete = False
    async with AsyncExitStack() as stack:
        items = provider.answer(exchange)
        if isinstance(items, AsyncGenerator):
            await stack.enter_async_context(aclosing(items))
        while (item := await _next(items)) is not None:
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
        status: Any = getattr(error, "status_code", None)
        shown = f" (status {status})" if isinstance(status, int) else ""
        message = f"the provider raised {type(error).__name__}{shown}"
        raise SessionError(message, error_type="provider") from error
