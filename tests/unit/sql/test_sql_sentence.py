"""Words above a result and about a statement: no number that the result does not hold."""

import csv
import io
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sql.catalog import Catalog, Column, Table
from pipeline.sql.explanation import explain_statement
from pipeline.sql.guard import guard
from pipeline.sql.runner import ResultTable
from pipeline.sql.russian import number_words, plural
from pipeline.sql.sentence import sentence_of, value_words
from pipeline.sql.table_file import csv_bytes

CATALOG = Catalog(
    "shop",
    "sqlite",
    {
        "orders": Table(
            "orders",
            (
                Column("id", "INTEGER", "id"),
                Column("total", "NUMERIC", "number", "сумма заказа, руб."),
                Column("ordered_on", "DATE", "date", "дата заказа"),
                Column("city", "TEXT", "category", synonyms=("город",)),
                Column("shop_id", "INTEGER", "id"),
                Column("paid", "BOOLEAN", "flag", "оплачен"),
            ),
            synonyms=("заказы",),
        ),
        "shops": Table(
            "shops", (Column("id", "INTEGER", "id"), Column("name", "TEXT", "other")), synonyms=("магазины",)
        ),
    },
)


def result(columns, kinds, *rows, truncated=False):
    return ResultTable(tuple(columns), tuple(kinds), tuple(rows), truncated)


def told(statement: str, made: ResultTable, language="ru") -> str:
    return sentence_of(guard(statement, CATALOG), made, CATALOG, language)


def explained(statement: str, language="ru") -> str:
    return explain_statement(guard(statement, CATALOG), CATALOG, language).replace("\xa0", " ")


def test_one_number():
    made = result(["SUM(total)"], ["number"], (1234567.5,))
    assert told("SELECT SUM(total) FROM orders", made).replace("\xa0", " ") == (
        "Сумма «сумма заказа»: 1 234 567,5 руб."
    )
    assert told("SELECT SUM(total) FROM orders", made, "en") == 'Sum of "total": 1,234,567.5 RUB.'


def test_an_empty_result_and_one_of_nulls_are_said_clearly():
    empty = result(["total"], ["other"])
    nulls = result(["SUM(total)"], ["other"], (None,))
    assert told("SELECT total FROM orders", empty).startswith("Ничего не найдено")
    assert told("SELECT SUM(total) FROM orders", nulls).startswith("Ничего не найдено")
    assert told("SELECT total FROM orders", empty, "en").startswith("Nothing was found")


def test_a_count_of_none_is_a_result():
    made = result(["COUNT(*)"], ["number"], (0,))
    assert told("SELECT COUNT(*) FROM orders", made) == "Количество строк «заказы»: 0."


def test_a_flag_is_yes_or_no():
    made = result(["paid", "total"], ["number", "number"], (1, 5))
    statement = "SELECT paid, total FROM orders WHERE paid = 1 AND paid <> 0 LIMIT 1"
    assert told(statement, made) == "«оплачен»: да; «сумма заказа»: 5 руб."
    assert "«оплачен» = да и «оплачен» ≠ нет" in explained(statement)


def test_groups_name_their_highest_and_lowest():
    made = result(["city", "n"], ["category", "number"], ("Самара", 3), ("Казань", 12), ("Пермь", 5))
    assert told("SELECT city, COUNT(*) AS n FROM orders GROUP BY city", made) == (
        "Найдено строк: 3. Количество строк «заказы»: больше всего у «Казань» (12), "
        "меньше всего у «Самара» (3)."
    )


def test_months_are_told_in_their_order_and_in_words():
    made = result(["m", "s"], ["date", "number"], ("2024-02", 5), ("2024-01", 7))
    statement = "SELECT STRFTIME('%Y-%m', ordered_on) AS m, SUM(total) AS s FROM orders GROUP BY m"
    assert told(statement, made) == (
        "Найдено строк: 2. Сумма «сумма заказа», январь 2024 — февраль 2024: "
        "больше всего за январь 2024 (7 руб.), меньше всего за февраль 2024 (5 руб.)."
    )


def test_a_list_names_its_first_and_a_cut_one_says_so():
    rows = [(f"Магазин {letter}",) for letter in "абвгд"]
    made = result(["name"], ["category"], *rows, truncated=True)
    assert told("SELECT name FROM shops", made) == (
        "Показаны первые строки (5), всего их больше. Первые: Магазин а; Магазин б; Магазин в."
    )


NUMBER = re.compile(r"\d[\d\xa0]*(?:,\d+)?")
CELLS = st.integers(-(10**7), 10**7)


