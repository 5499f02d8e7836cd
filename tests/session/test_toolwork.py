import pytest

from citestream import PermissionHandler, SessionEvent, tool
from citestream.session.backing import Backing
from citestream.session.toolwork import run_requests

pytestmark = pytest.mark.anyio


@tool
def double(number: int) -> str:
    """Double a number."""
    return str(number * 2)


async def done(*requests, handler=None, tools=(double,)):
    seen = []

    async def take(kind, data):
        seen.append(SessionEvent(type=kind, data=data))

    backing = Backing(
        tasks=None, tools={one.name: one for one in tools}, on_permission_request=handler
    )
    await run_requests(requests, backing=backing, session_id="s", take=take)
    return seen


def request(name="double", call="c", **arguments):
    return {"toolCallId": call, "name": name, "arguments": arguments}


async def test_a_tool_runs_when_it_may():
    asked = []

    def handler(request, invocation):
        asked.append((request.tool_name, request.args, invocation["session_id"]))
        return PermissionHandler.approve_all(request, invocation)

    seen = await done(request(number=4), handler=handler)
    assert asked == [("double", {"number": 4}, "s")]
    assert [one.type.value for one in seen] == [
        "permission.requested",
        "permission.completed",
        "tool.execution_start",
        "tool.execution_complete",
    ]
    requested, completed = (one.data.raw for one in seen[:2])
    assert requested["requestId"] == completed["requestId"]
    assert requested["permissionRequest"]["toolDescription"] == "Double a number."
    complete = seen[-1].data
    assert (complete.success, complete.result.content, complete.error) == (True, "8", None)
    assert complete.result.citable_sources is None


@pytest.mark.parametrize(
    ("asked", "code"),
    [(request(number="four"), "invalid_arguments"), (request("gone"), "failure"), (5, "failure")],
)
async def test_whatever_a_model_writes_is_answered(asked, code):
    *_, complete = await done(asked, handler=PermissionHandler.approve_all)
    assert (complete.data.success, complete.data.error["code"]) == (False, code)
    assert complete.data.error["message"] == complete.data.result.content


async def test_nobody_to_ask_is_a_denial():
    *_, complete = await done(request(number=1))
    assert complete.data.error["code"] == "denied"
