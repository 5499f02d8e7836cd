import pytest

from citestream.errors import OptionError
from citestream.markers import BLOCKS, LINES, PAGES, MarkerSyntax
from citestream.prompts.prompt_options import DEFAULT_OPTIONS, Consideration, PromptOptions
from citestream.sources import Granularity

ALL = MarkerSyntax(locators=(LINES, PAGES, BLOCKS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "entity"}, "family: wanted a citing one of the syntax, got 'entity'"),
        ({"material": "mail"}, "material: wanted tool or context, got 'mail'"),
        ({"ids_per_marker": "two"}, "ids_per_marker: wanted one or many, got 'two'"),
        ({"blocks": "letters"}, "blocks: wanted ids or numbers, got 'letters'"),
        ({"granularities": ()}, "granularities: wanted at least one"),
        ({"granularities": ["line"]}, "granularities: wanted a Granularity, got 'line'"),
        ({"considerations": ["trust"]}, "considerations: wanted a Consideration, got 'trust'"),
        ({"granularities": [Granularity.PAGE]}, "syntax: wanted locators for pages"),
        ({"blocks": "numbers"}, "syntax: wanted locators for blocks"),
    ],
)
def test_what_cannot_be_used_is_refused(options, message):
    with pytest.raises(OptionError) as caught:
        PromptOptions(**options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("granularity", "blocks", "unit"),
    [
        (Granularity.DOCUMENT, "ids", None),
        (Granularity.BLOCK, "ids", None),
        (Granularity.BLOCK, "numbers", "block"),
        (Granularity.LINE, "ids", "line"),
        (Granularity.PAGE, "ids", "page"),
    ],
)
def test_the_unit_is_what_is_numbered(granularity, blocks, unit):
    assert PromptOptions(syntax=ALL, blocks=blocks).unit(granularity) == unit


def test_options_are_values():
    assert PromptOptions() == DEFAULT_OPTIONS
    assert PromptOptions(considerations=[Consideration.TRUST]) == PromptOptions(
        considerations=(Consideration.TRUST,)
    )
