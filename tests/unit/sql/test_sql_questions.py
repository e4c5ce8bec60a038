"""The questions over the demo databases: each gold statement passes the guard and gives the stated answer."""

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.ingest.sources.declared import load_sources
from pipeline.settings import SqlSettings
from pipeline.sql.database import Database, open_databases
from pipeline.sql.demo.make import make_demo
from pipeline.sql.demo.shop import TODAY

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
FILES = {"sql_questions.jsonl": 40, "sql_questions_late.jsonl": 20}


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Database]:
    folder = tmp_path_factory.mktemp("demo")
    make_demo(folder)
    return open_databases(load_sources(folder).database, folder, SqlSettings())


def questions() -> list[dict]:
    return [
        json.loads(line)
        for name in FILES
        if (DATA / name).is_file()
        for line in (DATA / name).read_text("utf-8").splitlines()
    ]


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_a_gold_statement_passes_the_guard_and_gives_the_stated_answer(question, demo):
    database = demo[question["database"]]
    assert question["today"] == TODAY.isoformat()
    found = (
        [list(row) for row in database.run(database.check(question["sql"])).rows] if question["sql"] else []
    )
    if question["kind"] == "compute":
        assert (
            found == question["answer"]
            if question["ordered"]
            else sorted(found) == sorted(question["answer"])
        )
        return
    assert demo[question["database"]].catalog().tables[question["table"]].column("id") is not None
    if question["kind"] == "hybrid":
        chosen = [row[0] for row in found]
        assert len(chosen) == question["candidates"]
        assert set(question["rows"]) <= set(chosen)
    if "no_answer" not in question["tags"]:
        assert question["rows"]


def test_the_mix_is_the_declared_one():
    for name, count in FILES.items():
        path = DATA / name
        if path.is_file():
            held = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            assert len(held) == count
            assert len({question["question"] for question in held}) == count
    kinds = Counter(question["kind"] for question in questions())
    if len(questions()) == 60:
        assert kinds == {"compute": 20, "meaning": 20, "hybrid": 20}
        levels = Counter(question["level"] for question in questions() if question["level"])
        assert levels == {"simple": 10, "join": 10}
