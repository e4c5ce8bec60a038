"""The hybrid search as one SQL statement.

::

    nearest   the rows nearest by meaning: along the HNSW graph, or exactly where few rows may be ranked
    matched   the rows that hold a telling word (GIN index of our stems), or all words of the question
              (GIN index of the configurations), with their BM25
    dense, keyword   the best of both, a text that occurs several times once
    pool      their union, with both scores of each row
    fused     both rankings joined, by reciprocal ranks or by standardised scores

A filter stands in ``nearest`` and in ``matched``, so it decides before anything is ranked. Everything a
person wrote is a bound parameter.

BM25 needs how often a term occurs in a row. PostgreSQL tells it in ``ts_rank``, which for one term is
1/1 + 1/4 + 1/9 + … over its occurrences, divided by 1.64493406685 (pi squared / 6); what that sum lacks to
the whole is near 1 / (occurrences + 1/2), which, rounded, tells the number exactly up to 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.fusion import DENSE_WEIGHT, KEYWORD_WEIGHT, RRF_K, Fusion
from pipeline.stores.postgres.filters import Condition
from pipeline.text.bm25 import K1, B
from pipeline.types import QuestionTerm, SearchMode

__all__ = ["MOST_TERMS", "Statement", "pool_statement"]

MOST_TERMS = 48
"""Spellings of a question's terms that are counted, the heaviest first: a row is looked through for each."""

_FULL = 1.64493406685


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, with ``{schema}`` still to be put in, and its parameters."""

    sql: str
    values: dict[str, Any]


def pool_statement(
    terms: Sequence[QuestionTerm],
    condition: Condition,
    *,
    mode: SearchMode,
    fusion: Fusion,
    exact: bool,
    mean_length: float,
    all_words: bool,
) -> Statement:
    """The statement; ``vector``, ``rare``, ``question``, ``look`` and ``count`` are left to be bound.

    Args:
        terms: Keywords of the question.
        condition: What rows must meet.
        mode: One of both searches, or both.
        fusion: How they are joined.
        exact: Compare the question with every row that may be ranked, and not along the graph.
        mean_length: Terms of a row on average.
        all_words: Whether the question has words for the configurations.
    """
    score, values = _bm25(terms, mean_length)
    searches = []
    if mode != "keyword":
        searches += [_nearest(condition, exact=exact), _DENSE]
    if mode != "dense":
        searches += [_matched(condition, score, all_words=all_words), _KEYWORD]
    names = [name for name, other in (("dense", "keyword"), ("keyword", "dense")) if mode != other]
    found = " UNION ALL ".join(
        f"SELECT no, twin, {number} AS search, place FROM {name}" for number, name in enumerate(names)
    )
    looked = "(SELECT count(*) FROM nearest)" if mode != "keyword" else "0"
    different = "(SELECT count(*) FROM dense)" if mode != "keyword" else "0"
    matches = "(SELECT count(*) FROM matched)" if mode != "dense" else "0"
    worded = "(SELECT count(*) FROM keyword)" if mode != "dense" else "0"
    sql = f"""
