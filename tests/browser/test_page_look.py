"""What a person sees: contrast in both schemes, a phone's width, nothing that jumps, a light page."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_driver import Page
from page_replies import ANSWER, error, reply, source, tokens
from page_stub import Script, Wait

pytestmark = pytest.mark.browser

MEASURES = (Path(__file__).parent / "page_measures.js").read_text(encoding="utf-8")
STAGES = [{"name": "cosine", "score": 0.8714, "rank": 1}]
TEXT = "Отпуск длится 45 дней [1]."
STATES = {
    "welcome": None,
    "answered": [("sources", reply()), ("done", reply("answered", ANSWER))],
    "scores": [
        ("sources", reply()),
        (
            "done",
            reply("answered", ANSWER, flags=["-s", "-3"], sources=[source(1, stages=STAGES), source(2)]),
        ),
    ],
    "partial": [
        ("sources", reply()),
        ("done", reply("partial", TEXT, marks=[{"start": 14, "end": 21, "reason": "number"}])),
    ],
    "not_found": [("sources", reply("not_found", "Нет.")), ("done", reply("not_found", "Нет."))],
    "failed": [("sources", reply()), ("error", error("generator", "Модель остановилась.", "Повторите."))],
}


def show(page: Page, script: Script, state: str) -> None:
    page.open()
    steps = STATES[state]
    if steps is None:
        return
    script.streams["вопрос"] = steps
    page.ask("вопрос")
    page.wait(
        lambda: page.seen("#go-text") == "Спросить" and page.all(".voice, #notices > *, #failure"), state
    )
    if state == "answered":
        page.all(".model .cite")[0].click()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(page: Page, script: Script, scheme: str, state: str) -> None:
    page.scheme(scheme)
    show(page, script, state)
    page.driver.execute_async_script(
        "const ending = document.getAnimations().filter((a) => a.effect.getTiming().iterations < 9);"
        "Promise.all(ending.map((a) => a.finished)).then(arguments[0])"
    )
    measured = page.js(MEASURES)
    assert len(measured["texts"]) > 10
    assert (measured["ground"] < 0.1) == (scheme == "dark")
    assert [text for text in measured["texts"] if text["ratio"] < 4.5] == []
    assert min(text["size"] for text in measured["texts"]) >= 12


LONG = "ОченьДлинноеСловоБезПробеловКотороеНичемНеПереноситсяИДолжноУместитьсяНаЭкранеТелефона" * 3


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1920])
def test_no_width_scrolls_sideways(page: Page, script: Script, width: int) -> None:
    page.size(width, 800, mobile=width < 800)
    sources = [source(1, title=LONG, file=f"папка/{LONG}.md", quote=LONG, stages=STAGES), source(2)]
    fields = {
        "sources": sources,
        "flags": ["-s", "-9", "-ce", "-t"],
        "kb_version": LONG,
        "timings_ms": {LONG: 1.0, "total": 2.0},
    }
    script.streams["вопрос"] = [
        ("sources", reply(**fields)),
        ("done", reply("answered", f"{LONG} [1]", **fields)),
    ]
    page.open()
    assert page.js("return document.documentElement.scrollWidth") <= width
    page.ask("вопрос")
    page.wait_text("#status", "Ответ готов")
    assert page.js("return document.documentElement.scrollWidth") <= width
    beyond = page.js(
        "return [...document.querySelectorAll('main *')].filter((e) => !e.closest('.unseen') &&"
        "e.getBoundingClientRect().right > arguments[0] + 1).map((e) => e.className || e.tagName)",
        width,
    )
    assert beyond == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_jumps_while_the_answer_streams(page: Page, script: Script, width: int) -> None:
    """The browser's own measure of moved content stays far under its bound for "good" (0.1)."""
    begin = Wait()
    script.searches["вопрос"] = reply(question="вопрос")
    pieces = [step for text in tokens() for step in (("token", {"text": text}), b": \n\n")]
    script.streams["вопрос"] = [
        begin,
        ("sources", reply(question="вопрос")),
        *pieces,
        ("done", reply("answered", ANSWER, question="вопрос")),
    ]
    page.size(width, 844, mobile=width < 800)
    page.open()
    page.type("вопрос")
    page.wait(lambda: len(page.all(".card")) == 3, "sources while typing")
    page.js(
        "window.__shift = 0;"
        "new PerformanceObserver((list) => { for (const e of list.getEntries()) window.__shift += e.value; })"
        ".observe({type: 'layout-shift'})"
    )
    before = page.js("return document.getElementById('source-1').getBoundingClientRect().top")
    page.press("\ue007")
    begin.event.set()
    page.wait_text("#status", "Ответ готов")
    page.driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
    assert page.js("return document.getElementById('source-1').getBoundingClientRect().top") == before
    assert page.js("return window.__shift") < 0.02


def test_motion_stops_for_those_who_ask(page: Page, script: Script) -> None:
    never = Wait()
    script.streams["вопрос"] = [("sources", reply()), ("token", {"text": "Да"}), never]
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.open()
    page.ask("вопрос")
    page.wait_text(".model .words", "Да")
    page.wait(
        lambda: page.js("return document.getAnimations().length") == 0,
        "page.js('return document.getAnimations().length') == 0",
    )


def test_text_may_be_twice_as_large(page: Page, script: Script) -> None:
    page.size(640, 800)
    show(page, script, "answered")
    page.js("document.documentElement.style.fontSize = '200%'")
    assert page.js("return document.documentElement.scrollWidth") <= 640
