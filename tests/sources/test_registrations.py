import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream import CitableSource, DecodeError, Limits, SourceRegistry
from citestream.sources import Granularity, from_pages, from_text
from citestream.sources.registrations import dump_registrations, register_again

DOCUMENTS = [
    from_text("One.\n\nTwo.", title="A", url="https://a.example/", path="a.md", updated="2026"),
    from_pages(["Page one.", "Page two."], title="B"),
    CitableSource(id="rules", content="Meals are paid.", title="Rules"),
]
calls = st.lists(
    st.none()
    | st.tuples(
        st.sampled_from(DOCUMENTS),
        st.sampled_from(["file", "search"]),
        st.sampled_from([Granularity.BLOCK, Granularity.LINE, Granularity.DOCUMENT]),
        st.sampled_from([None, "rules", "turn0file1", "no id", "turn0block0"]),
    ),
    max_size=12,
)


@given(calls)
def test_the_same_calls_give_the_same_registry(made):
    told = []
    registry = SourceRegistry(limits=Limits(max_sources=8))
    registry.recorder = told.append
    for call in made:
        if call is None:
            registry.begin_turn()
        elif len(registry) < 8:
            document, kind, granularity, alias = call
            registry.add(document, kind=kind, granularity=granularity, alias=alias)
    again = SourceRegistry(limits=Limits(max_sources=8))
    register_again(again, json.loads(json.dumps(dump_registrations(told))))
    assert again.snapshot() == registry.snapshot()
    assert again.ids == registry.ids
    assert again.offered == registry.offered


def test_what_a_limit_refused_is_refused_again():
    told = []
    registry = SourceRegistry(limits=Limits(max_sources=1))
    registry.recorder = told.append
    registry.add(DOCUMENTS[0])
    with pytest.raises(ValueError, match="max_sources"):
        registry.add(DOCUMENTS[1])
    again = SourceRegistry(limits=Limits(max_sources=1))
    register_again(again, dump_registrations(told))
    assert again.ids == registry.ids


@pytest.mark.parametrize(
    ("stored", "path"),
    [
        ("x", "$"),
        ([1], "$[0]"),
        ([{"kind": 1, "granularity": "line", "content": ""}], "$[0]"),
        ([{"kind": "file", "alias": 1, "granularity": "line", "content": ""}], "$[0]"),
        ([{"kind": "file", "granularity": "word", "content": ""}], "$[0].granularity"),
        ([{}, {"kind": "file", "granularity": "line", "content": 1}], "$[1].content"),
        ([{"kind": "FILE", "granularity": "line", "content": ""}], "$[0]"),
        ([{"kind": "file", "granularity": "line", "content": "", "path": "/etc"}], "$[0]"),
    ],
)
def test_damage_is_told_with_its_place(stored, path):
    with pytest.raises(DecodeError) as caught:
        register_again(SourceRegistry(), stored)
    assert caught.value.path == path
