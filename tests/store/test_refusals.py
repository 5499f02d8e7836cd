"""What stores say when they refuse."""

from citestream import errors
from citestream.store import refusals

TEXTS = """\
read: the store is not open; use it inside of 'async with store'
session 's': not found
session 's': there is one of this id already
session 's': 'w' holds it since 1970-01-01T00:00:00+00:00 and until 1970-01-01T00:01:00+00:00; \
mode='takeover' would fence them off
session 's': 'w' took it over at 1970-01-01T00:00:00+00:00 (epoch 2); this writer's epoch 1 is over
session 's': someone else took it over at 1970-01-01T00:00:00+00:00 (epoch 3); \
this writer's epoch 1 is over"""


def test_refusals():
    found = [
        refusals.closed("read"),
        refusals.not_found("s"),
        refusals.exists("s"),
        refusals.in_use("s", holder="w", since=0, expires=60.9),
        refusals.fenced("s", epoch=1, holder="w", current=2, since=0),
        refusals.fenced("s", epoch=1, holder="", current=3, since=0),
    ]
    kinds = [type(error) for error in found]
    assert kinds == [
        errors.StateError,
        errors.SessionNotFoundError,
        errors.SessionExistsError,
        errors.SessionInUseError,
        errors.SessionFenced,
        errors.SessionFenced,
    ]
    assert "\n".join(map(str, found)) == TEXTS
