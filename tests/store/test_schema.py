"""The tables, and text in them."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.store.sqlite.schema import NUMBERS, SCHEMA, kept_text, place_of, read_text

TEXTS = st.text() | st.text("\ufdd0a\\u\ud83d\ude00\0x")


@given(TEXTS)
def test_any_text_comes_back(text):
    kept = kept_text(text)
    kept.encode()
    assert read_text(kept) == text


@given(TEXTS, TEXTS)
def test_no_two_texts_are_kept_alike(one, other):
    assert (kept_text(one) == kept_text(other)) == (one == other)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufdd0")))
def test_ordinary_text_is_kept_as_it_is(text):
    assert kept_text(text) == text


@pytest.mark.parametrize("value", [5, None, b"a"])
def test_what_is_no_text(value):
    with pytest.raises(TypeError):
        kept_text(value)


@given(st.integers(1, 2**31 - 1), st.integers(0, NUMBERS - 1))
def test_places_are_integers_of_sqlite(key, number):
    place = place_of(key, number)
    assert place < 2**63
    assert divmod(place, NUMBERS) == (key, number)


def test_a_database_is_never_too_full_for_its_places():
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)
    insert = "INSERT INTO session VALUES (?, ?, NULL, 1, '', 0, 0, NULL, 0, 0)"
    connection.execute(insert, (2**31 - 1, "last"))
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute(insert, (2**31, "one too many"))
    connection.close()
