"""Which statements the grammar of a question lets through: it is made into a regular expression and asked."""

import re

import pytest
from sql_shop import SHOP

from pipeline.sql.cues import cues_of
from pipeline.sql.known import Amount, Period, Value, Words, known_over, unclear_value
from pipeline.sql.select_grammar import Condition, Known, column_name, quoted, select_grammar, table_name

_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|\[\^([^\]]*)\]|([a-z][a-z0-9-]*)|(.)')


def accepts(grammar: str, statement: str) -> bool:
    """The grammars refer to no rule from within itself, so each is a regular expression."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def expand(body: str) -> str:
        out = ""
        for literal, negated, rule, other in _PIECE.findall(body):
            if rule:
                out += f"(?:{expand(rules[rule])})"
            elif negated:
                out += f"[^{negated}]"
            elif other.strip():
                out += "(?:" if other == "(" else other
            elif not other:
                out += "(?:" + re.escape(literal.replace('\\"', '"').replace("\\\\", "\\")) + ")"
        return out

    return re.fullmatch(expand(rules["root"]), statement) is not None


def grammar(question, known=None, tables=("orders", "customers")):
    chosen = [SHOP.tables[name] for name in tables]
    return select_grammar(chosen, known or Known(), cues_of(question), "sqlite")


IN_KAZAN = Condition("в Казани", ("customers.city = 'Казань'",))


def test_names_are_quoted_where_they_must_be():
    assert [quoted(name) for name in ("orders", "order", "Orders", "о", 'a"b')] == [
        "orders",
        '"order"',
        '"Orders"',
        '"о"',
        '"a""b"',
    ]
    assert table_name("public.order") == 'public."order"'
    assert column_name("public.orders", "id") == "orders.id"


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Сколько заказов?", "SELECT COUNT(*) FROM orders;", "SELECT orders.total FROM orders;"),
        (
            "Сколько заказов?",
            "SELECT SUM(orders.total) FROM orders;",
            "SELECT SUM(orders.status) FROM orders;",
        ),
        (
            "Сколько заказов?",
            "SELECT COUNT(*) FROM orders;",
            "SELECT COUNT(*) FROM orders WHERE orders.total > 5;",
        ),
        (
            "Сколько заказов?",
            "SELECT COUNT(*) FROM orders;",
            "SELECT COUNT(*) FROM orders; DROP TABLE orders;",
        ),
        (
            "Сколько заказов у каждого покупателя?",
            "SELECT customers.name, COUNT(*) FROM orders JOIN customers ON orders.customer_id = customers.id "
            "GROUP BY customers.name;",
            "SELECT COUNT(*) FROM orders;",
        ),
        (
            "Пять самых больших заказов",
            "SELECT orders.id, orders.total FROM orders ORDER BY orders.total DESC LIMIT 5;",
            "SELECT orders.id, orders.total FROM orders ORDER BY orders.total DESC LIMIT 7;",
        ),
        (
            "Выручка по месяцам",
            "SELECT STRFTIME('%Y-%m', orders.ordered_on), SUM(orders.total) FROM orders "
            "GROUP BY STRFTIME('%Y-%m', orders.ordered_on) ORDER BY STRFTIME('%Y-%m', orders.ordered_on);",
            "SELECT SUM(orders.total) FROM orders;",
        ),
        (
            "Какие клиенты без заказов?",
            "SELECT customers.name FROM customers WHERE "
            "NOT EXISTS (SELECT 1 FROM orders WHERE orders.customer_id = customers.id);",
            "SELECT customers.name FROM customers;",
        ),
    ],
)
def test_the_wording_decides_about_the_form(question, right, wrong):
    tables = [SHOP.tables["orders"], SHOP.tables["customers"]]
    made = grammar(question, known_over(Words(), tables, question, "sqlite"))
    assert accepts(made, right)
    assert not accepts(made, wrong)


def test_a_condition_that_is_sure_must_stand_there_and_no_other_may():
    made = grammar("Сколько клиентов в Казани?", Known((IN_KAZAN,)))
    assert accepts(made, "SELECT COUNT(*) FROM customers WHERE customers.city = 'Казань';")
    assert not accepts(made, "SELECT COUNT(*) FROM customers;")
    assert not accepts(made, "SELECT COUNT(*) FROM customers WHERE customers.city = 'Пермь';")


def test_one_of_several_meanings_is_chosen():
    known = Known((Condition("в Казани", ("customers.city = 'Казань'", "suppliers.city = 'Казань'")),))
    made = grammar("Сколько в Казани?", known, ("customers", "suppliers"))
    assert accepts(made, "SELECT COUNT(*) FROM suppliers WHERE suppliers.city = 'Казань';")
    assert accepts(made, "SELECT COUNT(*) FROM customers WHERE customers.city = 'Казань';")


def test_numbers_are_those_of_the_question():
    made = grammar("Сколько заказов дороже 500?", Known(numbers=((">", "500"),)))
    assert accepts(made, "SELECT COUNT(*) FROM orders WHERE orders.total > 500;")
    assert not accepts(made, "SELECT COUNT(*) FROM orders WHERE orders.total > 5000;")
    assert not accepts(made, "SELECT COUNT(*) FROM orders WHERE orders.total < 500;")


def test_tables_are_joined_along_their_keys_only():
    made = grammar("Сколько заказов?")
    assert accepts(made, "SELECT COUNT(*) FROM orders JOIN customers ON orders.customer_id = customers.id;")
    assert not accepts(made, "SELECT COUNT(*) FROM orders JOIN customers ON orders.id = customers.id;")


def test_names_that_nobody_knows_are_looked_for_in_words():
    made = grammar("Сколько заказов у «О'Нил»?", Known(names=("О'Нил",)))
    assert accepts(made, "SELECT COUNT(*) FROM customers WHERE customers.name LIKE '%О''Нил%';")


def test_words_become_conditions_over_the_tables_at_hand():
    words = Words(
        values=(
            Value("Казани", "customers", "city", "Казань"),
            Value("Казани", "suppliers", "city", "Казань"),
        ),
        periods=(Period("в 2024 году", "2024-01-01", "2025-01-01"),),
        amounts=(Amount("дороже 500", ">", "500"),),
    )
    tables = [SHOP.tables["orders"], SHOP.tables["customers"]]
    known = known_over(
        words, tables, "Сколько заказов дороже 500 у клиентов из Казани в 2024 году?", "sqlite"
    )
    assert known.stated == (
        "customers.city = 'Казань'",
        "orders.ordered_on >= '2024-01-01' AND orders.ordered_on < '2025-01-01'",
    )
    assert known.numbers == ((">", "500"),)


def test_two_values_of_one_column_are_either():
    words = Words(values=tuple(Value(name, "customers", "city", name) for name in ("Казань", "Пермь")))
    known = known_over(words, [SHOP.tables["customers"]], "Сколько клиентов: Казань, Пермь?", "sqlite")
    assert known.stated == ("customers.city IN ('Казань', 'Пермь')",)


def test_what_could_be_either_of_two_tables_is_unclear_unless_one_is_named():
    words = Words(
        values=tuple(Value("Казани", name, "city", "Казань") for name in ("customers", "suppliers"))
    )
    assert len(unclear_value(words, SHOP, "Сколько всего в Казани?")) == 2
    assert unclear_value(words, SHOP, "Сколько поставщиков в Казани?") == ()


def test_a_column_of_yes_and_no_is_offered_when_it_is_spoken_of():
    known = known_over(Words(), [SHOP.tables["products"]], "Сколько продаётся?", "sqlite")
    assert [condition.choices for condition in known.conditions] == [
        ("products.on_sale = 1", "products.on_sale = 0")
    ]
    assert known.stated == ()
