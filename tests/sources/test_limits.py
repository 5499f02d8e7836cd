import attrs
import pytest

from citestream.errors import LimitError, OptionError
from citestream.sources.limits import DEFAULT_LIMITS, Limits


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Limits)])
def test_every_bound_is_inclusive_and_named(name):
    limits = Limits(**{name: 7})
    limits.check(name, 6)
    limits.check(name, 7)
    with pytest.raises(LimitError, match=f"^{name}: at most 7, got 8$"):
        limits.check(name, 8)


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "9", None])
def test_a_bound_is_a_positive_integer(bad):
    with pytest.raises(OptionError, match="max_pages: wanted an integer of 1 or more"):
        Limits(max_pages=bad)


def test_the_default_is_the_default():
    assert Limits() == DEFAULT_LIMITS
