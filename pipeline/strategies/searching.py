"""The first stage: ways to find the passages that are looked at more closely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.snapshot import Asked, Excerpt, Snapshot
from pipeline.strategies.registry import About, Registry
from pipeline.types import Filter, Language

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Find", "Strategy"]

Find = Callable[[Snapshot, Asked, Filter | None, int], Excerpt]
"""The first stage; the number is how many passages each of its searches contributes."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to search.

    Attributes:
        name: As the field ``strategy`` and the setting ``search.strategy`` call it.
        flag: How a question asks for it.
        about: What a person has to know, in both languages.
        find: The first stage.
        reranker: What puts its finds in order where nobody chose.
        is_whole: Everything found is read, as much as the prompt has room for, and all of it is a source.
        is_calibrated: Refusal was fitted on its candidates.
    """

    name: str
    flag: str
    about: Mapping[Language, About]
    find: Find
    reranker: str = "none"
    is_whole: bool = False
    is_calibrated: bool = False


STRATEGIES: Registry[Strategy] = Registry("strategy")
DEFAULT_STRATEGY = "hybrid-z"


def _everything(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
    return snapshot.listing(wanted, count)


def _keyword(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
    return snapshot.candidates(asked, wanted, mode="keyword", fusion="zscore", count=count)


def _dense(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
    return snapshot.candidates(asked, wanted, mode="dense", fusion="zscore", count=count)


def _reciprocal(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
    return snapshot.candidates(asked, wanted, mode="hybrid", fusion="rrf", count=count)


def _standardised(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
    return snapshot.candidates(asked, wanted, mode="hybrid", fusion="zscore", count=count)


STRATEGIES.add(
    Strategy(
        name="none",
        flag="-all",
        find=_everything,
        is_whole=True,
        about={
            "ru": About(
                title="Без поиска",
                what="Вся база подряд, файл за файлом, сколько помещается в запрос к языковой модели.",
                pros="Ничего не пропускает, пока база помещается целиком; нечего настраивать.",
                cons="Медленнее и дороже всего: модель читает тысячи токенов на каждый вопрос. "
                "Что не поместилось, то не найдётся никогда.",
                best_for="База в несколько страниц; мера, с которой сравнивают остальное.",
            ),
            "en": About(
                title="No search",
                what="The whole base in order, file after file, as much as the prompt has room for.",
                pros="Misses nothing while the whole base fits; nothing to tune.",
                cons="The slowest and dearest: the model reads thousands of tokens for every question. "
                "What does not fit is never found.",
                best_for="A base of a few pages; the measure that the others are held against.",
            ),
        },
    )
)
STRATEGIES.add(
    Strategy(
        name="keyword",
        flag="-k",
        find=_keyword,
        about={
            "ru": About(
                title="По словам",
                what="BM25 по основам слов: русское и английское словоизменение, ё = е, опечатки.",
                pros="Быстро; видно, почему нашлось; точно находит коды, имена и редкие слова.",
                cons="Не знает синонимов; не находит ничего, если ни одно слово не совпало.",
                best_for="Артикулы, коды ошибок, имена процедур, точные названия.",
            ),
            "en": About(
                title="By words",
                what="BM25 over word stems: Russian and English inflection, ё = е, misspellings.",
                pros="Fast; one sees why something was found; exact on codes, names and rare words.",
                cons="Knows no synonyms; finds nothing where no word is shared.",
                best_for="Article numbers, error codes, names of procedures, exact titles.",
            ),
        },
    )
)
STRATEGIES.add(
    Strategy(
        name="dense",
        flag="-d",
        find=_dense,
        about={
            "ru": About(
                title="По смыслу",
                what="Косинус вектора вопроса с вектором темы и текста каждого фрагмента.",
                pros="Находит сказанное другими словами и на другом языке.",
                cons="Путает похожие коды и числа; редкое слово для него мало значит.",
                best_for="Вопросы своими словами; база на другом языке, чем вопрос.",
            ),
            "en": About(
                title="By meaning",
                what="Cosine of the question's vector with the vector of each passage's topic and text.",
                pros="Finds what was said in other words and in another language.",
                cons="Mixes up similar codes and numbers; a rare word means little to it.",
                best_for="Questions in one's own words; a base in another language than the question.",
            ),
        },
    )
)
STRATEGIES.add(
    Strategy(
        name="hybrid-rrf",
        flag="-rrf",
        find=_reciprocal,
        reranker="late-interaction",
        about={
            "ru": About(
                title="Гибрид по местам",
                what="Оба поиска, списки сложены по местам (RRF: 0,7 за смысл, 0,3 за слова, k = 60).",
                pros="Не зависит от шкалы оценок; одинаково считается в любом хранилище.",
                cons="Не видит, насколько первый лучше второго: явный победитель как случайный.",
                best_for="Хранилище со своей мерой слов (PostgreSQL), где баллы несравнимы.",
            ),
            "en": About(
                title="Hybrid by ranks",
                what="Both searches, joined by rank (RRF: 0.7 for meaning, 0.3 for words, k = 60).",
                pros="Does not depend on the scale of the scores; comes out the same in every store.",
                cons="Does not see by how much the first beats the second: a clear winner looks lucky.",
                best_for="A store with a word measure of its own (PostgreSQL), whose scores do not compare.",
            ),
        },
    )
)
STRATEGIES.add(
    Strategy(
        name=DEFAULT_STRATEGY,
        flag="-zs",
        find=_standardised,
        reranker="late-interaction",
        is_calibrated=True,
        about={
            "ru": About(
                title="Гибрид по баллам",
                what="Оба поиска, стандартизованные баллы (z) сложены.",
                pros="Сохраняет отрыв победителя; на проверочных наборах лучше каждого поиска отдельно.",
                cons="Один выброс в баллах может перевесить второй поиск.",
                best_for="Обычная база: выбор по умолчанию, под него откалиброван отказ.",
            ),
            "en": About(
                title="Hybrid by scores",
                what="Both searches, their standardised scores (z) added up.",
                pros="Keeps by how much a winner wins; better than either search alone on the test sets.",
                cons="One outlying score can outweigh the other search.",
                best_for="An ordinary base: the default, and what refusal is calibrated for.",
            ),
        },
    )
)
