import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.errors import DecodeError, LimitError, OptionError
from citestream.model import CitableSource, CitationLocationBlock, CitationLocationChar
from citestream.sources.documents import from_blocks, from_pages, from_text
from citestream.sources.granularity import Granularity
from citestream.sources.limits import Limits
from citestream.sources.locating import Located, Unlocated
from citestream.sources.registry import SourceRegistry

LINE, DOCUMENT, PAGE = Granularity.LINE, Granularity.DOCUMENT, Granularity.PAGE


def text(content="one\ntwo", **names):
    return from_text(content, **names)


# -- ids


def test_ids_count_tool_calls_and_the_results_of_a_call_by_kind():
    registry = SourceRegistry()
    assert registry.begin_turn() == 0
    assert registry.add(text()).id == "turn0file0"
    assert registry.add(text(), kind="search").id == "turn0search0"
    assert registry.add(text()).id == "turn0file1"
    assert registry.begin_turn() == 1
    assert registry.begin_turn() == 2
    source = registry.add(text())
    assert (source.id, source.turn, source.kind) == ("turn2file0", 2, "file")


def test_sources_before_the_first_call_belong_to_turn_0():
    registry = SourceRegistry()
    assert registry.add(text()).id == "turn0file0"
    assert registry.begin_turn() == 1


@pytest.mark.parametrize("kind", ["block", "", "File", "f1", "a-b", "x" * 33, "漢"])
def test_a_kind_is_a_word_and_not_block(kind):
    with pytest.raises(OptionError, match="kind: wanted lower-case letters"):
        SourceRegistry().add(text(), kind=kind)


def test_page_granularity_wants_pages():
    with pytest.raises(OptionError, match="wanted a source with pages"):
        SourceRegistry().add(text(), granularity=PAGE)
    registry = SourceRegistry()
    registry.add(from_pages(["a", "b"]), granularity=PAGE)
    assert registry.locate("turn0file0", unit="page", start=2, end=2).cited_text == "b"


def test_all_ids_are_listed_and_contained():
    registry = SourceRegistry()
    registry.add(from_blocks(["a", "b"]), alias="x")
    registry.add(text(), granularity=LINE)
    assert registry.ids == ("turn0file0", "turn0file1", "x", "turn0block0", "turn0block1")
    assert all(source_id in registry for source_id in registry.ids)
    assert len(registry) == 2
    assert [source.id for source in registry.sources] == ["turn0file0", "turn0file1"]


@pytest.mark.parametrize(
    "strange",
    [
        "turn0block2",
        "turn1block0",
        "turn00block0",
        "turn0block00",
        "TURN0BLOCK0",
        "",
        3,
        None,
        "L1",
    ],
)
def test_nothing_else_is_contained(strange):
    registry = SourceRegistry()
    registry.add(from_blocks(["a", "b"]))
    assert strange not in registry


def test_get_gives_the_source_behind_any_id():
    registry = SourceRegistry()
    source = registry.add(from_blocks(["a", "b"]), alias="x")
    assert [registry.get(one) for one in ("turn0file0", "x", "turn0block1")] == [source] * 3
    assert registry.get("y") is None


# -- aliases


def test_the_id_of_a_citable_source_is_its_alias():
    registry = SourceRegistry()
    citable = CitableSource(id="doc-1", content="one\ntwo", title="T", url="U", path="p.md")
    source = registry.add(citable, granularity=LINE)
    assert (source.id, source.alias) == ("turn0file0", "doc-1")
    located = registry.locate("doc-1", unit="line", start=2, end=2)
    assert (located.title, located.url, located.path) == ("T", "U", "p.md")
    assert (located.key, located.source_id, located.cited_text) == ("turn0file0", "doc-1", "two")
    assert registry.add(citable, alias="mine").alias == "mine"


@pytest.mark.parametrize("alias", ["", "a b", "a.b", "漢", "x" * 129, "\ue200", "a\n"])
def test_an_alias_that_is_no_id_does_not_resolve(alias):
    registry = SourceRegistry()
    assert registry.add(text(), alias=alias).alias is None
    assert alias not in registry


