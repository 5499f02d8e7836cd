import attrs
import pytest

from citestream import errors, issues
from citestream.issues import ISSUE_KINDS, Issue


def test_an_issue_of_every_kind_says_what_and_where():
    for kind in ISSUE_KINDS:
        issue = Issue(kind=kind, message="names no source")
        assert (issue.kind, issue.index, issue.raw, issue.suggestions) == (kind, 0, "", ())


def test_an_unknown_kind_is_named_with_the_known_ones():
    with pytest.raises(errors.ModelError) as caught:
        Issue(kind="misc", message="")
    kinds = "malformed_marker, truncated_marker, unknown_source, out_of_range, reversed_range, "
    kinds += "duplicate_reference, offset_repaired, in_code, in_emphasis, alone_on_line, uncited, "
    assert str(caught.value) == f"Issue.kind: expected one of {kinds}widget, got 'misc'"


def test_an_issue_is_frozen():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Issue(kind="widget", message="").index = 1


def test_names():
    assert issues.__all__ == ("ISSUE_KINDS", "Issue")
