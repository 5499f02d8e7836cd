"""A vendor on this machine: an HTTP/1.1 server for tests that answers from a script.

In: replies, each with its bytes in pieces. Out: the requests that came. It speaks chunked transfer
encoding, listens on 127.0.0.1 at a free port and ends, with all its threads, with its block::

    with Loopback(Reply(headers=SSE, pieces=bytewise(sse({"type": "ping"})))) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0)
        ...
    assert server.requests[0].body["model"] == "m"
"""

import contextlib
import json
import random
import socket
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Event, Lock, Thread
from typing import Any, Self

import attrs

__all__ = (
    "CUTS",
    "EVENT_STREAM",
    "SSE",
    "Loopback",
    "Reply",
    "Request",
    "bytewise",
    "cut",
    "drawn",
    "event_frame",
    "event_stream",
    "sse",
    "whole",
)

SSE = {"Content-Type": "text/event-stream; charset=utf-8"}
"""The headers of a reply that streams server-sent events."""

EVENT_STREAM = {"Content-Type": "application/vnd.amazon.eventstream"}
"""The headers of a reply that streams as AWS does."""

_SECONDS = 20.0
"""How long a connection may stay silent before it is dropped."""


# -- cutting a stream of bytes


def whole(data: bytes, /) -> list[bytes]:
    """Leave ``data`` in one piece."""
    return [data]


def bytewise(data: bytes, /) -> list[bytes]:
    """Cut ``data`` into single bytes."""
    return [data[place : place + 1] for place in range(len(data))]


def cut(data: bytes, /, *, at: Iterable[int]) -> list[bytes]:
    """Cut ``data`` at the places ``at``, in any order; no piece is empty."""
    places = sorted({place for place in at if 0 < place < len(data)})
    edges = [0, *places, len(data)]
    return [data[a:b] for a, b in pairwise(edges) if b > a]


def drawn(data: bytes, /, *, seed: int = 0, count: int | None = None) -> list[bytes]:
    """Cut ``data`` at places drawn from ``seed``, by default every 7 bytes on average."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    places = range(1, len(data))
    wanted = len(places) // 7 if count is None else count
    return cut(data, at=draw.sample(places, min(len(places), wanted)))


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": whole,
    "bytewise": bytewise,
    "drawn": drawn,
}
"""The ways to cut, by name, for ``pytest.mark.parametrize``."""


def sse(*data: object, event: str | None = None) -> bytes:
    """Frame values as server-sent events: JSON for anything but strings, each with ``event``.

    Without ``event`` a mapping with a ``type`` is not named either: some vendors do not.
    """
    head = "" if event is None else f"event: {event}\n"
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in data]
    return "".join(f"{head}data: {text}\n\n" for text in texts).encode()


def event_frame(payload: object, /, **headers: str) -> bytes:
    """Frame a message of AWS's event stream: lengths, headers, payload, both checksums."""
    encoded = b""
    for name, value in headers.items():
        key, text = f":{name.replace('_', '-')}".encode(), value.encode()
        encoded += bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(text)) + text
    body = json.dumps(payload, ensure_ascii=False).encode()
    prelude = struct.pack(">II", len(encoded) + len(body) + 16, len(encoded))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + encoded + body
    return message + struct.pack(">I", zlib.crc32(message))


def event_stream(chunks: Iterable[Mapping[str, object]], /) -> list[bytes]:
    """Frame the members of a stream of AWS, each a mapping from its kind to what it says."""
    about = {"content_type": "application/json", "message_type": "event"}
    return [
        event_frame(payload, event_type=kind, **about)
        for chunk in chunks
        for kind, payload in chunk.items()
    ]


# -- the server


@attrs.frozen(kw_only=True)
class Reply:
    """What the server answers. ``pieces`` is sent with ``delay`` seconds before every piece.

    ``break_after`` ends the connection after so many pieces, without the end of the body.
    """

    pieces: Iterable[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict)
    delay: float = 0.0
    break_after: int | None = None

    @classmethod
    def json(cls, value: object, /, *, status: int = 200, **fields: Any) -> "Reply":
        """Make a reply whose body is ``value`` in one piece."""
        headers = {"Content-Type": "application/json", **fields.pop("headers", {})}
        pieces = [json.dumps(value, ensure_ascii=False).encode()]
        return cls(pieces=pieces, status=status, headers=headers, **fields)


@attrs.frozen(kw_only=True)
class Request:
    """What came. ``headers`` has lower-case names; ``body`` is JSON, None where there is none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Script = Reply | Callable[[Request], Reply]


class Loopback:
    """Answers one request after the other with ``replies``; a function is asked for its reply.

    What is asked beyond them gets status 500. Errors of the server itself are raised at the end.
    """

    def __init__(self, *replies: Script) -> None:
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []
        self.stopping = Event()
        self._lock = Lock()
        self._replies = list(replies)
        self._server: _Server | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), name="loopback")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.drop_connections()
        self._server.server_close()  # joins the threads of the connections
        self._thread.join()
        if self.errors:
            raise self.errors[0]

    @property
    def url(self) -> str:
        """Where the server listens, without a slash at the end."""
        host, port = self._server.server_address[:2]
        return f"http://{host}:{port}"

    def reply(self, request: Request, /) -> Reply:
        """Note ``request`` and return the reply to it."""
        with self._lock:
            self.requests.append(request)
            script = self._replies.pop(0) if self._replies else _NOTHING_LEFT
        return script if isinstance(script, Reply) else script(request)


_NOTHING_LEFT = Reply.json({"error": {"message": "the script has no reply left"}}, status=500)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined by server_close
    block_on_close = True

    def __init__(self, loopback: Loopback) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.loopback = loopback
        self._open: set[socket.socket] = set()

    def process_request(self, request: socket.socket, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def drop_connections(self) -> None:
        for request in list(self._open):
            with contextlib.suppress(OSError):  # the client was faster
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        del request, client_address
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):  # a client may go at any time
            self.loopback.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else b""
        request = Request(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(body) if body else None,
        )
        self.close_connection = True
        self._send(self.server.loopback.reply(request))

    do_GET = do_POST  # noqa: N815 - the names that http.server looks for

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, piece in enumerate(reply.pieces):
            if number == reply.break_after:
                break
            if reply.delay and self.server.loopback.stopping.wait(reply.delay):
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if reply.break_after is None:
            self.wfile.write(b"0\r\n\r\n")
