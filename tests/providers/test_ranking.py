from hypothesis import given
from hypothesis import strategies as st

from citestream.providers.ranking import Ranking

terms = st.lists(st.sampled_from("abcdefgh"), max_size=6)


def best(texts, question):
    return list(Ranking([text.split() for text in texts]).best(question.split()))


def test_the_text_that_holds_most_of_the_question_comes_first():
    assert best(["meal paid day", "hotel night paid", "taxi reason"], "hotel paid night") == [1]


def test_of_equal_texts_the_earlier_comes_first():
    assert best(["hotel a b", "taxi", "hotel c", "hotel d e"], "hotel") == [0, 2, 3]


def test_much_worse_texts_are_left_out():
    others = ["x y"] * 20
    assert best(["hotel night price", "night", *others], "hotel night price") == [0]


def test_a_text_that_holds_too_little_of_the_question_is_no_match():
    assert best(["year meal"] * 3 + ["taxi"] * 3, "capital of france this year") == []
    assert best(["year meal"] * 3 + ["taxi"] * 3, "year") == [0, 1, 2]


def test_nothing_matches_nothing():
    assert best([], "hotel") == []
    assert best(["", ""], "hotel") == []
    assert best(["hotel"], "") == []
    assert best(["", "hotel"], "hotel") == [1]


@given(st.lists(terms, max_size=12), terms.map(dict.fromkeys).map(list))
def test_what_is_found_holds_a_term_of_the_question(texts, question):
    found = list(Ranking(texts).best(question))
    assert len(found) == len(set(found))
    for index in found:
        assert set(texts[index]) & set(question)
