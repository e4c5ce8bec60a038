"""Links and addresses leave the embedded text, and every token finds its way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import embedded_text, embedded_topic, embedded_with_map
from pipeline.types import Chunk


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("см. https://its.1c.ru/db/v8std#content:456:hdoc.", "см. [link]."),
        ("[Стандарт](https://a.b/c_(d)) и www.example.org, да", "[Стандарт]([link]) и [link], да"),
        ("пишите на Anna.K+1@mail.example.ru!", "пишите на [email]!"),
        ("mailto:a@b.ru", "[email]"),
        ("![](data:image/png;base64,iVBORw0KGgo=) конец", "![]([link]) конец"),
        ("время 18:00, пользователь@", "время 18:00, пользователь@"),
        ("<http://a.b/c>", "<[link]>"),
        ("сайт (http://a.b)", "сайт ([link])"),
    ],
)
def test_links_and_addresses_are_replaced(text: str, expected: str) -> None:
    assert anonymise(text).text == expected


def test_spans_are_given_in_the_original() -> None:
    text = "до http://a.b/c после"
    made = anonymise(text)
    assert made.text == "до [link] после"
    spans = np.array([[0, 2], [3, 4], [4, 8], [8, 9], [10, 15]], dtype=np.int32)
    original = [text[start:end] for start, end in made.to_original(spans)]
    assert original == ["до", "http://a.b/c", "http://a.b/c", "http://a.b/c", "после"]


@given(st.lists(st.sampled_from(["слово", "http://a.b/c", "x@y.ru", " ", ", ", "\n", "("]), max_size=20))
def test_unchanged_characters_map_to_themselves(pieces: list[str]) -> None:
    text = "".join(pieces)
    made = anonymise(text)
    size = len(made.text)
    spans = np.stack([np.arange(size), np.arange(1, size + 1)], axis=1).astype(np.int32)
    kept = np.ones(size, dtype=bool)
    for start, end, _, _ in made.edits:
        kept[start:end] = False
    mapped = made.to_original(spans)
    assert (np.diff(mapped[:, 0]) >= 0).all()
    for position in np.flatnonzero(kept):
        start, end = mapped[position]
        assert (end - start, text[start]) == (1, made.text[position])


def test_the_embedded_text_is_topic_and_text() -> None:
    chunk = Chunk("1", "d", 0, "Отпуск / Срок", "28 дней, см. http://a.b", 0, 23)
    assert embedded_text(chunk) == "Отпуск / Срок\n28 дней, см. [link]"
    assert embedded_text(Chunk("1", "d", 0, "", "28 дней", 0, 7)) == "28 дней"


def test_tokens_of_the_topic_have_no_place_in_the_chunk() -> None:
    made = embedded_with_map("Тема", "см. http://a.b да")
    assert made.text == "Тема\nсм. [link] да"
    spans = np.array([[0, 4], [5, 7], [9, 15], [16, 18]], dtype=np.int32)
    assert made.spans_in_chunk(spans).tolist() == [[-1, -1], [0, 2], [4, 14], [15, 17]]


def test_an_over_long_topic_keeps_its_ends() -> None:
    topic = "Название " + "слово " * 200 + "Раздел"
    short = embedded_topic(topic, 40)
    assert len(short) <= 40
    assert short.startswith("Название")
    assert short.endswith("Раздел")
    assert embedded_topic(topic, 0) == ""
    assert len(embedded_topic(topic, 2)) <= 2