def test_an_id_that_would_mean_two_sources_means_neither_from_then_on():
    registry = SourceRegistry()
    registry.add(text("first"))
    blocks = registry.add(from_blocks(["a", "b"]), alias="blocks")
    for alias in ("turn0file0", blocks.block_ids[1]):
        second = registry.add(text("second"), alias=alias)
        assert second.alias is None
        assert alias not in registry
        found = registry.locate(alias)
        assert found.message == f"more than one source has the id {alias!r}"
        assert registry.locate(second.id).key == second.id
    restored = SourceRegistry.restore(registry.snapshot())
    assert "turn0file0" not in restored
    assert restored.add(text("third"), alias="turn0file0").alias is None


def test_an_id_that_would_mean_the_same_twice_goes_on_meaning_it():
    registry = SourceRegistry()
    first = registry.add(text("first"))
    assert registry.add(text("first"), alias="turn0file0").alias is None
    assert registry.get("turn0file0") == first


def test_the_form_of_an_alias_is_the_callers_choice():
    registry = SourceRegistry(id_pattern="[a-z./]+")
    assert registry.add(text("x"), alias="docs/a.md").alias == "docs/a.md"
    assert registry.add(text("y"), alias="DOC").alias is None
    assert registry.add(text("z"), alias="x" * 129).alias is None
    assert "docs/a.md" in SourceRegistry.restore(registry.snapshot(), id_pattern="[a-z./]+")


def test_whether_anything_was_ever_offered_is_known():
    registry = SourceRegistry(limits=Limits(max_source_chars=1))
    assert not registry.offered
    with pytest.raises(LimitError):
        registry.add(text("xx"))
    assert registry.offered
    assert not SourceRegistry.restore(registry.snapshot()).offered
    registry.add(text("x"))
    assert SourceRegistry.restore(registry.snapshot()).offered


@pytest.mark.parametrize(
    ("source", "granularity", "message"),
    [
        ("text", Granularity.LINE, "a source wants to be a document or citable, got 'text'"),
        (None, Granularity.LINE, "a source wants to be a document or citable, got None"),
        (from_text("x"), "line", "granularity: wanted a Granularity, got 'line'"),
    ],
)
def test_other_types_are_refused(source, granularity, message):
    registry = SourceRegistry()
    with pytest.raises(OptionError, match=message):
        registry.add(source, granularity=granularity)
    assert len(registry) == 0


def test_an_alias_that_is_its_own_id_is_none():
    assert SourceRegistry().add(text(), alias="turn0file0").alias is None


def test_ids_given_out_later_keep_clear_of_aliases():
    registry = SourceRegistry()
    registry.add(text("first"), alias="turn0file1", granularity=LINE)
    registry.add(text("other"), alias="turn0block1", granularity=LINE)
    assert registry.add(from_blocks(["a", "b", "c"]), alias="turn9block0").id == "turn0file3"
    assert registry.get("turn0file1").document.content == "first"
    assert registry.get("turn0block1").document.content == "other"
    assert registry.sources[2].block_ids == ("turn0block2", "turn0block3", "turn0block4")


def test_an_alias_that_could_be_a_block_of_the_turn_comes_too_late():
    registry = SourceRegistry()
    registry.add(from_blocks(["a"]))
    assert registry.add(text(), alias="turn0block7").alias is None
    assert registry.add(text(), alias="turn1block7").alias == "turn1block7"


def test_the_same_source_again_is_the_source_registered_before():
    registry = SourceRegistry()
    first = registry.add(text(title="t"), alias="x")
    registry.begin_turn()
    assert registry.add(text(title="t"), alias="x") is first
    assert len(registry) == 1
    assert registry.add(text(title="t")).id == "turn1file0"


