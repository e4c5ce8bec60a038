"""Figures of the benchmark: medians, percentiles, ratios, regressions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def measures(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import measures

    yield measures
    sys.modules.pop("measures")


def test_the_ratio_is_that_of_medians(measures):
    row = measures.Measured("search", "search", [4.0, 100.0, 6.0], [1.0, 2.0, 90.0])
    assert row.pair == (6.0, 2.0)
    assert row.ratio == 3.0


def test_the_slowest_hundredth(measures):
    hundred = [float(value) for value in range(100)]
    assert measures.percentile(hundred, 0.99) == 99.0
    assert measures.percentile([3.0], 0.99) == 3.0
    assert measures.percentile(hundred, 0.5) == 49.5


def test_a_stage_of_one_side_has_no_ratio(measures):
    row = measures.Measured("reindex", "index again", [], [1.5], 0, 2.0)
    assert row.ratio is None
    assert "1.50 s" in measures.table([row])
    assert row.as_json()["naive_figure"] is None


def test_only_what_fell_by_more_than_a_tenth_is_named(measures):
    rows = [
        measures.Measured("kept", "", [9.0], [1.0]),
        measures.Measured("slower", "", [8.9], [1.0]),
        measures.Measured("new", "", [1.0], [1.0]),
        measures.Measured("alone", "", [], [1.0]),
    ]
    before = {"kept": 10.0, "slower": 10.0, "gone": 5.0}
    assert measures.regressions(rows, before) == ["slower: 8.9x, recorded 10.0x"]


def test_what_was_recorded_is_read_by_mode(measures, tmp_path):
    file = tmp_path / "recorded.json"
    assert measures.recorded(file, "full") == {}
    file.write_text(json.dumps({"full": {"ratios": {"search": 5.5}}}), encoding="utf-8")
    assert measures.recorded(file, "full") == {"search": 5.5}
    assert measures.recorded(file, "quick") == {}
