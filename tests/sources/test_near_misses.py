import pytest

from citestream.sources.near_misses import POOL, near_misses

KNOWN = [f"turn0file{number}" for number in range(5)] + ["turn0block0", "rules-2026"]


def near(source_id, known=KNOWN):
    return near_misses(
        source_id, recent=reversed(known), kinds=["block", "file"], exists=known.__contains__
    )


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("turn0fil1", "turn0file1"),
        ("turn0flie1", "turn0file1"),
        ("turn0files3", "turn0file3"),
        ("turn0_file1", "turn0file1"),
        ("turn0blok0", "turn0block0"),
        ("turn0file5", "turn0file4"),
        ("rules_2026", "rules-2026"),
        ("rules-2025", "rules-2026"),
    ],
)
def test_the_id_that_was_meant_comes_first(wrong, meant):
    assert near(wrong)[0] == meant


@pytest.mark.parametrize("strange", ["", "x", "completely-different", "x" * 129, "\ue200" * 20])
def test_what_resembles_nothing_gets_nothing(strange):
    assert near(strange) == ()


def test_an_id_is_not_near_itself():
    assert "turn0file1" not in near("turn0file1")


def test_at_most_three_are_given():
    assert len(near("turn0file", [f"turn0file{n}" for n in range(10)])) == 3


def test_the_work_is_bounded():
    asked = []

    def exists(source_id):
        asked.append(source_id)
        return False

    def endless():
        number = 0
        while True:
            yield f"turn9file{number}"
            number += 1

    kinds = (f"kind{n}" for n in iter(int, 1))
    assert near_misses("turn1x2", recent=endless(), kinds=kinds, exists=exists) == ()
    assert len(asked) <= 2 * POOL


def test_an_id_far_back_is_found_by_its_numbers():
    known = [f"turn0file{number}" for number in range(10_000)]
    assert near("turn0fle17", known)[0] == "turn0file17"
