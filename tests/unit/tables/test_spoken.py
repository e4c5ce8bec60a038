"""What stands above the columns of a result."""

import pytest

from pipeline.tables.spoken import _heading


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ("«город»", "город"),
        ('"city"', "city"),
        ("количество строк «заказы»", "количество строк «заказы»"),
        ("«цена» × «штук»", "«цена» × «штук»"),
        ("city", "city"),
        ("", ""),
    ],
)
def test_a_name_alone_has_no_quotes_above_its_column(words, heading):
    assert _heading(words) == heading
