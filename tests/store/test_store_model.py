"""Any sequence of calls does to a store what it does to a plain list of events."""

import itertools
import shutil
import tempfile
from pathlib import Path

import anyio.from_thread
import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from citestream.errors import SessionExistsError, SessionFenced, SessionNotFoundError
from store.stores import KINDS, event, make, piece

pytestmark = pytest.mark.long

SESSIONS = st.sampled_from("st")
STREAMS = st.sampled_from("mn")
IDS = st.integers(min_value=0, max_value=9)


@attrs.define
class Model:
    """What a session should be: the ids of its events with their streams, in order."""

    epoch: int = 1
    events: list = attrs.field(factory=list)
    appended: dict = attrs.field(factory=dict)
    refused: set = attrs.field(factory=set)

    def append(self, events):
        ended, lasting = set(), []
        for one in reversed(events):
            if one.stream not in ended:
                lasting.insert(0, one)
            ended |= set(one.ends)
        for one in lasting:
            if one.event_id not in self.appended:
                self.events.append((one.event_id, one.stream))
                self.appended[one.event_id] = one.stream
                self.events = [known for known in self.events if known[1] not in one.ends]
                for name, stream in list(self.appended.items()):
                    if stream in one.ends:
                        del self.appended[name]


class Stores(RuleBasedStateMachine):
    kind = "memory"

    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.portal_context = anyio.from_thread.start_blocking_portal("asyncio")
        self.portal = self.portal_context.__enter__()
        self.store = make(self.kind, Path(self.folder, "s.db"), accept_seconds=0.001)
        self.portal.call(self.store.__aenter__)
        self.models = {}
        self.leases = {}
        self.serial = itertools.count()

    def teardown(self):
        self.portal.call(self.store.__aexit__, None, None, None)
        self.portal_context.__exit__(None, None, None)
        shutil.rmtree(self.folder)

    def held(self, name):
        """The leases of a session, with whether they are the current one."""
        return [(lease, lease is self.leases[name][-1]) for lease in self.leases.get(name, ())]

    @rule(name=SESSIONS)
    def create(self, name):
        if name in self.models:
            with pytest.raises(SessionExistsError):
                self.portal.call(self.store.create, name)
        else:
            self.leases.setdefault(name, []).append(self.portal.call(self.store.create, name))
            self.models[name] = Model()

    @rule(name=SESSIONS)
    def acquire(self, name):
        if name in self.models:
            lease = self.portal.call(self.store.acquire, name)
            self.models[name].epoch += 1
            assert lease.epoch == self.models[name].epoch
            self.leases[name].append(lease)
        else:
            with pytest.raises(SessionNotFoundError):
                self.portal.call(self.store.acquire, name)

    @rule(name=SESSIONS, data=st.data())
    def append(self, name, data):
        drawn = data.draw(st.lists(st.tuples(IDS, STREAMS | st.none(), st.sets(STREAMS))))
        events = [
            event(f"{number}", *sorted(ends)) if stream is None else piece(f"p{number}", stream)
            for number, stream, ends in drawn
        ]
        if name not in self.leases:
            return
        lease, is_current = data.draw(st.sampled_from(self.held(name)))
        if name not in self.models or not is_current:
            with pytest.raises((SessionFenced, SessionNotFoundError)):
                self.portal.call(self.store.append, lease, events)
        else:
            before = self.last(name)
            last = self.portal.call(self.store.append, lease, events)
            self.models[name].append(events)
            assert last <= before + len(events)

    @rule(
        name=SESSIONS, stream=STREAMS, count=st.integers(min_value=0, max_value=3), data=st.data()
    )
    def accept(self, name, stream, count, data):
        if name not in self.leases:
            return
        lease, is_current = data.draw(st.sampled_from(self.held(name)))
        pieces = [piece(f"accepted{next(self.serial)}", stream) for _ in range(count)]
        self.portal.call(self.store.accept, lease, pieces)
        if is_current and name in self.models:
            self.models[name].events += [(one.event_id, stream) for one in pieces]

    @rule(name=SESSIONS)
    def delete(self, name):
        if self.models.pop(name, None) is None:
            with pytest.raises(SessionNotFoundError):
                self.portal.call(self.store.delete, name)
        else:
            self.portal.call(self.store.delete, name)

    @rule()
    def reopen(self):
        self.portal.call(self.store.__aexit__, None, None, None)
        self.portal.call(self.store.__aenter__)

    @rule()
    def flush(self):
        self.portal.call(self.store.flush)

    def last(self, name):
        self.portal.call(self.store.flush)
        return self.portal.call(self.store.get, name).last_seq

    @invariant()
    def what_is_kept_is_what_should_be(self):
        self.portal.call(self.store.flush)
        listed = self.portal.call(self.store.list)
        assert {found.session_id: found.epoch for found in listed} == {
            name: model.epoch for name, model in self.models.items()
        }
        for found in listed:
            events = self.portal.call(self.store.read, found.session_id)
            model = self.models[found.session_id]
            assert [(one.event_id, one.stream) for one in events] == model.events
            numbers = [one.seq for one in events]
            assert numbers == sorted(set(numbers))
            assert found.last_seq == (numbers[-1] if numbers else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_does_what_a_list_does(kind):
    machine = type("Stores", (Stores,), {"kind": kind})
    run_state_machine_as_test(machine, settings=settings(max_examples=40, stateful_step_count=25))
