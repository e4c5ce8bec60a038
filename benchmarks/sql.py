"""Questions over databases: routes, statements, rows and sources against the right answers.

    python benchmarks/sql.py HOME [--strategies keyword,hybrid,none] [--part 1-40] [--only sql|route|search]

HOME is one that ``otvet sql demo`` made and ``otvet index`` indexed. Results are kept line by line under
HOME/sql-results.jsonl and taken from there, so that a run can be continued; ``--fresh`` forgets them.
Each question is asked on the day its line names. Only what needs it asks the language model.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.bootstrap import create_service
from pipeline.errors import OtvetError
from pipeline.evaluation.sql_compare import shown
from pipeline.evaluation.sql_questions import SqlQuestion, load_sql_questions, same_rows
from pipeline.service import QAService
from pipeline.settings import load_settings
from pipeline.tables.answers import Tables
from pipeline.types import AskRequest, Reply

QUESTIONS = Path(__file__).parent / "data" / "sql_questions.jsonl"
TUNED_ON = 40
"""So many questions were there when rules and prompts were made; the later ones are reported apart."""

Record = dict[str, Any]


class Bench:
    """One home, asked question by question."""

    def __init__(self, home: Path, *, fresh: bool) -> None:
        self.settings = load_settings({"home": str(home)}).settings
        self.service: QAService = create_service(self.settings)
        self.service.start(wait=True)
        tables = self.service.parts.tables
        if tables is None:
            raise SystemExit(f"{home}: sources.toml declares no database")
        self.tables: Tables = tables
        self.path = home / "sql-results.jsonl"
        if fresh:
            self.path.unlink(missing_ok=True)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.known: dict[str, Record] = {found["key"]: found for found in map(json.loads, lines)}

    def record(self, key: str, question: SqlQuestion, strategy: str, kind: str) -> Record:
        """What came of a question in one way, from the file or made now."""
        name = f"{kind}:{strategy}:{key}"
        if name not in self.known:
            tools = self.tables.tools
            day = dt.date.fromisoformat(question.today)
            tools.today = lambda: day
            tools.settings = tools.settings.model_copy(update={"tables": strategy or "keyword"})
            started = time.monotonic()
            made = getattr(self, f"_{kind}")(question)
            found = {"key": name, "id": question.id, **made, "seconds": round(time.monotonic() - started, 3)}
            self.known[name] = found
            with self.path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(found, ensure_ascii=False, default=str) + "\n")
        return self.known[name]

    def _route(self, question: SqlQuestion) -> Record:
        turn = self.tables.route_of(AskRequest(question.question, use_rag=True))
        steps = {step.name: step.detail for step in turn.log.steps}
        tokens = sum(step.tokens_in for step in turn.log.steps)
        return {"route": turn.route, "database": turn.database.name, "steps": steps, "tokens_in": tokens}

    def _schema(self, question: SqlQuestion) -> Record:
        """What a strategy shows: its tokens and whether all tables of the right statement are there."""
        self.wait()
        worker = self.tables.tools.worker
        count = worker.get().count_tokens if worker is not None else len
        tools = self.tables.tools
        return asdict(shown(tools, question, tools.settings.tables, count))

    def wait(self) -> None:
        """Until the model is loaded."""
        worker = self.tables.tools.worker
        if worker is not None:
            worker.get().wait_ready(120)

    def _sql(self, question: SqlQuestion) -> Record:
        reply = self._asked(question, "sql")
        if isinstance(reply, str):
            return {"right": False, "sql": reply}
        routed = reply.routed
        rows = routed.table.rows if routed and routed.table else ()
        return {
            "right": same_rows(rows, question.answer, ordered=question.ordered),
            "sql": routed.sql if routed else "",
            "rows": [list(row) for row in rows[:3]],
            "answer": reply.answer.text,
            "steps": [[s.name, s.seconds, s.tokens_in, s.tokens_out] for s in routed.steps] if routed else [],
        }

    def _search(self, question: SqlQuestion) -> Record:
        reply = self._asked(question, question.route)
        if isinstance(reply, str):
            return {"right": False, "sql": reply, "top": []}
        routed = reply.routed
        # Two passages of one row are one row to whoever looks for it.
        rows = dict.fromkeys(tuple(source.file.rsplit("/", 2)[-2:]) for source in reply.sources)
        top = [list(row) for row in rows][:3]
        wanted = [[question.table, row] for row in question.rows]
        right = any(found in wanted for found in top) if wanted else reply.answer.outcome == "not_found"
        took = routed.route if routed else ""
        return {"right": right, "top": top, "sql": routed.sql if routed else "", "took": took}

    def _asked(self, question: SqlQuestion, route: Any) -> Reply | str:  # noqa: ANN401 - one of three words
        request = AskRequest(
            question.question,
            top_k=9,
            route=route,
            database=question.database,
            confirm_sql=False,
            deadline_s=600,
        )
        try:
            return self.service.ask(request, lambda: False)
        except OtvetError as error:
            return f"{type(error).__name__}: {error}"


def main(argv: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("--strategies", default="keyword")
    parser.add_argument("--part", default=f"1-{TUNED_ON}")
    parser.add_argument("--only", default="route,schema,search,sql")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args(argv)
    first, last = map(int, given.part.split("-"))
    questions = load_sql_questions(given.questions)[first - 1 : last]
    bench = Bench(given.home, fresh=given.fresh)
    try:
        for line in _lines(bench, questions, given.only.split(","), given.strategies.split(",")):
            print(line, flush=True)
    finally:
        bench.service.close()


def _lines(
    bench: Bench, questions: list[SqlQuestion], kinds: list[str], strategies: list[str]
) -> Iterator[str]:
    if "route" in kinds:
        bench.wait()
        found = [(question, bench.record(question.id, question, "", "route")) for question in questions]
        wrong = [(q, r) for q, r in found if r["route"] != q.route]
        yield f"route accuracy {_share([r['route'] == q.route for q, r in found])}"
        yield f"  right database {_share([r['database'] == q.database for q, r in found])}"
        yield f"  asked the model {sum(r['tokens_in'] > 0 for _, r in found)} times"
        yield f"  seconds p50 {statistics.median(r['seconds'] for _, r in found):.3f}"
        yield from (f"  {q.id} {q.route} → {r['route']}: {q.question} | {r['steps']}" for q, r in wrong)
    if "search" in kinds:
        for route in ("search", "hybrid"):
            chosen = [q for q in questions if q.route == route]
            found = [(q, bench.record(q.id, q, "", "search")) for q in chosen]
            yield f"{route}: right row in the top 3 {_share([r['right'] for _, r in found])}"
            misspelt = [r["right"] for q, r in found if "misspelt" in q.tags]
            if misspelt:
                yield f"  misspelt names {_share(misspelt)}"
            if found:
                yield f"  seconds p50 {statistics.median(r['seconds'] for _, r in found):.3f}"
            yield from (
                f"  {q.id} {q.question} | {r['sql']} | {r['top']}" for q, r in found if not r["right"]
            )
    computed = [question for question in questions if question.route == "sql"]
    for strategy in strategies:
        if "schema" in kinds:
            yield from _schema_lines(bench, computed, strategy)
        if "sql" in kinds:
            yield from _sql_lines(bench, computed, strategy)


def _schema_lines(bench: Bench, questions: list[SqlQuestion], strategy: str) -> Iterator[str]:
    chosen = [question for question in questions if question.database == "shop"]
    found = [(q, bench.record(q.id, q, strategy, "schema")) for q in chosen]
    tokens = statistics.mean(r["tokens"] for _, r in found)
    cut = 1 - tokens / statistics.mean(r["whole"] for _, r in found)
    tables = statistics.mean(r["tables"] for _, r in found)
    ms = statistics.median(r["ms"] for _, r in found)
    right = _share([r["complete"] for _, r in found])
    size = f"{tokens:.0f} tokens, cut {cut:.1%}, {tables:.1f} tables"
    yield f"schema {strategy}: {size}, {ms:.1f} ms, right {right}"
    yield from (f"  {q.id} {q.question}" for q, r in found if not r["complete"])


def _sql_lines(bench: Bench, questions: list[SqlQuestion], strategy: str) -> Iterator[str]:
    found = [(q, bench.record(q.id, q, strategy, "sql")) for q in questions]
    for level in ("simple", "join"):
        yield f"sql {strategy} {level}: {_share([r['right'] for q, r in found if q.level == level])}"
    calls = [step for _, r in found for step in r.get("steps", []) if step[2]]
    if calls:
        tokens = [statistics.mean(step[place] for step in calls) for place in (2, 3)]
        yield f"  tokens in {tokens[0]:.0f}, out {tokens[1]:.0f}"
    yield f"  seconds p50 {statistics.median(r['seconds'] for _, r in found):.1f}"
    yield from (f"  {q.id} {q.question}\n    {r['sql']}\n    {q.sql}" for q, r in found if not r["right"])


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right)}/{len(right)} = {sum(right) / len(right):.2f}" if right else "—"


if __name__ == "__main__":
    main()
