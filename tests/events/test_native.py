import pytest

from citestream import ModelError
from citestream.events import AnswerCitation, OffsetUnit, SourceFacts, TextRange

SOURCE = SourceFacts(provider="x")


def test_a_citation_covers_a_part_or_a_range():
    place = TextRange(start=0, end=1, unit=OffsetUnit.UTF8)
    assert AnswerCitation(source=SOURCE, place=place).place is place
    assert AnswerCitation(source=SOURCE, place=2).place == 2
    assert AnswerCitation(source=SOURCE, place=None).place is None


@pytest.mark.parametrize("place", [1.5, True, "0", (0, 1)])
def test_anything_else_is_refused(place):
    with pytest.raises(
        ModelError, match=r"^AnswerCitation.place: expected a range, a part or None, got"
    ):
        AnswerCitation(source=SOURCE, place=place)
