import pytest

from citestream.events import SessionEventType


def test_a_name_that_is_not_listed_is_unknown():
    assert SessionEventType("assistant.message") is SessionEventType.ASSISTANT_MESSAGE
    assert SessionEventType("assistant.telepathy") is SessionEventType.UNKNOWN


@pytest.mark.parametrize("value", [None, 5, ["abort"]])
def test_what_is_not_a_name_is_refused(value):
    with pytest.raises(ValueError, match="is not a valid SessionEventType"):
        SessionEventType(value)


def test_members_are_named_after_the_wire():
    for kind in SessionEventType:
        words = "".join(c if not c.isupper() else f"_{c}" for c in kind.value)
        assert kind.name == words.upper().replace(".", "_")


def test_the_names_are_those_of_the_copilot_sdk():
    sdk = pytest.importorskip("copilot.session_events")
    ours = {kind.value for kind in SessionEventType}
    assert {kind.value for kind in sdk.SessionEventType} == ours
