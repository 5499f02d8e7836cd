import pytest
from hypothesis import given
from hypothesis import strategies as st

from citestream.attachments.shapes import read_shapes
from citestream.errors import OptionError


def span(first, last):
    keys = ("line", "character")
    return {
        "start": dict(zip(keys, first, strict=True)),
        "end": dict(zip(keys, last, strict=True)),
    }


def test_the_shapes_of_copilot_are_read():
    given_as = [
        {"type": "file", "path": "a.md", "displayName": "A", "lineRange": {"start": 3, "end": 3}},
        {"type": "directory", "path": "docs"},
        {
            "type": "selection",
            "filePath": "a.py",
            "displayName": None,
            "selection": span((1, 4), (2, 9)),
            "text": "x = 1",
        },
        {"type": "blob", "data": "YQ==", "mimeType": "text/plain"},
    ]
    file, folder, selection, blob = read_shapes(given_as)
    assert (file.path, file.display_name, file.lines) == ("a.md", "A", (3, 3))
    assert (folder.index, folder.path, folder.display_name) == (1, "docs", None)
    assert (selection.path, selection.lines, selection.text) == ("a.py", (2, 3), "x = 1")
    assert selection.display_name is None
    assert (blob.data, blob.mime_type, blob.given) == ("YQ==", "text/plain", given_as[3])
    assert blob.where("data") == "attachments[3].data"


@pytest.mark.parametrize(
    ("first", "last", "lines"),
    [
        ((0, 0), (0, 0), (1, 1)),
        ((0, 5), (1, 0), (1, 1)),
        ((0, 0), (3, 0), (1, 3)),
        ((2, 7), (2, 9), (3, 3)),
        ((2, 7), (3, 1), (3, 4)),
    ],
)
def test_a_selection_means_the_lines_that_it_touches(first, last, lines):
    shape = {"type": "selection", "filePath": "a", "selection": span(first, last)}
    assert read_shapes([shape])[0].lines == lines


FILE = {"type": "file", "path": "a.md"}
KEYS_OF_FILE = "attachments[0], a file: wanted the keys path, displayName, lineRange beside type"
SELECTION = {"type": "selection", "filePath": "a.md"}


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ("a.md", "attachments[0]: wanted a mapping, got 'a.md'"),
        ({}, "attachments[0].type: wanted one of file, directory, selection, blob, got None"),
        (
            {"type": "image"},
            "attachments[0].type: wanted one of file, directory, selection, blob, got 'image'",
        ),
        (
            {"type": ["file"]},
            "attachments[0].type: wanted one of file, directory, selection, blob, got an array",
        ),
        (
            {"type": "file"},
            "attachments[0].path: wanted a string with something in it, got None",
        ),
        (
            {"type": "blob", "data": "", "mimeType": "text/plain"},
            "attachments[0].data: wanted a string with something in it, got ''",
        ),
        (
            {**FILE, "displayname": "A"},
            f"{KEYS_OF_FILE}, got 'displayname'",
        ),
        (
            {**FILE, 3: "A"},
            f"{KEYS_OF_FILE}, got 3",
        ),
        (
            {**FILE, "displayName": 3},
            "attachments[0].displayName: wanted a string with something in it, got 3",
        ),
        ({**FILE, "lineRange": [1, 2]}, "attachments[0].lineRange: wanted a mapping, got an arr"),
        (
            {**FILE, "lineRange": {"start": 0, "end": 2}},
            "attachments[0].lineRange.start: wanted an integer of 1 or more, got 0",
        ),
        (
            {**FILE, "lineRange": {"start": 1, "end": True}},
            "attachments[0].lineRange.end: wanted an integer of 1 or more, got True",
        ),
        (
            {**FILE, "lineRange": {"start": 2, "end": 1}},
            "attachments[0].lineRange: wanted an end that is not before the start, got '2 to 1'",
        ),
        (
            {**SELECTION, "selection": 3},
            "attachments[0].selection: wanted a mapping, got 3",
        ),
        (
            {**SELECTION, "selection": {"start": {"line": 0, "character": 0}}},
            "attachments[0].selection.end: wanted a mapping, got None",
        ),
        (
            {**SELECTION, "selection": span((-1, 0), (0, 0))},
            "attachments[0].selection.start.line: wanted an integer of 0 or more, got -1",
        ),
        (
            {**SELECTION, "selection": span((3, 0), (2, 5))},
            "attachments[0].selection: wanted an end that is not before the start, got '4 to 3'",
        ),
    ],
)
def test_other_shapes_are_misuse(shape, problem):
    with pytest.raises(OptionError) as caught:
        read_shapes([shape])
    assert str(caught.value).startswith(problem)


def test_the_index_is_told():
    with pytest.raises(OptionError, match=r"attachments\[1\]\.type: wanted"):
        read_shapes([FILE, {"type": "x"}])


@pytest.mark.parametrize("attachments", [FILE, "a.md", b"b.md", 3, None])
def test_attachments_are_a_list(attachments):
    with pytest.raises(OptionError, match="attachments: wanted a list of mappings, got"):
        read_shapes(attachments)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["start", "end", "line", "character"]), inner)
    ),
    max_leaves=6,
)
KEYS = ["path", "filePath", "displayName", "lineRange", "selection", "text", "data", "mimeType"]


@given(
    st.sampled_from(["file", "directory", "selection", "blob"]),
    st.dictionaries(st.sampled_from(KEYS), VALUES),
)
def test_whatever_is_attached_is_read_or_refused(kind, values):
    try:
        (one,) = read_shapes([{"type": kind, **values}])
    except OptionError as error:
        assert str(error).startswith("attachments[0]")  # noqa: PT017 - either outcome is right
    else:
        assert one.path or one.data
        assert one.lines is None or 1 <= one.lines[0] <= one.lines[1]
