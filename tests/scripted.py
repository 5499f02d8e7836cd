"""A provider that says what a test wrote down, and clients of every store."""

from contextlib import asynccontextmanager

import anyio

from citestream import Client, format_marker
from citestream.events import AnswerEnd, AnswerText, AnswerToolCall
from citestream.store import MemoryStore

__all__ = ("Scripted", "answer", "call", "client_of", "kinds", "texts")


def answer(text, *calls, size=4):
    """Return the items of an answer, its text in small pieces."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [*(AnswerText(text=piece) for piece in pieces), *calls, AnswerEnd(model="scripted")]


def call(name, /, call_id="c1", **arguments):
    return AnswerToolCall(call_id=call_id, name=name, arguments=arguments)


class Scripted:
    """Gives the answers of a list, one for each exchange.

    An item may be an exception, which is raised, or an anyio.Event, which is waited for.
    ``asked`` holds the exchanges.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.closed = 0

    async def answer(self, exchange):
        self.asked.append(exchange)
        try:
            for item in self.answers.pop(0):
                if isinstance(item, anyio.Event):
                    await item.wait()
                elif isinstance(item, BaseException):
                    raise item
                else:
                    await anyio.lowlevel.checkpoint()
                    yield item
        finally:
            self.closed += 1


@asynccontextmanager
async def client_of(*answers, store=None, **options):
    """Give a client, and its scripted provider."""
    provider = Scripted(*answers)
    store = MemoryStore() if store is None else store
    async with Client(provider=provider, store=store, **options) as client:
        yield client, provider


def kinds(events):
    return [event.raw_type or event.type.value for event in events]


def texts(events):
    return "".join(getattr(event.data, "delta_content", "") for event in events)


MARK = format_marker("doc1", locator="L1")
