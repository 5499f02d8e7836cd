import pytest

from citestream.errors import OptionError
from citestream.markers import MarkerSyntax, format_marker, parse_markers
from citestream.prompts.prompt_options import PromptOptions
from citestream.prompts.shown_markers import show_marker

TEXT = MarkerSyntax(start="[[", delimiter="|", stop="]]", highlight=None)


@pytest.mark.parametrize("syntax", [MarkerSyntax(), TEXT])
@pytest.mark.parametrize("family", ["cite", "filecite"])
def test_a_marker_is_read_back_as_it_was_meant(syntax, family):
    options = PromptOptions(syntax=syntax, family=family)
    marker = show_marker(("a", "L1"), ("b", None), ("c", "L4-L9"), options=options)
    (placed,) = parse_markers(marker, syntax=syntax).markers
    assert placed.marker.family == family
    assert placed.marker.problems == ()
    assert [(t.source_id, t.locator and t.locator.text) for t in placed.marker.targets] == [
        ("a", "L1"),
        ("b", None),
        ("c", "L4-L9"),
    ]


def test_one_target_is_a_plain_marker():
    assert show_marker(("a", None), options=PromptOptions()) == format_marker("a")


def test_what_the_syntax_would_not_read_is_refused():
    with pytest.raises(OptionError, match="a source id wants the form"):
        show_marker(("a b", None), options=PromptOptions())
    with pytest.raises(OptionError, match="a locator wants the form"):
        show_marker(("a", "P3"), options=PromptOptions())
    short = PromptOptions(syntax=MarkerSyntax(max_length=12))
    show_marker(("a", None), options=short)
    with pytest.raises(OptionError, match="a marker wants at most 12 characters: 13"):
        show_marker(("abc", None), ("de", None), options=short)
