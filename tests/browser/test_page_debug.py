"""The debug drawer: flags that write themselves, candidates, times, prompt, words that met."""

from __future__ import annotations

import pytest
from page_driver import Page
from page_replies import ANSWER, reply
from page_stub import Script
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

QUESTION = "Сколько дней длится отпуск?"
TIMES = {"encode": 4.2, "search": 1.1, "first_token": 950.0, "generation": 2950.0, "total": 3000.0}


@pytest.fixture
def opened(page: Page, script: Script) -> Page:
    script.streams[QUESTION] = [
        ("sources", reply()),
        *[("token", {"text": "слово "})] * 4,
        ("done", reply("answered", ANSWER, timings_ms=TIMES)),
    ]
    page.open()
    page.one("#debug summary").click()
    return page


def test_nothing_is_asked_or_loaded_before_it_is_opened(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [("sources", reply()), ("done", reply("answered", ANSWER))]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    assert script.debugged == []
    assert not any("debug.js" in url for url in page.requests())
    page.one("#debug summary").click()
    page.wait_text("#debug-body", "Кандидаты по этапам")
    page.wait(lambda: [name for name, _ in script.debugged] == ["search", "words"], "both are asked for")


def test_candidates_times_speed_and_prompt(opened: Page, script: Script) -> None:
    opened.ask(QUESTION)
    opened.wait_text("#debug-body", "Какое слово нашло какое")
    opened.wait_text("#status", "Ответ готов")
    heads = [cell.text for cell in opened.all(".candidates thead th")]
    assert heads == ["№", "Фрагмент", "Смысл (косинус)", "Слова (BM25)", "Позднее взаимодействие"]
    opened.wait(
        lambda: len(opened.all(".candidates tbody tr")) == 6, "len(opened.all('.candidates tbody tr')) == 6"
    )
    first = opened.seen(".candidates tbody tr").replace("\n", " ")
    assert first.startswith("1 Отпуск и больничный")
    assert first.endswith("0,871 № 2 7,25 № 1 0,912 № 1")
    opened.wait(lambda: "ответ ИИ" in opened.seen(".times"), "'ответ ИИ' in opened.seen('.times')")
    opened.wait(
        lambda: "до первого слова 950 мс · Всего 3 с" in opened.seen("#debug-body"),
        "'до первого слова 950 мс · Всего 3 с' in opened.seen('#debug",
    )
    opened.wait(
        lambda: "модель читает 61,5 токена/с · пишет 9,25 токена/с" in opened.seen("#debug-body"),
        "'модель читает 61,5 токена/с · пишет 9,25 токена/с' in opene",
    )
    # Four pieces from the first word at 950 ms to the end at 3000 ms.
    opened.wait(
        lambda: "этот ответ 1,951 фрагмента/с" in opened.seen("#debug-body"),
        "'этот ответ 1,951 фрагмента/с' in opened.seen('#debug-body')",
    )
    widths = opened.js("return [...document.querySelectorAll('.bar')].map((bar) => bar.offsetWidth)")
    assert widths[2] == max(widths) > 10 * widths[0]
    opened.wait(
        lambda: opened.seen(".prompt summary") == "Запрос к модели, токенов не больше 212",
        "opened.seen('.prompt summary') == 'Запрос к модели, токенов ",
    )
    opened.one(".prompt summary").click()
    opened.wait(
        lambda: "You answer questions" in opened.seen(".prompt"),
        "'You answer questions' in opened.seen('.prompt')",
    )
    assert opened.complaints() == []


@pytest.mark.parametrize("width", [320, 768, 2560])
def test_wide_tables_move_within_themselves(opened: Page, width: int) -> None:
    opened.size(width, 900, mobile=width < 768)
    opened.ask(QUESTION)
    opened.wait_text("#debug-body", "Какое слово нашло какое")
    assert opened.js("return document.documentElement.scrollWidth - innerWidth") <= 0
    opened.plain_look()


def test_each_word_shows_the_word_it_met(opened: Page, script: Script) -> None:
    opened.ask(QUESTION)
    opened.wait_text(".heated", "28 дней.")
    opened.wait(
        lambda: opened.seen(".heated") == "𝔒 Отпуск длится 28 дней.",
        "opened.seen('.heated') == '𝔒 Отпуск длится 28 дней.'",
    )
    shades = opened.js("return [...document.querySelectorAll('.heat')].map((word) => word.className)")
    assert shades == ["heat heat-3", "heat heat-1", "heat heat-0", "heat heat-4"]
    met = opened.js(
        "const item = document.querySelectorAll('#debug-body .terms')[1].children[0]; item.focus();"
        "return document.querySelector('.met').textContent"
    )
    assert met == "дней."
    opened.wait(
        lambda: "кадры → тема «Кадры» 0,9" in opened.seen("#debug-body").replace("\n", " "),
        "'кадры → тема «Кадры» 0,9' in opened.seen('#debug-body').rep",
    )
    opened.all(".candidates .more")[1].click()
    opened.wait(lambda: script.debugged[-1][1].get("chunk") == ["c0002"], "the words of another passage")


@pytest.mark.parametrize(
    ("typed", "flag", "written"),
    [
        ("отпуск", "-s", "отпуск -s"),
        ("отпуск -s -t", "-s", "отпуск -t"),
        ("отпуск -k -3", "-d", "отпуск -3 -d"),
        ("отпуск -rrf -to -ce", "-li", "отпуск -rrf -li"),
        ("что значит -s здесь", "-t", "что значит -s здесь -t"),
    ],
)
def test_a_switch_writes_its_flag_into_the_question(
    opened: Page, typed: str, flag: str, written: str
) -> None:
    opened.paste(typed)
    opened.wait_text("#switches", "-ce")
    opened.one(f"[data-flag='{flag}']").click()
    opened.wait(
        lambda: opened.one("#question").get_attribute("value") == written,
        "opened.one('#question').get_attribute('value') == written",
    )
    on = opened.one(f"[data-flag='{flag}']").is_selected()
    assert on == written.endswith(flag)


def test_typed_flags_move_the_switches_and_a_number_takes_the_place_of_another(opened: Page) -> None:
    opened.paste("отпуск -k -2 -t")
    opened.wait(lambda: opened.one("[data-flag='-k']").is_selected(), "the switch of -k")
    opened.wait(
        lambda: opened.one("#flag-number").get_attribute("value") == "-2",
        "opened.one('#flag-number').get_attribute('value') == '-2'",
    )
    opened.one("#flag-number").send_keys("-5", Keys.ENTER)
    opened.wait(
        lambda: opened.one("#question").get_attribute("value") == "отпуск -k -t -5",
        "opened.one('#question').get_attribute('value') == 'отпуск -k",
    )
    opened.paste("отпуск -- -s")
    opened.wait(lambda: opened.js("return document.getElementById('switches').disabled"), "no flags after --")


def test_it_stays_open_over_a_visit_and_speaks_the_language_of_the_page(opened: Page, script: Script) -> None:
    opened.ask(QUESTION)
    opened.wait_text("#debug-body", "Кандидаты по этапам")
    opened.one("[data-language='en']").click()
    opened.wait_text("#debug-body", "Candidates by stage")
    opened.wait_text("#switches", "cross-encoder")
    opened.open()
    opened.wait(
        lambda: opened.js("return document.getElementById('debug').open"),
        "opened.js('return document.getElementById('debug').open')",
    )
    opened.js("localStorage.removeItem('otvet.debug')")
