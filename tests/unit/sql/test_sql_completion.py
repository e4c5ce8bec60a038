"""Joins made whole along the keys, columns worth seeing, names for figures."""

import pytest
from sql_shop import SHOP

from pipeline.errors import StatementRefusedError
from pipeline.sql.chart import chart_of
from pipeline.sql.completion import completed
from pipeline.sql.guard import guard
from pipeline.sql.write import statement_in
from pipeline.types import Chart, TableView


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("SELECT COUNT(*) FROM orders", "SELECT COUNT(*) AS count FROM orders"),
        (
            "SELECT categories.name, SUM(order_items.quantity) FROM order_items GROUP BY categories.name",
            "SELECT categories.name, SUM(order_items.quantity) AS sum_quantity FROM order_items "
            "JOIN products ON order_items.product_id = products.id "
            "JOIN categories ON products.category_id = categories.id GROUP BY categories.name",
        ),
        (  # joined for nothing: it would count every order once for each of its lines
            "SELECT SUM(orders.total) FROM orders JOIN order_items ON order_items.order_id = orders.id",
            "SELECT SUM(orders.total) AS sum_total FROM orders",
        ),
        (
            "SELECT products.name FROM products ORDER BY products.price DESC LIMIT 3",
            "SELECT products.name, products.price FROM products ORDER BY products.price DESC LIMIT 3",
        ),
        (
            "SELECT COUNT(*) FROM orders GROUP BY orders.status",
            "SELECT orders.status, COUNT(*) AS count FROM orders GROUP BY orders.status",
        ),
        (
            "SELECT COUNT(*) FROM orders WHERE orders.total > 1 AND orders.total > 1",
            "SELECT COUNT(*) AS count FROM orders WHERE orders.total > 1",
        ),
        ("SELECT FROM", "SELECT FROM"),
        ("DELETE FROM orders", "DELETE FROM orders"),
    ],
)
def test_a_statement_is_completed(written, made):
    assert completed(written, SHOP) == made


def test_what_cannot_be_joined_is_left_to_the_guard():
    statement = "SELECT suppliers.city FROM orders WHERE orders.total > suppliers.id"
    assert "suppliers" in completed(statement, SHOP)
    with pytest.raises(StatementRefusedError):
        guard("SELECT wrong.city FROM orders", SHOP)


@pytest.mark.parametrize(
    "written",
    [
        "SELECT COUNT(*) FROM orders;",
        "Here it is:\n```sql\nSELECT COUNT(*) FROM orders;\n```\nIt counts.",
        "```\nSELECT COUNT(*) FROM orders",
        " SELECT COUNT(*) FROM orders; DROP TABLE orders;",
    ],
)
def test_the_statement_is_found_in_what_a_model_writes(written):
    assert statement_in(written, SHOP) == "SELECT COUNT(*) AS count FROM orders"
    assert statement_in("I cannot.", SHOP) == ""


def view(rows, kinds=("category", "number"), **more):
    return TableView(("x", "y"), kinds, tuple(rows), **more)


@pytest.mark.parametrize(
    ("table", "chart"),
    [
        (view([("a", 1), ("b", 2)]), Chart("bar", "x", "y")),
        (view([("2024-01", 1), ("2024-02", 2)]), Chart("line", "x", "y")),
        (view([(2023, 1), (2024, 2)], ("number", "number")), Chart("line", "x", "y")),
        (view([(1, "a"), (2, "b")], ("number", "category")), Chart("bar", "y", "x")),
        (view([("a", 1)]), None),
        (view([("a", 1), ("a", 2)]), None),
        (view([("a", 1), (None, 2)]), None),
        (view([("a", "b"), ("c", "d")]), None),
        (view([(1, 2), (3, 4)], ("number", "number")), None),
        (view([("a", 1), ("b", 2)], truncated=True), None),
        (view([("a", True), ("b", False)]), None),
    ],
)
def test_a_chart_where_two_columns_suit_one(table, chart):
    assert chart_of(table) == chart
