"""What the guard lets through, how it writes it anew, and what it says of the rest."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import StatementRefusedError
from pipeline.sql.catalog import Catalog, Column, Table
from pipeline.sql.guard import guard


def catalog(dialect: str) -> Catalog:
    return Catalog(
        "s",
        dialect,
        {
            "orders": Table(
                "orders",
                (
                    Column("id", "INTEGER", "id"),
                    Column("total", "NUMERIC", "number"),
                    Column("day", "DATE", "date"),
                    Column("customer_id", "INTEGER", "id"),
                ),
            ),
            "Клиенты": Table("Клиенты", (Column("Id", "INTEGER", "id"), Column("Имя", "TEXT", "other"))),
        },
    )


SQLITE, POSTGRES = catalog("sqlite"), catalog("postgres")


def written(statement: str, held: Catalog = SQLITE) -> str:
    return guard(statement, held, rows=10).sql


@pytest.mark.parametrize(
    ("statement", "sql"),
    [
        ("select * from orders", "SELECT id, total, day, customer_id FROM orders LIMIT 11"),
        ("SELECT 1;", "SELECT 1 LIMIT 11"),
        ("-- x\nSELECT /* y */ ID FROM Orders -- z", "SELECT id FROM orders LIMIT 11"),
        ("SELECT id FROM orders LIMIT 3", "SELECT id FROM orders LIMIT 3"),
        ("SELECT id FROM orders LIMIT 500 OFFSET 20", "SELECT id FROM orders LIMIT 11 OFFSET 20"),
        ("SELECT id FROM orders FETCH FIRST 4 ROWS ONLY", "SELECT id FROM orders LIMIT 4"),
        ('SELECT "имя" FROM клиенты', 'SELECT "Имя" FROM "Клиенты" LIMIT 11'),
        (
            "SELECT total AS t FROM orders WHERE t > 5 ORDER BY t + 1",
            "SELECT total AS t FROM orders WHERE total > 5 ORDER BY (total) + 1 LIMIT 11",
        ),
        (
            "SELECT day, COUNT(*) FROM orders GROUP BY 1 ORDER BY 2 DESC",
            "SELECT day, COUNT(*) FROM orders GROUP BY day ORDER BY COUNT(*) DESC LIMIT 11",
        ),
        (
            'SELECT Id FROM Клиенты WHERE Имя = "Анна Б."',
            """SELECT "Id" AS id FROM "Клиенты" WHERE "Имя" = 'Анна Б.' LIMIT 11""",
        ),
        (
            "SELECT id FROM orders WHERE total IN (SELECT total FROM orders WHERE \"day\" > '2024-01-01')",
            "SELECT orders.id FROM orders WHERE orders.total IN (SELECT orders.total FROM orders "
            "WHERE orders.day > '2024-01-01') LIMIT 11",
        ),
        (
            "SELECT id FROM orders UNION ALL SELECT Id FROM Клиенты",
            'SELECT orders.id FROM orders UNION ALL SELECT "Клиенты"."Id" AS id FROM "Клиенты" LIMIT 11',
        ),
    ],
)
def test_a_statement_is_written_anew(statement, sql):
    assert written(statement).casefold() == sql.casefold()


ALLOWED = [
    "SELECT COUNT(*), SUM(total), AVG(total), MIN(day), MAX(day) FROM orders",
    "SELECT COUNT(DISTINCT customer_id) FROM orders",
    "SELECT CASE WHEN total > 5 THEN 'а' ELSE 'б' END AS k, COUNT(*) FROM orders GROUP BY k HAVING COUNT(*) > 1",  # noqa: E501
    "SELECT o.id FROM orders o JOIN Клиенты c ON c.Id = o.customer_id WHERE c.Имя LIKE 'А%'",
    "SELECT id FROM orders WHERE customer_id IN (SELECT Id FROM Клиенты)",
    "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM Клиенты c WHERE c.Id = o.customer_id)",
    "SELECT id FROM orders WHERE total > (SELECT AVG(total) FROM orders)",
    "WITH m AS (SELECT customer_id, SUM(total) AS s FROM orders GROUP BY customer_id) SELECT AVG(s) FROM m",
    "SELECT s FROM (SELECT SUM(total) AS s FROM orders GROUP BY day) AS q ORDER BY s DESC",
    "SELECT id, RANK() OVER (PARTITION BY customer_id ORDER BY total DESC) AS r FROM orders",
    "SELECT SUM(total) FILTER (WHERE total > 1) FROM orders",
    "SELECT id FROM orders WHERE total BETWEEN 1 AND 2 OR total IS NULL OR id IN (1, 2)",
    "SELECT ROUND(AVG(total), 2), COALESCE(total, 0), CAST(total AS INTEGER) FROM orders GROUP BY total",
    "SELECT LOWER(Имя) || ' ' || UPPER(Имя), LENGTH(Имя), SUBSTR(Имя, 1, 2), TRIM(Имя) FROM Клиенты",
    "SELECT id FROM orders EXCEPT SELECT Id FROM Клиенты",
]
ONLY_SQLITE = [
    "SELECT STRFTIME('%Y-%m', day) AS m, COUNT(*) FROM orders GROUP BY m",
    "SELECT id FROM orders WHERE day >= DATE('now', '-30 days')",
    "SELECT JULIANDAY(day) - JULIANDAY('2024-01-01') FROM orders",
    "SELECT IFNULL(total, 0), IIF(total > 1, 1, 0), INSTR('а', 'б') FROM orders",
]
ONLY_POSTGRES = [
    "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) FROM orders GROUP BY m",
    "SELECT TO_CHAR(day, 'YYYY-MM'), EXTRACT(YEAR FROM day), day::text FROM orders",
    "SELECT id FROM orders WHERE day >= CURRENT_DATE - INTERVAL '30 days'",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY total) FROM orders",
    "SELECT Имя FROM Клиенты WHERE Имя ILIKE '%а%'",
]


@pytest.mark.parametrize(
    ("statement", "held"),
    [
        *((statement, held) for statement in ALLOWED for held in (SQLITE, POSTGRES)),
        *((statement, SQLITE) for statement in ONLY_SQLITE),
        *((statement, POSTGRES) for statement in ONLY_POSTGRES),
    ],
)
def test_honest_statements_pass_and_pass_again_as_they_are_written(statement, held):
    once = written(statement, held)
    assert once.endswith("LIMIT 11")
    assert written(once, held) == once


@pytest.mark.parametrize(("statement", "held"), [(ONLY_SQLITE[0], POSTGRES), (ONLY_POSTGRES[1], SQLITE)])
def test_a_function_of_another_database_is_named(statement, held):
    with pytest.raises(StatementRefusedError) as caught:
        written(statement, held)
    assert re.search("STRFTIME|TO_CHAR", caught.value.message("en"))


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DELETE FROM orders", "нужен SELECT, а не DELETE"),
        ("SELECT 1; SELECT 2", "нужен один запрос, а не несколько"),
        ("", "он пуст"),
        (
            "SELECT nosuch FROM orders",
            "столбца «nosuch» нет среди разрешённых (orders: id, total, day, customer_id)",
        ),
        ("SELECT id FROM nosuch", "таблицы «nosuch» нет среди разрешённых (orders, Клиенты)"),
        ("SELECT id FROM orders, Клиенты", "столбец «id» есть в нескольких таблицах: назовите таблицу"),
        ("SELECT pg_sleep(1)", "функция «pg_sleep» не разрешена или её нет в этой базе"),
        ("SELECT id INTO x FROM orders", "«INTO» не разрешено"),
        ("SELECT " + "1 + " * 5000 + "1", "он слишком длинный или сложный (не больше 10000 знаков)"),
        ("SELECT " + "(" * 400 + "1" + ")" * 400, "он слишком длинный или сложный (не больше 10000 знаков)"),
        ("SELECT '" + "\x00'", "он не разобран (NUL)"),
        (
            "WITH RECURSIVE x AS (SELECT 1 AS n UNION SELECT n FROM x) SELECT n FROM x",
            "рекурсивный WITH не разрешён",
        ),
    ],
)
def test_the_reason_is_named(statement, reason):
    with pytest.raises(StatementRefusedError) as caught:
        guard(statement, SQLITE)
    assert caught.value.values["reason"].text("ru") == reason


DOUBLING = ", ".join(f"a{place} + a{place} AS a{place + 1}" for place in range(40))


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT total AS a0, {DOUBLING} FROM orders",
        f"SELECT id FROM orders WHERE id IN (SELECT a40 FROM (SELECT id AS a0, {DOUBLING} FROM orders) q)",
        f"WITH x AS (SELECT total AS a0, {DOUBLING} FROM orders) SELECT a40 FROM x",
    ],
)
def test_names_that_double_are_refused_before_they_are_put_in(statement):
    """Forty doublings are a million million nodes."""
    with pytest.raises(StatementRefusedError, match="too long"):
        guard(statement, SQLITE)


def test_what_is_read_is_told():
    found = guard("SELECT o.total FROM orders o JOIN Клиенты c ON c.Id = o.customer_id", SQLITE)
    assert found.tables == ("orders", "Клиенты")
    assert found.columns == (("orders", "customer_id"), ("orders", "total"), ("Клиенты", "Id"))


@given(
    st.text(alphabet="SELECTFROMdersWHid1=()*,;'\"- /\\", max_size=80),
    st.sampled_from([SQLITE, POSTGRES]),
)
def test_any_text_is_refused_or_written_as_one_select(text, held):
    with suppress(StatementRefusedError):
        assert guard(text, held).sql.startswith(("SELECT", "WITH"))


@given(st.text(max_size=30), st.sampled_from([SQLITE, POSTGRES]))
def test_a_quoted_value_stays_a_value(value, held):
    quoted = value.replace("\x00", "").replace("'", "''")
    statement = f"SELECT id FROM orders WHERE total = '{quoted}'"
    found = guard(statement, held).tree
    (literal,) = [node for node in found.find_all(type(found.args["limit"].expression)) if node.is_string]
    assert literal.this == value.replace("\x00", "")
