"""Where a client gets its answers: the protocol, a vendor's client behind it, and one offline.

In: an ``Exchange``, which says what to tell a model. Out: what it answers, item by item. The HTTP
is the caller's: a vendor's client object makes it. Deliberately elsewhere: what a vendor's chunks
mean (``providers``), the loop of tools (``work``).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction, signature, unwrap
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import anyio.lowlevel
import anyio.to_thread
import attrs

from ..conversation import Conversation
from ..errors import OptionError, brief
from ..events import AnswerItem, SessionEvent, SessionIdleData
from ..markers import DEFAULT_SYNTAX, MarkerSyntax
from ..prompts import PromptOptions
from ..sources import SourceRegistry

if TYPE_CHECKING:
    from ..providers import Extractive, ExtractiveOptions

__all__ = ("Exchange", "OfflineProvider", "Provider", "ProviderItem", "VendorProvider")

ProviderItem: TypeAlias = AnswerItem | SessionEvent
"""An item of an answer, or an event of an upstream that makes its own."""


@attrs.frozen(kw_only=True)
class Exchange:
    """One call of a model: what it is told, and ``sources``, all that may be cited so far.

    ``question`` is what the user said last, and nothing else. ``syntax`` is that of the markers
    which the session reads.
    """

    conversation: Conversation
    sources: SourceRegistry
    question: str = ""
    syntax: MarkerSyntax = DEFAULT_SYNTAX


class Provider(Protocol):
    """What a client asks for answers."""

    def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the items of one answer. What it raises ends the turn with ``session.error``.

        Where it is an async generator it is closed when nobody wants the rest.
        """


class _Vendor(Protocol):
    @property
    def request(self) -> Callable[..., dict[str, Any]]: ...

    def decode(self, chunk: object, /) -> Iterable[AnswerItem]: ...


class VendorProvider:
    """A vendor's model, called through the caller's own client.

    ``vendor`` makes one of the objects of ``citestream.providers`` for each exchange, ``call`` is
    the method of the vendor's client that takes what it requests, and ``arguments`` go into every
    request::

        VendorProvider(providers.Anthropic, client.messages.create, model="...", stream=True)
        VendorProvider(providers.OpenAIResponses, client.responses.create, model="...", stream=True)
        VendorProvider(providers.Gemini, client.aio.models.generate_content_stream, model="...")

    ``call`` may be sync or async, and may return a stream of either kind, a whole answer, or, as
    Bedrock does, a mapping whose ``stream`` is one. What is sync runs in a worker thread, which
    cannot be interrupted: an answer that is aborted is closed when its next chunk has come.

    A vendor that is shown markers is told the syntax of the session, unless ``options`` are given.
    """

    def __init__(
        self,
        vendor: Callable[[], _Vendor],
        call: Callable[..., Any],
        /,
        **arguments: Any,  # noqa: ANN401 - the vendor's own
    ) -> None:
        for name, value in (("vendor", vendor), ("call", call)):
            if not callable(value):
                raise OptionError(f"{name}: wanted a callable, got {brief(value)}")
        self._vendor = vendor
        self._call = call
        self._arguments = arguments

    async def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the items of one answer."""
        vendor = self._vendor()
        arguments = self._arguments
        if "options" in signature(vendor.request).parameters and "options" not in arguments:
            arguments = arguments | {"options": PromptOptions(syntax=exchange.syntax)}
        request = vendor.request(exchange.conversation, **arguments)
        async with aclosing(_chunks(self._call, request)) as chunks:
            async for chunk in chunks:
                for item in vendor.decode(chunk):
                    yield item


class OfflineProvider:
    """Answers with the passages of the session's sources that match the last question best.

    No key and no network: for building and testing an application before there is a model. It
    wants the ``ask`` extra.
    """

    def __init__(self, *, options: "ExtractiveOptions | None" = None) -> None:
        self._options = options
        # What a session's sources hold is indexed once, not for every question.
        self._known: WeakKeyDictionary[SourceRegistry, tuple[Extractive, MarkerSyntax]]
        self._known = WeakKeyDictionary()

    async def answer(self, exchange: Exchange, /) -> AsyncIterator[ProviderItem]:
        """Give the events of one answer. Raises OptionError where the extra is missing."""
        # Who asks a vendor does not pay for all that serves to answer offline.
        from ..providers import Extractive, ExtractiveOptions  # noqa: PLC0415

        sources, syntax = exchange.sources, exchange.syntax
        known, of = self._known.get(sources, (None, None))
        if known is None or of != syntax:
            options = self._options or ExtractiveOptions()
            known = Extractive(sources, syntax=syntax, options=options)
            self._known[sources] = known, syntax
        for event in known.answer(exchange.question):
            if not isinstance(event.data, SessionIdleData):
                await anyio.lowlevel.checkpoint()
                yield event


async def _chunks(
    call: Callable[..., Any], request: Mapping[str, Any]
) -> AsyncGenerator[object, None]:
    """Call a vendor's client and give the chunks of its stream, or its whole answer as one."""
    async with AsyncExitStack() as stack:
        worker = _Worker()
        stack.push_async_callback(worker.leave)
        result = call(**request) if _is_async(call) else await worker.call(call, request)
        if isawaitable(result):
            result = await result
        stream = _stream_of(result)
        if hasattr(stream, "__aenter__"):
            stream = await stack.enter_async_context(stream)
        elif hasattr(stream, "aclose"):
            stack.push_async_callback(stream.aclose)
        if hasattr(stream, "__aiter__"):
            async for chunk in stream:
                yield chunk
        elif stream is not result or hasattr(stream, "__next__"):
            iterator = worker.iterate(stream)
            while (chunk := await worker.next(iterator)) is not _END:
                yield chunk
        else:
            yield stream