WITH {", ".join(searches)}, pool AS (
    SELECT DISTINCT ON (twin) no FROM ({found}) AS found ORDER BY twin, search, place
), scored AS MATERIALIZED (
    SELECT c.no, c.id, -(c.embedding <#> %(vector)s::vector) AS cosine, {_score("c", score)} AS keyword
    FROM pool JOIN {{schema}}.chunks AS c USING (no)
), fused AS (
    SELECT no, id, cosine, keyword, {_FUSED[fusion if mode == "hybrid" else mode]} AS fused FROM scored
)
SELECT no, cosine, keyword, fused, {looked} AS looked, {different} AS dense,
    {matches} AS matches, {worded} AS worded
FROM fused ORDER BY round(fused::numeric, 6) DESC, id"""
    return Statement(sql, values | condition.values)


def _nearest(condition: Condition, *, exact: bool) -> str:
    if exact:
        # OFFSET 0 keeps the rows apart from the order, so that all of them are compared.
        return f"""nearest AS MATERIALIZED (
    SELECT no, id, twin, embedding <#> %(vector)s::vector AS distance FROM (
        SELECT no, id, twin, embedding FROM {{schema}}.chunks WHERE {condition.sql} OFFSET 0
    ) AS allowed ORDER BY distance, id LIMIT %(look)s
)"""
    return f"""nearest AS MATERIALIZED (
    SELECT no, id, twin, embedding <#> %(vector)s::vector AS distance FROM {{schema}}.chunks
    WHERE {condition.sql} ORDER BY embedding <#> %(vector)s::vector LIMIT %(look)s
)"""


_DENSE = """dense AS (
    SELECT no, twin, row_number() OVER (ORDER BY round(distance::numeric, 6), id) AS place FROM (
        SELECT DISTINCT ON (twin) no, id, twin, distance FROM nearest
        ORDER BY twin, round(distance::numeric, 6), id
    ) AS different ORDER BY place LIMIT %(count)s
)"""

_KEYWORD = """keyword AS (
    SELECT no, twin, row_number() OVER (ORDER BY round(score::numeric, 6) DESC, id) AS place FROM (
        SELECT DISTINCT ON (twin) no, id, twin, score FROM matched
        ORDER BY twin, round(score::numeric, 6) DESC, id
    ) AS different ORDER BY place LIMIT %(count)s
)"""


def _matched(condition: Condition, score: str, *, all_words: bool) -> str:
    holds = "words @@ %(rare)s::tsquery"
    if all_words:
        asked = (f"plainto_tsquery({{{name}}}::regconfig, %(question)s)" for name in ("russian", "english"))
        holds = f"({holds} OR {' OR '.join(f'fulltext @@ {one}' for one in asked)})"
    return f"""matched AS MATERIALIZED (
    SELECT no, id, twin, {_score("m", score)} AS score FROM (
        SELECT no, id, twin, length, ts_filter(words, '{{{{a,b,c,d}}}}') AS words, fulltext
        FROM {{schema}}.chunks WHERE {holds} AND {condition.sql} OFFSET 0
    ) AS m ORDER BY score DESC, id LIMIT %(look)s
)"""


def _bm25(terms: Sequence[QuestionTerm], mean_length: float) -> tuple[str, dict[str, Any]]:
    """The BM25 of a row as an expression over its columns ``words`` and ``length`` of a table ``row``."""
    values: dict[str, Any] = {
        "flat": K1 * (1 - B),
        "slope": K1 * B / max(mean_length, 1.0),
    }
    parts: list[str] = []
    number = 0
    for term in sorted(terms, key=lambda one: -one.weight):
        spellings: list[str] = []
        for word, factor in term.found_as:
            if number >= MOST_TERMS:
                break
            values |= {f"t{number}": quoted(word), f"w{number}": factor * term.weight * (K1 + 1)}
            spellings.append(_SATURATED.replace("#", str(number)))
            number += 1
        if spellings:
            parts.append(spellings[0] if len(spellings) == 1 else f"greatest({', '.join(spellings)})")
    return " + ".join(parts) or "0.0::float8", values


_OCCURRENCES = (
    f"round(1 / ({_FULL} - {_FULL} * ts_rank('{{{{1,1,1,1}}}}', row.words, %(t#)s::tsquery)::float8) - 0.5)"
)
_SATURATED = (
    f"CASE WHEN row.words @@ %(t#)s::tsquery THEN %(w#)s::float8 * {_OCCURRENCES}"
    f" / ({_OCCURRENCES} + %(flat)s::float8 + %(slope)s::float8 * row.length) ELSE 0 END"
)


def _score(table: str, score: str) -> str:
    return f"({score.replace('row.', f'{table}.')})"


def quoted(term: str) -> str:
    """A term as a tsquery of its own."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


_RRF = f"""{DENSE_WEIGHT} / ({RRF_K} + row_number() OVER (ORDER BY round(cosine::numeric, 6) DESC, id))
    + {KEYWORD_WEIGHT} / ({RRF_K} + row_number() OVER (ORDER BY round(keyword::numeric, 6) DESC, id))"""
_ZSCORE = " + ".join(
    f"CASE WHEN stddev_pop({name}) OVER () < 1e-9 THEN 0"
    f" ELSE ({name} - avg({name}) OVER ()) / stddev_pop({name}) OVER () END"
    for name in ("cosine", "keyword")
)
_FUSED = {"rrf": _RRF, "zscore": _ZSCORE, "dense": "cosine", "keyword": "keyword"}
