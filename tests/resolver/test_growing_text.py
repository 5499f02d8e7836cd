from hypothesis import given
from hypothesis import strategies as st

from citestream.resolver.growing_text import GrowingText


@given(st.lists(st.text(max_size=3), max_size=300))
def test_it_is_its_pieces_joined(pieces):
    text = GrowingText()
    for number, piece in enumerate(pieces):
        text.add(piece)
        if number % 50 == 0:
            assert str(text) == "".join(pieces[: number + 1])
    assert str(text) == "".join(pieces)


def test_many_pieces_are_few_strings():
    text = GrowingText()
    for _ in range(200):
        text.add("ab")
    assert str(text) == "ab" * 200