@given(st.lists(st.tuples(st.sampled_from(["Самара", "Казань", "Омск", "Тверь"]), CELLS), max_size=6))
def test_every_number_of_a_sentence_is_of_the_result(rows):
    made = result(["city", "n"], ["category", "number"], *rows)
    words = told("SELECT city, SUM(total) AS n FROM orders GROUP BY city", made)
    known = {abs(number) for _, number in rows} | {len(rows)}
    for found in NUMBER.findall(words):
        assert Decimal(found.replace("\xa0", "").replace(",", ".")) in known


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "SELECT SUM(total) FROM orders WHERE ordered_on >= '2024-01-01' AND ordered_on < '2024-04-01' "
            "AND city = 'Самара'",
            "Считаю: сумма «сумма заказа» — по таблице «заказы», где «дата заказа» — с 1 января 2024 года "
            "до 1 апреля 2024 года и «город» = «Самара».",
        ),
        (
            "SELECT STRFTIME('%Y-%m', ordered_on) AS m, AVG(total) FROM orders GROUP BY m ORDER BY m",
            "Считаю: среднее «сумма заказа» — по таблице «заказы»; отдельно: по месяцам.",
        ),
        (
            "SELECT shops.name, COUNT(*) AS n FROM orders JOIN shops ON shops.id = orders.shop_id "
            "GROUP BY shops.id, shops.name HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 5",
            "Считаю: количество строк «заказы» — по связанным таблицам «заказы», «магазины»; отдельно: для "
            "каждого значения «магазины»; оставляю только те, где количество строк «заказы» больше 10; "
            "по убыванию: количество строк «заказы»; не больше строк: 5.",
        ),
        (
            "SELECT city FROM orders WHERE city LIKE '%ара%' OR total IS NULL",
            "Показываю: «город» — по таблице «заказы», где («город» содержит «ара» или «сумма заказа» не "
            "указано).",
        ),
        (
            "SELECT name FROM shops WHERE id NOT IN (SELECT shop_id FROM orders)",
            "Показываю: «магазины» — по таблице «магазины», где неверно, что «id» есть среди найденного так: "
            "Показываю: «shop_id» — по таблице «заказы».",
        ),
    ],
)
def test_a_statement_is_explained(statement, words):
    assert explained(statement) == words


@given(
    st.sampled_from(
        ["total > 5", "city LIKE 'а%'", "total BETWEEN 1 AND 2", "city IN ('а', 'б')", "NOT total = 1"]
    ),
    st.sampled_from(["city", "COUNT(*)", "MAX(ordered_on)", "ROUND(AVG(total), 2)", "total * 2", "*"]),
    st.sampled_from(["ru", "en"]),
)
def test_any_statement_is_explained(condition, item, language):
    assert explained(f"SELECT {item} FROM orders WHERE {condition}", language).endswith(".")


@pytest.mark.parametrize(
    ("number", "form"),
    [(1, "день"), (2, "дня"), (5, "дней"), (11, "дней"), (21, "день"), (112, "дней"), (1.5, "дня")],
)
def test_nouns_follow_their_numbers(number, form):
    assert plural(number, "день", "дня", "дней") == form


def test_numbers_and_dates_in_both_languages():
    assert number_words(1234567.891, "ru") == "1\xa0234\xa0567,89"
    assert number_words(9500, "ru") == "9500"
    assert number_words(1234567.891, "en") == "1,234,567.89"
    assert value_words("2024-03-05", "ru") == "5 марта 2024 года"
    assert value_words("2024-03", "en") == "March 2024"
    assert value_words("2024-13", "ru") == "2024-13"


def test_a_file_runs_nothing_in_a_spreadsheet():
    made = result(
        ["=имя", "n"],
        ["category", "number"],
        ("=HYPERLINK(1)", -5), ("+7900", 1.5), ("-5", None), ("@sum", True), ("  =1+1", 2), ('a;"b"', 3),
    )  # fmt: skip
    data = csv_bytes(made)
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter=";"))
    assert rows[0] == ["'=имя", "n"]
    assert [row[0] for row in rows[1:]] == ["'=HYPERLINK(1)", "+7900", "-5", "'@sum", "'  =1+1", 'a;"b"']
    assert [row[1] for row in rows[1:]] == ["-5", "1,5", "", "1", "2", "3"]
    assert csv_bytes(made, "en").decode("utf-8-sig").splitlines()[2] == "+7900,1.5"


@given(st.text(max_size=20))
def test_no_cell_begins_as_a_formula(text):
    made = result(["a", "b"], ["text", "number"], (text, 1))
    row = next(
        csv.reader(
            io.StringIO(csv_bytes(made).decode("utf-8-sig").split("\r\n", 1)[1], newline=""), delimiter=";"
        )
    )
    assert not row[0].lstrip().startswith(("=", "@")) or row[0].startswith("'")
