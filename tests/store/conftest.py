"""What the tests of stores share: a store of each kind."""

import pytest

from store.stores import KINDS, make
from store.tables import tables


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    """A store of each kind, not yet entered."""
    return make(request.param, tmp_path / "sessions.db")


@pytest.fixture(params=KINDS)
def brief_store(request, tmp_path):
    """The same, with leases that end before long."""
    return make(request.param, tmp_path / "sessions.db", lease_seconds=0.05)


@pytest.fixture
def connection():
    """An empty database in memory."""
    found = tables()
    yield found
    found.close()
