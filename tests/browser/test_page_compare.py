"""The page of the strategies on both servers: side by side, answers on demand, history, descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from kb_home import serve_home
from page_driver import Page
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from test_page_axe import check

from pipeline import bootstrap
from pipeline.compare.history import folder_of
from pipeline.embedders.hash import HashEmbedder
from pipeline.indexing import EmbedderSource
from pipeline.settings import Settings

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=\"document.title='X'\">"
TEXT = (
    f"[Тема] Отпуск {EVIL}\nОтпуск длится 28 календарных дней.\n\n"
    "[Тема] Пароль\nПароль от склада — Берёза-17.\n\n"
    "[Тема] Пропуск\nПропуск на склад выдаёт охрана за два дня.\n\n"
    "[Тема] Больничный\nБольничный лист оплачивает бухгалтерия.\n\n"
    "[Тема] Перенос\nОтпуск переносят по заявлению директору.\n"
)
QUESTION = "Сколько дней длится отпуск?"
on_one_server = pytest.mark.parametrize("served", ["fastapi"], indirect=True)


def an_entry(when: str, strategy: str, mrr: float, **changes: Any) -> dict[str, Any]:
    usual = strategy == "hybrid-z"
    return {
        "when": when, "kb_version": "kb1", "questions": "вопросы.jsonl", "count": 2,
        "settings": {"candidates": 30}, "strategy": strategy,
        "reranker": "late-interaction" if usual else "none", "default": usual,
        "figures": {"mrr": [mrr, mrr - 0.1, min(mrr + 0.1, 1.0)], "tokens": [600, 590, 610]},
        "saving": 0.8, "p": {} if usual else {"mrr": 0.01}, **changes,
    }  # fmt: skip


HISTORY = [
    an_entry("2026-11-29T10:00:00+00:00", "hybrid-z", 0.9),
    an_entry("2026-11-30T10:00:00+00:00", "hybrid-z", 0.95, settings={"candidates": 60}),
    an_entry("2026-11-30T10:00:00+00:00", "dense", 0.8, settings={"candidates": 60}),
]


class Served(NamedTuple):
    address: str
    home: Path


class ComparePage(Page):
    def open_compare(self, language: str = "ru", where: str = "") -> ComparePage:
        self.driver.get(f"{self.address}/static/favicon.svg")
        self.js("localStorage.clear()")
        self.js("localStorage.setItem('otvet.language', arguments[0])", language)
        self.requests()
        self.complaints()
        self.driver.get(f"{self.address}/compare{where}")
        self.wait(lambda: self.js("return document.documentElement.dataset.page === 'ready'"), "the page")
        return self

    def compare(self, question: str = QUESTION) -> None:
        self.one("#question").clear()
        self.one("#question").send_keys(question, Keys.ENTER)
        self.wait_text("#status", "за ")

    def rows(self, css: str) -> list[str]:
        return self.js(
            "const rows = [...document.querySelectorAll(arguments[0])];"
            "return rows.map((row) => row.innerText.replace(/\\s+/g, ' ').trim())",
            css,
        )


@pytest.fixture(scope="module", params=["fastapi", "flask"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("compare")
    (home / "knowledge_base").mkdir()
    (home / "knowledge_base/отпуск.txt").write_text(TEXT, encoding="utf-8")
    embedder = HashEmbedder(dimension=1024)
    source = EmbedderSource(embedder.spec.id, embedder.spec.prefix_scheme, lambda: embedder)
    with patch.object(bootstrap, "create_embedder", lambda _: embedder):
        bootstrap.build(Settings(home=home), source=source)
    with serve_home(request.param, home) as address:
        yield Served(address, home)


@pytest.fixture
def page(driver: webdriver.Chrome, served: Served) -> Iterator[ComparePage]:
    shown = ComparePage(driver, served.address)
    yield shown
    shown.plain_look()
    driver.get("about:blank")


def test_all_strategies_on_one_question(page: ComparePage) -> None:
    page.open_compare().compare()
    page.wait(lambda: len(page.rows("#ways tbody tr")) == 5, "five ways")
    ways = page.rows("#ways tbody tr")
    assert [row.split(" none + ")[0].split(" hybrid-")[0] for row in ways[:1]] == ["Без поиска"]
    assert "5 источников" in ways[0]
    assert "0 %" in ways[0].replace("\xa0", " ")
    assert "по умолчанию" in ways[4]
    assert "100 %" in ways[4].replace("\xa0", " ")
    first = page.rows("#sources tbody tr")[0]
    assert first.startswith(f"Отпуск {EVIL} отпуск.txt")
    assert page.driver.title == "Otvet: Сравнение способов поиска"
    assert page.complaints() == []
    assert [
        url for url in page.requests() if url.startswith("http") and not url.startswith(page.address)
    ] == []


@on_one_server
def test_a_question_brought_along_with_another_reranker_in_english(page: ComparePage) -> None:
    page.open_compare("en", f"?q={QUESTION}")
    page.wait(lambda: len(page.rows("#ways tbody tr")) == 5, "five ways")
    page.wait(lambda: "No search" in page.rows("#ways tbody tr")[0], "English")
    Select(page.one("#reranker")).select_by_value("text-only")
    page.one("#go").click()
    page.wait(lambda: len(page.rows("#ways tbody tr")) == 6, "the default besides the five")
    assert "default" in page.rows("#ways tbody tr")[0]
    assert all("text-only" in row for row in page.rows("#ways tbody tr")[1:])
    page.one("[data-language='ru']").click()
    page.wait_text("#sources-title", "Кто что нашёл")
    page.wait(lambda: "по умолчанию" in page.rows("#ways tbody tr")[0], "Russian")


def test_an_answer_on_demand(page: ComparePage) -> None:
    page.open_compare().compare()
    page.wait(lambda: len(page.all("#ways .cell-answer button")) == 5, "buttons")
    page.all("#ways .cell-answer button")[4].click()
    page.wait_text("#answers", "Отпуск длится 28 дней")
    page.wait_text("#answers", "scripted")
    assert len(page.all("#answers article")) == 1


@on_one_server
def test_what_cannot_be_compared_is_said(page: ComparePage) -> None:
    page.open_compare()
    page.one("#question").send_keys("-k -s", Keys.ENTER)
    page.wait_text("#failure", "Вопрос пуст")
    assert page.js("return document.getElementById('result').hidden")


@on_one_server
def test_tabs_by_keyboard_and_what_there_is(page: ComparePage) -> None:
    page.open_compare()
    page.js("document.getElementById('tab-question').focus()")
    page.press(Keys.ARROW_LEFT)
    page.wait_focus("tab-about")
    page.wait(lambda: len(page.rows("#strategies .card")) == 5, "cards")
    assert "hybrid-z" in page.rows("#strategies .card")[4]
    assert len(page.rows("#rerankers .card")) == 4
    page.press(Keys.HOME)
    page.wait_focus("tab-question")
    assert page.js("return document.getElementById('panel-about').hidden")


def test_history_with_a_picture_and_without(page: ComparePage, served: Served) -> None:
    page.open_compare("ru", "#history")
    page.wait_text("#no-history", "otvet compare --questions")
    folder = folder_of(Settings(home=served.home))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "history.jsonl").write_text("\n".join(map(json.dumps, HISTORY)), encoding="utf-8")
    try:
        page.open_compare("ru", "#history")
        page.wait(lambda: len(page.all("#plot svg polyline")) == 2, "lines")
        page.wait_text("#runs", "candidates 30 → 60")
        rows = page.rows("#last tbody tr")
        assert ["hybrid-z" in rows[0], "dense" in rows[1], "0,800 !" in rows[1]] == [True] * 3
        Select(page.one("#measure")).select_by_value("tokens")
        page.wait_text("#plot", "600")
        assert page.complaints() == []
        check(page)
    finally:
        (folder / "history.jsonl").unlink()


@on_one_server
def test_accessible_and_nothing_wider_than_a_phone(page: ComparePage) -> None:
    page.open_compare().compare()
    page.wait(lambda: len(page.rows("#ways tbody tr")) == 5, "five ways")
    check(page)
    page.size(390, 844, mobile=True)
    page.wait(
        lambda: page.js("return document.documentElement.scrollWidth <= window.innerWidth"), "fits a phone"
    )
