"""The web chat over HTTP: who may ask what, what is refused, and what streams say."""

import json
from contextlib import closing

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from citestream import SQLiteStore, format_marker  # noqa: E402
from citestream.sources import from_text  # noqa: E402

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
CITED = f"Never restart it. {format_marker('turn0file0', locator='L32')}"


class Visitor(httpx.Client):
    """A browser without the page: it has a cookie and says where it comes from."""

    def __init__(self, site):
        headers = {"Origin": site.url, "Content-Type": "application/json"}
        super().__init__(base_url=site.url, headers=headers, timeout=20)

    def __enter__(self):
        super().__enter__()
        self.get("/api/start").raise_for_status()
        return self

    def begin(self):
        return self.post("/api/sessions", json={}).raise_for_status().json()["id"]

    def ask(self, session, text="May I restart it?"):
        response = self.post(f"/api/sessions/{session}/questions", json={"text": text})
        return response.raise_for_status().json()["id"]

    def frames(self, session, *, until="session.idle", **options):
        """Read frames until one of the type ``until``; each is its fields, the data decoded."""
        url = f"/api/sessions/{session}/events"
        with self.stream("GET", url, **options) as response:
            response.raise_for_status()
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert response.headers["cache-control"] == "no-store"
            frame = {}
            for line in response.iter_lines():
                if line:
                    key, _, value = line.partition(": ")
                    frame[key] = json.loads(value) if key == "data" else value
                elif frame:
                    yield frame
                    kind = frame.get("data", {}).get("event", {}).get("type")
                    if until is not None and until in (kind, frame.get("event")):
                        return
                    frame = {}


def types(frames):
    return [frame["data"]["event"]["type"] for frame in frames if "id" in frame]


@pytest.fixture
def site(serve, scripted):
    return serve(scripted("Never restart it. ", CITED.partition(". ")[2]))


