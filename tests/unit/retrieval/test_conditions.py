"""Filters: the forms that are compared, and dates."""

from __future__ import annotations

import gc
from weakref import ref

import pytest
from small_index import Passage, small_index

from pipeline.retrieval.prefilter import matching_rows
from pipeline.text.conditions import Wanted, value_form
from pipeline.text.document_dates import document_day, first_day, last_day
from pipeline.types import Document, Filter


def document(file: str = "a.txt", **metadata: str | int | float | bool) -> Document:
    return Document("d", file, "", None, "", (), metadata)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (2024, "2024", True),
        (2024, 2024.0, True),
        (5.5, "5.5", True),
        (True, True, True),
        (True, "true", False),
        (True, 1, False),
        (False, 0, False),
        ("1.10", "1.1", False),
        ("05", 5, False),
        ("", "0", False),
    ],
)
def test_values_are_compared_by_form(one: str | float, other: str | float, same: bool) -> None:
    assert (value_form(one) == value_form(other)) is same


@pytest.mark.parametrize(
    ("said", "day"),
    [
        (document(date="2024-03-05"), "2024-03-05"),
        (document(date="5 марта 2024 г."), "2024-03-05"),
        (document(date="05.03.2024"), "2024-03-05"),
        (document(Дата="2024-03"), "2024-03-01"),
        (document(date=2024), "2024-01-01"),
        (document(created="2020-01-01", updated="2024-05-06"), "2024-05-06"),
        (document(file="приказы/2023-07-01 отпуска.txt"), "2023-07-01"),
        (document(file="2023/приказ.txt"), ""),
        (document(date="вчера"), ""),
        (document(date="2024-02-31"), "2024-02-29"),
        (document(), ""),
    ],
)
def test_the_day_of_a_document(said: Document, day: str) -> None:
    assert document_day(said) == day


@pytest.mark.parametrize(
    ("date", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-02-10", "2024-02-10", "2024-02-10"),
        ("", "", ""),
        ("2024-13", "", ""),
        ("когда-то", "", ""),
    ],
)
def test_a_date_in_part_is_a_span(date: str, first: str, last: str) -> None:
    assert (first_day(date), last_day(date)) == (first, last)


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (Filter(since="2024"), [1, 2]),
        (Filter(until="2023"), [0]),
        (Filter(since="2023-06", until="2024-03-05"), [0, 1]),
        (Filter(since="2024-03-06", until="2024-03-05"), []),
        (Filter(since="2024", metadata={"year": (1, 3)}), [2]),
        (Filter(metadata={"year": ("2", 3)}), [1, 2]),
        (Filter(metadata={"year": ()}), []),
    ],
)
def test_dates_and_lists_of_values(wanted: Filter, rows: list[int]) -> None:
    index = small_index(
        [
            Passage("раз", metadata={"date": "2023-06-01", "year": 1}),
            Passage("два", metadata={"date": "2024-03-05", "year": 2}),
            Passage("три", metadata={"date": "2024-12-31", "year": 3}),
            Passage("четыре"),
        ]
    )
    found = matching_rows(index, wanted)
    assert found is not None
    assert found.tolist() == rows


def test_a_filter_in_its_compared_forms() -> None:
    asked = Wanted.of(Filter((".MD",), ("  Кадры ",), ".\\docs\\", {"год": (2024, "x")}, "2024", "2024-05"))
    assert asked == Wanted(
        frozenset({"md"}),
        frozenset({"кадры"}),
        "docs/",
        {"год": frozenset({"2024", "x"})},
        "2024-01-01",
        "2024-05-31",
    )


def test_what_is_remembered_of_an_index_does_not_keep_it() -> None:
    index = small_index([Passage("раз", tags=("a",)), Passage("два")])
    assert matching_rows(index, Filter(tags=("a",))) is not None
    known = ref(index)
    del index
    gc.collect()
    assert known() is None
