"""Sources while the question is typed."""

from __future__ import annotations

import pytest
from page_driver import Page
from page_replies import ANSWER, error, reply, source
from page_stub import Script, Wait
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def only(n: int, **changes: object) -> dict[str, object]:
    return reply(sources=[source(n)], **changes)


def test_sources_appear_without_enter_and_nothing_is_asked(page: Page, script: Script) -> None:
    script.searches["отпуск"] = only(1, question="отпуск")
    page.open()
    page.wait(lambda: page.one("#welcome").is_displayed(), "page.one('#welcome').is_displayed()")
    page.type("отпуск")
    page.wait_text(".card", "Отпуск и больничный")
    page.wait_text("#status", "Найден 1 источник")
    assert not page.one("#welcome").is_displayed()
    assert not page.one("#answer").is_displayed()
    assert script.asked == []
    page.type(Keys.BACKSPACE)
    page.wait(lambda: page.one("#welcome").is_displayed(), "an empty box brings the first page back")


def test_keys_in_a_row_make_one_search(page: Page, script: Script) -> None:
    script.searches["график отпусков"] = only(2)
    page.open()
    page.js(
        "const box = document.getElementById('question');"
        "for (const c of 'график отпусков') {"
        "box.value += c; box.dispatchEvent(new InputEvent('input', {bubbles: true})); }"
    )
    page.wait_text(".card", "Перенос отпуска")
    assert script.searched == ["график отпусков"]


def test_a_late_reply_to_older_words_changes_nothing(page: Page, script: Script) -> None:
    slow = Wait()
    script.searches["отпуск"] = (slow, only(1))
    script.searches["отпуск в 1С"] = only(3)
    page.open()
    page.paste("отпуск")
    page.wait(lambda: script.searched == ["отпуск"], "the first search is under way")
    page.paste("отпуск в 1С")
    page.wait_text(".card", "Заявление на отпуск в 1С")
    slow.event.set()
    page.driver.execute_async_script("setTimeout(arguments[0], 200)")
    page.wait(
        lambda: [card.get_attribute("id") for card in page.all(".card")] == ["source-3"],
        "[card.get_attribute('id') for card in page.all('.card')] == ",
    )


def test_a_search_under_way_does_not_replace_the_evidence_of_an_answer(page: Page, script: Script) -> None:
    slow = Wait()
    script.searches["отпуск"] = (slow, only(1))
    script.streams["отпуск"] = [
        ("sources", only(3)),
        ("done", only(3, outcome="answered", answer="Через 1С [3].")),
    ]
    page.open()
    page.paste("отпуск")
    page.wait(lambda: script.searched, "the search is under way")
    page.press(Keys.ENTER)
    page.wait_text("#status", "Ответ готов")
    slow.event.set()
    page.driver.execute_async_script("setTimeout(arguments[0], 200)")
    page.wait(
        lambda: [card.get_attribute("id") for card in page.all(".card")] == ["source-3"],
        "[card.get_attribute('id') for card in page.all('.card')] == ",
    )


def test_the_last_answer_returns_with_its_question(page: Page, script: Script) -> None:
    script.streams["отпуск"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    script.searches["отпуск и"] = only(2)
    page.open()
    page.ask("отпуск")
    page.wait_text("#status", "Ответ готов")
    page.paste("отпуск и")
    page.wait(lambda: len(page.all(".card")) == 1, "sources for the new words")
    assert not page.one("#answer").is_displayed(), "an answer never stands beside other sources than its own"
    page.paste("отпуск")
    page.wait_text(".model .words", "28 календарных дней")
    page.wait(lambda: len(page.all(".card")) == 3, "len(page.all('.card')) == 3")
    assert len(script.asked) == 1


def test_nothing_similar_is_said_and_a_single_letter_is_not_searched(page: Page, script: Script) -> None:
    page.open()
    page.type("щщщ")
    page.wait_text("#status", "Похожих мест нет")
    page.type("щ")
    page.driver.execute_async_script("setTimeout(arguments[0], 200)")
    assert script.searched == ["щщщ"]


def test_shift_enter_is_a_new_line(page: Page, script: Script) -> None:
    script.streams["первая\nвторая"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open()
    box = page.one("#question")
    box.send_keys("первая")
    box.send_keys(Keys.SHIFT, Keys.ENTER)
    box.send_keys("вторая")
    assert script.asked == []
    box.send_keys(Keys.ENTER)
    page.wait_text("#status", "Ответ готов")
    assert script.asked[0]["question"] == "первая\nвторая"


def test_flags_alone_make_no_noise_while_typing(page: Page, script: Script) -> None:
    refused = error("empty_question", "Вопрос пуст.", "Напишите текст вопроса.")
    script.failures["-s -ce"] = (400, refused)
    page.open()
    page.paste("-s -ce")
    page.driver.execute_async_script("setTimeout(arguments[0], 250)")
    assert page.all("#failure") == []
    page.press(Keys.ENTER)
    page.wait_text("#failure", "Вопрос пуст.")
