"""The second stage: ways to put what was found in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.strategies.registry import About, Registry
from pipeline.types import Language

__all__ = ["COVERAGE_WEIGHT", "RERANKERS", "Order", "Reranking"]

COVERAGE_WEIGHT = 0.08
"""What holding all of the question's words adds to a passage's score (0.04..0.12 do as well)."""

Scores = NDArray[np.float32]
Order = Callable[[Mapping[str, Scores]], Scores]
"""From the scores of the stages, by name, to the score that the order rests on."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """One way to order.

    Attributes:
        name: As the field ``reranker`` and the setting ``search.reranker`` call it.
        flag: How a question asks for it.
        about: What a person has to know, in both languages.
        order: The score that decides; None leaves the order of the first stage.
        reads: The installed cross-encoder reads the best passages with the question and decides among them;
            which are the best is for the strategy's usual reranker to say.
    """

    name: str
    flag: str
    about: Mapping[Language, About]
    order: Order | None = None
    reads: bool = False


RERANKERS: Registry[Reranking] = Registry("reranker")


def _text_only(stages: Mapping[str, Scores]) -> Scores:
    return stages["text_only"]


def _late_interaction(stages: Mapping[str, Scores]) -> Scores:
    scores: Scores = stages["late_interaction"] + COVERAGE_WEIGHT * stages["coverage"]
    return scores


RERANKERS.add(
    Reranking(
        name="none",
        flag="-nr",
        about={
            "ru": About(
                title="Без переранжирования",
                what="Порядок первого этапа остаётся.",
                pros="Ничего не стоит; порядок объясняется одним баллом.",
                cons="Первый этап видит фрагмент целиком, а не то место, где ответ.",
                best_for="Проверка самого поиска.",
            ),
            "en": About(
                title="No reranking",
                what="The order of the first stage stays.",
                pros="Costs nothing; one score explains the order.",
                cons="The first stage sees a passage as a whole, not the place of the answer.",
                best_for="Looking at the search itself.",
            ),
        },
    )
)
RERANKERS.add(
    Reranking(
        name="text-only",
        flag="-to",
        order=_text_only,
        about={
            "ru": About(
                title="Только текст",
                what="Косинус вопроса с вектором текста без темы.",
                pros="Не даёт громкому заголовку перевесить пустой текст; почти даром.",
                cons="Теряет тему: короткий фрагмент, понятный только под заголовком, уходит вниз.",
                best_for="База, где темы одинаковы или ничего не говорят.",
            ),
            "en": About(
                title="Text only",
                what="Cosine of the question with the vector of the text without its topic.",
                pros="A loud heading cannot carry an empty text; next to free.",
                cons="Loses the topic: a short passage that makes sense under its heading only goes down.",
                best_for="A base whose topics are all alike or say nothing.",
            ),
        },
    )
)
RERANKERS.add(
    Reranking(
        name="late-interaction",
        flag="-li",
        order=_late_interaction,
        about={
            "ru": About(
                title="Позднее взаимодействие",
                what="Каждое слово вопроса ищет лучшее слово фрагмента (ColBERT на том же эмбеддере), "
                "плюс доля слов вопроса.",
                pros="Почти качество кросс-энкодера за миллисекунду; без второй модели.",
                cons="Хранит вектор каждого токена: около 400 байт на токен на диске.",
                best_for="Выбор по умолчанию.",
            ),
            "en": About(
                title="Late interaction",
                what="Each word of the question looks for its best word of the passage (ColBERT on the same "
                "embedder), plus the share of the question's words.",
                pros="Nearly the quality of a cross-encoder in a millisecond; no second model.",
                cons="Keeps a vector of every token: about 400 bytes a token on the disk.",
                best_for="The default.",
            ),
        },
    )
)
RERANKERS.add(
    Reranking(
        name="cross-encoder",
        flag="-ce",
        reads=True,
        about={
            "ru": About(
                title="Кросс-энкодер",
                what="Отдельная модель читает вопрос вместе с каждым из лучших фрагментов.",
                pros="Самый точный на языке, которому её учили.",
                cons="Отдельная модель, десятки миллисекунд на фрагмент; английская на русском вредит.",
                best_for="Трудные вопросы, когда секунда не важна и модель знает язык базы.",
            ),
            "en": About(
                title="Cross-encoder",
                what="A model of its own reads the question together with each of the best passages.",
                pros="The most exact in the language it was taught.",
                cons="A second model, tens of milliseconds a passage; an English one does harm in Russian.",
                best_for="Hard questions, where a second does not matter and the model knows the language.",
            ),
        },
    )
)
