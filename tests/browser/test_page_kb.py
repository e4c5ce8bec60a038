"""The page of the knowledge base on both servers: put a file in, ask about it, take it out, bring it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kb_home import serve_home
from page_driver import Page
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=\"document.title='X'\"><script>document.title='X'</script>"
TEXT = f"[Тема] Отпуск {EVIL}\nОтпуск длится 28 дней.\n\n[Тема] Пароль\nПароль от склада — Берёза-17.\n"


class KbPage(Page):
    def open_kb(self, language: str = "ru") -> KbPage:
        self.driver.get(f"{self.address}/static/favicon.svg")
        self.js("localStorage.setItem('otvet.language', arguments[0])", language)
        self.requests()
        self.complaints()
        self.driver.get(f"{self.address}/kb")
        self.wait(lambda: self.js("return document.documentElement.dataset.page === 'ready'"), "the page")
        return self

    def choose(self, *paths: Path) -> None:
        self.one("#pick").send_keys("\n".join(map(str, paths)))

    def row(self, file: str) -> str:
        return self.js(
            "const row = [...document.querySelectorAll('.files tbody tr')]"
            ".find((one) => one.children[0].textContent === arguments[0]);"
            "return row ? row.innerText.replace(/\\s+/g, ' ') : ''",
            file,
        )

    def wait_row(self, file: str, words: str) -> None:
        self.wait(lambda: words in self.row(file), f"{words!r} in the row of {file}")

    def click(self, label: str) -> None:
        self.one(f"[aria-label='{label}']").click()


@pytest.fixture(params=["fastapi", "flask"])
def page(request: pytest.FixtureRequest, driver: webdriver.Chrome, tmp_path: Path) -> Iterator[KbPage]:
    with serve_home(request.param, tmp_path) as address:
        yield KbPage(driver, address)
        driver.get("about:blank")


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "Положение об отпусках.txt"
    path.write_bytes(TEXT.encode("cp1251"))
    return path


def test_upload_a_cp1251_file_and_ask_about_it(page: KbPage, letter: Path) -> None:
    """Case 20; hostile letters in its topic stay text (case 34)."""
    page.open_kb()
    page.wait(lambda: "Здесь пока пусто" in page.seen("#none"), "'Здесь пока пусто' in page.seen('#none')")
    page.choose(letter)
    page.wait_row(letter.name, "учтён 2")
    assert "cp1251" in page.row(letter.name)
    page.wait_text("#status", "Готово: новых фрагментов 2")
    page.wait_text("#standing", "Всё учтено: 1 файл, 2 фрагмента.")
    assert page.complaints() == []

    page.open()
    page.ask("Сколько дней длится отпуск?")
    page.wait_text(".model .words", "Отпуск длится 28 дней [1].")
    page.wait(
        lambda: page.seen("#source-1 .place").startswith(letter.name),
        "page.seen('#source-1 .place').startswith(letter.name)",
    )
    assert page.driver.title == "Otvet"
    tabs = page.driver.window_handles
    page.one("#source-1 h3 a").click()
    page.wait(lambda: len(page.driver.window_handles) == 2, "the source opens")
    page.driver.switch_to.window(next(tab for tab in page.driver.window_handles if tab not in tabs))
    try:
        page.wait_text("mark", "Отпуск длится 28 дней.")
        assert page.driver.title != "X"
        original = page.one("a[download]").get_attribute("href")
        size = page.driver.execute_async_script(
            "fetch(arguments[0]).then((r) => r.arrayBuffer()).then((b) => arguments[1](b.byteLength))",
            original,
        )
        assert size == letter.stat().st_size
    finally:
        page.driver.close()
        page.driver.switch_to.window(tabs[0])


def test_replace_remove_and_undo(page: KbPage, letter: Path, tmp_path: Path) -> None:
    stored = tmp_path / "knowledge_base" / letter.name
    page.open_kb()
    page.choose(letter)
    page.wait_row(letter.name, "учтён 2")
    letter.write_text("Отпуск длится 30 дней.", encoding="utf-8")
    page.choose(letter)
    page.wait_text("#uploads", "уже есть")
    page.one("#uploads .refused button").click()
    page.wait_row(letter.name, "учтён 1")
    assert stored.read_text(encoding="utf-8") == "Отпуск длится 30 дней."

    page.click(f"Удалить {letter.name}")
    page.wait(lambda: page.row(letter.name) == "", "the row is gone")
    assert not stored.exists()
    page.wait_text("#standing", "Всё учтено: 0 файлов")
    # The way back has the focus, and keeps it while the index is renewed.
    page.wait(
        lambda: page.js("return document.activeElement.parentElement.id") == "undo",
        "page.js('return document.activeElement.parentElement.id') ==",
    )
    page.press(Keys.ENTER)
    page.wait_row(letter.name, "учтён 1")
    page.one("#removed-part summary").click()
    page.wait(
        lambda: page.seen("#removed").startswith(letter.name), "page.seen('#removed').startswith(letter.name)"
    )


def test_findings_and_one_passage_against_a_question(page: KbPage, tmp_path: Path) -> None:
    folder = tmp_path / "knowledge_base" / "кадры"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "b.txt").write_text("Пароль от склада — Берёза-17.", encoding="utf-8")
    (folder / "c.txt").write_text("[Тема] Длинная\n" + "слово " * 40, encoding="utf-8")
    (folder / "d.pdf").write_bytes(b"no pdf")
    page.open_kb()
    page.wait_row("кадры/a.txt", "новый")
    page.one("#renew").click()
    page.wait_row("кадры/d.pdf", "пропущен")
    page.wait_text("#large-title", "Блоки длиннее 30 токенов: 1")
    page.wait(lambda: page.seen("#large").startswith("Длинная"), "page.seen('#large').startswith('Длинная')")
    page.wait_text("#twice-title", "Повторы: 1")
    page.wait(lambda: len(page.all("#probe-file option")) == 3, "files to choose from")
    Select(page.one("#probe-file")).select_by_visible_text("кадры/a.txt")
    page.wait_text("#probe-chunk", "Отпуск")
    page.one("#probe-question").send_keys("сколько длится отпуск", Keys.ENTER)
    page.wait_text("#probed", "Фрагмент найден: № 1 из 4.")
    page.wait(
        lambda: "Позднее взаимодействие" in page.seen("#probed"),
        "'Позднее взаимодействие' in page.seen('#probed')",
    )
    assert page.driver.title == "Otvet: База знаний"
    assert page.complaints() == []
    for width in (320, 390, 768, 1280, 2560):
        page.size(width, 900, mobile=width < 768)
        assert page.js("return document.documentElement.scrollWidth - innerWidth") <= 0, width
    page.plain_look()


def test_a_dropped_file_and_a_name_that_will_not_do(page: KbPage, tmp_path: Path) -> None:
    page.open_kb("en")
    drop = (
        "const data = new DataTransfer(); data.items.add(new File([arguments[1]], arguments[0]));"
        "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}))"
    )
    page.js(drop, "virus.exe", "x")
    page.wait_text("#uploads", "such files are not read")
    page.one("#folder").send_keys("hr")
    page.js(drop, "leave.md", "# Leave\n\nLeave is 28 days long.")
    page.wait_row("hr/leave.md", "taken in 1")
    assert (tmp_path / "knowledge_base" / "hr" / "leave.md").is_file()
    assert [path.name for path in (tmp_path / "knowledge_base").iterdir()] == ["hr"]
    # The refusal of the .exe is all that the console holds.
    assert all("400" in line for line in page.complaints())
