"""What the tests of the web chat share: a server, a provider that waits, and a browser."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from citestream import SessionEvent, SessionEventType
from citestream.events import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantMessageStartData,
)
from citestream.sources import from_file

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # examples are no part of the package

WAIT = object()
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def pytest_collection_modifyitems(items):
    """Mark all tests of this folder as long."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.long)


class Scripted:
    """Answers with ``pieces``: texts, events, errors to raise, and WAIT until ``go`` is called."""

    def __init__(self, *pieces):
        self.pieces = pieces
        self.questions = []
        self._permits = anyio.Semaphore(0)

    def go(self):
        """Go on behind the next WAIT. Called in the loop of the server (``Site.call``)."""
        self._permits.release()

    async def answer(self, exchange):
        self.questions.append(exchange.conversation.turns[-1].text)
        message_id, said = str(uuid4()), ""
        start = AssistantMessageStartData(message_id=message_id)
        yield SessionEvent(
            type=SessionEventType.ASSISTANT_MESSAGE_START, data=start, ephemeral=True
        )
        for piece in self.pieces:
            if piece is WAIT:
                await self._permits.acquire()
            elif isinstance(piece, Exception):
                raise piece
            elif isinstance(piece, SessionEvent):
                yield piece
            else:
                said += piece
                yield SessionEvent(
                    type=SessionEventType.ASSISTANT_MESSAGE_DELTA,
                    data=AssistantMessageDeltaData(message_id=message_id, delta_content=piece),
                    ephemeral=True,
                )
        data = AssistantMessageData(message_id=message_id, content=said)
        yield SessionEvent(type=SessionEventType.ASSISTANT_MESSAGE, data=data)


class Site:
    """A server in a thread, on a port of its own that stays the same when it starts again."""

    def __init__(self, make_app):
        self._make_app = make_app
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        import uvicorn  # noqa: PLC0415 - an extra
        from examples.web_chat.server import Server  # noqa: PLC0415

        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        ready = threading.Event()
        app = self._make_app()

        class Announced(Server):
            async def startup(server, sockets=None):  # noqa: N805
                await super().startup(sockets)
                self._loop = asyncio.get_running_loop()
                ready.set()

        config = uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=5)
        self.app, self._server = app, Announced(app, config)
        serving = self._server.serve(sockets=[listening])
        self._thread = threading.Thread(target=asyncio.run, args=(serving,))
        self._thread.start()
        assert ready.wait(20)

    def stop(self):
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    def call(self, function):
        """Call a function in the loop of the server."""
        self._loop.call_soon_threadsafe(function)

    def cut(self):
        """Cut every connection, as a network does."""

        def abort():
            for connection in list(self._server.server_state.connections):
                connection.transport.abort()

        self.call(abort)


@pytest.fixture
def handbook():
    return from_file(ROOT / "examples" / "handbook.md", title="handbook.md")


@pytest.fixture
def scripted():
    return Scripted


@pytest.fixture
def wait():
    return WAIT


@pytest.fixture
def serve(handbook):
    """Serve an application: ``serve(provider, documents=..., store=...)``; ``store`` is made anew
    by calling it where it is a function."""
    from examples.web_chat.app import create_app  # noqa: PLC0415 - an extra

    sites = []

    def made(provider, *, documents=(handbook,), store=lambda: None, **more):
        def make():
            return create_app(provider=provider, documents=documents, store=store(), **more)

        sites.append(Site(make))
        return sites[-1]

    yield made
    for site in sites:
        site.stop()


class Command:
    """The command as a process of its own that can be killed; it answers slowly."""

    _CODE = (
        "import sys\n"
        "from examples.web_chat import __main__ as command\n"
        "paced = command.Paced\n"
        "command.Paced = lambda: paced(seconds=0.5)\n"
        "sys.exit(command.main(sys.argv[1:]))\n"
    )

    def __init__(self, store):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._store = store
        self._process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def start(self):
        options = ["--port", str(self._port), "--store", str(self._store)]
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", self._CODE, *options], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        for _ in range(200):
            with socket.socket() as caller:
                if caller.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.1)  # nothing tells of it
        raise AssertionError("the command does not listen")

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def command(tmp_path):
    started = Command(tmp_path / "chats.db")
    yield started
    started.kill()


@pytest.fixture(scope="module")  # its loop must end before async tests begin
def chromium():
    if os.environ.get("CITESTREAM_BROWSER") == "required":
        assert CHROMIUM is not None, "no chromium"
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


_WATCH = """document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation(`${event.effectiveDirective} ${event.blockedURI}`));"""


@pytest.fixture
def visit(chromium):
    """Open a browser of a new visitor: ``with visit(site, ...) as page``.

    Whatever a test does: no script fails, no request leaves the site, and nothing breaks the policy
    but what is ``blocked``.
    """

    @contextmanager
    def opened(site, path="/", *, blocked=(), **options):
        viewport = {"width": 1360, "height": 850}
        context = chromium.new_context(**({"viewport": viewport} | options))
        context.set_default_timeout(15_000)
        requests, problems = [], []

        def report(problem):  # playwright wants a function of its own
            problems.append(problem)

        context.on("request", lambda request: requests.append(request.url))
        context.on("weberror", lambda error: report(str(error.error)))
        context.on("dialog", lambda dialog: (report(dialog.message), dialog.dismiss()))
        context.expose_function("reportViolation", report)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.goto(site.url + path)
        yield page
        assert set(problems) == set(blocked)
        assert {url for url in requests if not url.startswith(f"{site.url}/")} == set()
        context.close()

    return opened


@pytest.fixture
def shot():
    folder = Path(os.environ.get("CITESTREAM_SCREENSHOTS") or ROOT / "build" / "screenshots")

    def taken(page, name):
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", animations="disabled")

    return taken