@pytest.mark.parametrize(
    "other",
    [
        {"source": text("else")},
        {"source": text(title="t")},
        {"granularity": LINE},
        {"kind": "url"},
    ],
)
def test_another_source_takes_the_alias_over_and_says_so(other):
    registry = SourceRegistry()
    first = registry.add(text(), alias="x")
    source = other.pop("source", text())
    second = registry.add(source, alias="x", **other)
    assert (second.alias, second.replaces) == ("x", first.id)
    assert registry.get("x") is second
    assert registry.get(first.id) is first


def test_hearing_everything_again_changes_nothing():
    registry = SourceRegistry()
    texts = [text("a"), text("b"), text("c"), text("a")]
    first = [registry.add(one, alias="x").id for one in texts]
    again = [registry.add(one, alias="x").id for one in texts]
    assert first == again == ["turn0file0", "turn0file1", "turn0file2", "turn0file0"]
    assert registry.get("x").document.content == "a"


# -- limits


def test_a_limit_leaves_the_registry_as_it_was():
    registry = SourceRegistry(limits=Limits(max_sources=1, max_source_chars=4, max_total_chars=6))
    with pytest.raises(LimitError, match="max_source_chars: at most 4, got 5"):
        registry.add(text("12345"))
    with pytest.raises(LimitError, match="max_total_chars: at most 6, got 7"):
        registry.add(text("1234", title="567"))
    assert registry.add(text("1234", title="56")).id == "turn0file0"
    with pytest.raises(LimitError, match="max_sources: at most 1, got 2"):
        registry.add(text(""))
    assert len(registry) == 1
    assert registry.ids == ("turn0file0", "turn0block0")


# -- locating


def test_a_source_as_a_whole_has_no_location():
    registry = SourceRegistry()
    registry.add(text(title="T"))
    assert registry.locate("turn0file0") == Located(
        source_id="turn0file0", key="turn0file0", title="T"
    )


def test_a_block_is_a_part_of_its_source():
    registry = SourceRegistry()
    registry.add(from_blocks(["a", "b"]))
    registry.add(from_blocks(["c", "d"], url="U"))
    assert registry.locate("turn0block3") == Located(
        source_id="turn0block3",
        key="turn0file1",
        url="U",
        location=CitationLocationBlock(start_block=1, end_block=2),
        cited_text="d",
        start=3,
        end=4,
    )


def test_a_block_takes_no_locator():
    registry = SourceRegistry()
    registry.add(from_blocks(["a", "b"]))
    assert registry.locate("turn0block1", unit="line", start=1, end=1) == Unlocated(
        source_id="turn0block1",
        kind="out_of_range",
        message="turn0block1 is one block of turn0file0 and takes no locator",
    )


def test_a_locator_gives_location_and_exact_text():
    registry = SourceRegistry()
    registry.add(text("one\r\n\u2028two\n"), granularity=LINE)
    located = registry.locate("turn0file0", unit="line", start=2, end=2)
    assert located.location == CitationLocationChar(start_index=5, end_index=9)
    assert (located.cited_text, located.start, located.end) == ("\u2028two", 5, 9)


def test_what_is_wrong_says_so():
    registry = SourceRegistry()
    registry.add(text())
    unknown = registry.locate("turn0fil0", unit="line", start=1, end=1)
    assert unknown == Unlocated(
        source_id="turn0fil0",
        kind="unknown_source",
        message="no source has the id 'turn0fil0'",
        near=("turn0file0",),
    )
    beyond = registry.locate("turn0file0", unit="line", start=1, end=3)
    assert beyond.message == "turn0file0 has 2 lines: there are no lines 1 to 3"
    turned = registry.locate("turn0file0", unit="line", start=2, end=1)
    assert turned.kind == "reversed_range"
    assert turned.message.startswith("turn0file0 cannot be cited from 2 to 1")
    assert registry.locate("turn0file0", unit="").kind == "out_of_range"


def test_the_ids_of_another_session_are_unknown():
    one, other = SourceRegistry(), SourceRegistry()
    one.add(text(), alias="x")
    assert other.locate("turn0file0") == Unlocated(
        source_id="turn0file0",
        kind="unknown_source",
        message="no source has the id 'turn0file0'",
    )
    assert other.locate("x").near == ()


