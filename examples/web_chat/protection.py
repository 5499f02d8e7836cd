"""What keeps strangers' pages out: headers of every response, and requests that are refused.

In: an ASGI application. Out: one that a browser runs nothing else in. Content of strangers is
escaped where it is rendered; the policy is what holds if that ever fails.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ("POLICY", "Protection")

_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
POLICY = "; ".join(_DIRECTIVES)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING = {"GET", "HEAD"}


class Protection:
    """Adds the headers, and lets no other site ask anything of ``/api``.

    ``hosts`` are the names under which the server may be reached. Without that check a stranger's
    domain that resolves to this machine would be this site to the browser.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        problem = self._problem(scope)
        if problem is None:
            await self._app(scope, receive, protected)
        else:
            refusal = JSONResponse({"error": problem[1]}, status_code=problem[0])
            await refusal(scope, receive, protected)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if _name(f"//{headers.get('host', '')}") not in self._hosts:
            return 421, "this server does not answer to that name"
        if not scope["path"].startswith("/api/"):
            return None
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403, "another site asked"
        return None if scope["method"] in _READING else _changing(headers)


def _changing(headers: Headers) -> tuple[int, str] | None:
    # Browsers name the origin of every such request; what names none is no page of ours.
    if _place(headers.get("origin", "")) != headers["host"]:
        return 403, "another origin asked"
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return 415, "wanted application/json"
    return None


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _place(url: str) -> str | None:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return None
