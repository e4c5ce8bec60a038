"""Nothing that comes from a document, the model or the server is ever more than text (case 34)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from page_driver import Page
from page_replies import error, reply, source
from page_stub import Script
from selenium.common.exceptions import NoAlertPresentException

pytestmark = pytest.mark.browser

EVIL = (
    "</textarea></script><script>document.title='X'</script><img src=x onerror=\"document.title='X'\">"
    "<svg onload=alert(1)><style>*{display:none}</style><iframe src='http://198.51.100.7/'></iframe>"
    "<a href=\"javascript:document.title='X'\">[1]</a><img src='http://198.51.100.7/p.png'>"
    "<link rel=stylesheet href=http://198.51.100.7/s.css>"
)


def no_dialog(page: Page) -> bool:
    try:
        page.driver.switch_to.alert.dismiss()
    except NoAlertPresentException:
        return True
    return False


def assert_harmless(page: Page) -> None:
    assert no_dialog(page)
    assert page.driver.title == "Otvet"
    assert (
        page.js(
            "const made = 'script, img, svg, iframe, style, link, [onerror]';"
            "return document.querySelectorAll(`main :is(${made})`).length"
        )
        == 0
    )
    outside = [
        url
        for url in page.requests()
        if urlsplit(url).scheme in {"http", "https"} and not url.startswith(page.address)
    ]
    assert outside == []
    links = page.js("return [...document.querySelectorAll('a')].map((a) => new URL(a.href).protocol)")
    assert set(links) <= {"http:", "https:"}


def hostile(outcome: str, **changes: Any) -> dict[str, Any]:
    sources = [
        source(
            n,
            title=EVIL,
            file=f"<b>{EVIL}</b>.txt",
            quote=EVIL,
            link=link,
            page=EVIL,
            chunk_id=EVIL,
            stages=[
                {"name": EVIL, "score": 1.0, "rank": EVIL},
                {"name": "constructor", "score": 1.0, "rank": 1},
            ],
        )
        for n, link in enumerate(
            [
                "javascript:document.title='X'",
                " JavaScript:alert(1)",
                "data:text/html,<script>alert(1)</script>",
                "//198.51.100.7/x",
                "vbscript:x",
            ],
            1,
        )
    ]
    fields: dict[str, Any] = {
        "question": EVIL,
        "flags": [EVIL, "-constructor", "-__proto__"],
        "sources": sources,
        "timings_ms": {EVIL: 1.0, "__proto__": 2.0, "total": 3.0},
        "model": EVIL,
        "kb_version": EVIL,
        "request_id": EVIL,
        "notes": [EVIL],
        "marks": [{"start": 3, "end": 40, "reason": EVIL}],
    }
    return reply(outcome, f"{EVIL} [1]\n- {EVIL}", **fields | changes)


@pytest.mark.parametrize("outcome", ["answered", "sources", "not_found", "partial", "generated"])
def test_hostile_text_in_every_field_stays_text(page: Page, script: Script, outcome: str) -> None:
    script.streams[EVIL] = [
        ("sources", hostile("sources")),
        ("token", {"text": EVIL}),
        ("done", hostile(outcome)),
    ]
    script.searches[EVIL] = hostile("sources")
    page.open()
    page.ask(EVIL)
    page.wait(
        lambda: page.seen("#go-text") == "Спросить" and page.all("#timings strong"), "the reply is shown"
    )
    shown = page.js("return document.querySelector('main').textContent")
    assert "<script>document.title='X'</script>" in shown
    assert f"<b>{EVIL}</b>.txt" in shown
    page.wait(lambda: len(page.all(".card")) == 5, "len(page.all('.card')) == 5")
    assert page.all(".place a") == [], "only http and https addresses become links"
    assert_harmless(page)
    assert page.complaints() == []


def test_hostile_error_stays_text(page: Page, script: Script) -> None:
    script.failures[EVIL] = (500, error(EVIL, EVIL, EVIL) | {"request_id": EVIL})
    page.open()
    page.ask(EVIL)
    page.wait_text("#failure", "<script>document.title='X'</script>")
    assert_harmless(page)


def test_an_error_page_that_is_no_json_is_not_shown(page: Page, script: Script) -> None:
    page.open()
    page.js("window.fetch = async () => new Response('<h1>' + arguments[0], {status: 502})", EVIL)
    page.ask("вопрос")
    page.wait_text("#failure", "Сервер ответил ошибкой 502")
    assert_harmless(page)


def test_the_policy_would_hold_even_if_markup_got_in(page: Page) -> None:
    """The second wall: markup set by force neither runs nor fetches anything from outside."""
    page.open()
    page.js(
        "const box = document.createElement('div'); document.body.append(box); box.innerHTML = arguments[0]",
        EVIL,
    )
    page.driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert no_dialog(page)
    assert page.driver.title == "Otvet"
    assert [url for url in page.requests() if "198.51.100.7" in url] == []
    assert any("Content Security Policy" in complaint for complaint in page.complaints())


def test_the_page_asks_nobody_but_its_own_server(page: Page, script: Script) -> None:
    script.streams["вопрос"] = [("sources", reply()), ("done", reply("answered", "Да [1]."))]
    page.open()
    page.ask("вопрос")
    page.wait_text("#status", "Ответ готов")
    assert {f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in page.requests()} == {page.address}
