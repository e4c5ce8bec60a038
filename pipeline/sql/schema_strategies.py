"""The ways to choose what a prompt shows of a schema: one registration each.

A strategy scores every table; the best ones are taken, then the tables between them, along foreign keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.errors import SettingsError
from pipeline.sql.excerpt import Excerpt, excerpt, whole
from pipeline.sql.paths import between
from pipeline.sql.schema_search import SchemaSearch, Scores, chroma, dense, hybrid, keyword, nothing
from pipeline.strategies.registry import About
from pipeline.types import Language

__all__ = ["SCHEMA_STRATEGIES", "SchemaStrategy", "choose_tables", "schema_strategy"]

MOST_TABLES = 5
"""Tables that a question is taken to be about at most; those between come on top."""


@dataclass(frozen=True, slots=True)
class SchemaStrategy:
    """A way to tell which tables a question is about.

    Attributes:
        name: As the setting ``sql.tables`` calls it.
        about: What a person has to know, in both languages.
        score: Scores of tables; one that is absent, or not above 0, has nothing to do with the question.
        share: A table is taken whose score is at least this share of the best one's.
    """

    name: str
    about: Mapping[Language, About]
    score: Callable[[SchemaSearch, str], Scores]
    share: float = 0.4


def schema_strategy(name: str) -> SchemaStrategy:
    """The strategy of a name.

    Raises:
        SettingsError: There is none.
    """
    found = next((strategy for strategy in SCHEMA_STRATEGIES if strategy.name == name), None)
    if found is None:
        known = ", ".join(strategy.name for strategy in SCHEMA_STRATEGIES)
        raise SettingsError(where="sql.tables", reason=f"{name}: {known}")
    return found


def choose_tables(search: SchemaSearch, question: str, strategy: str) -> Excerpt:
    """The excerpt that a strategy shows for a question; the whole schema where it finds nothing.

    Raises:
        SettingsError: There is no strategy of this name.
        ExtraMissingError: The strategy's library is not installed.
    """
    chosen = schema_strategy(strategy)
    scores = chosen.score(search, question)
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return whole(search.catalog)
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    asked = [name for name in ranked if scores[name] >= chosen.share * best][:MOST_TABLES]
    asked += [name for name in search.named if name in search.catalog.tables and name not in asked]
    return excerpt(search.catalog, asked, between(search.catalog, asked))


SCHEMA_STRATEGIES: tuple[SchemaStrategy, ...] = (
    SchemaStrategy(
        name="none",
        about={
            "ru": About(
                title="Вся схема",
                what="вся схема целиком",
                pros="ничего не пропустит",
                cons="долго и путает модель на больших схемах",
                best_for="до десяти таблиц",
            ),
            "en": About(
                title="Whole schema",
                what="the whole schema",
                pros="leaves nothing out",
                cons="slow, and large schemas confuse a small model",
                best_for="up to ten tables",
            ),
        },
        score=nothing,
    ),
    SchemaStrategy(
        name="keyword",
        about={
            "ru": About(
                title="По словам",
                what="таблицы, чьи названия, пояснения, синонимы и значения сказаны в вопросе",
                pros="мгновенно, понятно почему",
                cons="нужны пояснения на языке вопросов",
                best_for="схемы с пояснениями",
            ),
            "en": About(
                title="By words",
                what="tables whose names, notes, synonyms and values the question says, in any form of the "
                "word, and written in Latin letters too",
                pros="instant, and it is plain why",
                cons="needs notes in the language of the questions",
                best_for="schemas with notes",
            ),
        },
        score=keyword,
    ),
    SchemaStrategy(
        name="dense",
        about={
            "ru": About(
                title="По смыслу",
                what="таблицы, чьё описание близко вопросу по смыслу (FAISS, если стоит)",
                pros="находит по смыслу и через язык",
                cons="у коротких описаний близость груба",
                best_for="схемы без пояснений, английские имена",
            ),
            "en": About(
                title="By meaning",
                what="tables whose description is near in meaning (FAISS where it is installed)",
                pros="across languages, without notes",
                cons="coarse: short descriptions lie close together",
                best_for="schemas without notes, questions in another language",
            ),
        },
        score=dense,
        share=0.3,
    ),
    SchemaStrategy(
        name="chroma",
        about={
            "ru": About(
                title="По смыслу, Chroma",
                what="то же, что dense, из коллекции Chroma в памяти",
                pros="там, где Chroma уже стоит",
                cons="ставит большую библиотеку ради десятков строк",
                best_for="сравнение",
            ),
            "en": About(
                title="By meaning, Chroma",
                what="as `dense`, out of a collection of Chroma in memory",
                pros="where Chroma is at home",
                cons="a large library for dozens of rows",
                best_for="comparison",
            ),
        },
        score=chroma,
        share=0.3,
    ),
    SchemaStrategy(
        name="hybrid",
        about={
            "ru": About(
                title="По словам и смыслу",
                what="слова и смысл вместе",
                pros="устойчиво, если вопрос назван иначе",
                cons="на несколько миллисекунд дольше",
                best_for="всё остальное",
            ),
            "en": About(
                title="By words and meaning",
                what="words and meaning, the better of both",
                pros="holds where a question uses other words",
                cons="a few tables and some milliseconds more",
                best_for="everything else",
            ),
        },
        score=hybrid,
    ),
)
