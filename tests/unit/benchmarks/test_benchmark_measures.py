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


@pytest.mark.parametrize(
    ("target", "limit", "verdict"),
    [
        (4, 2.0, "reached, within the guide"),
        (6, 2.0, "missed, within the guide"),
        (4, 1.0, "reached, over the guide"),
        (0, 0, ""),
    ],
)
def test_the_verdict_is_on_the_ratio_and_on_the_guide(measures, target, limit, verdict):
    assert measures.Measured("search", "", [7.5], [1.5], target, limit).verdict == verdict


def test_without_another_side_only_the_guide_counts(measures):
    assert measures.Measured("reindex", "", [], [1.5], 5, 2.0).verdict == "within the guide"


def test_a_stage_survives_its_file_and_becomes_a_row(measures):
    row = measures.Measured("index", "index", [90.0, 110.0], [10.0], 5, 55, remark="scaled up")
    again = measures.from_json(json.loads(json.dumps(row.as_json())))
    assert again.as_json() == row.as_json()
    assert measures.as_markdown([again]).splitlines()[2:] == [
        "| index (scaled up) | 100.00 s | 10.00 s | 10.0× | ≥ 5× | ≤ 55.00 s | reached, within the guide |"
    ]


def test_pages_hold_what_was_recorded(measures, monkeypatch):
    """``python benchmarks/report.py`` brings them up to date."""
    import report

    recorded = FOLDER / "recorded.json"
    if not recorded.is_file():
        pytest.skip("nothing was recorded yet")
    assert report.outdated(recorded, write=False) == []
    sys.modules.pop("report")


def test_only_the_regions_of_a_page_are_written(measures, tmp_path, monkeypatch):
    import report

    page = tmp_path / "page.md"
    page.write_text("before\n<!-- benchmark: short -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    row = measures.Measured("search", "search, p50", [0.06], [0.008], 4, 0.01)
    run = {"machine": "2 cores", "measured": "2026-01-02", "stages": {"search": row.as_json()}}
    recorded = tmp_path / "recorded.json"
    recorded.write_text(json.dumps({"quick": run}), encoding="utf-8")
    monkeypatch.setattr(report, "_PAGES", (page,))
    assert report.outdated(recorded, write=False) == [page]
    report.write_pages(recorded)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- benchmark: short -->\nMeasured 2026-01-02 on 2 cores;")
    assert "| search, p50 | 60.0 ms | 8.0 ms | 7.5× | ≥ 4× | ≤ 10.0 ms | reached, within the guide |" in text
    assert text.endswith("<!-- end -->\nafter\n")
    assert report.outdated(recorded, write=False) == []
    sys.modules.pop("report")
