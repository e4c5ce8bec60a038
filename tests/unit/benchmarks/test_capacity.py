"""The capacity model: worked out by hand, and against the record it rests on."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from capacity import size_of  # noqa: E402
from capacity_model import Demand, Line, facts_from, need, slots_for, waiting_s  # noqa: E402

RECORD = json.loads((BENCHMARKS / "data" / "capacity.json").read_text("utf-8"))


def test_a_line_through_the_ends():
    line = Line.through([(10, 3.0), (20, 99.0), (30, 7.0)])
    assert line.at(10) == 3.0
    assert line.at(30) == 7.0
    assert line.at(20) == 5.0


@pytest.mark.parametrize(
    ("rate", "each", "slots", "wait"),
    [
        (0.5, 1.0, 1, 0.5),  # M/M/1 waits 1.0 at half load, M/D/1 half of that
        (1.5, 1.0, 2, 0.5 * (9 / 14) / 0.5),  # Erlang C of 1.5 on 2 is 9/14
        (0.0, 1.0, 1, 0.0),
        (1.0, 1.0, 1, math.inf),
        (5.0, 1.0, 2, math.inf),
    ],
)
def test_waiting(rate, each, slots, wait):
    assert waiting_s(rate, each, slots) == pytest.approx(wait)


def test_as_many_places_as_the_wait_allows():
    assert slots_for(0.0, 7.0, 5.0) == 0
    slots = slots_for(1.0, 4.0, 1.0)
    assert waiting_s(1.0, 4.0, slots) <= 1.0 < waiting_s(1.0, 4.0, slots - 1)


def test_what_a_demand_takes():
    facts = facts_from(RECORD)
    small = need(Demand(2_000, 1.0, 0.0), facts)
    large = need(Demand(200_000, 1.0, 0.0), facts)
    assert small.slots == large.slots == 0
    assert small.answer_cores == 0
    assert small.search_cores < large.search_cores
    assert small.disk_gb * 50 < large.disk_gb * 2
    local = need(Demand(2_000, 1.0, 0.01), facts)
    remote = need(Demand(2_000, 1.0, 0.01, remote_answer_s=4.0), facts)
    assert local.answer_cores == local.slots * facts.answer_cores
    assert remote.answer_cores == 0
    assert remote.memory_gb < local.memory_gb
    assert need(Demand(2_000, 1.0, 0.0), facts, workers=4).memory_gb < 4 * small.memory_gb


def test_prices_are_the_callers():
    wanted = need(Demand(2_000, 1.0, 0.0), facts_from(RECORD))
    assert wanted.cost(0, 0, 0) == 0
    assert wanted.cost(1, 0, 0) == pytest.approx(730 * wanted.search_cores)


def test_what_large_py_prints_is_read():
    told = (
        "250 files, 2000 passages, 0.3 M tokens; index 0.2 GB, 0.0 of it JSON\n"
        "search, p50                              18.4 ms\n"
        "processor time a search                  11.4 ms\n"
        "memory after all searches                  85 MB private, 144 MB mapped\n"
    )
    assert size_of(told) == {
        "chunks": 2000, "search_cpu_ms": 11.4, "search_p50_ms": 18.4, "private_mb": 85, "mapped_mb": 144,
        "disk_mb": 200,
    }  # fmt: skip
