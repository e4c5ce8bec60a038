"""Answers over tables: the result and its picture, a statement that a person lets run, a question back."""

from __future__ import annotations

from typing import Any

import pytest
from page_driver import Page
from page_replies import error, reply
from page_stub import Script
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

QUESTION = "Сколько заказов по месяцам?"
SQL = "SELECT month, COUNT(*) AS orders\nFROM orders\nGROUP BY month"
NAME = "0123456789abcdef0123456789abcdef"
HOSTILE = "<img src=x onerror=\"document.title='X'\">"


def steps() -> list[dict[str, Any]]:
    return [
        {"name": "words", "seconds": 0.004, "tokens_in": 0, "tokens_out": 0, "detail": ""},
        {"name": "write", "seconds": 3.5, "tokens_in": 410, "tokens_out": 38, "detail": "orders"},
        {"name": "run", "seconds": 0.002, "tokens_in": 0, "tokens_out": 0, "detail": "3"},
    ]


def routed(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "question": QUESTION,
        "sources": [],
        "route": "sql",
        "steps": steps(),
        "database": "shop",
        "sql": SQL,
        "table": None,
        "chart": None,
        "confirm": None,
        "clarify": None,
        "costs": {"calls": 1, "tokens_in": 410, "tokens_out": 38, "seconds": 3.506},
    }
    return reply("answered", "Найдено 3 строки.", **(fields | changes))


def result(rows: list[list[Any]] | None = None, **changes: Any) -> dict[str, Any]:
    table = {
        "columns": ["month", "orders"],
        "kinds": ["date", "number"],
        "rows": rows or [["2024-01-01", 1200], ["2024-02-01", 600.5], ["2024-03-01", None]],
        "truncated": False,
        "csv": f"http://elsewhere.example/ask/{NAME}/table.csv",
    }
    return routed(table=table, chart={"kind": "bar", "x": "month", "y": "orders"}, **changes)


def cells(page: Page) -> list[list[str]]:
    return page.js(
        "const body = document.querySelector('#routed .wide tbody');"
        "return body && [...body.rows].map((row) => [...row.cells].map((cell) => cell.innerText))"
    )


def test_a_result_is_a_sentence_a_table_a_picture_and_a_file(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [("done", result())]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#routed .said", "Найдено 3 строки.")
    page.wait_text("#routed header", "вычислено по таблицам")
    page.wait(
        lambda: (
            [[text.replace("\xa0", " ") for text in row] for row in cells(page)]
            == [["01.01.2024", "1 200"], ["01.02.2024", "600,5"], ["01.03.2024", "–"]]
        ),
        "numbers and dates as Russian writes them",
    )
    widths = page.js("return [...document.querySelectorAll('.chart .bar')].map((bar) => bar.offsetWidth)")
    assert len(widths) == 2, "what is no number has no bar"
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.02)
    address = page.one("#csv").get_attribute("href")
    assert address == f"{page.address}/ask/{NAME}/table.csv", "never another site's"
    assert page.seen(".statement pre") == ""
    page.one(".statement summary").click()
    page.wait(lambda: page.seen(".statement pre") == SQL, "the statement is shown")
    page.wait_text(".steps summary", "токенов прочитано 410, написано 38")
    assert page.all("#notices .notice") == []
    assert page.all(".voice") == []


def test_a_statement_waits_is_edited_refused_and_run(page: Page, script: Script) -> None:
    confirm = {"id": NAME, "explanation": "Считаю заказы по месяцам.", "expires_s": 600}
    waiting = routed(confirm=confirm)
    waiting["answer"] = confirm["explanation"]
    waiting["outcome"] = "partial"
    script.streams[QUESTION] = [("done", waiting)]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#routed .said", "Считаю заказы по месяцам.")
    page.wait_text("#status", "Запрос ждёт вашего решения")
    box = page.one("#statement")
    assert box.get_attribute("value") == SQL
    page.wait_text("#statement-note", "ждёт вашего решения 10 минут")

    script.confirmations[NAME] = (422, error("statement_refused", "Запрос меняет данные."))
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("DELETE FROM orders")
    page.one("#confirm").click()
    page.wait_text("#failure", "Запрос меняет данные.")
    page.wait(
        lambda: page.one("#statement").get_attribute("value") == "DELETE FROM orders", "the words are kept"
    )

    script.confirmations[NAME] = (200, result(request_id="r2"))
    box = page.one("#statement")
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("SELECT 1")
    page.wait(lambda: page.one("#confirm").is_enabled(), "it may be tried again")
    page.one("#confirm").click()
    page.wait(lambda: len(cells(page) or []) == 3, "the result")
    assert script.confirmed == [
        (NAME, {"sql": "DELETE FROM orders", "format": False}),
        (NAME, {"sql": "SELECT 1", "format": False}),
    ]
    assert page.all("#statement") == []
    assert page.all("#failure") == []


def test_a_statement_may_be_left_alone(page: Page, script: Script) -> None:
    confirm = {"id": NAME, "explanation": "Считаю заказы по месяцам.", "expires_s": 600}
    script.streams[QUESTION] = [("done", routed(confirm=confirm))]
    page.open()
    page.ask(QUESTION)
    page.one("#decline").click()
    page.wait(lambda: page.all("#statement") == [], "it is gone")
    assert script.confirmed == []


def test_a_question_back_is_answered_by_one_click(page: Page, script: Script) -> None:
    clarify = {
        "question": "Что вы имеете в виду?",
        "options": [
            {"label": "Отдел продаж", "question": "Сколько заказов в отделе продаж?", "route": "sql"}
        ],
    }
    back = routed(route="clarify", clarify=clarify, sql="")
    back["outcome"], back["answer"] = "not_found", clarify["question"]
    script.streams[QUESTION] = [("done", back)]
    script.streams["Сколько заказов в отделе продаж?"] = [("done", result(request_id="r2"))]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#routed .said", "Что вы имеете в виду?")
    page.wait_text("#status", "Нужно уточнение")
    assert page.all("#notices .notice") == [], "a question back is not a failure"
    page.one("#routed .actions button").click()
    page.wait(lambda: len(cells(page) or []) == 3, "the result")
    assert script.asked[1]["question"] == "Сколько заказов в отделе продаж?"
    assert script.asked[1]["route"] == "sql"


def test_values_of_a_database_are_text_and_long_results_open(page: Page, script: Script) -> None:
    rows = [[HOSTILE, n] for n in range(40)]
    script.streams[QUESTION] = [("done", result(rows))]
    page.open()
    page.ask(QUESTION)
    page.wait(lambda: len(cells(page) or []) == 30, "the first rows")
    page.wait(lambda: cells(page)[0][0] == HOSTILE, "markup is shown as it is written")
    page.one("#routed .wide + .quiet-button").click()
    page.wait(lambda: len(cells(page)) == 40, "all rows")
    assert page.driver.title == "Otvet"
    assert page.js("return document.documentElement.scrollWidth - innerWidth") <= 0
