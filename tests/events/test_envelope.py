from datetime import UTC, datetime, timedelta
from uuid import UUID

import attrs
import pytest

from citestream.events import AbortData, SessionEvent, SessionEventType


def event(**changes):
    return SessionEvent(**{"type": SessionEventType.ABORT, "data": AbortData()} | changes)


def test_an_event_has_an_id_and_a_time_of_its_own():
    one, other = event(), event()
    assert one.id != other.id
    assert UUID(one.id).version == 4
    assert timedelta(0) <= datetime.now(UTC) - one.timestamp < timedelta(minutes=1)


def test_how_the_time_was_written_does_not_make_an_event_another():
    one = event()
    assert attrs.evolve(one, timestamp_text="noon") == one
    assert "timestamp_text" not in repr(one)
    assert attrs.evolve(one, agent_id="a") != one


def test_an_event_cannot_change():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        event().id = "x"
    assert attrs.inspect(SessionEvent).is_slotted
    assert all(field.kw_only for field in attrs.fields(SessionEvent))
