"""Whether a sentence follows from the passage it cites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from word_embedder import WordEmbedder

from pipeline.evaluation.faithfulness import Faithfulness, Signs, chance, claims_of
from pipeline.types import Chunk

LABELS = Path(__file__).parents[3] / "benchmarks" / "data" / "faithfulness.jsonl"


def chunk(text: str, topic: str = "Отпуск") -> Chunk:
    return Chunk("id", "d", 0, topic, text, 0, len(text), file="a.md")


VACATION = chunk("Отпуск длится 28 дней. Его не переносят на другой год. Заявление подают до 15 декабря.")


def signs(claim: str, *chunks: Chunk) -> Signs:
    return Faithfulness(WordEmbedder()).signs(claim, chunks or (VACATION,))


def test_a_sentence_of_the_passage_itself():
    found = signs("Отпуск длится 28 дней.")
    assert found.late == pytest.approx(1.0)
    assert found.weakest == pytest.approx(1.0)
    assert (found.words, found.strange, found.opposed, found.bound) == (1.0, 0, False, False)


def test_a_figure_that_stands_nowhere_and_one_with_another_bound():
    assert signs("Отпуск длится 35 дней.").strange == 1
    assert signs("Заявление подают до 15 декабря.").bound is False
    assert signs("Отпуск длится до 28 дней.").bound is True


def test_a_figure_of_another_sentence_is_strange():
    """The passage as a whole holds it; the sentence that says the rest does not."""
    other = chunk("Порт сервера 8000. Очередь вмещает 8 вопросов.", topic="Настройки")
    assert signs("Порт сервера 8.", other).strange == 1


def test_a_denial_on_one_side_only():
    assert signs("Его переносят на другой год.").opposed is True
    assert signs("Его не переносят на другой год.").opposed is False


def test_words_that_are_not_there():
    found = signs("Отпуск длится 28 дней на Марсе.")
    assert found.words == pytest.approx(3 / 4, abs=0.11)
    assert found.weakest < 1.0
    assert chance(found) < chance(signs("Отпуск длится 28 дней."))


def test_the_title_is_said_with_every_sentence():
    assert signs("Отпуск: заявление подают до 15 декабря.").words == 1.0


def test_words_of_another_language_are_not_expected_to_recur():
    assert signs("The vacation is 28 days long and nobody minds.").words == 1.0


def test_the_best_of_several_passages_counts():
    other = chunk("Принтер стоит в коридоре.", topic="Принтер")
    assert signs("Отпуск длится 28 дней.", other, VACATION) == signs("Отпуск длится 28 дней.")


def test_a_passage_without_words():
    found = signs("Отпуск длится 28 дней.", chunk("", topic=""))
    assert chance(found) < 0.5


def test_what_claims_something_and_what_it_cites():
    answer = (
        "Да. Отпуск длится 28 дней [1]. Порядок:\n- заявление [2][9]\n\n"
        "Словами источника: «Отпуск длится 28 дней [1].»"
    )
    assert claims_of(answer, (1, 2)) == [("Отпуск длится 28 дней.", (1,)), ("- заявление", (2,))]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Первое слово. Второе слово [1].", [(1,), (1,)]),
        ("Первое слово [2]. Второе слово [1]. Третье слово.", [(2,), (1,), (1,)]),
        ("Порядок [2]:\n- первое слово\n- второе слово", [(2,), (2,)]),
        ("Порядок [2]:\n\n- первое слово\n- второе слово", [(2,), (2,)]),
        ("- первое слово [1]\n- второе слово", [(1,), (1,)]),
        ("Первое слово.\n\nВторое слово [1].", [(), (1,)]),
        ("Первое слово.", [()]),
    ],
)
def test_a_marker_stands_for_its_paragraph(answer, cited):
    assert [numbers for _, numbers in claims_of(answer, (1, 2))] == cited


def test_a_sentence_without_a_source_is_not_supported():
    answer = "Отпуск длится 28 дней.\n\nМесяц короткий [1]."
    judged = Faithfulness(WordEmbedder()).judge(answer, {1: VACATION})
    assert [one.supported for one in judged] == [False, False]
    assert (judged[0].reason, judged[0].chance, judged[1].numbers) == ("no_source", 0.0, (1,))
    assert judged[1].reason not in ("", "no_source")


def test_the_labelled_sentences_are_a_hundred_and_a_mix():
    lines = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    assert len({line["id"] for line in lines}) == len(lines) == 100
    assert sum(not line["supported"] for line in lines) == 50
    for line in lines:
        assert line["claim"]
        assert line["passage"]
        assert line["supported"] or line["note"], line["id"]


@pytest.mark.models
def test_the_real_embedder_agrees_with_the_labels_most_of_the_time(models_folder):
    """A guard of the weights only: how far they agree with sentences they have not seen is in the docs."""
    from pipeline.bootstrap import create_embedder
    from pipeline.settings import load_settings

    judge = Faithfulness(create_embedder(load_settings({"profile": "embedded"}).settings))
    lines = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    right = 0
    for line in lines:
        text, headings = line["passage"], tuple(line["headings"])
        passage = Chunk("id", "d", 0, line["topic"], text, 0, len(text), headings, file=line["file"])
        right += (chance(judge.signs(line["claim"], [passage])) >= 0.5) == line["supported"]
    assert right >= 78
