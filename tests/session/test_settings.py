import pytest

from citestream import OptionError, PermissionHandler, SessionOptions, tool
from citestream.session.options import CLIENT_OPTIONS
from citestream.session.settings import check_settings


@tool
def look() -> str:
    return ""


def test_what_is_not_given_has_a_default():
    checked = check_settings({})
    assert (checked.enable_citations, checked.tools, checked.owner) == (False, {}, None)
    assert checked.options is CLIENT_OPTIONS
    assert check_settings({"options": None, "tools": None}) == checked


def test_what_is_given_is_kept():
    options, decide = SessionOptions(), PermissionHandler.approve_all
    checked = check_settings(
        {"options": options, "tools": [look], "on_permission_request": decide, "owner": "kim"}
    )
    assert checked.options is options
    assert checked.tools == {"look": look}
    assert (checked.on_permission_request, checked.owner) == (decide, "kim")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "m"}, "^model: no such setting of a session; there are enable_citations, "),
        ({"enable_citations": 1}, "^enable_citations: wanted True or False, got 1$"),
        ({"tools": [5]}, "^tools: wanted what citestream.tool makes, got 5$"),
        ({"tools": [look, look]}, "^tools: wanted names that differ, got 'look' twice$"),
        ({"on_event": 5}, "^on_event: wanted a callable, got 5$"),
        ({"options": 5}, "^options: wanted a SessionOptions, got 5$"),
        ({"owner": 5}, "^owner: wanted a text, got 5$"),
    ],
)
def test_what_does_not_fit_is_named(settings, told):
    with pytest.raises(OptionError, match=told):
        check_settings(settings)
