"""Filters decide before ranking (case 19)."""

import pytest
from small_index import Passage, small_index

from pipeline.retrieval.prefilter import matching_rows
from pipeline.types import Filter

INDEX = small_index(
    [
        Passage("отпуск", "hr/отпуск.md", tags=("HR",), metadata={"source_type": "md", "year": 2024}),
        Passage("архив", "hr/архив.txt", tags=("hr", "old"), metadata={"year": "2024", "open": True}),
        Passage("склад", "склад.md", metadata={"source_type": "md", "year": 2023, "open": False}),
    ]
)


@pytest.mark.parametrize("wanted", [None, Filter()])
def test_no_conditions_mean_all_rows(wanted):
    assert matching_rows(INDEX, wanted) is None


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (Filter(source_types=("md",)), [0, 2]),
        (Filter(source_types=(".MD", "pdf")), [0, 2]),
        (Filter(tags=("hr",)), [0, 1]),
        (Filter(tags=("old", "none")), [1]),
        (Filter(path_prefix="hr/"), [0, 1]),
        (Filter(path_prefix="hr\\"), [0, 1]),
        (Filter(path_prefix="./hr/арх"), [1]),
        (Filter(metadata={"year": 2024}), [0, 1]),  # a number and its text are the same value
        (Filter(metadata={"open": True}), [1]),
        (Filter(metadata={"open": 1}), []),  # but a truth value is no number
        (Filter(metadata={"absent": "x"}), []),
        (Filter(source_types=("md",), tags=("hr",)), [0]),
        (Filter(path_prefix="нет/"), []),
    ],
)
def test_all_conditions_must_be_met(wanted, rows):
    found = matching_rows(INDEX, wanted)
    assert found is not None
    assert found.tolist() == rows
