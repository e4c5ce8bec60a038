"""Ask, read, stop, follow a citation: the page against scripted replies."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from page_driver import Page
from page_replies import ANSWER, error, reply, source, tokens
from page_stub import Script, Wait
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

QUESTION = "Сколько дней длится отпуск?"


def answered(**changes: object) -> list[object]:
    return [
        ("sources", reply(**changes)),
        *[("token", {"text": text}) for text in tokens()],
        ("done", reply("answered", ANSWER, **changes)),
    ]


def test_sources_come_before_the_answer_and_the_answer_streams(page: Page, script: Script) -> None:
    before_words, half = Wait(), Wait()
    pieces = [("token", {"text": text}) for text in tokens()]
    script.streams[QUESTION] = [
        ("sources", reply()),
        before_words,
        *pieces[:12],
        half,
        *pieces[12:],
        (
            "done",
            reply("answered", ANSWER, timings_ms={"search": 11.4, "generation": 3150.0, "total": 3163.2}),
        ),
    ]
    page.open()
    page.ask(QUESTION)

    page.wait(lambda: len(page.all(".card")) == 3, "three cards before any word of the answer")
    page.wait_text(".documents .words", "28 календарных дней")
    page.wait_text("#status", "Модель читает 3 источника")
    page.wait(
        lambda: page.seen(".model .words") == "Модель читает источники…",
        "page.seen('.model .words') == 'Модель читает источники…'",
    )
    before_words.event.set()
    page.wait_text(".model .words", "длится 28 календарных")
    assert "на следующий год" not in page.seen(".model .words")
    page.wait_text("#status", "Модель пишет ответ")
    half.event.set()
    page.wait_text(".model .words", "на следующий год [2].")

    page.wait_text("#status", "Ответ готов, 3 источника")
    assert [item.text for item in page.all(".model li")] == [
        "подайте заявление не позднее чем за 14 дней [3];",
        "неиспользованные дни, не больше 14, переносятся на следующий год [2].",
    ]
    page.wait(
        lambda: page.seen("#timings") == "Всего 3,2 с\nпоиск 11 мс\nответ ИИ 3,2 с",
        "page.seen('#timings') == 'Всего 3,2 с'nпоиск 11 мс'nответ ИИ",
    )
    page.wait(
        lambda: "Qwen2.5-Coder-1.5B-Instruct Q4_K_M" in page.seen("#foot"),
        "'Qwen2.5-Coder-1.5B-Instruct Q4_K_M' in page.seen('#foot')",
    )
    page.wait(lambda: "3f9a2c71" in page.seen("#foot"), "'3f9a2c71' in page.seen('#foot')")
    assert script.asked == [{"question": QUESTION, "use_RAG": True, "format": False}]
    assert script.languages == ["ru"]
    assert page.complaints() == []


def test_a_card_names_file_and_page_and_links_to_our_view_and_to_the_original(
    page: Page, script: Script
) -> None:
    script.streams[QUESTION] = answered(sources=[source(1, chunk_id="a/b?c#d"), source(2)])
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")

    first, second = page.all(".card")
    links = [link.get_attribute("href") for link in first.find_elements("css selector", "a")]
    assert links == [f"{page.address}/source/a%2Fb%3Fc%23d#passage", "https://example.org/hr/otpusk"]
    assert "hr/Положение об отпусках.pdf" in second.text
    assert "с. 12" in second.text
    assert len(second.find_elements("css selector", "a")) == 1
    assert [mark.text for mark in first.find_elements("css selector", ".quote mark")] == [
        "отпуск",
        "дней",
        "дней",
    ]


def test_a_citation_lights_its_card_and_escape_leads_back(page: Page, script: Script) -> None:
    script.streams[QUESTION] = answered()
    page.open()
    page.size(1280, 420)
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    link = page.all(".model .cite")[-1]
    assert link.get_attribute("aria-label") == "Источник 2: Перенос отпуска на следующий год"

    link.click()
    page.wait_focus("source-2")
    page.wait(
        lambda: [card.get_attribute("id") for card in page.all(".card.lit")] == ["source-2"], "it is lit"
    )
    page.wait(
        lambda: page.js(
            "const { top } = document.getElementById('source-2').getBoundingClientRect();"
            "return top >= 0 && top < innerHeight"
        ),
        "the card is in view",
    )
    assert page.all("#source-2 .quote.clamped") == [], "the whole quote is open"

    page.press(Keys.ESCAPE)
    page.wait_focus("cite")
    assert page.all(".card.lit") == []


def test_a_marker_without_a_source_is_plain_text(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [
        ("sources", reply()),
        ("done", reply("answered", "Да [1], нет [7], [0].", sources=[source(1)])),
    ]
    page.open()
    page.ask(QUESTION)
    page.wait_text(".model .words", "Да [1], нет [7], [0].")
    page.wait(
        lambda: [link.text for link in page.all(".model .cite")] == ["[1]"],
        "[link.text for link in page.all('.model .cite')] == ['[1]']",
    )


@pytest.mark.parametrize("how", ["escape", "button"])
def test_stop_keeps_what_was_written_and_frees_the_server(page: Page, script: Script, how: str) -> None:
    never = Wait()
    script.streams[QUESTION] = [("sources", reply()), ("token", {"text": "Отпуск длится"}), never]
    page.open()
    page.ask(QUESTION)
    page.wait_text(".model .words", "Отпуск длится")
    page.wait(lambda: page.seen("#go-text") == "Остановить", "page.seen('#go-text') == 'Остановить'")
    if how == "escape":
        page.press(Keys.ESCAPE)
    else:
        page.one("#go").click()

    page.wait_text("#status", "Ответ остановлен")
    assert script.left.wait(5), "the connection was closed, so the server can stop writing"
    page.wait(
        lambda: page.seen(".model .words") == "Отпуск длится", "page.seen('.model .words') == 'Отпуск длится'"
    )
    page.wait(
        lambda: "остановлен" in page.seen(".model header"), "'остановлен' in page.seen('.model header')"
    )
    page.wait(lambda: page.seen("#go-text") == "Спросить", "page.seen('#go-text') == 'Спросить'")
    page.wait(lambda: len(page.all(".card")) == 3, "len(page.all('.card')) == 3")


def test_without_the_switch_only_the_documents_speak_and_the_choice_is_remembered(
    page: Page, script: Script
) -> None:
    script.streams[QUESTION] = [("sources", reply()), ("done", reply())]
    page.open()
    page.one("#ai").click()
    page.ask(QUESTION)
    page.wait_text("#status", "Найдено 3 источника")
    assert script.asked[0]["use_RAG"] is False
    assert page.all(".model") == []
    page.wait(
        lambda: page.seen(".documents .words").startswith("Ежегодный оплачиваемый отпуск"),
        "page.seen('.documents .words').startswith('Ежегодный оплачив",
    )
    page.open()
    assert not page.one("#ai").is_selected()


def test_where_no_model_wrote_the_answer_none_is_named(page: Page, script: Script) -> None:
    """A draft that the deadline cut is never left standing unchecked."""
    last = reply("answered", model="extractive", notes=["Время вышло: показаны слова документов."])
    script.streams[QUESTION] = [("sources", reply()), ("token", {"text": "Отпуск дли"}), ("done", last)]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    assert page.all(".model") == []
    page.wait(
        lambda: page.seen(".documents .words").startswith("Ежегодный оплачиваемый отпуск"),
        "page.seen('.documents .words').startswith('Ежегодный оплачив",
    )
    page.wait(
        lambda: page.seen("#notices") == "Время вышло: показаны слова документов.",
        "page.seen('#notices') == 'Время вышло: показаны слова докуме",
    )
    page.wait(
        lambda: "Модель: не понадобилась" in page.seen("#foot"),
        "'Модель: не понадобилась' in page.seen('#foot')",
    )
    page.wait(
        lambda: page.one(".documents .copy").is_displayed(), "page.one('.documents .copy').is_displayed()"
    )


def test_not_found_shows_the_nearest_places_and_what_to_try(page: Page, script: Script) -> None:
    refusal = reply("not_found", "О борще в базе ничего нет.", question="рецепт борща")
    script.streams["рецепт борща"] = [("sources", refusal), ("done", refusal)]
    page.open()
    page.ask("рецепт борща")
    page.wait_text("#status", "В базе знаний ответа нет")
    page.wait(
        lambda: page.seen("#evidence-title") == "Ближайшие места, но ответа в них нет",
        "page.seen('#evidence-title') == 'Ближайшие места, но ответа ",
    )
    page.wait(lambda: len(page.all(".card")) == 3, "len(page.all('.card')) == 3")
    assert page.all(".voice") == []
    page.wait(
        lambda: "О борще в базе ничего нет." in page.seen("#notices"),
        "'О борще в базе ничего нет.' in page.seen('#notices')",
    )
    page.wait(lambda: len(page.all("#notices li")) == 4, "len(page.all('#notices li')) == 4")


def test_an_empty_base_is_said_plainly(page: Page, script: Script) -> None:
    nothing = reply("not_found", "", sources=[])
    script.streams[QUESTION] = [("sources", nothing), ("done", nothing)]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#notices", "Похожих мест тоже не нашлось")
    assert not page.one("#evidence").is_displayed()


def test_partial_underlines_what_no_source_supports(page: Page, script: Script) -> None:
    """Offsets count code points: an emoji before the mark moves nothing."""
    text = "🏖️🏖️ Отпуск длится 45 дней [1].\nБланк — форма Т-9 [3]."
    spots = [("45 дней", "number"), ("форма Т-9", "code")]
    marks = [
        {"start": text.index(spot), "end": text.index(spot) + len(spot), "reason": reason}
        for spot, reason in spots
    ]
    script.streams[QUESTION] = [("sources", reply()), ("done", reply("partial", text, marks=marks))]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов, но подтверждён не весь")
    texts = page.js("return [...document.querySelectorAll('.unsupported')].map((e) => e.firstChild.data)")
    assert texts == ["45 дней", "форма Т-9"]
    assert [mark.get_attribute("title") for mark in page.all(".unsupported")] == [
        "такого числа нет в источниках",
        "такого кода нет в источниках",
    ]
    page.wait(
        lambda: "«45 дней»: такого числа нет в источниках" in page.seen(".model .notice"),
        "'«45 дней»: такого числа нет в источниках' in page.seen('.mo",
    )
    page.wait(
        lambda: "не всё подтверждено" in page.seen(".model header"),
        "'не всё подтверждено' in page.seen('.model header')",
    )
    page.wait(
        lambda: [link.text for link in page.all(".model .cite")] == ["[1]", "[3]"],
        "[link.text for link in page.all('.model .cite')] == ['[1]', ",
    )


def test_partial_without_marks_is_an_answer_cut_by_the_deadline(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [("sources", reply()), ("done", reply("partial", "Отпуск длится"))]
    page.open()
    page.ask(QUESTION)
    page.wait_text(".model .notice", "Ответ не закончен")


def test_generated_says_that_no_document_stands_behind_it(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [("done", reply("generated", "Здравствуйте!", sources=[]))]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов, без базы знаний")
    page.wait(
        lambda: "без базы знаний" in page.seen(".model header"),
        "'без базы знаний' in page.seen('.model header')",
    )


def test_flags_are_shown_as_understood_and_scores_in_the_cards(page: Page, script: Script) -> None:
    asked = f"{QUESTION} -5 -s -ce"
    stages = [
        {"name": "cosine", "score": 0.8714, "rank": 1},
        {"name": "late_interaction", "score": 0.9123, "rank": 2},
    ]
    fields = {
        "flags": ["-5", "-s", "-ce"],
        "sources": [source(1, stages=stages)],
        "notes": ["Кросс-энкодер не установлен."],
    }
    script.streams[asked] = answered(**fields)
    page.open()
    page.ask(asked)
    page.wait_text("#status", "Ответ готов, 1 источник")
    assert [chip.text for chip in page.all("#flags li")] == [
        "-5\nмодель читает 5 источников",
        "-s\nоценки этапов",
        "-ce\nкросс-энкодер",
    ]
    rows = [row.text for row in page.all(".stages tr")]
    assert rows == ["Смысл (косинус) 0,871 № 1", "Позднее взаимодействие 0,912 № 2"]
    page.wait(
        lambda: page.seen("#notices") == "Кросс-энкодер не установлен.",
        "page.seen('#notices') == 'Кросс-энкодер не установлен.'",
    )


def test_no_score_is_shown_unless_asked_for(page: Page, script: Script) -> None:
    script.streams[QUESTION] = answered()
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    assert "0,8" not in page.seen("#evidence")
    assert page.all(".stages") == []


def test_an_error_has_words_a_hint_and_a_second_try(page: Page, script: Script) -> None:
    script.failures[QUESTION] = (
        503,
        error("busy", "Сервер занят: в очереди уже 8.", "Повторите запрос через 20 с."),
    )
    script.streams[QUESTION] = answered()
    page.open()
    page.ask(QUESTION)
    page.wait_text("#failure", "Сервер занят: в очереди уже 8.")
    page.wait(
        lambda: "Повторите запрос через 20 с." in page.seen("#failure"),
        "'Повторите запрос через 20 с.' in page.seen('#failure')",
    )
    page.wait(lambda: "e5f6a7b8" in page.seen("#failure"), "'e5f6a7b8' in page.seen('#failure')")
    page.wait(
        lambda: page.one("#failure").get_attribute("role") == "alert",
        "page.one('#failure').get_attribute('role') == 'alert'",
    )
    script.failures.clear()
    page.one("#failure button").click()
    page.wait_text("#status", "Ответ готов")
    assert page.all("#failure") == []


@pytest.mark.parametrize(
    ("code", "address", "words"),
    [("index_missing", "/kb", "Добавить документы"), ("token_required", "/login", "Ввести ключ")],
)
def test_an_error_leads_to_where_it_can_be_mended(
    page: Page, script: Script, code: str, address: str, words: str
) -> None:
    script.failures[QUESTION] = (503, error(code, "Не вышло."))
    page.open()
    page.ask(QUESTION)
    page.wait_text("#failure", words)
    page.wait(
        lambda: page.one("#failure a").get_attribute("href") == page.address + address,
        "page.one('#failure a').get_attribute('href') == page.address",
    )


def test_an_error_in_mid_answer_leaves_the_sources(page: Page, script: Script) -> None:
    script.streams[QUESTION] = [
        ("sources", reply()),
        ("token", {"text": "Отпуск"}),
        ("error", error("generator", "Языковая модель остановилась с ошибкой.", "Повторите запрос.")),
    ]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#failure", "Языковая модель остановилась с ошибкой.")
    page.wait(lambda: len(page.all(".card")) == 3, "len(page.all('.card')) == 3")
    page.wait(lambda: page.seen(".model .words") == "Отпуск", "page.seen('.model .words') == 'Отпуск'")


@pytest.mark.parametrize(
    "last", [b'event: token\ndata: {"te', ("done", {**reply("answered", ANSWER), "status": None})]
)
def test_a_cut_reply_is_noticed(page: Page, script: Script, last: object) -> None:
    script.streams[QUESTION] = [("sources", reply()), last]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#failure", "Ответ оборвался на полуслове")


def test_copy_takes_the_answer_with_its_sources(page: Page, script: Script) -> None:
    script.streams[QUESTION] = answered()
    page.open()
    page.cdp(
        "Browser.grantPermissions",
        origin=page.address,
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
    )
    page.ask(QUESTION)
    page.one(".model .copy").click()
    page.wait_text("#status", "Ответ и источники скопированы")
    text = page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))"
    )
    assert text.replace("\r\n", "\n") == (
        f"{QUESTION}\n\n{ANSWER}\n\nИсточники\n[1] Отпуск и больничный — https://example.org/hr/otpusk\n"
        "[2] Перенос отпуска на следующий год — hr/Положение об отпусках.pdf\n"
        "[3] Заявление на отпуск в 1С — https://example.org/1c/kadry"
    )


def test_the_place_in_the_queue_and_the_estimate_are_told(page: Page, script: Script) -> None:
    first, second = Wait(), Wait()
    script.streams[QUESTION] = [
        ("sources", reply()),
        ("waiting", {"place": 2, "estimate_s": 21.4}),
        first,
        ("waiting", {"place": 0, "estimate_s": 7.2}),
        second,
        ("done", reply("answered", ANSWER)),
    ]
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "В очереди: перед вами 2 ответа, примерно 21 с")
    first.event.set()
    page.wait_text("#status", "Модель читает 3 источника, примерно 7 с")
    second.event.set()
    page.wait_text("#status", "Ответ готов")


def test_an_answer_can_be_asked_for_again_printed_and_found_on_the_map(page: Page, script: Script) -> None:
    script.streams[QUESTION] = answered()
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    page.js("window.print = () => { window.printed = true; }")
    page.one("#actions .print").click()
    page.wait(lambda: page.js("return window.printed"), "page.js('return window.printed')")
    page.wait(
        lambda: page.one("#actions a").get_attribute("href").endswith("/map?q=" + quote(QUESTION, safe="")),
        "page.one('#actions a').get_attribute('href').endswith('/map?",
    )
    page.one("#actions .again").click()
    page.wait(lambda: len(script.asked) == 2, "the question is asked once more")
    assert script.asked[1]["question"] == QUESTION


def test_on_paper_only_the_answer_and_its_sources(page: Page, script: Script) -> None:
    script.streams[QUESTION] = answered()
    page.open()
    page.ask(QUESTION)
    page.wait_text("#status", "Ответ готов")
    page.cdp("Emulation.setEmulatedMedia", media="print")
    shown = page.js(
        "return ['.sections', '.languages', '#go', '#actions', '.copy', '.card', '.model', '#question']"
        ".filter((css) => document.querySelector(css)?.checkVisibility())"
    )
    page.cdp("Emulation.setEmulatedMedia", media="")
    assert shown == [".card", ".model", "#question"]


def test_a_card_names_the_headings_that_lead_to_its_passage(page: Page, script: Script) -> None:
    title = reply()["sources"][0]["title"]
    script.searches[QUESTION] = reply(
        sources=[source(1, headings=["Кадры", "Отпуска", title]), source(2, headings=[])]
    )
    page.open()
    page.type(QUESTION)
    page.wait_text("#source-1 .path", "Кадры › Отпуска")
    assert page.all("#source-2 .path") == []


def test_a_new_question_stops_the_old_one(page: Page, script: Script) -> None:
    never = Wait()
    script.streams["первый"] = [("sources", reply()), ("token", {"text": "старое"}), never]
    script.streams["второй"] = answered(question="второй")
    page.open()
    page.ask("первый")
    page.wait_text(".model .words", "старое")
    page.ask("второй")
    page.wait_text("#status", "Ответ готов")
    assert script.left.wait(5)
    assert "старое" not in page.seen(".model .words")


def test_while_models_load_the_page_says_so_and_asks_when_they_are_ready(page: Page, script: Script) -> None:
    script.ready = False
    script.streams[QUESTION] = answered()
    page.open(ready=False)
    page.wait_text("#status", "Загружается модель.")
    page.ask(QUESTION)
    page.wait_text("#status", "Вопрос будет задан, как только они будут готовы")
    assert page.all("#failure") == []
    script.ready = True
    page.wait_text("#status", "Ответ готов")
    assert len(script.asked) == 2


def test_while_models_load_an_edited_question_is_not_asked_by_itself(page: Page, script: Script) -> None:
    script.ready = False
    page.open(ready=False)
    page.ask(QUESTION)
    page.wait_text("#status", "Вопрос будет задан")
    page.paste("другой")
    script.ready = True
    page.wait(lambda: page.js("return document.documentElement.dataset.server === 'ready'"), "ready")
    page.driver.execute_async_script("setTimeout(arguments[0], 200)")
    assert len(script.asked) == 1


def test_an_index_that_cannot_be_used_is_told_on_asking(page: Page, script: Script) -> None:
    """Even if /ready never gets beyond "loading"."""
    script.ready = False
    page.open(ready=False)
    missing = error("index_missing", "Индекса нет.", "Запустите: otvet index")
    script.failures[QUESTION] = (503, missing)
    page.ask(QUESTION)
    page.wait_text("#failure", "Запустите: otvet index")
