"""The application: its routes, and what it is made of.

=======================================  =========================================================
``GET /``, ``GET /chats/ID``             the page; which session it shows is its own affair
``GET /api/start``                       who answers, documents, sessions; gives a visitor a cookie
``GET /api/documents/N``                 a document that a new session may cite
``POST /api/sessions``                   a new session
``DELETE /api/sessions/ID``              delete it
``POST /api/sessions/ID/questions``      ask it ``{"text": "..."}``
``POST /api/sessions/ID/stop``           stop its answer
``GET /api/sessions/ID/events``          follow it (``stream``)
``GET /api/sessions/ID/sources``         what it may cite
``GET /api/sessions/ID/sources/SOURCE``  the lines of that
=======================================  =========================================================

A session of another owner does not exist for whoever asks. Errors are ``{"error": "..."}``.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from citestream import (
    CitestreamError,
    Client,
    DecodeError,
    LimitError,
    MemoryStore,
    OptionError,
    Provider,
    SessionNotFoundError,
    StateError,
    Store,
    StoreBusyError,
    render,
)
from citestream.sources import SourceDocument

from .chats import BusyError, Chats
from .documents import shown, titled
from .owners import give_owner, owner_of
from .protection import Protection
from .stream import Streams

__all__ = ("LOCAL_HOSTS", "create_app")

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""The names of this machine to itself."""

_STATIC = Path(__file__).with_name("static")
_LONGEST_BODY = 64 * 1024
_LONGEST_QUESTION = 8_000
_STATUS: tuple[tuple[type[CitestreamError], int], ...] = (  # the first that fits
    (SessionNotFoundError, 404),
    (StoreBusyError, 503),
    (BusyError, 409),
    (LimitError, 413),
    (DecodeError, 400),
    (OptionError, 400),
    (StateError, 409),
)


def create_app(  # noqa: PLR0913 - settings, each by its name
    *,
    provider: Provider,
    documents: Sequence[SourceDocument],
    store: Store | None = None,
    answered_by: str = "",
    suggestions: Sequence[str] = (),
    hosts: Sequence[str] = LOCAL_HOSTS,
    shared_store: bool = False,
) -> Starlette:
    """Return the application.

    ``provider`` answers, about ``documents``, which every new session gets. ``store`` keeps the
    sessions, by default until the application ends. ``answered_by`` says on the page who answers,
    ``suggestions`` are questions to begin with. ``hosts`` are the names of the server; requests
    to any other are refused. ``shared_store`` says that other servers use the store too: an answer
    that none here writes is then completed only when the lease of its writer has expired, not at
    once.
    """
    kept = MemoryStore() if store is None else store

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with Client(provider=provider, store=kept) as client, anyio.create_task_group() as on:
            app.state.chats = Chats(client, kept, documents=documents, shared_store=shared_store)
            on.start_soon(app.state.chats.run)
            yield
            on.cancel_scope.cancel()

    app = Starlette(
        routes=_ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(Protection, hosts=hosts)],
        exception_handlers={CitestreamError: _failed, HTTPException: _refused},
    )
    app.state.streams = Streams()
    app.state.documents = tuple(documents)
    app.state.about = {"answeredBy": answered_by, "suggestions": list(suggestions)}
    return app


# -- pages


async def _page(_request: Request) -> Response:
    return FileResponse(_STATIC / "page.html", headers={"Cache-Control": "no-cache"})


class _Static(StaticFiles):
    def file_response(self, *arguments: Any, **named: Any) -> Response:  # noqa: ANN401
        response = super().file_response(*arguments, **named)
        response.headers["Cache-Control"] = "no-cache"  # asked for again, and seldom sent again
        return response


# -- what the page asks


async def _start(request: Request) -> Response:
    owner = owner_of(request)
    sessions = [] if owner is None else await _listed(request, owner)
    documents = [titled(one) for one in request.app.state.documents]
    response = JSONResponse(
        request.app.state.about | {"documents": documents, "sessions": sessions}
    )
    give_owner(request, response)
    return response


async def _document(request: Request) -> Response:
    documents, number = request.app.state.documents, request.path_params["number"]
    if number >= len(documents):
        raise HTTPException(404, "no such document")
    return JSONResponse(shown(documents[number]))


