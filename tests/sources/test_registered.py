from citestream.sources.documents import from_blocks, from_text
from citestream.sources.granularity import Granularity
from citestream.sources.registry import SourceRegistry


def test_blocks_have_ids_where_the_source_is_cited_by_block():
    registry = SourceRegistry()
    first = registry.add(from_blocks(["a", "b"]))
    second = registry.add(from_blocks(["c"]))
    assert first.block_ids == ("turn0block0", "turn0block1")
    assert second.block_ids == ("turn0block2",)


def test_other_granularities_have_no_block_ids():
    registry = SourceRegistry()
    assert registry.add(from_text("a\n\nb"), granularity=Granularity.LINE).block_ids == ()


def test_equal_sources_are_equal():
    first, second = (SourceRegistry().add(from_text("a")) for _ in range(2))
    assert first == second
