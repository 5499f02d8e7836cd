import pytest

from citestream import CitationOptions, OptionError


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("spans", "sentence, paragraph, point"),
        ("other_families", "display, strip, keep"),
        ("unknown_sources", "auto, keep, drop"),
    ],
)
def test_another_choice_is_refused_by_name(name, choices):
    with pytest.raises(OptionError) as caught:
        CitationOptions(**{name: "word"})
    assert str(caught.value) == f"{name}: wanted one of {choices}, got 'word'"
