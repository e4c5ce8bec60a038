"""Figures of records worked out by hand, and reports that hold them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pipeline.evaluation import bootstrap
from pipeline.evaluation.evaluate import Bar, failures
from pipeline.evaluation.faithfulness import Sentence
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import Record, Verdict, key_of
from pipeline.evaluation.report_html import html
from pipeline.evaluation.report_markdown import markdown
from pipeline.evaluation.report_tables import Report
from pipeline.evaluation.runs import Plan, Run, open_run
from pipeline.evaluation.summary import confusion, figures, places_for, samples

EVIL = "<script>alert(1)</script> | [x](http://evil) `*` \"'&"


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch):
    """The tests of the figures themselves have as many as the product."""
    monkeypatch.setattr(bootstrap, "PERMUTATIONS", 500)
    monkeypatch.setattr(bootstrap, "RESAMPLES", 200)


def record(
    n: int, reach: str, *, refused: bool = False, right: tuple[int | None, ...] = (0,), **more
) -> Record:
    files = ("a.md",) if reach == "answerable" else ()
    question = KnownQuestion(n, f"{EVIL} {n}", files, kind=reach)
    outcome = "not_found" if refused else "answered"
    timings = {"encode": 1.0 * n, "total": 10.0 * n}
    return Record(
        key_of(question),
        question,
        tuple(EVIL for _ in right),
        right,
        outcome,
        EVIL,
        "m",
        timings_ms=timings,
        **more,
    )


SENTENCES = (Sentence(EVIL, (1,), 0.2, supported=False, reason="unlike"), Sentence("b", (1,), 0.9, True, ""))
RECORDS = [
    record(
        1, "answerable", right=(0, None, 0), markers=2, valid_markers=1, sentences=SENTENCES, matches=True
    ),
    record(2, "answerable", right=(None, 0), sentences=SENTENCES[1:], verdict=Verdict(1.0, 0.5, None, EVIL)),
    record(3, "answerable", right=(), refused=True, matches=False),
    record(4, "near", refused=False),
    record(5, "near", refused=True),
    record(6, "far", refused=True),
]


def run_of(folder: Path, records: list[Record], name: str) -> Run:
    settings = {"judge": {"url": "http://x", "model": EVIL}}
    plan = Plan(f"{EVIL}.jsonl", tuple(one.key for one in records), "v1", settings, 3, answers=True)
    run = open_run(folder, plan, name)
    for one in records:
        run.add(one)
    run.finish()
    return run


def test_figures_by_hand():
    found = {name: one.value for name, one in figures(samples(RECORDS, places_for(3))).items()}
    assert (found["hit@1"], found["hit@3"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert found["mrr"] == pytest.approx((1 + 1 / 2) / 3)
    assert found["refused_wrongly"] == pytest.approx(1 / 3)
    assert found["refusal_precision"] == pytest.approx(2 / 3)  # three refused, one of them had an answer
    assert found["refusal_recall"] == pytest.approx(2 / 3)
    assert (found["refusal_recall_near"], found["refusal_recall_far"]) == (0.5, 1.0)
    assert found["faithfulness"] == pytest.approx(2 / 3)  # of sentences, not of questions
    assert found["citations_valid"] == 0.5
    assert found["match"] == 0.5  # of those where it is known
    assert (found["judge_faithful"], "judge_correct" in found) == (1.0, False)
    assert found["total_ms"] == 35.0
    assert "tokens_per_s" not in found
    assert confusion(RECORDS) == {
        "answerable": {"answered": 2, "refused": 1},
        "near": {"answered": 1, "refused": 1},
        "far": {"answered": 0, "refused": 1},
    }


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.values: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.values += [f"{name}={value}" for name, value in attrs]


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_html_is_one_file_that_loads_nothing_and_escapes_all(tmp_path: Path, language):
    worse = [record(n, "answerable", right=()) for n in range(1, 4)] + RECORDS[3:]
    text = html(Report(run_of(tmp_path, RECORDS, "now"), language, run_of(tmp_path, worse, "before")))
    tags = Tags()
    tags.feed(text)
    assert "svg" in tags.names
    assert not tags.names & {"script", "img", "link", "iframe", "a"}
    assert not [value for value in tags.values if re.match(r"(src|href|on\w+)=", value)]
    assert not re.search(r"url\(|@import", text)
    assert "default-src 'none'" in text
    assert text.count("<svg") == 5
    assert "{" not in re.sub(r"<style>.*?</style>|<pre>.*?</pre>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("language", ["ru", "en"])
def test_markdown_holds_the_tables_and_no_text_breaks_them(tmp_path: Path, language):
    text = markdown(Report(run_of(tmp_path, RECORDS, "now"), language))
    assert "| hit@1 | 0.333 |" in text
    assert "<script>" not in text
    assert "[x](" not in text
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1


def test_an_empty_run_is_reported_too(tmp_path: Path):
    report = Report(run_of(tmp_path, [], "now"), "ru")
    assert "<svg" in html(report)
    assert markdown(report).startswith("# ")


def test_bars_and_significant_losses_fail(tmp_path: Path):
    many = [record(n, "answerable") for n in range(1, 30)]
    lost = [record(n, "answerable", right=(None,)) for n in range(1, 30)]
    report = Report(run_of(tmp_path, lost, "now"), "ru", run_of(tmp_path, many, "before"))
    said = failures(report, [Bar("hit@1", 0.5), Bar("refused_wrongly", 0.1, most=True), Bar("hit@3", 0.0)])
    assert said[0].strip() == "hit@1: 0.000 ниже 0.5"
    assert any("MRR" in line and "p: " in line for line in said[1:])
    assert (
        failures(Report(report.run, "en"), [Bar("total_ms", 1.0, most=True)])[0].strip().endswith("above 1")
    )
    same = Report(report.run, "ru", report.baseline)
    assert failures(Report(report.baseline, "ru", report.baseline), [Bar("hit@1", 1.0)]) == []  # type: ignore[arg-type]
    assert same.compared
