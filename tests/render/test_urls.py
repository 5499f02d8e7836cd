import json
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citestream.render.urls import MAX_URL_LENGTH, safe_url, shown_url

SAFE = {
    "https://a.example": "https://a.example",
    "https://a.example/x?y=1&z=2#w": "https://a.example/x?y=1&z=2#w",
    "http://a.example/(b)": "http://a.example/(b)",
    "HTTP://A.example": "HTTP://A.example",
    "https://a.example:8080/": "https://a.example:8080/",
    "https://a.example./": "https://a.example./",
    "https://a_b.example/": "https://a_b.example/",
    "https://r3---sn-x.example/": "https://r3---sn-x.example/",
    "https://localhost/": "https://localhost/",
    "https://127.0.0.1/": "https://127.0.0.1/",
    "https://[::1]:443/x": "https://[::1]:443/x",
    "https://a.example/?x[]=1": "https://a.example/?x[]=1",
    "https://a.example/%20%zz": "https://a.example/%20%zz",
    "https://a.example/a*b_c~d$e": "https://a.example/a*b_c~d$e",
    "https://a.example?x": "https://a.example?x",
    "https://a.example#x": "https://a.example#x",
    "https://a.example/@user": "https://a.example/@user",
    "https://a.example//b//": "https://a.example//b//",
    "https://ja.example/週": "https://ja.example/%E9%80%B1",
    "https://a.example/📎": "https://a.example/%F0%9F%93%8E",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://faß.example/": "https://xn--fa-hia.example/",
    "https://аррle.example/": "https://xn--le-6kc8da.example/",
    "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example/",
    "https://日本.example/": "https://xn--wgv71a.example/",
    "https://नी.example/": "https://xn--l2b2c.example/",
    "mailto:ada@a.example": "mailto:ada@a.example",
    "mailto:a@b.example,c@d.example?subject=x%20y": "mailto:a@b.example,c@d.example?subject=x%20y",
}
UNSAFE = [
    "",
    "x",
    "docs/a.md",
    "/etc/passwd",
    "//evil.example",
    "#top",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html,x",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "ftp://a.example",
    "blob:https://a.example/x",
    "view-source:https://a.example",
    "https:",
    "https:a.example",
    "https:/a.example",
    "https://",
    "https:///a.example",
    "https://?x",
    "https://:80/",
    "https://good.example@evil.example/",
    "https://good:x@evil.example/",
    "https://good.example\\@evil.example/",
    "https:\\\\evil.example",
    "https://a.example/ x",
    "https://a.example/\n",
    "https://a.example/\r\nx",
    "https://a.example/\x1b]8;;",
    "https://a.example/\x00",
    "https://a.example/\x9b",
    'https://a.example/"x',
    "https://a.example/'x",
    "https://a.example/<x>",
    "https://a.example/`x`",
    "https://a.example/{x}|^",
    "https://a.example/\u202egpj.exe",
    "https://a.example/\u200b",
    "https://a.example/\u2066",
    "https://a.example/\ue200",
    "https://a.example/\U000e0041",
    "https://a.example/\ud83d",
    "https://a.example/\u3000x",
    "https://ex\u00adample.example/",
    "https://日本。example/",
    "https://Ａ.example/",
    "https://Bücher.example/",
    "https://a..example/",
    "https://.a.example/",
    "https://-a.example/",
    "https://ü-.example/",
    "https://\u0301a.example/",
    "https://💩.example/",
    "https://xn--a/",
    "https://xn--99999999/",
    "https://xn--a-.example/",
    "https://xn--\u00fc.example/",
    "https://a%2fb.example/",
    "https://a;b.example/",
    "https://[::1/",
    "https://[x]/",
    "https://::1/",
    "https://a.example:99999/",
    "https://a.example:x/",
    "https://0x7f.1/",
    "https://1.2.3/",
    "https://2130706433/",
    "https://a.example.08/",
    f"https://{'a' * 64}.example/",
    f"https://{'a.' * 130}example/",
    f"https://a.example/{'x' * MAX_URL_LENGTH}",
    f"https://a.example/{'週' * (MAX_URL_LENGTH // 6)}",
    "mailto:",
    "mailto:a b@c.example",
    "mailto:a@b.example?x=%0d%0Abcc:e@f.example",
    "mailto:ä@b.example",
    None,
]


@pytest.mark.parametrize(("url", "safe"), SAFE.items())
def test_plain_addresses_are_links(url, safe):
    assert safe_url(url) == safe
    assert safe_url(safe) == safe


@pytest.mark.parametrize("url", UNSAFE)
def test_everything_else_is_not(url):
    assert safe_url(url) is None
    assert shown_url(url or "") is None


def test_a_url_is_shown_as_written_but_for_its_host():
    assert shown_url("https://bücher.example/週") == "https://xn--bcher-kva.example/週"
    assert shown_url("mailto:ada@a.example") == "mailto:ada@a.example"


def browsers(urls):
    """Return what the parser of browsers makes of URLs; None for what is none."""
    script = (
        "const read = url => { try { return new URL(url) } catch { return null } };"
        "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map(url => {"
        "const u = read(url); return u && [u.href, u.protocol, u.username, u.host] })))"
    )
    done = subprocess.run(  # noqa: S603 - our own script
        [shutil.which("node"), "-e", script],
        input=json.dumps(urls),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_browsers_read_safe_urls_alike():
    made = list(SAFE.values())
    for url, ours, theirs in zip(made, browsers(list(SAFE)), browsers(made), strict=True):
        assert ours == theirs, url
        _, protocol, username, host = theirs
        assert protocol in {"http:", "https:", "mailto:"}
        assert not username
        if protocol != "mailto:":
            authority = url.lower().partition("://")[2].partition("/")[0]
            assert authority.partition("?")[0].partition("#")[0].removesuffix(":443") == host


PIECES = [
    *"a.:/@\\?#[]%-_ \t\n<>'\"",
    "https://",
    "http:",
    "mailto:",
    "xn--",
    "1",
    "0x",
    "ü",
    "週",
    "ß",
    "\u202e",
    "。",
    "a.example",
    "%0a",
]
drawn = st.lists(st.sampled_from(PIECES), max_size=8).map(lambda parts: "https://" + "".join(parts))


@given(st.one_of(drawn, st.text()))
def test_what_is_safe_is_ascii_and_stays_safe(url):
    safe = safe_url(url)
    assert safe is None or (safe.isascii() and safe.isprintable() and safe_url(safe) == safe)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@settings(max_examples=10, suppress_health_check=list(HealthCheck))  # each starts Node.js
@given(st.lists(drawn, min_size=200, max_size=200))
def test_browsers_go_where_safe_urls_say(urls):
    safe = [url for url in map(safe_url, urls) if url]
    for url, read in zip(safe, browsers(safe), strict=True):
        assert read is not None, url
        _, protocol, username, host = read
        assert protocol in {"http:", "https:"}
        assert not username
        ours = url.partition("://")[2].lower()
        assert ours.startswith((host, host.partition(":")[0]))
