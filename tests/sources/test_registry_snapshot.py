import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citestream.errors import DecodeError
from citestream.sources.documents import from_blocks, from_pages, from_text
from citestream.sources.granularity import Granularity
from citestream.sources.registry import SourceRegistry
from citestream.sources.registry_snapshot import dump_source, read_snapshot


def stored():
    registry = SourceRegistry()
    registry.add(from_text("a", title="t", url="u", path="p", updated="d"), alias="x")
    registry.add(from_text("b"), alias="x", granularity=Granularity.LINE)
    registry.begin_turn()
    registry.add(from_pages(["a", "b"]), kind="page", granularity=Granularity.PAGE)
    return registry.snapshot()


def test_a_source_is_stored_with_what_it_has_and_nothing_else():
    registry = SourceRegistry()
    plain = registry.add(from_text("a"), granularity=Granularity.LINE)
    assert dump_source(plain) == {"id": "turn0file0", "granularity": "line", "content": "a"}
    blocks = registry.add(from_blocks(["a", "b"], title="t"), granularity=Granularity.DOCUMENT)
    assert dump_source(blocks) == {
        "id": "turn0file1",
        "granularity": "document",
        "content": "a\n\nb",
        "title": "t",
        "blocks": [[0, 1], [3, 4]],
    }


def test_found_blocks_are_stored_so_that_their_ids_keep_their_meaning():
    source = SourceRegistry().add(from_text("x" * 50 + "\n\n" + "y" * 50))
    assert dump_source(source)["blocks"] == [[0, 50], [52, 102]]


def test_a_snapshot_reads_back():
    snapshot = read_snapshot(stored())
    assert [one.id for one in snapshot.sources] == ["turn0file0", "turn0file1", "turn1page0"]
    assert snapshot.turns == 2
    assert snapshot.aliases == {"x": ("turn0file0", "turn0file1")}
    assert snapshot.sources[1].replaces == "turn0file0"
    assert snapshot.sources[2].document.pages == ((0, 1), (3, 4))


def broken(path, value):
    snapshot = stored()
    at = snapshot
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return snapshot


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "$.version: expected the version 1, got 2"),
        (["version"], True, "$.version: expected the version 1, got True"),
        (["turns"], -1, "$.turns: expected 0 to 1000000000, got -1"),
        (["turns"], True, "$.turns: expected an integer, got True"),
        (
            ["turns"],
            1,
            "$.sources[2].id: expected ids that differ, in the order of turns, got 'tur",
        ),
        (["sources"], {}, "$.sources: expected an array, got an object with 0 keys"),
        (["sources", 1], 7, "$.sources[1]: expected an object, got 7"),
        (["sources", 1, "id"], "turn0file0", "$.sources[1].id: expected ids that differ"),
        (["sources", 0, "id"], "turn1file5", "$.sources[1].id: expected ids that differ"),
        (["sources", 0, "id"], "turn0block5", "$.sources[0].id: expected an id such as"),
        (["sources", 0, "id"], "turn00file5", "$.sources[0].id: expected an id such as"),
        (["sources", 0, "id"], None, "$.sources[0].id: expected a string, got None"),
        (["sources", 0, "granularity"], "word", "$.sources[0].granularity: expected a granularity"),
        (["sources", 0, "content"], None, "$.sources[0].content: expected a string, got None"),
        (["sources", 0, "title"], 3, "$.sources[0].title: expected a string, got 3"),
        (["sources", 0, "path"], "/etc/a", "$.sources[0]: expected a document, got path: exp"),
        (["sources", 0, "blocks"], "x", "$.sources[0].blocks: expected an array, got 'x'"),
        (["sources", 0, "blocks"], [1], "$.sources[0].blocks[0]: expected an array, got 1"),
        (["sources", 0, "blocks"], [[1]], "$.sources[0].blocks[0]: expected a start and an end"),
        (["sources", 0, "blocks"], [[0, "1"]], "$.sources[0].blocks[0][1]: expected an integer"),
        (["sources", 0, "blocks"], [[0, 99]], "$.sources[0]: expected a document, got marked_"),
        (["sources", 0, "alias"], 3, "$.sources[0].alias: expected a string, got 3"),
        (["sources", 0, "alias"], "y", "$.sources[0].alias: expected one of the aliases, got 'y'"),
        (["sources", 0, "replaces"], [], "$.sources[0].replaces: expected a string"),
        (["turns"], 10**12, "$.turns: expected 0 to 1000000000, got 1000000000000"),
        (["ambiguous"], 3, "$.ambiguous: expected an array, got 3"),
        (["ambiguous"], [3], "$.ambiguous[0]: expected a string, got 3"),
        (["aliases"], None, "$.aliases: expected an object, got None"),
        (["aliases", "x"], [], "$.aliases.x: expected the ids of sources, got an array of 0"),
        (["aliases", "x"], ["y"], "$.aliases.x: expected the ids of sources"),
        (["aliases", "x"], "y", "$.aliases.x: expected an array, got 'y'"),
        (["aliases", 3], ["turn0file0"], "$.aliases: expected strings that are no ids"),
        (["aliases", "turn0file1"], ["turn0file0"], "$.aliases: expected strings that are no ids"),
    ],
)
def test_damage_says_where_it_is(path, value, message):
    with pytest.raises(DecodeError) as caught:
        read_snapshot(broken(path, value))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [None, [], "x", 3, {}])
def test_what_is_no_snapshot_is_refused(value):
    with pytest.raises(DecodeError):
        read_snapshot(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=200)
@given(st.data(), json_values)
def test_damage_anywhere_gives_a_registry_or_a_decode_error(data, value):
    snapshot = copy.deepcopy(stored())
    at = snapshot
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
            at = at[key]
            continue
        at[key] = value
        break
    try:
        registry = SourceRegistry.restore(snapshot)
    except DecodeError as error:
        assert error.path.startswith("$")  # noqa: PT017 - it may also be read
    else:
        for source_id in registry.ids:
            registry.locate(source_id)
        json.dumps(registry.snapshot())
