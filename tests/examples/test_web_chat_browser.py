"""The page of the web chat in a real browser."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

from citestream import SessionEvent, SessionEventType, SQLiteStore, format_marker  # noqa: E402
from citestream.events import ToolExecutionCompleteData, ToolExecutionStartData  # noqa: E402
from citestream.session import CLIENT_OPTIONS  # noqa: E402
from citestream.sources import from_blocks, from_pages, from_text  # noqa: E402

PRIVATE = re.compile("[\ue000-\uf8ff]")


def cite(source="turn0file0", locator=None):
    return format_marker(source, locator=locator, syntax=CLIENT_OPTIONS.citations.syntax)


ANSWER = (
    "Not while a tide table is being published ",
    cite(locator="L32"),
    ". Run the two commands ",
    cite(locator="L34-L35"),
    cite(locator="L32"),
    " and look at the *queue*.\n\n| pay | EUR |\n|---|--:|\n| a week | 350 ",
    cite(locator="L46"),
    " |\n",
)


def ask(page, text="May I restart the ingest service?"):
    page.get_by_label("Your question").fill(text)
    page.keyboard.press("Enter")


def answered(page, number=0):
    article = page.locator("article.answer").nth(number)
    expect(article).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    return article


def lines_of(handbook, first, last):
    lines = handbook.content.split("\n")
    return [[number, lines[number - 1]] for number in range(first, last + 1)]


def active_lines(page):
    expect(page.locator(".line.active").first).to_be_visible()
    return page.locator(".line.active").evaluate_all(
        "rows => rows.map((row) =>"
        " [Number(row.dataset.line), row.querySelector('.text').textContent])"
    )


def test_an_answer_streams_without_markers_and_is_numbered_when_it_is_final(
    serve, visit, scripted, wait, shot
):
    pieces = "Not while a table is ", wait, "published \ue200ci", wait, "te\ue202turn0file0\ue202L3"
    provider = scripted(*pieces, "2\ue201. Then", wait, " wait.")
    site = serve(provider)
    with visit(site) as page:
        shot(page, "01-welcome")
        ask(page)
        words = page.locator("article.answer .words")
        expect(words).to_have_text("Not while a table is")
        expect(page.get_by_role("button", name="Stop answering")).to_be_visible()
        site.call(provider.go)
        expect(words).to_have_text("Not while a table is published")
        shot(page, "02-streaming")
        site.call(provider.go)
        expect(words).to_have_text("Not while a table is published. Then")
        assert not PRIVATE.search(words.text_content())
        assert page.locator("sup").count() == 0
        site.call(provider.go)
        article = answered(page)
        expect(article.locator(".words > p")).to_have_text(
            "Not while a table is published1. Then wait."
        )
        assert not PRIVATE.search(page.content())
        expect(page.locator("#announcer")).to_have_text(
            "Not while a table is published. Then wait."
        )
        expect(page.get_by_label("Your question")).to_be_focused()


def test_hovering_lights_up_what_belongs_together(serve, visit, scripted, shot):
    with visit(serve(scripted(*ANSWER))) as page:
        ask(page)
        article = answered(page)
        lit = article.locator("mark.lit")
        article.locator("sup a").nth(1).hover()
        expect(lit).to_have_text(["Run the two commands"])
        article.locator("mark").first.hover()
        expect(article.locator("sup a.lit")).to_have_text(["1", "1"])
        shot(page, "03-hover")
        article.locator("sup a").first.click()
        page.locator('.line[data-line="34"] mark').hover()
        expect(lit).to_have_text(["Run the two commands"])
        article.locator("sup a").first.hover()
        expect(page.locator(".line mark.lit")).to_have_count(1)


def test_a_number_leads_to_the_very_lines(serve, visit, scripted, handbook, shot):
    with visit(serve(scripted(*ANSWER))) as page:
        ask(page)
        article = answered(page)
        expect(article.locator("sup a")).to_have_text(["1", "2", "1", "3"])
        article.locator("sup a").nth(1).click()
        assert active_lines(page) == lines_of(handbook, 34, 35)
        expect(page.locator(".line.active").first).to_be_in_viewport()
        expect(page.locator("#panel-about")).to_have_text("Lines 34–35 of 80")
        expect(page.locator(".line.cited")).to_have_count(4)
        shot(page, "04-source")
        page.get_by_label("Next place").click()
        assert active_lines(page) == lines_of(handbook, 46, 46)
        everything = page.locator(".line .text").all_text_contents()
        assert everything == handbook.content.rstrip("\n").split("\n")
        page.get_by_role("button", name="Back to number 3 in the answer").click()
        expect(article.locator("sup a").nth(3)).to_be_focused()
        article.get_by_role("button", name="Show source 1 in its document").click()
        assert [number for number, _ in active_lines(page)] == [32]


def test_pages_blocks_and_whole_documents_are_shown_too(serve, visit, scripted, shot):
    documents = (
        from_pages(["First page.\nTwo lines.", "Second page, 📄 one line."], title="pages.pdf"),
        from_blocks(["Block one.", "Block two,\nof two lines."], title="blocks"),
        from_text("One line.\nAnd another.", title="lines"),
    )
    cited = (
        f"By page {cite(locator='P1-P2')}. By block {cite('turn0block1')}."
        f" As a whole {cite('turn0file2')}. Of nothing {cite('turn7file7')}."
    )
    with visit(serve(scripted(cited), documents=documents)) as page:
        ask(page)
        article = answered(page)
        expect(article.locator("sup a")).to_have_text(["1", "2", "3"])
        article.locator("sup a").first.click()
        assert [text for _, text in active_lines(page)] == [
            "First page.", "Two lines.", "", "Second page, 📄 one line.",
        ]  # fmt: skip
        expect(page.locator("#document .page")).to_have_text(["Page 1", "Page 2"])
        shot(page, "05-pages")
        article.locator("sup a").nth(1).click()
        assert [text for _, text in active_lines(page)] == ["Block two,", "of two lines."]
        article.locator("sup a").nth(2).click()
        expect(page.locator("#panel-title")).to_have_text("lines")
        expect(page.locator(".line.cited")).to_have_count(0)
        page.get_by_label("Document", exact=True).select_option(label="pages.pdf")
        expect(page.locator("#panel-title")).to_have_text("pages.pdf")


def test_everything_works_from_the_keyboard(serve, visit, scripted, shot):
    with visit(serve(scripted(*ANSWER), suggestions=["Is alcohol paid for?"])) as page:
        press = page.keyboard.press
        expect(page.get_by_label("Your question")).to_be_focused()
        page.keyboard.type("One line")
        press("Shift+Enter")
        page.keyboard.type("and one more?")
        press("Enter")
        expect(page.locator("article.question p")).to_have_text("One line\nand one more?")
        answered(page)
        expect(page.get_by_label("Your question")).to_be_focused()
        first = page.locator("article.answer sup a").first
        for _ in range(30):
            if first.evaluate("link => link === document.activeElement"):
                break
            press("Shift+Tab")
        expect(first).to_be_focused()
        shot(page, "06-keyboard")
        press("Enter")
        expect(page.locator(".line.active")).to_be_focused()
        press("Tab")
        expect(page.locator(".line.active")).not_to_be_focused()
        press("Escape")
        expect(page.locator("#panel")).to_be_hidden()
        expect(first).to_be_focused()
        page.get_by_role("link", name="New chat").focus()
        press("Enter")
        expect(page.get_by_role("heading", name="Ask the documents")).to_be_visible()
        page.get_by_role("button", name="Is alcohol paid for?").focus()
        press("Enter")
        answered(page)


def test_a_reload_in_the_middle_loses_nothing(serve, visit, scripted, wait):
    provider = scripted("One ", wait, "two ", cite(locator="L1"), wait, "three.")
    site = serve(provider)
    with visit(site) as page:
        ask(page)
        words = page.locator("article.answer .words")
        expect(words).to_have_text("One")
        page.reload()
        expect(words).to_have_text("One")
        expect(page.locator("article.question p")).to_have_text("May I restart the ingest service?")
        site.call(provider.go)
        expect(words).to_have_text("One two")
        page.reload()
        expect(words).to_have_text("One two")
        site.call(provider.go)
        expect(answered(page).locator(".words > p")).to_have_text("One two1 three.")
        page.reload()
        expect(answered(page).locator(".words > p")).to_have_text("One two1 three.")
        assert page.locator("article").count() == 2


def test_two_tabs_show_the_same(serve, visit, scripted, wait):
    provider = scripted("One ", wait, "two.")
    site = serve(provider)
    with visit(site) as page:
        ask(page)
        expect(page.locator("article.answer .words")).to_have_text("One")
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.locator("article.answer .words")).to_have_text("One")
        expect(other.get_by_role("button", name="Stop answering")).to_be_visible()
        site.call(provider.go)
        for tab in (page, other):
            expect(answered(tab).locator(".words")).to_have_text("One two.")
        site.call(provider.go)
        ask(other, "And again?")
        for tab in (page, other):
            expect(answered(tab, 1).locator(".words")).to_have_text("One two.")
            expect(tab.locator("article.question p")).to_have_text(
                ["May I restart the ingest service?", "And again?"]
            )
        inner = [tab.locator("#conversation").inner_html() for tab in (page, other)]
        assert inner[0] == inner[1]


def test_a_cut_connection_is_told_and_taken_up_again(serve, visit, scripted, wait, shot):
    provider = scripted("One ", wait, "two ", wait, "three.")
    site = serve(provider)
    with visit(site) as page:
        ask(page)
        words = page.locator("article.answer .words")
        expect(words).to_have_text("One")
        page.route("**/events*", lambda route: route.abort())
        site.cut()
        expect(page.locator("#connection")).to_have_text("Connection lost. Reconnecting…")
        shot(page, "07-connection-lost")
        site.call(provider.go)
        page.unroute("**/events*")
        expect(words).to_have_text("One two")
        expect(page.locator("#connection")).to_have_text("")
        site.cut()
        site.call(provider.go)
        expect(answered(page).locator(".words")).to_have_text("One two three.")
        assert page.locator("article").count() == 2


def test_a_server_that_starts_again_goes_on(serve, visit, scripted, wait, tmp_path, shot):
    provider = scripted("One ", wait, "two.")
    site = serve(provider, store=lambda: SQLiteStore(tmp_path / "chats.db"))
    with visit(site) as page:
        ask(page)
        expect(page.locator("article.answer .words")).to_have_text("One")
        site.stop()
        expect(page.locator("#connection")).to_have_text("Connection lost. Reconnecting…")
        site.start()
        expect(page.locator("#connection")).to_have_text("")
        expect(page.locator(".note")).to_have_text("Stopped here.")
        expect(answered(page).locator(".words")).to_have_text("One")
        shot(page, "08-stopped-by-restart")
        site.call(provider.go)
        ask(page, "And now?")
        expect(answered(page, 1).locator(".words")).to_have_text("One two.")


def test_a_question_that_cannot_be_asked_stays(serve, visit, scripted, shot):
    site = serve(scripted("Yes."))
    with visit(site) as page:
        page.route("**/api/sessions", lambda route: route.abort())
        ask(page, "Is anybody there?")
        expect(page.get_by_role("alert")).to_have_text("The server cannot be reached.")
        expect(page.get_by_label("Your question")).to_have_value("Is anybody there?")
        shot(page, "09-not-asked")
        page.unroute("**/api/sessions")
        page.get_by_role("button", name="Send").click()
        expect(answered(page).locator(".words")).to_have_text("Yes.")
        expect(page.locator("#problem")).to_be_hidden()


def test_an_answer_can_be_stopped(serve, visit, scripted, wait, shot):
    site = serve(scripted("One ", wait, "two."))
    with visit(site) as page:
        ask(page)
        expect(page.locator("article.answer .words")).to_have_text("One")
        page.get_by_role("button", name="Stop answering").click()
        expect(page.locator(".note")).to_have_text(["Stopped here."])
        expect(answered(page).locator(".words")).to_have_text("One")
        shot(page, "10-stopped")
        page.reload()
        expect(page.locator(".note")).to_have_text(["Stopped here."])


def test_what_is_being_done_is_said(serve, visit, scripted, wait, shot):
    start = ToolExecutionStartData(tool_call_id="c", tool_name="search")
    done = ToolExecutionCompleteData(tool_call_id="c", success=True)
    provider = scripted(
        wait,
        SessionEvent(type=SessionEventType.TOOL_EXECUTION_START, data=start),
        wait,
        SessionEvent(type=SessionEventType.TOOL_EXECUTION_COMPLETE, data=done),
        wait,
        "Found.",
    )
    site = serve(provider)
    with visit(site, reduced_motion="reduce") as page:
        ask(page)
        activity = page.locator(".activity")
        expect(activity).to_have_text("Reading")
        site.call(provider.go)
        expect(activity).to_have_text("Using search")
        shot(page, "11-tool")
        site.call(provider.go)
        expect(activity).to_have_text("Reading")
        site.call(provider.go)
        answered(page)
        expect(activity).to_have_count(0)


def test_an_error_is_shown_and_the_question_can_be_asked_again(serve, visit, scripted, shot):
    provider = scripted("One", ConnectionError("sk-secret"))
    with visit(serve(provider)) as page:
        ask(page, "Are you there?")
        card = page.locator("article.error")
        expect(card.locator("p")).to_have_text("the provider raised ConnectionError")
        shot(page, "12-error")
        page.reload()
        expect(page.locator("article")).to_have_text(
            [re.compile("Are you there"), re.compile("One"), re.compile("ConnectionError")]
        )
        provider.pieces = ("Yes.",)
        card.get_by_role("button", name="Ask again").click()
        expect(page.locator("article.answer .words").last).to_have_text("Yes.")
        assert provider.questions == ["Are you there?", "Are you there?"]


def test_chats_are_listed_switched_and_deleted(serve, visit, scripted, shot):
    with visit(serve(scripted("Yes."))) as page:
        ask(page, "First?")
        answered(page)
        page.get_by_role("link", name="New chat").click()
        expect(page.locator("article")).to_have_count(0)
        ask(page, "Second?")
        answered(page)
        names = page.locator("#chat-list bdi")
        expect(names).to_have_text(["Second?", "First?"])
        expect(page.locator("#chat-list [aria-current] bdi")).to_have_text("Second?")
        names.nth(1).click()
        expect(page.locator("article.question p")).to_have_text(["First?"])
        expect(page).to_have_title("First?")
        page.go_back()
        expect(page.locator("article.question p")).to_have_text(["Second?"])
        page.locator("#chat-list li").nth(0).hover()
        page.get_by_role("button", name="Delete “Second?”").click()
        shot(page, "13-delete")
        page.get_by_role("button", name="Keep it").click()
        expect(names).to_have_text(["Second?", "First?"])
        page.get_by_role("button", name="Delete “Second?”").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(names).to_have_text(["First?"])
        expect(page.get_by_role("heading", name="Ask the documents")).to_be_visible()


def test_a_chat_that_is_deleted_elsewhere_goes(serve, visit, scripted):
    with visit(serve(scripted("Yes."))) as page:
        ask(page)
        answered(page)
        other = page.context.new_page()
        other.goto(page.url)
        answered(other)
        other.locator("#chat-list li").hover()
        other.get_by_role("button", name=re.compile("^Delete “")).click()
        other.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("alert")).to_have_text("That chat does not exist any more.")
        expect(page.locator("#chat-list li")).to_have_count(0)


def test_reading_above_is_not_disturbed(serve, visit, scripted, wait, shot):
    lines = "".join(f"{number}\n\n" for number in range(60))
    provider = scripted(lines, wait, lines, wait, lines)
    site = serve(provider)
    with visit(site) as page:
        ask(page)
        scroller = page.locator("#scroller")
        at_end = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 2"
        expect(page.locator(".words")).to_contain_text("59")
        assert scroller.evaluate(at_end)
        scroller.hover()
        page.mouse.wheel(0, -600)
        latest = page.get_by_role("button", name="Latest")
        expect(latest).to_be_visible()
        before = scroller.evaluate("box => box.scrollTop")
        site.call(provider.go)
        expect(page.locator(".words")).to_have_text(re.compile(r"59\s+0\s.*59\s*$", re.DOTALL))
        assert scroller.evaluate("box => box.scrollTop") == before
        shot(page, "14-reading-above")
        latest.click()
        expect(latest).to_be_hidden()
        site.call(provider.go)
        answered(page)
        assert scroller.evaluate(at_end)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(serve, visit, scripted, scheme, shot):
    long = "donaudampfschifffahrtsgesellschaftskapitaen" * 3
    answer = (*ANSWER, f"\n`{long}` {long}\n\n```\n{long}\n```\n")
    site = serve(scripted(*answer), suggestions=["May I restart the ingest service?"])
    options = {
        "viewport": {"width": 360, "height": 740},
        "color_scheme": scheme,
        "has_touch": True,
        "is_mobile": True,
        "device_scale_factor": 2,
    }
    with visit(site, **options) as page:

        def fits():
            wide = "() => [document.documentElement.scrollWidth, scroller.scrollWidth]"
            assert page.evaluate(
                wide.replace("scroller", "document.getElementById('scroller')")
            ) == [
                360,
                360,
            ]

        shot(page, f"15-phone-welcome-{scheme}")
        fits()
        page.get_by_role("button", name="May I restart the ingest service?").tap()
        article = answered(page)
        fits()
        shot(page, f"16-phone-answer-{scheme}")
        article.locator("sup a").nth(1).tap()
        expect(page.locator(".line.active").first).to_be_in_viewport()
        shot(page, f"17-phone-source-{scheme}")
        fits()
        article.locator("sup a").nth(3).tap()
        expect(page.locator("#panel-about")).to_have_text("Line 46 of 80")
        number, sheet = article.locator("sup a").nth(3), page.locator("#panel")
        assert number.bounding_box()["y"] + 12 < sheet.bounding_box()["y"]
        page.get_by_role("button", name="Close the source").tap()
        page.get_by_role("button", name="Show the list of chats").tap()
        expect(page.get_by_role("link", name="New chat")).to_be_in_viewport()
        shot(page, f"18-phone-chats-{scheme}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="New chat")).not_to_be_in_viewport()
        fits()


@pytest.mark.parametrize("width", [820, 1100])
def test_it_fits_between_phone_and_desk(serve, visit, scripted, width, shot):
    with visit(serve(scripted(*ANSWER)), viewport={"width": width, "height": 900}) as page:
        ask(page)
        answered(page).locator("sup a").nth(1).click()
        active_lines(page)
        shot(page, f"19-width-{width}")
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_it_is_dark_where_that_is_wanted(serve, visit, scripted, shot):
    with visit(serve(scripted(*ANSWER)), color_scheme="dark") as page:
        ask(page)
        answered(page).locator("sup a").nth(1).click()
        active_lines(page)
        shot(page, "20-dark")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(map(int, re.findall(r"\d+", ground))) < 64


EVIL = """<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1">
<svg onload="window.pwned = 1"><style>body { display: none }</style><base href="https://evil.test/">
![tracking](https://evil.test/pixel.png) [click](javascript:window.pwned=1) <https://evil.test/ok>
[data](data:text/html,<script>window.pwned=1</script>) \u202egnp.exe\u202c
<iframe src="https://evil.test"></iframe><form action="https://evil.test"><input name=a></form>
<a href="https://evil.test" style="position:fixed;inset:0" onclick="window.pwned=1">x</a>"""


def test_hostile_answers_and_sources_stay_words(serve, visit, scripted, shot):
    title = '"><img src=x onerror=window.pwned=1>\u202e\ue200cite\ue202x\ue201'
    document = from_text(EVIL, title=title, url="javascript:window.pwned=1")
    provider = scripted(EVIL, "\n\n", cite(locator="L1-L3"), "\n\n<script>pwned = 2</script>")
    site = serve(provider, documents=(document,), suggestions=[EVIL])
    with visit(site) as page:
        ask(page, EVIL)
        article = answered(page)
        expect(page.locator("article.question p")).to_have_text(EVIL.replace("\n", " "))
        article.locator("sup a").first.click()
        assert [text for _, text in active_lines(page)] == EVIL.split("\n")[:3]
        shot(page, "21-hostile")
        expect(page.locator("#panel-title")).to_have_text(
            '"><img src=x onerror=window.pwned=1>citex'
        )
        page.get_by_role("button", name="Documents").click()
        allowed = (
            "#conversation :is(script, img, svg, style, base, iframe, form, input, object, link)"
        )
        assert page.locator(allowed.replace("svg, ", "")).count() == 0
        assert page.locator("#document :not(div, span, mark, button, p)").count() == 0
        links = article.locator("a:not([href^='#'])").evaluate_all(
            "links => links.map((link) => [link.href, link.target, link.rel])"
        )
        assert links
        assert all(
            (target, rel) == ("_blank", "noopener noreferrer nofollow") for _, target, rel in links
        )
        assert all(href.startswith("https://evil.test") for href, _, _ in links)
        attributes = article.evaluate(
            "root => [...root.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
        )
        assert not {name for name in attributes if name.startswith("on") or name == "style"}
        page.reload()
        answered(page)
        assert page.evaluate("window.pwned") is None


def test_nothing_of_an_answer_gets_past_the_page_even_if_the_server_let_it(serve, visit, scripted):
    blocked = ("script-src-attr inline", "style-src-attr inline")
    with visit(serve(scripted("Yes.")), blocked=blocked) as page:
        made = page.evaluate(
            """async (html) => {
              const { safeNodes } = await import("/static/markup.js");
              const box = document.createElement("div");
              box.append(safeNodes(html));
              document.body.append(box);
              return [box.innerHTML, box.querySelectorAll("script, img, iframe, style").length];
            }""",
            '<p onclick="pwned=1" class="a" style="color:red">a<script>pwned=1</script>'
            '<img src="https://evil.test/x"><a href="javascript:pwned=1">b</a>'
            '<iframe srcdoc="x"></iframe><mark data-sources="1">c</mark></p>',
        )
        assert made[1] == 0
        assert 'class="a"' in made[0]
        assert '<mark data-sources="1">c</mark>' in made[0]
        assert not re.search("onclick|style|javascript|evil", made[0])
        assert page.evaluate("window.pwned") is None


def test_a_server_that_was_killed_locks_nothing(visit, command, shot):
    command.start()
    with visit(command) as page:
        ask(page, "Is alcohol paid for?")
        expect(page.locator("article.answer .words")).to_have_text(re.compile("."))
        command.kill()
        expect(page.locator("#connection")).to_have_text("Connection lost. Reconnecting…")
        command.start()
        expect(page.locator(".note")).to_have_text("Stopped here.", timeout=10_000)  # lease: 30 s
        answered(page)
        shot(page, "22-stopped-by-kill")


def test_the_end_of_the_words_stays_in_view_over_many_sources(serve, visit, scripted, wait, shot):
    said = "".join(f"Line {n} {cite(locator=f'L{n}')}.\n\n" for n in range(1, 80) if n % 2)
    provider = scripted(said, wait, "The very last words.")
    site = serve(provider)
    with visit(site) as page:
        ask(page)
        expect(page.locator(".words")).to_contain_text("Line 79")
        site.call(provider.go)
        last = answered(page).locator(".words > p").last
        expect(last).to_be_in_viewport()
        expect(page.locator(".sources li").nth(3)).not_to_be_in_viewport()
        expect(page.get_by_role("button", name="Latest")).to_be_hidden()
        shot(page, "23-end-of-the-words")
        page.reload()
        answered(page)
        expect(last).to_be_in_viewport()
        page.locator("#scroller").hover()
        page.mouse.wheel(0, 5_000)
        expect(page.locator(".sources li").last).to_be_in_viewport()
        page.set_viewport_size({"width": 1360, "height": 800})
        expect(page.locator(".sources li").nth(-2)).to_be_in_viewport()  # is left where it is read


def test_back_does_not_lead_to_a_chat_that_is_gone(serve, visit, scripted):
    with visit(serve(scripted("Yes."))) as page:
        ask(page, "First?")
        answered(page)
        page.get_by_role("link", name="New chat").click()
        ask(page, "Second?")
        answered(page)
        page.locator("#chat-list li").nth(0).hover()
        page.get_by_role("button", name="Delete “Second?”").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("heading", name="Ask the documents")).to_be_visible()
        page.goto(page.url + "chats/nobody")
        expect(page.get_by_role("alert")).to_have_text("That chat does not exist any more.")
        for _ in range(3):
            page.go_back()
        expect(page.locator("article.question p")).to_have_text("First?")


def test_the_list_of_chats_keeps_the_focus(serve, visit, scripted):
    with visit(serve(scripted("Yes."))) as page:
        for question in ("First?", "Second?"):
            page.get_by_role("link", name="New chat").click()
            ask(page, question)
            answered(page)
        names = page.locator("#chat-list bdi")
        expect(names).to_have_text(["Second?", "First?"])
        other = page.context.new_page()
        other.goto(page.url)
        other.locator("#chat-list a").nth(1).click()
        for control in ("a", "button"):
            focused = page.locator(f"#chat-list li:has-text('First?') {control}")
            focused.focus()
            ask(other, "More?")  # moves it to the other end
            answered(other, 1 if control == "a" else 2)
            with page.expect_response("**/api/sessions"):
                page.evaluate("window.dispatchEvent(new Event('focus'))")
            expect(names).to_have_text(["First?", "Second?"])
            expect(focused).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(names).to_have_text(["Second?"])
        expect(page.get_by_role("button", name="Delete “Second?”")).to_be_focused()


def test_escape_closes_only_what_lies_on_top(serve, visit, scripted):
    with visit(serve(scripted(*ANSWER)), viewport={"width": 360, "height": 740}) as page:
        ask(page)
        answered(page).locator("sup a").first.click()
        active_lines(page)
        page.get_by_role("button", name="Show the list of chats").click()
        chats, panel = page.locator("#chats"), page.locator("#panel")
        expect(chats).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(chats).not_to_be_in_viewport()
        expect(panel).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()


def test_that_the_server_cannot_be_reached_is_said_until_it_can(serve, visit, scripted):
    site = serve(scripted("Yes."))
    with visit(site) as page:
        ask(page)
        answered(page)
        page.route("**/api/**", lambda route: route.abort())
        site.cut()
        expect(page.locator("#connection")).to_have_text("Connection lost. Reconnecting…")
        ask(page, "And now?")
        expect(page.get_by_role("alert")).to_have_text("The server cannot be reached.")
        page.unroute("**/api/**")
        expect(page.locator("#connection")).to_have_text("")
        expect(page.locator("#problem")).to_be_hidden()
        expect(page.get_by_label("Your question")).to_have_value("And now?")


def test_a_number_that_is_followed_stays_where_it_is(serve, visit, scripted, shot):
    line = "Some words that fill the line before what is cited and after it too"
    said = "".join(f"{line} {cite(locator=f'L{n}')}. " for n in (32, 34, 46, 54) * 12)
    with visit(serve(scripted(said))) as page:
        ask(page)
        number = answered(page).locator("sup a").nth(45)
        before = number.bounding_box()["y"]
        number.click()
        active_lines(page)
        page.evaluate("() => new Promise((done) => setTimeout(done, 300))")  # it is still after it
        assert abs(number.bounding_box()["y"] - before) < 4
        lit = set(page.locator("sup a.lit").all_text_contents())
        assert lit == {number.text_content()}
        shot(page, "24-followed")
        page.locator("sup a").nth(44).hover()
        assert set(page.locator("sup a.lit").all_text_contents()) != lit


def test_a_draft_stays_in_its_chat(serve, visit, scripted):
    with visit(serve(scripted("Yes."))) as page:
        box = page.get_by_label("Your question")
        ask(page, "First?")
        answered(page)
        box.fill("Half a ques")
        page.get_by_role("link", name="New chat").click()
        expect(box).to_have_value("")
        box.fill("Another")
        page.locator("#chat-list a").first.click()
        expect(box).to_have_value("Half a ques")
        page.go_back()
        expect(box).to_have_value("Another")


def test_targets_are_large_and_what_is_reached_by_key_is_framed(serve, visit, scripted, shot):
    with visit(serve(scripted(*ANSWER))) as page:
        ask(page)
        article = answered(page)
        for box in (one.bounding_box() for one in article.locator(".back").all()):
            assert min(box["width"], box["height"]) >= 24
        outline = "one => getComputedStyle(one).outlineStyle"
        page.keyboard.press("Shift+Tab")
        article.locator("sup a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".line.active")).to_be_focused()
        assert page.locator(".line.active").evaluate(outline) == "solid"
        shot(page, "25-framed-line")
        page.keyboard.press("Escape")
        row = article.locator(".sources li").last
        row.focus()
        assert row.evaluate(outline) == "solid"
        shot(page, "26-framed-source")
