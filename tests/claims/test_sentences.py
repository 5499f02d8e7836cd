import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citestream import resolve
from citestream.claims import split_sentences
from texts import texts

WIDE = "\u00a0\u1680\u2003\u2028\u202f\u3000\x85"


@given(texts | st.text("aA1.!?\"') \n" + WIDE, max_size=40))
@example("A\u00a0. x")
@example("\ud83d. A\u2003.")
def test_sentences_are_as_long_as_the_text_whatever_comes(text):
    assert sum(map(len, split_sentences(text))) == len(text)


@pytest.mark.parametrize("blank", WIDE)
def test_a_wide_blank_before_a_full_stop_is_a_blank(blank):
    assert "".join(split_sentences(f"A{blank}. Rents{blank}rose.")) == "A . Rents rose."
    assert resolve(f"A{blank}. \ue200cite\ue202a\ue201").citations is not None


def test_surrogates_stay_one_code_point_each():
    assert split_sentences("a \ud83d\udcce. B") == ["a \ufffd\ufffd. ", "B"]
