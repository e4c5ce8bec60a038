"""The page of drafts on both servers: propose, edit and accept, drop, bring back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb_home import serve_home
from page_driver import Page
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=\"document.title='X'\">"
TEXTS = {
    "отпуск.md": f"# Отпуск {EVIL}\n\nОтпуск длится 28 дней у каждого сотрудника.\n",
    "пропуск.md": "# Как получить пропуск\n\nЗа пропуском приходят утром к охране завода.\n",
}


class EvalPage(Page):
    def open_eval(self, language: str = "ru") -> EvalPage:
        self.driver.get(f"{self.address}/static/favicon.svg")
        self.js("localStorage.setItem('otvet.language', arguments[0])", language)
        self.requests()
        self.complaints()
        self.driver.get(f"{self.address}/eval")
        self.wait(lambda: self.js("return document.documentElement.dataset.page === 'ready'"), "the page")
        return self

    def cards(self) -> list[str]:
        script = "return [...document.querySelectorAll('.draft [name=question]')].map((one) => one.value)"
        return self.js(script)

    def wait_cards(self, count: int) -> None:
        self.wait(lambda: len(self.cards()) == count, f"{count} drafts")

    def click(self, label: str) -> None:
        self.one(f"[aria-label='{label}']").click()


@pytest.fixture(params=["fastapi", "flask"])
def page(request: pytest.FixtureRequest, driver: webdriver.Chrome, tmp_path: Path) -> Iterator[EvalPage]:
    base = tmp_path / "knowledge_base"
    base.mkdir()
    for name, text in TEXTS.items():
        (base / name).write_text(text, "utf-8")
    with serve_home(request.param, tmp_path, indexed=True) as address:
        yield EvalPage(driver, address)
        driver.get("about:blank")


def test_proposed_edited_accepted_dropped_and_brought_back(page: EvalPage, tmp_path: Path) -> None:
    page.open_eval()
    page.wait_text("#standing", "Черновиков: 0")
    page.one("#model").click()
    page.one("#go").click()
    page.wait_text("#status", "новых черновиков 7")
    page.wait_cards(7)
    asked = next(text for text in page.cards() if text.startswith("Отпуск длится"))
    field = page.one("[data-id] [name=question][value^='Отпуск длится']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Сколько дней отпуска?")
    page.click(f"Принять: {asked}")
    page.wait_text("#status", "Принят")
    page.wait_cards(6)
    (line,) = (tmp_path / "questions.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["question"] == "Сколько дней отпуска?"
    assert json.loads(line)["answer_any"] == ["28 дней"]
    page.click("Отбросить: Как получить пропуск?")
    page.wait_text("#status", "Отброшен")
    page.wait_cards(5)
    page.one("#undo button").click()
    page.wait_text("#status", "Снова черновик")
    page.wait_cards(6)
    assert page.driver.title == "Otvet: Вопросы для проверки"
    assert page.complaints() == []


def test_in_english_and_from_the_knowledge_base(page: EvalPage) -> None:
    page.open_eval("en")
    page.wait_text("#standing", "Drafts: 0")
    page.driver.get(f"{page.address}/kb")
    page.wait(lambda: page.seen("a[href='/eval']") == "Questions for evaluation", "the link")
