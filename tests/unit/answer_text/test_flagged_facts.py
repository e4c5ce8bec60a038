"""Precision and recall of the flags on numbers, dates, codes and names, over answers made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.answer.fact_source import FactSource
from pipeline.answer.facts import find_facts

ANSWERS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/flags.jsonl").read_text(encoding="utf-8").splitlines()
]


def _flags(answer: str, source: str) -> list[str]:
    held = FactSource(source)
    return [answer[fact.start : fact.end] for fact in find_facts(answer) if not held.holds(fact)]


@pytest.mark.parametrize("one", ANSWERS, ids=lambda one: one["answer"])
def test_wrong_facts_are_flagged_and_right_ones_are_not(one: dict[str, object]) -> None:
    answer, wrong = str(one["answer"]), list(map(str, one["wrong"]))  # type: ignore[call-overload]
    flags = _flags(answer, str(one["source"]))
    assert len(flags) == len(wrong)
    assert all(any(flag in text or text in flag for text in wrong) for flag in flags)


def test_there_are_answers_of_every_kind() -> None:
    assert len(ANSWERS) >= 60
    assert sum(not one["wrong"] for one in ANSWERS) > 30
    kinds = {"number", "decimal", "thousands", "range", "number words", "date", "code", "name"}
    assert kinds <= {one["kind"] for one in ANSWERS}


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("5-го мая", "до пятого мая"),
        ("25 мая", "Двадцать пятого мая 2024 года"),
        ("June 1 and June 15", "from 1 to 15 June"),
        ("1991 года", "сезон 1990/91"),
        ("двадцать один день", "21 день"),
        ("тридцать третий", "33-й"),
    ],
)
def test_the_same_said_in_another_way(answer: str, source: str) -> None:
    assert _flags(answer, source) == []


@pytest.mark.parametrize(
    ("answer", "source"),
    [("шестой этаж", "пятый этаж"), ("до 6 мая", "до пятого мая"), ("двадцать два дня", "21 день")],
)
def test_another_thing_said(answer: str, source: str) -> None:
    assert len(_flags(answer, source)) == 1
