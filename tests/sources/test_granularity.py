from citestream.sources.granularity import Granularity


def test_granularities_are_the_words_of_the_command_line():
    assert [granularity.value for granularity in Granularity] == [
        "document",
        "block",
        "line",
        "page",
    ]
