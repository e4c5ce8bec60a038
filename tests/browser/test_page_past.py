"""Past questions and opinions."""

from __future__ import annotations

import pytest
from page_driver import Page
from page_replies import ANSWER, reply
from page_stub import Script
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

QUESTION = "Сколько дней длится отпуск?"


def script_of(script: Script, *questions: str) -> None:
    for question in questions:
        done = reply("answered", ANSWER, question=question, request_id=question)
        script.streams[question] = [("sources", reply(question=question)), ("done", done)]


@pytest.fixture
def fresh(page: Page) -> Page:
    page.open()
    page.js("localStorage.removeItem('otvet.history')")
    return page


def ask(page: Page, question: str) -> None:
    page.ask(question)
    page.wait(
        lambda: page.js(
            "return document.querySelector('#foot').textContent.includes(arguments[0])", question
        ),
        "the reply",
    )


def test_past_questions_are_found_asked_again_and_forgotten(fresh: Page, script: Script) -> None:
    script_of(script, QUESTION, "Где пароль?")
    ask(fresh, QUESTION)
    ask(fresh, "Где пароль?")
    fresh.open()
    fresh.one("#history-open").click()
    fresh.wait_text("#history-list", "Где пароль?")
    fresh.wait(
        lambda: [row.text for row in fresh.all(".past")] == ["Где пароль?", QUESTION],
        "[row.text for row in fresh.all('.past')] == ['Где пароль?', ",
    )
    fresh.one("#history-find").send_keys("ДНЕЙ")
    fresh.wait(lambda: [row.text for row in fresh.all(".past")] == [QUESTION], "only that one is left")
    fresh.all(".past")[0].click()
    fresh.wait(lambda: script.asked[-1]["question"] == QUESTION, "it is asked again")
    fresh.wait_text("#status", "Ответ готов")
    fresh.one("#history-open").click()
    fresh.wait(lambda: fresh.all(".past")[0].text == QUESTION, "it stands first")
    fresh.one(f"[aria-label='Забыть вопрос: {QUESTION}']").click()
    fresh.wait(lambda: [row.text for row in fresh.all(".past")] == ["Где пароль?"], "it is forgotten")
    fresh.one("#history-clear").click()
    fresh.wait_text("#history-list", "Здесь будут вопросы")
    fresh.press(Keys.ESCAPE)
    fresh.wait(lambda: not fresh.js("return document.getElementById('history').open"), "it is closed")


def test_an_opinion_goes_to_the_server_with_the_files_that_were_cited(fresh: Page, script: Script) -> None:
    script_of(script, QUESTION)
    ask(fresh, QUESTION)
    fresh.one(".thumb.bad").click()
    fresh.wait_text("#status", "Оценка записана")
    assert script.opinions[0]["verdict"] == "bad"
    assert script.opinions[0]["question"] == QUESTION
    cited = [source["file"] for source in reply()["sources"]]
    assert script.opinions[0]["files"] == cited
    fresh.wait_focus("comment")
    fresh.press("не то")
    fresh.one("#right-file").send_keys("кадры/новое.md", Keys.ENTER)
    fresh.wait(lambda: len(script.opinions) == 2, "the opinion with its comment")
    assert (script.opinions[1]["comment"], script.opinions[1]["right_file"]) == ("не то", "кадры/новое.md")
    fresh.wait(lambda: not fresh.all("#opinion"), "the form is gone")
    fresh.one("#history-open").click()
    fresh.wait_text("#history-list", "неверно")


def test_a_damaged_history_is_an_empty_one(fresh: Page, script: Script) -> None:
    fresh.js("localStorage.setItem('otvet.history', '{\"a\": [')")
    script_of(script, QUESTION)
    ask(fresh, QUESTION)
    fresh.one("#history-open").click()
    fresh.wait(lambda: [row.text for row in fresh.all(".past")] == [QUESTION], "only what is new")
    assert fresh.complaints() == []
