"""The page on both real servers: their headers, their events, their view of a source."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import Page
from page_service import PASSAGE, PageService, serve_really
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


@pytest.fixture
def service() -> PageService:
    return PageService()


@pytest.fixture(params=["fastapi", "flask"])
def page(request: pytest.FixtureRequest, driver: webdriver.Chrome, service: PageService) -> Iterator[Page]:
    with serve_really(request.param, service) as address:
        yield Page(driver, address).forget()
        driver.get("about:blank")


def test_ask_stream_cite_and_open_the_source(page: Page) -> None:
    """A hostile title and document are shown as text in the page and in the view of the source (case 34)."""
    page.open()
    page.type("Сколько дней отпуск? -s")
    page.wait(lambda: len(page.all(".card")) == 2, "sources while typing")
    page.wait_text("#flags", "оценки этапов")
    page.press(Keys.ENTER)
    page.wait_text("#status", "Ответ готов, но подтверждён не весь")

    page.wait(
        lambda: "Отпуск длится 28 дней [1]." in page.seen(".model .words"),
        "'Отпуск длится 28 дней [1].' in page.seen('.model .words')",
    )
    page.wait(
        lambda: page.seen(".unsupported").startswith("99"), "page.seen('.unsupported').startswith('99')"
    )
    page.wait(
        lambda: "Позднее взаимодействие 0,75 № 1" in page.seen("#source-1 .stages").replace("\n", " "),
        "'Позднее взаимодействие 0,75 № 1' in page.seen('#source-1 .s",
    )
    page.wait(
        lambda: page.seen("#foot").startswith("Модель: тест"), "page.seen('#foot').startswith('Модель: тест')"
    )
    first, second = page.all(".card")
    assert len(first.find_elements("css selector", "a")) == 1, "our own page is not an original"
    assert (
        second.find_elements("css selector", ".place a")[0].get_attribute("href")
        == "https://example.org/otpusk"
    )
    page.all(".model .cite")[0].click()
    page.wait_focus("source-1")
    assert page.complaints() == []
    outside = [url for url in page.requests() if url.startswith("http") and not url.startswith(page.address)]
    assert outside == []

    tabs = page.driver.window_handles
    page.one("#source-1 h3 a").click()
    page.wait(lambda: len(page.driver.window_handles) == 2, "the source opens beside the answer")
    page.driver.switch_to.window(next(handle for handle in page.driver.window_handles if handle not in tabs))
    try:
        page.wait_text("mark", PASSAGE)
        page.wait(
            lambda: "<script>document.title='X'</script>" in page.seen("h1"),
            "'<script>document.title='X'</script>' in page.seen('h1')",
        )
        assert page.driver.title == "Отпуск <script>document.title='X'</script>"
        assert page.complaints() == []
    finally:
        page.driver.close()
        page.driver.switch_to.window(tabs[0])


def test_not_found(page: Page) -> None:
    page.open()
    page.ask("рецепт борща: борщ")
    page.wait_text("#notices", "В базе знаний этого нет.")
    page.wait(
        lambda: page.seen("#evidence-title") == "Ближайшие места, но ответа в них нет",
        "page.seen('#evidence-title') == 'Ближайшие места, но ответа ",
    )


def test_without_the_switch(page: Page) -> None:
    page.open()
    page.one("#ai").click()
    page.ask("отпуск")
    page.wait_text("#status", "Найдено 2 источника")
    page.wait(
        lambda: page.seen(".documents .words").startswith(PASSAGE),
        "page.seen('.documents .words').startswith(PASSAGE)",
    )


@pytest.mark.parametrize(("language", "message"), [("ru", "Вопрос пуст."), ("en", "The question is empty.")])
def test_errors_come_in_the_language_of_the_page(page: Page, language: str, message: str) -> None:
    page.open(language)
    page.ask("-s -ce")
    page.wait_text("#failure h2", message)


def test_stop_reaches_the_service(page: Page, service: PageService) -> None:
    page.open()
    page.ask("долго ли длится отпуск")
    page.wait_text(".model .words", "…")
    page.press(Keys.ESCAPE)
    page.wait_text("#status", "Ответ остановлен")
    assert service.left.wait(10)


def test_a_server_that_goes_away_is_said_plainly_and_its_return_is_noticed(
    driver: webdriver.Chrome, service: PageService
) -> None:
    with serve_really("fastapi", service) as address:
        page = Page(driver, address).open()
    page.ask("отпуск")
    page.wait_text("#failure", "Сервер не отвечает")
    page.wait_text("#failure", "otvet up")
    with serve_really("fastapi", service, port=int(address.rsplit(":", 1)[1])):
        page.wait(lambda: page.js("return document.documentElement.dataset.server === 'ready'"), "it is back")
        page.one("#failure button").click()
        page.wait_text("#status", "Ответ готов")
        driver.get("about:blank")


def test_loading(page: Page, service: PageService) -> None:
    service.is_ready = False
    page.open(ready=False)
    page.wait_text("#status", "Ещё не готово: модели и индекс загружаются.")
    service.is_ready = True
    page.wait(
        lambda: page.js("return document.documentElement.dataset.server === 'ready'"), "the page notices"
    )
    page.wait(lambda: page.seen("#status") == "", "page.seen('#status') == ''")
