import attrs
import pytest

from citestream import OptionError
from citestream.validators import positive


@attrs.frozen
class Bounded:
    bound: int = attrs.field(validator=positive)


def test_integers_from_one_are_positive():
    assert [Bounded(bound).bound for bound in (1, 2**70)] == [1, 2**70]


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1", None])
def test_nothing_else_is(value):
    with pytest.raises(OptionError, match=r"^bound: wanted an integer of 1 or more, got "):
        Bounded(value)
