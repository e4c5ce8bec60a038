"""Answers without a language model: sentences as they stand, with their source."""

import pytest

from pipeline.answer.extractive import extractive_answer
from pipeline.types import Chunk, Citation, Evidence, EvidenceSentence, Hit


def evidence(*quotes, refused=False):
    """Quotes are (source, text around the quote, quote), best first."""
    hits, sentences = {}, []
    for source, text, quote in quotes:
        chunk = Chunk(f"c{source}", f"d{source}", 0, "", text, 100, 100 + len(text))
        hits[source] = Hit(chunk, 1.0, source)
        start = text.index(quote)
        sentences.append(EvidenceSentence(source, chunk, start, start + len(quote), 1.0))
    return Evidence(tuple(hits.values()), tuple(sentences), 0.9, refused)


def test_the_two_best_with_their_markers():
    answer = extractive_answer(
        evidence(
            (1, "Раз. Отпуск 28 дней.", "Отпуск 28 дней."),
            (2, "Пишите в кадры.", "Пишите в кадры."),
            (1, "Раз.", "Раз."),
        ),
        "ru",
    )
    assert answer.text == "Отпуск 28 дней [1].\nПишите в кадры [2]."
    assert answer.outcome == "answered"
    assert answer.citations[0] == Citation(1, "c1", "Отпуск 28 дней.", 105, 120)


def test_sentences_of_one_source_stand_as_in_the_source():
    text = "Сначала заявление. Потом приказ."
    answer = extractive_answer(evidence((2, text, "Потом приказ."), (2, text, "Сначала заявление.")), "ru")
    assert answer.text == "Сначала заявление [2].\nПотом приказ [2]."


def test_of_a_list_the_first_line_bears_the_marker():
    text = "Нужны:\n- паспорт\n- СНИЛС"
    assert extractive_answer(evidence((1, text, text)), "ru").text == "Нужны [1]:\n- паспорт\n- СНИЛС"


def test_a_block_of_code_stays_whole():
    code = "```sh\nls\n```"
    assert extractive_answer(evidence((1, code, code)), "ru").text == f"[1]\n{code}"


def test_footnotes_of_the_document_do_not_pass_for_citations():
    text = "Отпуск [2] длится 28 дней, см. [3](https://example.org)."
    answer = extractive_answer(evidence((1, text, text)), "ru").text
    assert answer == "Отпуск (2) длится 28 дней, см. [3](https://example.org) [1]."


@pytest.mark.parametrize(("language", "word"), [("ru", "Не найдено"), ("en", "Not found")])
def test_not_found_is_said_in_the_language_of_the_question(language, word):
    """Cases 7 and 17."""
    for empty in (evidence(), evidence((1, "Текст.", "Текст."), refused=True)):
        answer = extractive_answer(empty, language)
        assert answer.text.startswith(word)
        assert answer.outcome == "not_found"
        assert answer.citations == ()
