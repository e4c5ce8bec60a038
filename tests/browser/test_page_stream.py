"""The reader of server-sent events and the highlighter, in the browser they run in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from page_driver import Page

pytestmark = pytest.mark.browser

PARSE = """
const [pieces, done] = arguments;
import('/static/js/stream.js').then(async ({ serverEvents }) => {
  const bytes = pieces.map((piece) => new Uint8Array(piece));
  const body = new ReadableStream({ start(c) { bytes.forEach((piece) => c.enqueue(piece)); c.close(); } });
  const events = [];
  for await (const event of serverEvents(body)) events.push(event);
  done(events);
}).catch((error) => done(String(error)));
"""

WORDS = """
const [text, marks, done] = arguments;
import('/static/js/words.js').then((m) => {
  const nodes = m.answerNodes(text, [{ n: 1, title: 'A' }, { n: 2, title: 'B' }], marks);
  const box = document.createElement('div');
  box.append(...nodes);
  box.querySelectorAll('.unseen').forEach((node) => node.remove());
  const texts = (css) => [...box.querySelectorAll(css)].map((node) => node.textContent);
  const lines = nodes.map((node) => [node.tagName, node.textContent]);
  done({ texts: lines, cites: texts('.cite'), marked: texts('.unsupported') });
}).catch((error) => done(String(error)));
"""

TEXT = (
    ": comment\n\n"
    'event: sources\ndata: {"sources": []}\n\n'
    'event: token\ndata: {"text": "Счёт 👨‍👩‍👧"}\n\n'
    'id: 7\nretry: 10\nevent: done\ndata: {"answer":\ndata: "две\\nстроки"}\n\n'
    "event: empty\n\n"
    'event: token\ndata: {"text": "never ended"}'
)
EVENTS = [
    {"name": "sources", "data": {"sources": []}},
    {"name": "token", "data": {"text": "Счёт 👨‍👩‍👧"}},
    {"name": "done", "data": {"answer": "две\nстроки"}},
]


def parse(page: Page, data: bytes, cuts: list[int]) -> Any:
    edges = [0, *cuts, len(data)]
    pieces = [list(data[a:b]) for a, b in pairwise(edges)]
    return page.driver.execute_async_script(PARSE, pieces)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_events_come_whole_however_the_bytes_are_cut(page: Page, newline: str) -> None:
    page.open()
    data = TEXT.replace("\n", newline).encode()
    assert parse(page, data, []) == EVENTS
    assert parse(page, data, list(range(1, len(data)))) == EVENTS
    for step in (2, 3, 5, 7):
        assert parse(page, data, list(range(step, len(data), step))) == EVENTS


def test_words_of_the_question_are_marked_across_endings_and_yo(page: Page) -> None:
    page.open()

    def hits(text: str, question: str) -> list[str]:
        pieces = page.driver.execute_async_script(
            "const [text, question, done] = arguments;"
            "import('/static/js/highlight.js').then((m) => done(m.highlighted(text, question)))",
            text,
            question,
        )
        assert "".join(piece["text"] for piece in pieces) == text
        return [piece["text"] for piece in pieces if piece["hit"]]

    assert hits("Учёт мёда ведёт счетовод Пётр", "учет меда") == ["Учёт", "мёда"]
    assert hits("Договоры поставки и договорённость", "по договору поставки") == ["Договоры", "поставки"]
    assert hits("Форма УПД-5, не УПД-6; 28 дней", "упд-5 за 28 дней") == ["УПД-5", "28", "дней"]
    assert hits("Что и как где", "что как где и") == []
    assert hits("Any text", "") == []


def test_answer_text_keeps_every_letter(page: Page) -> None:
    """Lists, markers and marks change how the text looks, never what it says."""
    page.open()
    text = "Да [1][2], нет.\n\n- первое 😀 [1]\n* второе\nконец [9]"
    marks = [
        {"start": 0, "end": 2, "reason": "name"},
        {"start": text.index("первое"), "end": text.index("😀") + 1, "reason": "date"},
    ]
    tree = page.driver.execute_async_script(WORDS, text, marks)
    assert tree == {
        "texts": [["P", "Да [1][2], нет."], ["UL", "первое 😀 [1]второе"], ["P", "конец [9]"]],
        "cites": ["[1]", "[2]", "[1]"],
        "marked": ["Да", "первое 😀"],
    }
