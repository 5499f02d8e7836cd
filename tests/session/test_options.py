import pytest

from citestream import OptionError, SessionOptions


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "8"])
def test_a_buffer_that_holds_nothing_is_refused(size):
    with pytest.raises(OptionError, match=r"^buffer_size: wanted an integer of 1 or more, got "):
        SessionOptions(buffer_size=size)
