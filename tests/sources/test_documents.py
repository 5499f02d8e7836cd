import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.errors import LimitError, ModelError
from citestream.model import CitableSource
from citestream.sources.documents import (
    SourceDocument,
    from_blocks,
    from_citable,
    from_pages,
    from_text,
)
from citestream.sources.limits import Limits

parts = st.lists(st.text(st.sampled_from("ab \n\r\u2028漢📎"), max_size=12), max_size=6)


@given(parts)
def test_pages_slice_the_content_exactly(texts):
    document = from_pages(texts)
    assert [document.content[start:end] for start, end in document.pages] == texts


@given(parts)
def test_marked_blocks_slice_the_content_exactly(texts):
    document = from_blocks(texts)
    if texts:
        assert [document.content[start:end] for start, end in document.blocks] == texts


@given(parts)
def test_no_block_spans_two_pages(texts):
    document = from_pages(texts)
    for start, end in document.blocks:
        assert any(first <= start < end <= last for first, last in document.pages)
    kept = "".join(document.content[start:end] for start, end in document.blocks)
    assert "".join(kept.split()) == "".join(document.content.split())


@given(st.text(max_size=60))
def test_the_content_is_the_text_as_it_was_given(text):
    assert from_text(text).content == text


def test_lone_surrogates_become_replacement_characters():
    assert from_text("a\ud83db", title="\udcce").content == "a�b"


def test_lines_and_blocks_are_found_once():
    document = from_text("a\nb")
    assert document.lines is document.lines
    assert document.blocks is document.blocks
    assert len(document.lines) == 2


def test_the_parts_may_come_from_an_iterator():
    assert from_pages(iter(["a", "b"])).pages == ((0, 1), (3, 4))


@pytest.mark.parametrize("make", [from_pages, from_blocks])
def test_one_string_is_not_a_list_of_parts(make):
    with pytest.raises(ModelError, match="expected an iterable of strings, got one string"):
        make("abc")


@pytest.mark.parametrize("make", [from_pages, from_blocks])
def test_parts_and_names_are_strings(make):
    with pytest.raises(ModelError, match="wants strings, got 3"):
        make([3])
    with pytest.raises(ModelError, match="wants strings, got 3"):
        make(["a"], title=3)


@pytest.mark.parametrize(("make", "name"), [(from_pages, "max_pages"), (from_blocks, "max_blocks")])
def test_parts_are_bounded(make, name):
    limits = Limits(**{name: 2})
    assert make(["a", "b"], limits=limits).content == "a\n\nb"
    with pytest.raises(LimitError, match=f"{name}: at most 2, got 3"):
        make(["a", "b", "c"], limits=limits)


def test_characters_are_bounded_and_no_more_parts_are_drawn():
    def endless():
        while True:
            yield "abc"

    with pytest.raises(LimitError, match="max_source_chars: at most 10, got 13"):
        from_pages(endless(), limits=Limits(max_source_chars=10))


@pytest.mark.parametrize(
    "ranges", [((0, 9),), ((2, 1),), ((0, 2), (1, 3)), ((-1, 1),), (("0", "1"),), ((0.0, 1.0),)]
)
@pytest.mark.parametrize("name", ["pages", "marked_blocks"])
def test_ranges_are_those_of_the_content(name, ranges):
    with pytest.raises(ModelError, match=f"{name}: expected ranges of the content"):
        SourceDocument(content="abc", **{name: ranges})


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a\\b", "./a", ""])
def test_a_document_never_holds_a_path_outside_the_workspace(path):
    with pytest.raises(ModelError, match="path: expected a path relative to the workspace root"):
        SourceDocument(content="", path=path)


@pytest.mark.parametrize(
    ("path", "title", "shown"),
    [
        ("docs\\a.md", None, (None, "docs/a.md")),
        ("/home/kim/a.md", None, ("a.md", None)),
        ("/home/kim/a.md", "Rules", ("Rules", None)),
        ("..", None, (None, None)),
        (None, None, (None, None)),
    ],
)
def test_a_path_that_leaves_the_workspace_leaves_its_name(path, title, shown):
    citable = CitableSource(id="x", content="", path=path, title=title)
    for document in (from_text("", path=path, title=title), from_citable(citable)):
        assert (document.title, document.path) == shown


def test_a_citable_source_keeps_its_names():
    document = from_citable(CitableSource(id="x", content="c", title="t", url="u", path="p"))
    assert (document.content, document.title, document.url, document.path) == ("c", "t", "u", "p")
    assert document.size == 4


def test_the_repr_does_not_show_what_a_document_says():
    document = from_text("secret", title="secret", url="secret", updated="secret", path="a.md")
    assert repr(document) == "SourceDocument(path='a.md', pages=<0>, marked_blocks=<0>)"
