from hypothesis import given
from hypothesis import strategies as st

from citestream.sources.block_numbers import BlockNumbers
from citestream.sources.documents import from_blocks, from_text

sizes = st.lists(st.integers(0, 4), max_size=6)


def document(size):
    return from_blocks(["x"] * size) if size else from_text("")


def numbers_of(counts, taken=()):
    numbers = BlockNumbers()
    for number in taken:
        assert numbers.take(number)
    for count in counts:
        numbers.add(document(count))
    return numbers


@given(sizes, st.lists(st.integers(0, 12), max_size=4))
def test_every_block_has_a_number_that_finds_it_and_taken_ones_find_nothing(counts, taken):
    numbers = numbers_of(counts, taken)
    given_out = {}
    for place, count in enumerate(counts):
        found = numbers.range(place)
        assert len(found) == count
        for index, number in enumerate(found):
            assert number not in given_out
            given_out[number] = (place, index)
    assert list(given_out) == sorted(given_out)
    for number in range(max(given_out, default=0) + 3):
        assert numbers.find(number) == given_out.get(number)
    assert not set(taken) & set(given_out)


@given(sizes, st.lists(st.integers(0, 12), max_size=4), st.lists(st.integers(0, 20), max_size=6))
def test_numbers_do_not_depend_on_when_they_are_asked_for(counts, taken, questions):
    early = numbers_of([], taken)
    for count in counts:
        early.add(document(count))
        for question in questions:
            early.find(question)
    late = numbers_of(counts, taken)
    places = range(len(counts))
    assert [early.range(place) for place in places] == [late.range(place) for place in places]


def test_a_number_cannot_be_taken_once_documents_are_there():
    numbers = numbers_of([2], taken=[7, 7])
    assert not numbers.take(9)


def test_documents_are_cut_only_as_far_as_a_question_needs():
    class Watched:
        asked = 0

        @property
        def blocks(self):
            type(self).asked += 1
            return ((0, 1),)

    numbers = BlockNumbers()
    for _ in range(10):
        numbers.add(Watched())
    assert Watched.asked == 0
    assert numbers.find(2) == (2, 0)
    assert Watched.asked <= 4
