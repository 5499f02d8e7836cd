import pytest

from citestream import SessionError, SessionEvent, SessionEventType, StateError
from citestream.events import AssistantMessageData, SessionErrorData, UserMessageData
from citestream.session.question import Question

pytestmark = pytest.mark.anyio


def question():
    return Question(UserMessageData(content="?", message_id="q"), {}, [])


def said(text, agent=None):
    data = AssistantMessageData(content=text, message_id=text)
    return SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE, data=data, agent_id=agent)


def failed(message, agent=None):
    data = SessionErrorData(message=message, error_type="provider", status_code=429)
    return SessionEvent(type=SessionEventType.SESSION_ERROR, data=data, agent_id=agent)


async def test_the_last_message_of_the_root_agent_is_the_answer():
    asked = question()
    last = said("Two.")
    asked.saw([said("One."), last, said("Worker.", "worker"), failed("worker", "worker")])
    asked.end()
    assert await asked.wait() is last
    assert asked.message_id == "q"


async def test_the_first_failure_is_raised():
    asked = question()
    asked.saw([failed("first"), failed("second")])
    asked.end()
    with pytest.raises(SessionError, match="first") as caught:
        await asked.wait()
    assert (caught.value.error_type, caught.value.status_code) == ("provider", 429)


async def test_an_end_that_is_too_early_says_why():
    early, done = question(), question()
    early.end(unless_done="too early")
    with pytest.raises(StateError, match="too early"):
        await early.wait()
    done.end()
    done.end(unless_done="too early")
    assert await done.wait() is None
