from dataclasses import dataclass

import anyio
import pytest

from citestream import wire
from citestream.errors import OptionError
from citestream.tools.permissions import (
    PermissionHandler,
    PermissionRequest,
    PermissionRequestResult,
    ask_permission,
    completed_payload,
    requested_payload,
)

pytestmark = pytest.mark.anyio
REQUEST = PermissionRequest(
    tool_name="search", tool_description="Look it up.", tool_call_id="c1", args={"q": "x"}
)
WHERE = {"session_id": "s1"}
NOBODY = PermissionRequestResult(kind="denied-no-approval-rule-and-could-not-request-from-user")


@dataclass
class Decision:
    """As the Copilot SDK has them."""

    kind: object
    feedback: object = None


async def test_the_handler_decides_about_the_request():
    seen = []

    def handler(request, invocation):
        seen.append((request, invocation))
        return PermissionRequestResult(kind="reject", feedback="Not now.")

    answer = await ask_permission(handler, REQUEST, WHERE)
    assert seen == [(REQUEST, WHERE)]
    assert answer == PermissionRequestResult(
        kind="denied-interactively-by-user", feedback="Not now."
    )
    assert not answer.approved
    assert answer.content == ("The tool was not run: the user did not allow it. Feedback: Not now.")


async def test_async_handlers_are_awaited():
    async def handler(_request, _invocation):
        await anyio.lowlevel.checkpoint()
        return PermissionRequestResult(kind="approve-once")

    answer = await ask_permission(handler, REQUEST, WHERE)
    assert answer == PermissionRequestResult(kind="approved")
    assert (answer.approved, answer.content) == (True, "")


async def test_all_may_be_approved():
    assert (await ask_permission(PermissionHandler.approve_all, REQUEST, WHERE)).approved


@pytest.mark.parametrize(
    ("kind", "settled"),
    [
        ("approve-once", "approved"),
        ("approve-for-session", "approved"),
        ("approve-for-location", "approved"),
        ("approve-permanently", "approved"),
        ("approved", "approved"),
        ("reject", "denied-interactively-by-user"),
        ("denied-by-rules", "denied-by-rules"),
        ("cancelled", "cancelled"),
        ("user-not-available", NOBODY.kind),
        ("no-result", NOBODY.kind),
    ],
)
async def test_the_words_of_copilot_are_understood(kind, settled):
    answer = await ask_permission(lambda *_: Decision(kind), REQUEST, WHERE)
    assert answer.kind == settled
    assert answer.approved is (settled == "approved")
    assert answer.approved is (answer.content == "")
    assert PermissionRequestResult(kind=kind).approved is answer.approved


async def test_without_a_handler_nobody_could_be_asked(caplog):
    assert await ask_permission(None, REQUEST, WHERE) == NOBODY
    assert caplog.records == []


def broken(_request, _invocation):
    raise LookupError


async def broken_later(_request, _invocation):
    raise LookupError


@pytest.mark.parametrize("handler", [broken, broken_later, 3])
async def test_a_handler_that_raises_is_a_denial_and_logged(caplog, handler):
    assert await ask_permission(handler, REQUEST, WHERE) == NOBODY
    (record,) = caplog.records
    assert record.message == "the permission handler of session s1 failed"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        {"kind": "approve-once"},
        Decision("approve-read-only-for-session"),
        Decision(["approved"]),
        Decision("approved", feedback=3),
    ],
    ids=repr,
)
async def test_what_is_no_answer_is_a_denial_and_logged(caplog, answer):
    assert await ask_permission(lambda *_: answer, REQUEST, WHERE) == NOBODY
    (record,) = caplog.records
    assert record.message == "the permission handler of session s1 failed"


async def test_cancelling_passes_through():
    started = anyio.Event()

    async def handler(_request, _invocation):
        started.set()
        await anyio.sleep_forever()

    answers = []

    async def ask():
        answers.append(await ask_permission(handler, REQUEST, WHERE))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert answers == []


@pytest.mark.parametrize("kind", ["allow", "", None, 3, ["approved"]])
def test_other_kinds_are_misuse(kind):
    with pytest.raises(OptionError, match="kind: wanted approve-once, reject or the like"):
        PermissionRequestResult(kind=kind)


def test_the_payload_of_a_request_has_the_words_of_the_wire():
    assert requested_payload(REQUEST, request_id="r1") == {
        "requestId": "r1",
        "permissionRequest": {
            "kind": "custom-tool",
            "toolName": "search",
            "toolDescription": "Look it up.",
            "toolCallId": "c1",
            "args": {"q": "x"},
        },
    }
    assert requested_payload(PermissionRequest(tool_name="a"), request_id="r1") == {
        "requestId": "r1",
        "permissionRequest": {"kind": "custom-tool", "toolName": "a", "toolDescription": ""},
    }


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (PermissionRequestResult(kind="approve-once"), {"kind": "approved"}),
        (PermissionRequestResult(kind="denied-by-rules"), {"kind": "denied-by-rules", "rules": []}),
        (
            PermissionRequestResult(kind="reject", feedback="No."),
            {"kind": "denied-interactively-by-user", "feedback": "No."},
        ),
        (NOBODY, {"kind": NOBODY.kind}),
    ],
)
def test_the_payload_of_an_answer_has_the_words_of_the_wire(result, told):
    assert completed_payload(result, request_id="r1") == {"requestId": "r1", "result": told}
    payload = completed_payload(result, request_id="r1", tool_call_id="c1")
    assert payload == {"requestId": "r1", "toolCallId": "c1", "result": told}


def test_the_payloads_are_those_of_events():
    for kind, payload in (
        ("permission.requested", requested_payload(REQUEST, request_id="r1")),
        ("permission.completed", completed_payload(NOBODY, request_id="r1")),
    ):
        event = {"id": "e1", "timestamp": "2026-11-30T04:55:10Z", "type": kind, "data": payload}
        assert wire.encode_event(wire.decode_event(event))["data"] == payload