def test_every_response_is_protected(site):
    for path in ("/", "/chats/x", "/static/chat.js", "/static/chat.css", "/api/start", "/none"):
        headers = httpx.get(site.url + path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"


def test_the_page_has_nothing_inline_and_nothing_from_elsewhere(site):
    page = httpx.get(site.url).text
    assert "style=" not in page
    assert "<style" not in page
    assert " on" not in page.replace(" one", "")
    assert page.count("<script") == page.count('<script type="module" src="/static/') == 1
    assert "://" not in page
    for name in ("chat.js", "chat.css", "icon.svg"):
        text = httpx.get(f"{site.url}/static/{name}").text
        assert "https://" not in text
        assert "url(" not in text


def test_a_visitor_gets_a_cookie_that_only_this_site_sees(site):
    given = httpx.get(f"{site.url}/api/start").headers["set-cookie"].casefold()
    assert "httponly" in given
    assert "samesite=strict" in given
    with Visitor(site) as visitor:
        first = visitor.cookies["citestream_owner"]
        visitor.get("/api/start")
        assert visitor.cookies["citestream_owner"] == first
    with Visitor(site) as other:
        assert other.cookies["citestream_owner"] != first


def test_a_question_is_answered_with_what_it_cites(site, handbook):
    with Visitor(site) as visitor:
        session = visitor.begin()
        asked = visitor.ask(session)
        frames = list(visitor.frames(session))
        (final,) = [one["data"] for one in frames if "html" in one.get("data", {})]
        assert final["event"]["data"]["content"] == "Never restart it."
        assert '<mark data-sources="1">Never restart it.</mark>' in final["html"]
        assert final["speech"] == "Never restart it."
        line = handbook.content.split("\n")[31]
        place = {"first": 32, "last": 32, "from": 0, "to": len(line)}
        assert final["cited"] == {"1": {"source": "turn0file0", "places": [place]}}
        (question,) = [
            one["data"]["event"]["data"]
            for one in frames
            if "id" in one and one["data"]["event"]["type"] == "user.message"
        ]
        assert question == {
            "content": "May I restart it?",
            "messageId": asked,
            "sourceIds": ["turn0file0"],
        }
        shown = visitor.get(f"/api/sessions/{session}/sources/turn0file0").json()
        assert shown["text"][31] == line
        assert visitor.get(f"/api/sessions/{session}/sources").json()["sources"] == [
            {"id": "turn0file0", "title": "handbook.md", "lines": 80, "pages": 0}
        ]
        assert [one["title"] for one in visitor.get("/api/sessions").json()["sessions"]] == [
            "May I restart it?"
        ]


def test_a_stream_goes_on_behind_the_last_event(site):
    with Visitor(site) as visitor:
        session = visitor.begin()
        visitor.ask(session)
        list(visitor.frames(session))
        every = [frame for frame in visitor.frames(session) if "id" in frame]
        for number, frame in enumerate(every[:-1]):
            rest = every[number + 1 :]
            again = visitor.frames(session, headers={"Last-Event-ID": frame["id"]})
            assert [one for one in again if "id" in one] == rest
            again = visitor.frames(session, params={"after": frame["id"]})
            assert [one for one in again if "id" in one] == rest
        # The header is newer than what the page once opened the stream with.
        header, params = {"Last-Event-ID": every[-2]["id"]}, {"after": every[0]["id"]}
        again = visitor.frames(session, headers=header, params=params)
        assert [one for one in again if "id" in one] == every[-1:]


@pytest.mark.parametrize(
    "cursor", ["x", "1.1", "1.3.0", "-1.0.0", "1.1.0 ", "01.1.0", "1.1.0\x7f", "9" * 200]
)
def test_what_is_no_cursor_is_refused(site, cursor):
    with Visitor(site) as visitor:
        url = f"/api/sessions/{visitor.begin()}/events"
        assert visitor.get(url, params={"after": cursor}).status_code == 400
        if cursor == cursor.strip():
            assert visitor.get(url, headers={"Last-Event-ID": cursor}).status_code == 400


def test_nobody_reaches_the_session_of_another(site):
    with Visitor(site) as owner, Visitor(site) as other, Visitor(site) as nobody:
        session = owner.begin()
        owner.ask(session)
        list(owner.frames(session))
        nobody.cookies.clear()
        paths = [
            ("GET", f"/api/sessions/{session}/events", None),
            ("GET", f"/api/sessions/{session}/sources", None),
            ("GET", f"/api/sessions/{session}/sources/turn0file0", None),
            ("POST", f"/api/sessions/{session}/questions", {"text": "?"}),
            ("POST", f"/api/sessions/{session}/stop", {}),
            ("DELETE", f"/api/sessions/{session}", None),
        ]
        for method, path, body in paths:
            foreign = other.request(method, path, json=body)
            missing = other.request(method, path.replace(session, session[::-1]), json=body)
            assert foreign.status_code == missing.status_code == 404
            assert foreign.json()["error"].replace(session, "") == missing.json()["error"].replace(
                session[::-1], ""
            )
            assert nobody.request(method, path, json=body).status_code == 401
        assert other.get("/api/sessions").json() == {"sessions": []}
        for cookie in ("", "x", "a" * 42, "a" * 44, "../" + "a" * 40):
            nobody.cookies.set("citestream_owner", cookie)
            assert nobody.get("/api/sessions").status_code == 401
            nobody.cookies.clear()


def test_other_sites_can_ask_nothing(site):
    with Visitor(site) as visitor:
        for headers in (
            {"Origin": "https://evil.test"},
            {"Origin": f"http://127.0.0.1:{site.port + 1}"},
            {"Origin": "null"},
            {"Origin": "http://["},
            {"Origin": ""},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            refused = visitor.post("/api/sessions", json={}, headers=headers)
            assert refused.status_code == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"):
            refused = visitor.post("/api/sessions", content=b"{}", headers={"Content-Type": kind})
            assert refused.status_code == 415
        crossed = visitor.get("/api/sessions", headers={"Sec-Fetch-Site": "cross-site"})
        assert crossed.status_code == 403
        assert visitor.get("/api/sessions").json() == {"sessions": []}
        # A stranger's domain that leads here is not this site.
        for host in ("evil.test", f"evil.test:{site.port}", "[", ""):
            assert visitor.get("/", headers={"Host": host}).status_code in {400, 421}
        assert visitor.get("/", headers={"Host": f"localhost:{site.port}"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b"[" * 60_000, 400),
        (b'{"text": 1}', 400),
        (b'{"text": " \\n"}', 400),
        (b'{"text": "' + b"a" * 8_001 + b'"}', 413),
        (b'{"text": "' + b"a" * 70_000 + b'"}', 413),
        (b'{"text": "half \\ud83d of a pair, \\u0000 and \\u202e"}', 202),
    ],
)
def test_bad_questions_are_refused_and_strange_ones_are_not(site, body, status):
    with Visitor(site) as visitor:
        session = visitor.begin()
        asked = visitor.post(f"/api/sessions/{session}/questions", content=body)
        assert asked.status_code == status
        if status != 202:
            assert asked.json()["error"]
            visitor.ask(session)
        assert types(visitor.frames(session))[-1] == "session.idle"


@pytest.mark.parametrize("name", ["..", "a b", "x" * 200, "%00", "é"])
def test_names_that_no_session_has_are_not_found(site, name):
    with Visitor(site) as visitor:
        for path in (f"/api/sessions/{name}/events", f"/api/sessions/{name}/sources"):
            assert visitor.get(path).status_code in {400, 404}


def test_documents_can_be_read_before_there_is_a_session(serve, scripted):
    document = from_text("One.\r\nTwo.", title="\u202eevil\n", url="javascript:alert(1)")
    with Visitor(serve(scripted("Yes."), documents=(document,), answered_by="Me.")) as visitor:
        start = visitor.get("/api/start").json()
        assert start["answeredBy"] == "Me."
        assert start["documents"] == [{"title": "evil", "lines": 2, "pages": 0}]
        shown = visitor.get("/api/documents/0").json()
        assert (shown["text"], shown["url"]) == (["One.", "Two."], None)
        assert visitor.get("/api/documents/1").status_code == 404
        assert visitor.get("/api/documents/x").status_code == 404


def test_a_session_answers_one_question_at_a_time(serve, scripted, wait):
    provider = scripted("One ", wait, "two.")
    site = serve(provider)
    with Visitor(site) as visitor:
        session = visitor.begin()
        visitor.ask(session)
        again = visitor.post(f"/api/sessions/{session}/questions", json={"text": "And?"})
        assert again.status_code == 409
        assert visitor.post(f"/api/sessions/{session}/stop", json={}).status_code == 204
        seen = types(visitor.frames(session))
        assert seen[-2:] == ["abort", "session.idle"]
        site.call(provider.go)
        visitor.ask(session)


def test_a_deleted_session_says_that_it_is_gone(site):
    with Visitor(site) as visitor, Visitor(site) as reader:
        reader.cookies = visitor.cookies
        session = visitor.begin()
        with closing(reader.frames(session, until="gone")) as frames:
            assert next(frames) == {"retry": "1000"}
            assert visitor.delete(f"/api/sessions/{session}").status_code == 204
            assert list(frames)[-1] == {"event": "gone", "data": {}}
        assert visitor.delete(f"/api/sessions/{session}").status_code == 404
        assert visitor.get(f"/api/sessions/{session}/events").status_code == 404


def test_a_server_that_stops_ends_its_streams_and_goes_on_later(serve, scripted, wait, tmp_path):
    provider = scripted("One ", wait, "two.")
    site = serve(provider, store=lambda: SQLiteStore(tmp_path / "chats.db"))
    with Visitor(site) as visitor:
        session = visitor.begin()
        visitor.ask(session)
        frames = visitor.frames(session)
        while types([next(frames)]) != ["assistant.message_delta"]:
            continue
        site.stop()
        assert types(frames) == []  # it ended, and was not cut
        site.start()
        kinds = [kind for kind in types(visitor.frames(session)) if kind != "session.warning"]
        assert kinds[-3:] == ["assistant.message", "abort", "session.idle"]
        site.call(provider.go)
        visitor.ask(session, "And now?")
        with closing(visitor.frames(session, until=None)) as frames:
            kept = []
            while kept.count("session.idle") < 2:
                kept += types([next(frames)])
        assert kept.count("session.resume") == 1
