"""Whose sessions a request may see: a random value in a cookie that only this site gets back.

In: a request. Out: the owner that the client of citestream is given. The store never holds the
value itself: who reads the store cannot act as the owner. Deliberately elsewhere: accounts; where
there are some, the owner is the user's id.
"""

import hashlib
import re
import secrets

from starlette.requests import Request
from starlette.responses import Response

__all__ = ("COOKIE", "give_owner", "owner_of")

COOKIE = "citestream_owner"
_VALUE = re.compile(r"[A-Za-z0-9_-]{43}")
_YEAR = 365 * 24 * 60 * 60


def owner_of(request: Request, /) -> str | None:
    """Return the owner of a request, None where the cookie is missing or not one of ours."""
    value = request.cookies.get(COOKIE, "")
    return _named(value) if _VALUE.fullmatch(value) else None


def give_owner(request: Request, response: Response, /) -> None:
    """Set the cookie of a new owner, or that of the present one again, for another year."""
    value = request.cookies.get(COOKIE, "")
    if _VALUE.fullmatch(value) is None:
        value = secrets.token_urlsafe(32)
    response.set_cookie(
        COOKIE,
        value,
        max_age=_YEAR,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _named(value: str) -> str:
    return hashlib.sha256(value.encode("ascii")).hexdigest()
