"""Everything by keyboard, and names for those who listen."""

from __future__ import annotations

import pytest
from page_driver import Page
from page_replies import ANSWER, reply
from page_stub import Script
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def test_from_the_first_key_to_the_source_and_back_without_a_mouse(page: Page, script: Script) -> None:
    script.streams["отпуск"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open()
    page.press("отпуск")
    page.press(Keys.ENTER)
    page.wait_text("#status", "Ответ готов")
    assert page.focused() == "question", "asking leaves the caret where it was"

    order = []
    for _ in range(20):
        page.press(Keys.TAB)
        order.append(page.focused())
        if order[-1] == "cite":
            break
    assert order[:2] == ["ai", "go"]
    page.press(Keys.ENTER)
    page.wait_focus("source-1")
    page.press(Keys.TAB)
    assert page.js("return document.activeElement.closest('.card').id") == "source-1", (
        "on from the card itself"
    )
    page.press(Keys.ESCAPE)
    page.wait_focus("cite")


def test_the_switch_and_the_languages_answer_to_space_and_enter(page: Page) -> None:
    page.open()
    page.press(Keys.TAB)
    page.press(Keys.SPACE)
    assert not page.one("#ai").is_selected()
    page.js("document.querySelector('[data-language=en]').focus()")
    page.press(Keys.ENTER)
    page.wait_text("#go-text", "Ask")


def test_focus_is_always_visible(page: Page, script: Script) -> None:
    script.streams["отпуск"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open()
    page.ask("отпуск")
    page.wait_text("#status", "Ответ готов")
    seen = 0
    for _ in range(12):
        page.press(Keys.TAB)
        style = page.js(
            "const e = document.activeElement; const { outlineStyle, outlineWidth } = getComputedStyle(e);"
            "return e === document.body ? null : `${outlineStyle} ${outlineWidth}`"
        )
        if style:
            assert style == "solid 2px", page.focused()
            seen += 1
    assert seen >= 8


def test_names_and_roles(page: Page, script: Script) -> None:
    script.streams["отпуск"] = [
        ("sources", reply(flags=["-k"])),
        ("done", reply("answered", ANSWER, flags=["-k"])),
    ]
    page.open()
    page.ask("отпуск")
    page.wait_text("#status", "Ответ готов")
    nodes = page.cdp("Accessibility.getFullAXTree")["nodes"]
    named = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if "role" in node and not node.get("ignored")
    }
    for expected in [
        ("textbox", "Вопрос"),
        ("switch", "Ответ ИИ"),
        ("button", "Спросить"),
        ("group", "Язык страницы"),
        ("region", "Источники"),
        ("region", "Ответ"),
        ("list", "Понятые флаги"),
        ("article", "Источник [1] Отпуск и больничный (в новой вкладке)"),
        ("link", "Источник 1: Отпуск и больничный"),
    ]:
        assert expected in named, expected
    nameless = [
        role for role, name in named if role in {"button", "link", "textbox", "switch"} and not name.strip()
    ]
    assert nameless == []
    live = page.one("#status")
    assert (live.get_attribute("role"), live.get_attribute("aria-live")) == ("status", "polite")


def test_a_second_enter_is_not_a_second_question(page: Page, script: Script) -> None:
    script.streams["отпуск"] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open()
    page.paste("отпуск")
    page.js(
        "const press = () => new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true});"
        "for (let i = 0; i < 3; i++) document.getElementById('question').dispatchEvent(press())"
    )
    page.wait_text("#status", "Ответ готов")
    assert len(script.asked) == 1
