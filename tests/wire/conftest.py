"""Each test of this folder that asks for ``codec`` runs with and without the ``fast`` extra."""

import importlib

import pytest

from citestream.wire import text


@pytest.fixture(params=["json", "orjson"], scope="module")
def codec(request):
    loads = None
    if request.param == "orjson":
        pytest.importorskip("orjson")
        loads = importlib.import_module("orjson").loads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_fast_loads", lambda: loads)
        yield request.param
