"""The page of the map in a real browser: on both servers, and from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from made_map import a_map, a_point, a_source
from page_driver import Page
from page_service import PageService, serve_really
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from pipeline.plots.map_data import KnowledgeMap
from pipeline.plots.map_file import write_map
from pipeline.plots.page import write_page
from pipeline.plots.position import place_among
from pipeline.settings import Settings

pytestmark = pytest.mark.browser

EVIL = "<b>Отпуск</b></script><script>document.title='X'</script><img src=x onerror=\"document.title='X'\">"
POINTS = ".scatterlayer .trace .point"


def shown_map() -> KnowledgeMap:
    # The passages that PageService finds are c1 and c2.
    return a_map(
        a_point(5, (0.4, -0.6), id="c1", topic=EVIL, text=EVIL, file=f"{EVIL}.md"),
        a_point(6, (0.6, -0.6), id="c2", topic="Перенос"),
    )


class MapPage(Page):
    """The map at ``address``, which is that of a page."""

    def open_map(self, language: str = "ru") -> MapPage:
        if self.address.startswith("http"):
            self.driver.get(f"{self.address.rpartition('/')[0]}/static/favicon.svg")
            self.js("localStorage.setItem('otvet.language', arguments[0])", language)
        self.requests()
        self.complaints()
        self.driver.get(self.address)
        self.wait(lambda: len(self.all(POINTS)) > 0, "points")
        return self

    def search(self, text: str) -> None:
        box = self.one("#words")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text)

    def rows(self, section: str) -> list[str]:
        return self.js(
            "const rows = [...document.querySelectorAll(arguments[0])];"
            "return rows.map((row) => row.innerText.replace(/\\s+/g, ' '))",
            f"#{section} .row",
        )


@pytest.fixture(params=["fastapi", "flask"])
def page(request: pytest.FixtureRequest, driver: webdriver.Chrome, tmp_path: Path) -> Iterator[MapPage]:
    (tmp_path / "embeddings").mkdir()
    write_map(shown_map(), tmp_path / "embeddings")
    with serve_really(request.param, PageService(), settings=Settings(home=tmp_path)) as address:
        yield MapPage(driver, f"{address}/map")
        driver.get("about:blank")


@pytest.fixture
def written(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[MapPage]:
    shown = shown_map()
    write_page(shown, tmp_path / "map.html", "en", place_among(shown, EVIL, [a_source(3, 0.9)]))
    yield MapPage(driver, (tmp_path / "map.html").as_uri())
    driver.get("about:blank")


def test_points_groups_copies_and_loners(page: MapPage) -> None:
    page.open_map()
    # 7 passages, 2 rings around the doubled ones, 1 cross on the lonely one.
    page.wait(lambda: len(page.all(POINTS)) == 10, "len(page.all(POINTS)) == 10")
    assert page.rows("groups") == ["отпуск, дни 5", "склад 1", "вне групп 1"]
    assert page.rows("doubled") == ["Тема 0 2"]
    assert page.rows("alone") == ["Тема 3 кадры/отпуск.md"]
    page.wait(
        lambda: "База знаний изменилась" in page.seen("#stale"),
        "'База знаний изменилась' in page.seen('#stale')",
    )
    labels = [label.text.replace("\n", " ") for label in page.all(".annotation-text")]
    assert "отпускдни" in labels[0].replace(" ", "")


def test_only_what_the_policy_allows_and_nothing_from_outside(page: MapPage) -> None:
    page.open_map()
    # Plotly brings a style for maps of the earth and tries to put it into the page; nothing here needs it.
    assert len([words for words in page.complaints() if "plotly.js" not in words]) == 0
    server = page.address.rpartition("/")[0]
    assert [url for url in page.requests() if url.startswith("http") and not url.startswith(server)] == []
    hovered = page.js("return getComputedStyle(document.querySelector('.main-svg')).position")
    assert hovered == "absolute", "plotly's own rules have reached the page"


def test_search_marks_what_it_finds_and_opens_it(page: MapPage) -> None:
    page.open_map()
    page.search("снабжение")
    page.wait_text("#found", "«снабжение»: 1 фрагмент")
    page.one("#found .row").click()
    page.wait_text("#detail", "Текст номер 4.")
    page.wait(
        lambda: page.one("#detail a").get_attribute("href").endswith("/source/c0004#passage"),
        "page.one('#detail a').get_attribute('href').endswith('/sourc",
    )
    page.one("#clear").click()
    page.wait(lambda: not page.all("#found .row"), "everything again")
    page.wait_focus("words")


def test_a_question_finds_its_place(page: MapPage) -> None:
    page.open_map()
    page.search("Сколько дней отпуск?")
    page.press(Keys.ENTER)
    page.wait_text("#found", "Ближе всего к вопросу «Сколько дней отпуск?»")
    assert len(page.rows("found")) == 2


def test_a_question_brought_along_is_found_at_once(page: MapPage) -> None:
    page.address += "?q=" + quote("Сколько дней отпуск?")
    page.open_map()
    page.wait_text("#found", "Ближе всего к вопросу «Сколько дней отпуск?»")


def test_hostile_documents_are_text_everywhere(page: MapPage) -> None:
    """Case 34."""
    page.open_map()
    page.search("onerror")
    page.one("#found .row").click()
    page.wait_text("#detail", "<b>Отпуск</b>")
    point = page.js("return document.querySelector('#plot').data[2].text.find((t) => t.includes('onerror'))")
    assert "<img" not in point
    assert "&lt;img" in point
    assert page.driver.title == "Otvet: Карта базы знаний"
    assert page.all("#plot img, .panel img") == []


def test_space_files_and_the_other_language(page: MapPage) -> None:
    page.open_map()
    page.one("[data-deep=yes]").click()
    page.wait(lambda: page.all("#plot canvas"), "the picture in space")
    page.one("#by").find_element(By.CSS_SELECTOR, "[value=group]").click()
    page.wait(lambda: page.rows("groups") == ["кадры/ 5", "без папки 1", "остальные 1"], "folders")
    page.one("[data-language=en]").click()
    page.wait(lambda: page.rows("groups") == ["кадры/ 5", "in no folder 1", "the rest 1"], "English")
    page.wait(lambda: page.seen("[data-deep=yes]") == "Space", "page.seen('[data-deep=yes]') == 'Space'")


def test_no_map_yet_says_what_to_run(driver: webdriver.Chrome, tmp_path: Path) -> None:
    with serve_really("fastapi", PageService(), settings=Settings(home=tmp_path)) as address:
        driver.get(f"{address}/map")
        page = MapPage(driver, f"{address}/map")
        page.wait_text("#failure", "otvet map")
        driver.get("about:blank")


def test_the_page_in_a_file(written: MapPage) -> None:
    """It needs no server: nothing is fetched, the question it was written with is on it."""
    written.open_map()
    written.wait_text("#found", "Nearest to the question")
    assert written.rows("found") == ["Тема 3 кадры/отпуск.md"]
    assert written.all("#locate:not([hidden])") == []
    written.search("перенос")
    written.wait_text("#found", "«перенос»: 1 passage")
    written.one("#found .row").click()
    written.wait_text("#detail", "Текст номер 6.")
    assert written.all("#detail a") == []
    assert written.complaints() == []
    assert [url for url in written.requests() if url.startswith("http")] == []
    assert written.driver.title == "Otvet: Map of the knowledge base"
