"""Russian and English: texts, plural forms, numbers, and who decides."""

from __future__ import annotations

import pytest
from page_driver import Page
from page_replies import ANSWER, reply
from page_stub import Script

pytestmark = pytest.mark.browser


def test_the_switch_changes_everything_that_is_on_the_page(page: Page, script: Script) -> None:
    fields = {"flags": ["-1"], "timings_ms": {"search": 9.0, "total": 3163.0}}
    script.streams["x -1"] = [("sources", reply(**fields)), ("done", reply("answered", ANSWER, **fields))]
    page.open("ru")
    page.ask("x -1")
    page.wait_text("#status", "Ответ готов, 3 источника")
    page.one("[data-language=en]").click()
    page.wait_text("#status", "Answer ready, 3 sources")
    page.wait(
        lambda: page.js("return document.documentElement.lang") == "en",
        "page.js('return document.documentElement.lang') == 'en'",
    )
    page.wait(lambda: page.seen("#evidence-title") == "Sources", "page.seen('#evidence-title') == 'Sources'")
    page.wait(
        lambda: page.seen("#flags") == "-1\nthe model reads 1 source",
        "page.seen('#flags') == '-1'nthe model reads 1 source'",
    )
    page.wait(
        lambda: page.seen("#timings") == "3.2 s in all\nsearch 9 ms",
        "page.seen('#timings') == '3.2 s in all'nsearch 9 ms'",
    )
    page.wait(lambda: page.seen("#go-text") == "Ask", "page.seen('#go-text') == 'Ask'")
    page.wait(lambda: "p. 12" in page.seen("#source-2"), "'p. 12' in page.seen('#source-2')")
    page.wait(
        lambda: page.one(".model .cite").get_attribute("aria-label") == "Source 1: Отпуск и больничный",
        "page.one('.model .cite').get_attribute('aria-label') == 'Sou",
    )
    page.wait(
        lambda: page.one("#question").get_attribute("placeholder") == "Ask your documents",
        "page.one('#question').get_attribute('placeholder') == 'Ask y",
    )
    page.wait(
        lambda: page.one("[data-language=en]").get_attribute("aria-pressed") == "true",
        "page.one('[data-language=en]').get_attribute('aria-pressed')",
    )

    page.open(None)
    page.wait(lambda: page.js("return document.documentElement.lang") == "en", "the choice is remembered")


@pytest.mark.parametrize(
    ("accepts", "expected"), [("ru-RU,ru", "ru"), ("en-GB,en", "en"), ("de-DE,en", "en"), ("kk-KZ", "ru")]
)
def test_the_browser_decides_the_first_time(page: Page, accepts: str, expected: str) -> None:
    agent = page.js("return navigator.userAgent")
    page.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=accepts)
    try:
        page.open(None)
        page.wait(
            lambda: page.js("return document.documentElement.lang") == expected,
            "page.js('return document.documentElement.lang') == expected",
        )
        page.wait(
            lambda: page.seen("#go-text") == {"ru": "Спросить", "en": "Ask"}[expected],
            "page.seen('#go-text') == {'ru': 'Спросить', 'en': 'Ask'}[exp",
        )
    finally:
        page.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="")


def test_errors_are_asked_for_in_the_language_of_the_page(page: Page, script: Script) -> None:
    script.streams["x"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open("en")
    page.ask("x")
    page.wait_text("#status", "Answer ready")
    assert script.languages == ["en"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "Найден 1 источник"),
        (2, "Найдено 2 источника"),
        (5, "Найдено 5 источников"),
        (11, "Найдено 11 источников"),
        (21, "Найден 21 источник"),
    ],
)
def test_russian_counts(page: Page, count: int, text: str) -> None:
    page.open("ru")
    said = page.driver.execute_async_script(
        "const [count, done] = arguments;"
        "import('/static/js/i18n.js').then((m) => done(m.t('found', {count})))",
        count,
    )
    assert said == text
