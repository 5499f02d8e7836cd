from contextlib import aclosing
from types import SimpleNamespace

import pytest

from citestream import (
    ModelError,
    SessionError,
    SessionEvent,
    SessionEventType,
    SessionOptions,
    SourceRegistry,
)
from citestream.conversation import Conversation
from citestream.events import AnswerFailure, AnswerText, SessionErrorData
from citestream.session.asking import ask_model
from citestream.session.provider import Exchange
from scripted import Scripted, answer, texts

pytestmark = pytest.mark.anyio
EXCHANGE = Exchange(conversation=Conversation(turns=()), sources=SourceRegistry())


async def events_of(provider):
    seen = []
    async with aclosing(ask_model(provider, EXCHANGE, SessionOptions())) as events:
        try:
            async for event in events:
                seen += [event]
        except SessionError as error:
            return seen, error
    return seen, None


async def test_an_answer_becomes_events():
    seen, error = await events_of(Scripted(answer("Hello.")))
    assert error is None
    assert texts(seen) == seen[-1].data.content == "Hello."


async def test_any_async_iterator_will_do():
    class Plain:
        def answer(self, _exchange):
            items = iter(answer("Hi."))

            class Items:
                def __aiter__(self):
                    return self

                async def __anext__(self):
                    for item in items:
                        return item
                    raise StopAsyncIteration

            return Items()

    seen, error = await events_of(Plain())
    assert error is None
    assert texts(seen) == "Hi."


@pytest.mark.parametrize(
    ("items", "told", "cause"),
    [
        ([], "broke off", None),
        ([AnswerText(text="x")], "broke off", None),
        ([KeyError("secret")], r"raised KeyError$", KeyError),
        ([ModelError("source: expected one")], "expected one", ModelError),
    ],
)
async def test_what_goes_wrong_is_named_and_not_quoted(items, told, cause):
    provider = Scripted(items)
    _, error = await events_of(provider)
    assert error.error_type == "provider"
    with pytest.raises(SessionError, match=told):
        raise error
    assert cause is None or isinstance(error.__cause__, cause)
    assert provider.closed == 1


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"status_code": 429}, " (status 429)"),
        ({"code": 503}, " (status 503)"),
        ({"response": SimpleNamespace(status_code=401)}, " (status 401)"),
        ({"response": {"ResponseMetadata": {"HTTPStatusCode": 400}}}, " (status 400)"),
        ({"status_code": None, "code": "rate_limit_exceeded", "response": {}}, ""),
        ({"response": {"ResponseMetadata": None}}, ""),
        # An error that is reported in a stream, whose own status is well.
        ({"status_code": 200}, ""),
        ({"code": 1234, "status_code": "429"}, ""),
    ],
    ids=repr,
)
async def test_the_status_of_an_error_is_told(about, told):
    class RefusedError(Exception):
        def __init__(self):
            vars(self).update(about)

    _, error = await events_of(Scripted([RefusedError()]))
    assert str(error) == f"the provider raised RefusedError{told}"


async def test_a_failure_that_is_reported_is_raised_and_an_event_passes():
    _, error = await events_of(Scripted([AnswerFailure(message="overloaded", error_type="busy")]))
    assert (str(error), error.error_type) == ("overloaded", "busy")
    data = SessionErrorData(message="overloaded")
    event = SessionEvent(type=SessionEventType.SESSION_ERROR, data=data)
    assert await events_of(Scripted([event])) == ([event], None)