async def _sessions(request: Request, owner: str) -> Response:
    return JSONResponse({"sessions": await _listed(request, owner)})


async def _create(request: Request, owner: str) -> Response:
    return JSONResponse({"id": await _chats(request).create(owner)}, status_code=201)


async def _delete(request: Request, owner: str) -> Response:
    await _chats(request).delete(owner, _session_id(request))
    return Response(status_code=204)


async def _ask(request: Request, owner: str) -> Response:
    text = (await _body(request)).get("text")
    if not isinstance(text, str) or not text.strip():
        raise HTTPException(400, "text: wanted a question")
    if len(text) > _LONGEST_QUESTION:
        raise HTTPException(413, f"text: wanted at most {_LONGEST_QUESTION:,} characters")
    asked = await _chats(request).ask(owner, _session_id(request), text.strip())
    return JSONResponse({"id": asked}, status_code=202)


async def _stop(request: Request, owner: str) -> Response:
    await _chats(request).abort(owner, _session_id(request))
    return Response(status_code=204)


async def _events(request: Request, owner: str) -> Response:
    session_id = _session_id(request)
    # The page gives ``after`` when it opens a stream, the browser the header when it does so again.
    last = request.headers.get("last-event-id") or request.query_params.get("after")
    after = render.sse.parse_last_event_id(last)
    chats = _chats(request)
    await chats.check(owner, session_id)
    follower = chats.follow(owner, session_id, after=after)
    streams: Streams = request.app.state.streams
    frames = streams.frames(follower, chats=chats, owner=owner, session_id=session_id)
    headers = {"X-Accel-Buffering": "no"}  # a proxy must not wait for more
    return StreamingResponse(frames, media_type="text/event-stream", headers=headers)


async def _sources(request: Request, owner: str) -> Response:
    sources = await _chats(request).sources(owner, _session_id(request))
    listed = [{"id": one.id} | titled(one.document) for one in sources.sources]
    return JSONResponse({"sources": listed})


async def _source(request: Request, owner: str) -> Response:
    sources = await _chats(request).sources(owner, _session_id(request))
    source = sources.get(request.path_params["source"])
    if source is None:
        raise HTTPException(404, "no such source")
    return JSONResponse(shown(source.document))


# -- what they share


def _chats(request: Request) -> Chats:
    chats: Chats = request.app.state.chats
    return chats


def _session_id(request: Request) -> str:
    session_id: str = request.path_params["session"]
    return session_id


async def _listed(request: Request, owner: str) -> list[dict[str, Any]]:
    return [
        {"id": one.session_id, "title": one.summary, "modified": one.modified_time.isoformat()}
        for one in await _chats(request).list(owner)
    ]


async def _body(request: Request) -> Mapping[str, Any]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST_BODY:
            raise HTTPException(413, f"wanted at most {_LONGEST_BODY:,} bytes")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise HTTPException(400, "wanted a JSON object")
    return value


def _owned(
    endpoint: Callable[[Request, str], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    async def checked(request: Request) -> Response:
        owner = owner_of(request)
        if owner is None:
            raise HTTPException(401, "wanted the cookie that /api/start gives")
        return await endpoint(request, owner)

    return checked


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    return JSONResponse({"error": detail}, status_code=status)


async def _failed(_request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return JSONResponse({"error": str(error)}, status_code=status)


_SESSION = "/api/sessions/{session}"
_ROUTES = [
    Route("/", _page),
    Route("/chats/{session}", _page),
    Mount("/static", _Static(directory=_STATIC)),
    Route("/api/start", _start),
    Route("/api/documents/{number:int}", _document),
    Route("/api/sessions", _owned(_sessions)),
    Route("/api/sessions", _owned(_create), methods=["POST"]),
    Route(_SESSION, _owned(_delete), methods=["DELETE"]),
    Route(f"{_SESSION}/questions", _owned(_ask), methods=["POST"]),
    Route(f"{_SESSION}/stop", _owned(_stop), methods=["POST"]),
    Route(f"{_SESSION}/events", _owned(_events)),
    Route(f"{_SESSION}/sources", _owned(_sources)),
    Route(f"{_SESSION}/sources/{{source}}", _owned(_source)),
]
