import attrs
import pytest

from citestream.markers import FamilyKind, MarkerTarget, marker, parse_markers
from texts import cite


def test_what_reading_gives_is_values():
    text = f"Rents rose.{cite('a')}"
    read = parse_markers(text)
    assert read == parse_markers(text)
    assert hash(read) == hash(parse_markers(text))
    (placed,) = read.markers
    assert placed.marker == marker.ParsedMarker(
        raw=cite("a"),
        family="cite",
        kind=FamilyKind.CITING,
        start=11,
        end=19,
        targets=(MarkerTarget(source_id="a"),),
    )
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        placed.position = 0


def test_runs_are_not_shown():
    assert "runs" not in repr(parse_markers("Rents rose."))
