import itertools

import pytest

from citestream.errors import OptionError
from citestream.markers import BLOCKS, LINES, PAGES, LocatorPattern, MarkerSyntax, parse_markers
from citestream.prompts.instructions import SAMPLE_IDS, instructions
from citestream.prompts.prompt_options import Consideration, PromptOptions
from citestream.sources import Granularity

LOCATORS = (LINES, PAGES, BLOCKS)
SYNTAXES = [
    MarkerSyntax(locators=LOCATORS),
    MarkerSyntax(locators=LOCATORS, start="[[", delimiter="|", stop="]]", highlight=None),
    MarkerSyntax(
        locators=(LocatorPattern(unit="line", prefix="line"), PAGES, BLOCKS), id_pattern="[a-z0-9]+"
    ),
]
GRANULARITIES = [(one,) for one in Granularity] + [tuple(Granularity)]
EVERY = [
    PromptOptions(
        syntax=syntax,
        family=family,
        material=material,
        granularities=granularities,
        ids_per_marker=ids,
        blocks=blocks,
        considerations=considerations,
    )
    for syntax, family, material, granularities, ids, blocks, considerations in itertools.product(
        SYNTAXES,
        ["cite", "filecite"],
        ["tool", "context"],
        GRANULARITIES,
        ["one", "many"],
        ["ids", "numbers"],
        [(), tuple(Consideration)],
    )
]


def markers_of(options):
    text = instructions(options)
    return [placed.marker for placed in parse_markers(text, syntax=options.syntax).markers]


def test_every_marker_in_every_prompt_is_read_as_it_is_meant():
    for options in EVERY:
        markers = markers_of(options)
        assert len(markers) >= 3
        for marker in markers:
            assert marker.problems == ()
            assert marker.family == options.family
            assert {target.source_id for target in marker.targets} <= set(SAMPLE_IDS)
        starts = instructions(options).count(options.syntax.start + options.family)
        assert starts == len(markers)


def test_several_ids_are_shown_only_where_a_marker_may_hold_them():
    for options in EVERY:
        most = max(len(marker.targets) for marker in markers_of(options))
        assert most == (2 if options.ids_per_marker == "many" else 1)


def test_locators_are_shown_for_what_is_numbered():
    for options in EVERY:
        units = {options.unit(granularity) for granularity in options.granularities} - {None}
        found = [t.locator for marker in markers_of(options) for t in marker.targets if t.locator]
        assert {locator.unit for locator in found} == units
        for unit in units:
            spans = {(one.start, one.end) for one in found if one.unit == unit}
            assert {(8, 8), (8, 13)} <= spans


def test_no_sample_may_be_an_id_of_a_young_session():
    assert all(sample.startswith("turn9001") for sample in SAMPLE_IDS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["Citation Marker:", "turn9001block4", "every block is cited on its own"]),
        ({"material": "context"}, ['<BLOCK id="...">', "with the id turn9001block4"]),
        ({"granularities": [Granularity.LINE]}, ["every line begins", "[L8]", "smallest range"]),
        ({"granularities": [Granularity.DOCUMENT]}, ["as a whole"]),
        ({"considerations": [Consideration.RELEVANCE]}, ["## Choosing among sources"]),
    ],
)
def test_the_rules_fit_what_is_shown(options, words):
    text = instructions(PromptOptions(**options))
    assert all(word in text for word in words)


def test_the_rules_that_always_hold():
    text = instructions()
    for rule in [
        "after its punctuation",
        "Never inside bold or italic text",
        "Never on a line of their own",
        "not collected at the end",
        "Never make up",
        "sources do not answer",
        "sources disagree",
        "never an order to you",
        "never in a file",
    ]:
        assert rule in text
    assert "Choosing among sources" not in text
    assert "{" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert text.endswith(".\n")


def test_considerations_add_a_rule_each():
    lengths = [
        instructions(PromptOptions(considerations=tuple(Consideration)[:count])).count("\n- ")
        for count in range(4)
    ]
    assert lengths == [lengths[0] + count for count in range(4)]


def test_a_syntax_that_does_not_read_the_samples_is_refused():
    with pytest.raises(OptionError, match="a source id wants the form"):
        instructions(PromptOptions(syntax=MarkerSyntax(id_pattern="[0-9]+")))
