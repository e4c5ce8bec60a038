"""What is kept between questions: statements and results for a while, sums for good."""

import datetime as dt

import pytest

from pipeline.errors import NotFoundError
from pipeline.tables.costs import Costs
from pipeline.tables.kept import Kept
from pipeline.types import Step


def test_things_are_kept_for_a_time_and_in_a_number():
    clock = [0.0]
    kept = Kept(lifetime_s=10, most=2, now=lambda: clock[0])
    first = kept.put("a")
    clock[0] = 5
    second = kept.put("b")
    assert (kept.get(first), kept.get(second)) == ("a", "b")
    assert len({first, second}) == 2
    third = kept.put("c")
    with pytest.raises(NotFoundError):
        kept.get(first)
    clock[0] = 15
    with pytest.raises(NotFoundError):
        kept.get(second)
    assert len(kept) == 0
    with pytest.raises(NotFoundError):
        kept.get(third)


STEPS = (Step("words", 0.5), Step("write", 2.0, 100, 10), Step("repair", 1.0, 200, 20))


def test_costs_are_summed_per_day_route_and_strategy(tmp_path):
    days = [dt.date(2026, 1, 1)]
    costs = Costs(tmp_path / "costs.jsonl", lambda: days[0])
    costs.add("sql", "keyword", STEPS)
    costs.add("sql", "keyword", STEPS[:1])
    costs.add("search", "", ())
    days[0] = dt.date(2026, 1, 2)
    costs.add("sql", "keyword", STEPS)
    found = Costs(tmp_path / "costs.jsonl").days()
    assert [
        (day.day, day.route, day.questions, day.calls, day.tokens_in, day.tokens_out, day.seconds)
        for day in found
    ] == [
        ("2026-01-02", "sql", 1, 2, 300, 30, 3.5),
        ("2026-01-01", "sql", 2, 2, 300, 30, 4.0),
        ("2026-01-01", "search", 1, 0, 0, 0, 0),
    ]


def test_a_damaged_line_costs_itself_only(tmp_path):
    path = tmp_path / "costs.jsonl"
    costs = Costs(path, lambda: dt.date(2026, 1, 1))
    costs.add("sql", "keyword", STEPS)
    path.write_text('{"day": 1, "what": 2}\nnonsense\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert len(Costs(path).days()) == 1


def test_a_disk_that_cannot_be_written_to_costs_the_sums_only(tmp_path):
    (tmp_path / "folder").write_text("a file", encoding="utf-8")
    costs = Costs(tmp_path / "folder" / "costs.jsonl")
    costs.add("sql", "keyword", STEPS)
    assert len(costs.days()) == 1