def test_near_misses_know_sources_aliases_and_blocks():
    registry = SourceRegistry()
    registry.add(from_blocks(["a", "b"]), alias="team-rules")
    assert registry.near("team_rules") == ("team-rules",)
    assert registry.near("turn0blck1")[0] == "turn0block1"


# -- keeping

contents = st.text(st.sampled_from("ab \n\r漢"), max_size=12)
documents = st.one_of(
    st.builds(from_text, contents, title=st.none() | st.just("t")),
    st.builds(from_blocks, st.lists(contents, min_size=1, max_size=3)),
    st.builds(from_pages, st.lists(contents, min_size=1, max_size=3)),
)
aliases = st.none() | st.sampled_from(
    ["x", "y", "turn0file1", "turn0block1", "turn1block0", "turn2block3", "a b"]
)
steps = st.lists(
    st.none()
    | st.tuples(documents, st.sampled_from(["file", "url"]), st.sampled_from(Granularity), aliases),
    max_size=12,
)


def act(registry, actions):
    for action in actions:
        if action is None:
            registry.begin_turn()
            continue
        document, kind, granularity, alias = action
        if granularity is PAGE and not document.pages:
            granularity = LINE
        registry.add(document, kind=kind, granularity=granularity, alias=alias)


def meaning(registry):
    units = [None, "line", "page", "block", "char"]
    return {
        (source_id, unit): registry.locate(source_id, unit=unit, start=1, end=2)
        for source_id in registry.ids
        for unit in units
    }


@given(steps, steps)
def test_a_restored_registry_means_the_same_and_goes_on_the_same(before, after):
    registry = SourceRegistry()
    act(registry, before)
    snapshot = json.loads(json.dumps(registry.snapshot()))
    restored = SourceRegistry.restore(snapshot)
    assert restored.snapshot() == snapshot
    assert meaning(restored) == meaning(registry)
    act(registry, after)
    act(restored, after)
    assert meaning(restored) == meaning(registry)
    assert restored.snapshot() == registry.snapshot()


def test_namesakes_are_kept_in_the_order_they_came_whoever_holds_the_alias_now():
    def again(registry, content):
        registry.add(from_text(content), alias="x")

    registry = SourceRegistry()
    for content in "ABCA":
        again(registry, content)
    restored = SourceRegistry.restore(registry.snapshot())
    again(registry, "B")
    again(restored, "B")
    assert restored.snapshot() == registry.snapshot()


@given(steps)
def test_ids_do_not_depend_on_questions_asked_between(actions):
    silent, asked = SourceRegistry(), SourceRegistry()
    act(silent, actions)
    for action in actions:
        act(asked, [action])
        meaning(asked)
    assert meaning(asked) == meaning(silent)


@given(steps)
def test_no_id_means_two_things(actions):
    registry = SourceRegistry()
    act(registry, actions)
    assert len(set(registry.ids)) == len(registry.ids)
    for source in registry.sources:
        assert registry.get(source.id) is (source if source.id in registry.ids else None)


def test_restoring_changes_nothing_it_was_given():
    registry = SourceRegistry()
    registry.add(from_pages(["a"]), alias="x")
    snapshot = registry.snapshot()
    before = json.dumps(snapshot)
    SourceRegistry.restore(snapshot).add(text())
    assert json.dumps(snapshot) == before


def test_restoring_keeps_to_the_limits():
    registry = SourceRegistry()
    registry.add(text())
    registry.add(text())
    with pytest.raises(LimitError, match="max_sources"):
        SourceRegistry.restore(registry.snapshot(), limits=Limits(max_sources=1))


def test_an_alias_that_is_no_id_is_damage():
    registry = SourceRegistry()
    registry.add(text(), alias="x")
    snapshot = registry.snapshot()
    snapshot["aliases"]["a b"] = ["turn0file0"]
    with pytest.raises(DecodeError, match=r"\$\.aliases: expected source ids, got 'a b'"):
        SourceRegistry.restore(MappingProxyType(snapshot) | {})