_END = object()


class _Worker:
    """Runs what is sync in threads, one call after the other.

    A thread cannot be stopped. What it works on when nobody wants it any more is closed once it
    returns, by the thread itself: to close what another thread reads waits for that one.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self._left = False
        self._stream: Any = None

    async def call(self, call: Callable[..., Any], request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the vendor's own
        def opened() -> object:
            result = call(**request)
            self._stream = _stream_of(result)
            return result

        return await self._run(opened)

    def iterate(self, stream: Any) -> Iterator[object]:  # noqa: ANN401 - the vendor's own
        self._stream = stream
        return iter(stream)

    async def next(self, iterator: Iterator[object]) -> object:
        return await self._run(lambda: next(iterator, _END))

    async def leave(self) -> None:
        """Close what is open, now or when the thread that works on it returns."""
        self._left = True
        if self._stream is not None and self._turn.acquire(blocking=False):
            self._turn.release()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._close)

    async def _run(self, work: Callable[[], object]) -> Any:  # noqa: ANN401 - the vendor's own
        # Trio wants no coroutine from a thread: it travels in a list.
        (result,) = await anyio.to_thread.run_sync(self._work, work, abandon_on_cancel=True)
        return result

    def _work(self, work: Callable[[], object]) -> list[object]:
        try:
            with self._turn:
                return [_END if self._left else work()]
        finally:
            if self._left:
                self._close()

    def _close(self) -> None:
        # What is async is closed by whoever awaits it, in its loop.
        if not hasattr(self._stream, "__aiter__") and hasattr(self._stream, "close"):
            self._stream.close()


def _stream_of(result: Any) -> Any:  # noqa: ANN401 - the vendor's own
    """Return what a client gave, or the stream in it, as in Bedrock's."""
    stream = result.get("stream") if isinstance(result, Mapping) else None
    return result if stream is None else stream


def _is_async(call: Callable[..., Any]) -> bool:
    function = unwrap(getattr(call, "__func__", call))
    return iscoroutinefunction(function) or isasyncgenfunction(function)
