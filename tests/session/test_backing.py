import attrs
import pytest

from citestream.session.backing import Backing


def test_a_backing_needs_little_and_does_not_change():
    backing = Backing(tasks=None)
    assert backing.closed() is None
    assert (backing.journal, backing.past, dict(backing.tools)) == (None, (), {})
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        backing.provider = object()
