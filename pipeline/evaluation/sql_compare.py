"""Strategies of choosing tables side by side: what each shows of a schema, and what comes of that."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.errors import OtvetError
from pipeline.evaluation.sql_questions import SqlQuestion, same_rows
from pipeline.sql.database import Database
from pipeline.sql.excerpt import whole
from pipeline.sql.guard import guard
from pipeline.sql.schema_strategies import choose_tables
from pipeline.sql.understood import words_of
from pipeline.tables.answers import Tables
from pipeline.tables.computing import compute
from pipeline.tables.tools import Tools
from pipeline.types import AskRequest

__all__ = ["Shown", "StrategyResult", "Written", "compare_strategies", "own_questions", "shown", "written"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a strategy shows for one question.

    Attributes:
        tokens: Of the excerpt.
        whole: Of the whole schema.
        complete: All tables of the right statement are there.
    """

    tokens: int
    whole: int
    tables: int
    complete: bool
    ms: float


@dataclass(frozen=True, slots=True)
class Written:
    """What the model made of it."""

    right: bool
    statement: str
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """A strategy over all questions: means, and shares of 1; ``right`` is None where no model was asked."""

    strategy: str
    questions: int
    tokens: float
    cut: float
    tables: float
    ms: float
    complete: float
    right: float | None = None
    seconds: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None


def own_questions(databases: Iterable[Database]) -> list[SqlQuestion]:
    """The owner's examples as questions; each is left out of the prompt when it is asked itself."""
    return [
        SqlQuestion(f"{base.name}-{number}", "sql", "", base.name, asked, "", statement)
        for base in databases
        for number, (asked, statement) in enumerate(base.catalog().examples, 1)
    ]


def compare_strategies(
    tables: Tables,
    questions: Sequence[SqlQuestion],
    strategies: Sequence[str],
    count: Callable[[str], int],
    *,
    model: bool,
) -> list[StrategyResult]:
    """Every strategy over the same questions.

    Args:
        tables: The databases and the models.
        questions: With their right statements.
        strategies: Names.
        count: Tokens of a text.
        model: Have the statements written too, which takes seconds a question.

    Raises:
        ExtraMissingError: A strategy's library is not installed.
        OtvetError: A database or the model cannot be used.
    """
    results = []
    for strategy in strategies:
        seen = [shown(tables.tools, question, strategy, count) for question in questions]
        made = [written(tables, question, strategy) for question in questions] if model else []
        results.append(_result(strategy, seen, made))
    return results


def shown(tools: Tools, question: SqlQuestion, strategy: str, count: Callable[[str], int]) -> Shown:
    """What a strategy shows for a question, and how long choosing took once its vectors are there."""
    database = tools.databases[question.database]
    catalog = database.catalog()
    search = tools.schema(catalog, words_of(question.question, catalog, tools.today()).sure_tables)
    choose_tables(search, question.question, strategy)  # vectors of tables are made once
    started = time.perf_counter()
    found = choose_tables(search, question.question, strategy)
    ms = (time.perf_counter() - started) * 1000
    names = {table.name for table in found.tables}
    complete = set(guard(question.sql, catalog).tables) <= names
    return Shown(count(found.text), count(whole(catalog).text), len(names), complete, ms)


def written(tables: Tables, question: SqlQuestion, strategy: str) -> Written:
    """The statement that the model writes, run and compared with what the right one gives."""
    tools = tables.tools
    before, tools.settings = tools.settings, tools.settings.model_copy(update={"tables": strategy})
    started = time.monotonic()
    try:
        request = AskRequest(question.question, database=question.database, route="sql", confirm_sql=False)
        turn = tables.turn(request, lambda: False)
        kept = tuple(example for example in turn.catalog.examples if example[0] != question.question)
        turn.catalog = replace(turn.catalog, examples=kept)
        turn.route = "sql"
        steps = compute(turn, tools)
        while True:
            next(steps)
    except StopIteration as end:
        routed = end.value.routed
        rows = routed.table.rows if routed.table else ()
        right = turn.database.run(turn.database.check(question.sql)).rows
        return Written(
            same_rows(rows, right, ordered=question.ordered) if routed.table else False,
            routed.sql,
            sum(step.tokens_in for step in routed.steps),
            sum(step.tokens_out for step in routed.steps),
            time.monotonic() - started,
        )
    except OtvetError as error:
        return Written(False, str(error), 0, 0, time.monotonic() - started)
    finally:
        tools.settings = before


def _result(strategy: str, seen: Sequence[Shown], made: Sequence[Written]) -> StrategyResult:
    mean = statistics.fmean
    result = StrategyResult(
        strategy,
        len(seen),
        tokens=mean(one.tokens for one in seen),
        cut=1 - sum(one.tokens for one in seen) / sum(one.whole for one in seen),
        tables=mean(one.tables for one in seen),
        ms=statistics.median(one.ms for one in seen),
        complete=mean(one.complete for one in seen),
    )
    if not made:
        return result
    return replace(
        result,
        right=mean(one.right for one in made),
        seconds=statistics.median(one.seconds for one in made),
        tokens_in=mean(one.tokens_in for one in made),
        tokens_out=mean(one.tokens_out for one in made),
    )
