"""Every page and state against the rules of axe-core: nothing serious, nothing critical."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from kb_home import serve_home
from page_driver import Page
from page_replies import ANSWER, reply
from page_stub import Script
from selenium import webdriver
from test_page_map import MapPage, shown_map

from pipeline.plots.map_file import write_map

pytestmark = pytest.mark.browser

QUESTION = "Сколько дней длится отпуск?"
SERIOUS = ("serious", "critical")
RUN = (
    "const done = arguments[arguments.length - 1];"
    "axe.run(document, {resultTypes: ['violations']}).then((found) => done({found: found.violations.map("
    "({id, impact, nodes}) => ({id, impact, nodes: nodes.map((node) => node.html.slice(0, 200))})),"
    "passes: found.passes.length}), (error) => done({error: String(error)}))"
)


@cache
def axe() -> str:
    """The script of axe-core; ``OTVET_AXE`` names another version's file."""
    other = os.environ.get("OTVET_AXE")
    if other:
        return Path(other).read_text(encoding="utf-8")
    return resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def check(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.js(axe())
        found: dict[str, Any] = page.driver.execute_async_script(RUN)
        assert found.get("passes", 0) > 10, found
        assert [rule for rule in found["found"] if rule["impact"] in SERIOUS] == [], scheme
    page.scheme("light")


def ask(page: Page, script: Script, outcome: str = "answered", **changes: Any) -> None:
    script.streams[QUESTION] = [("sources", reply(**changes)), ("done", reply(outcome, ANSWER, **changes))]
    page.ask(QUESTION)
    page.wait_text("#foot", "Запрос")


def test_the_first_page(page: Page) -> None:
    check(page.open())


def test_an_answer_with_everything_open(page: Page, script: Script) -> None:
    page.open()
    ask(page, script, "partial", marks=[{"start": 0, "end": 9, "reason": "no_source"}], flags=["-s", "-5"])
    page.one(".thumb.bad").click()
    page.one("#debug summary").click()
    page.wait_text("#debug-body", "Какое слово нашло какое")
    page.one(".prompt summary").click()
    check(page)
    page.js("localStorage.clear()")


def test_nothing_found_and_an_error(page: Page, script: Script) -> None:
    page.open()
    ask(page, script, "not_found")
    check(page)
    script.failures["ошибка"] = (503, {"error": "busy", "message": "Очередь полна.", "hint": "Подождите."})
    page.ask("ошибка")
    page.wait_text("#failure", "Очередь полна.")
    check(page)


def test_past_questions(page: Page, script: Script) -> None:
    page.open()
    ask(page, script)
    page.one("#history-open").click()
    page.wait_text("#history-list", QUESTION)
    check(page)
    page.js("localStorage.clear()")


@pytest.fixture
def home(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Opens an address of a server with a few files."""
    folder = tmp_path / "knowledge_base"
    folder.mkdir()
    (folder / "a.txt").write_text("[Тема] Отпуск\nОтпуск длится 28 дней.", encoding="utf-8")
    (folder / "b.txt").write_text("Отпуск длится 28 дней.", encoding="utf-8")
    (folder / "c.pdf").write_bytes(b"no pdf")
    with serve_home("fastapi", tmp_path) as address:

        def go(path: str) -> Page:
            driver.get(f"{address}{path}")
            return Page(driver, address)

        yield go
        driver.get("about:blank")


def test_the_knowledge_base_and_a_source(home: Callable[[str], Page]) -> None:
    page = home("/kb")
    page.js("localStorage.setItem('otvet.language', 'ru')")
    page = home("/kb")
    page.one("#renew").click()
    page.wait_text("#twice-title", "Повторы: 1")
    page.one("#probe-chunk option")
    page.one("#probe-question").send_keys("отпуск\n")
    page.wait_text("#probed", "Позднее взаимодействие")
    source = page.one("#twice a").get_attribute("href")
    check(page)
    page.driver.get(source)
    check(page)
    check(home("/login"))


def test_drafts_of_questions(home: Callable[[str], Page]) -> None:
    page = home("/kb")
    page.js("localStorage.setItem('otvet.language', 'ru')")
    page = home("/kb")
    page.one("#renew").click()
    page.wait_text("#twice-title", "Повторы: 1")
    page = home("/eval")
    page.wait_text("#standing", "Черновиков: 0")
    page.one("#go").click()
    page.wait(lambda: len(page.all(".draft")) > 1, "drafts")
    page.one(".draft .discard").click()
    page.wait_text("#dropped-part", "Отброшенные")
    page.js("document.getElementById('dropped-part').open = true")
    check(page)


def test_the_map(driver: webdriver.Chrome, tmp_path: Path) -> None:
    (tmp_path / "embeddings").mkdir()
    write_map(shown_map(), tmp_path / "embeddings")
    with serve_home("fastapi", tmp_path) as address:
        page = MapPage(driver, f"{address}/map").open_map()
        page.search("отпуск")
        check(page)
        driver.get("about:blank")
