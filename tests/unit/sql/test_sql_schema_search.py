"""Which tables a question is about, the tables between, and how little of a schema a prompt shows."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import get_args

import pytest
from sql_shop import SHOP

from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import SettingsError
from pipeline.settings import SqlSettings
from pipeline.sql.alike import known_as
from pipeline.sql.excerpt import excerpt, whole
from pipeline.sql.names import called_terms, in_cyrillic, name_terms, table_terms
from pipeline.sql.paths import between, neighbours
from pipeline.sql.schema_search import SchemaSearch
from pipeline.sql.schema_strategies import SCHEMA_STRATEGIES, choose_tables
from pipeline.sql.shots import made_examples, nearest_examples
from pipeline.sql.table_vectors import TableVectors, described


def names(found):
    return [table.name for table in found.tables]


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("order_items", "item"),
        ("OrderItems", "order"),
        ("zakazy", "заказ"),
        ("pokupateli", "покупател"),
        ("СчетФактура", "фактур"),
    ],
)
def test_names_fall_into_words_of_both_languages(name, term):
    assert term in name_terms(name)


def test_latin_letters_stand_for_russian_sounds():
    assert in_cyrillic("tovary") == "товары"
    assert in_cyrillic("schet") == "щет"
    assert in_cyrillic("zhurnal") == "журнал"


def test_a_synonym_of_several_words_is_no_name():
    table = SHOP.tables["order_items"]
    assert "позиц" in called_terms(table)
    assert "строк" not in called_terms(table)
    assert "строк" in table_terms(table)


def test_forms_whose_stems_differ_are_known():
    assert known_as("отгрузок", {"отгрузк", "отпуск"}) == ["отгрузк"]
    assert known_as("заказ", {"заказ", "заказчик"}) == ["заказ"]
    assert known_as("закупок", {"закупок", "закупк"}) == ["закупок", "закупк"]
    assert known_as("дом", {"домен"}) == []


def test_keys_are_a_map():
    assert neighbours(SHOP)["orders"] == ("customers", "order_items")
    assert between(SHOP, ["categories", "customers"]) == ("order_items", "orders", "products")
    assert between(SHOP, ["orders", "customers"]) == ()
    assert between(SHOP, ["suppliers", "orders"]) == ()


def test_an_excerpt_shows_values_notes_and_keys_and_little_of_what_lies_between():
    found = excerpt(SHOP, ["customers", "products"], between(SHOP, ["customers", "products"]))
    assert "customers(id, name, city /* город покупателя; 'Казань', 'Пермь' */) -- Покупатели" in found.text
    assert "order_items(id, order_id -> orders.id, product_id -> products.id) -- Строки заказов" in found.text
    assert "quantity" not in found.text
    assert found.asked == ("customers", "products")
    assert names(whole(SHOP)) == list(SHOP.tables)


def test_values_that_are_named_come_first():
    many = [f"v{number:02}" for number in range(30)]
    from sql_shop import column, table

    from pipeline.sql.catalog import Catalog

    catalog = Catalog("c", "sqlite", {"t": table("t", [column("k", "category", values=many)])})
    text = excerpt(catalog, ["t"], (), {("t", "k"): ("v29",)}).text
    assert "/* 'v29', 'v00', " in text
    assert text.endswith("'v10', … */)")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Сколько заказов отменено?", {"orders"}),
        ("Сколько клиентов из Перми?", {"customers"}),
        ("Какие товары дороже 1000?", {"products"}),
        ("Сколько заказали покупатели по категориям?", {"customers", "categories"}),
        ("How many orders per category?", {"orders", "categories", "products", "order_items"}),
    ],
)
@pytest.mark.parametrize("strategy", ["none", "keyword", "hybrid"])
def test_the_tables_that_are_meant_are_shown(strategy, question, wanted):
    search = SchemaSearch(SHOP, HashEmbedder(256))
    found = choose_tables(search, question, strategy)
    assert wanted <= set(names(found))
    if strategy == "keyword":
        assert "suppliers" not in names(found)


@pytest.mark.parametrize("strategy", ["dense", "chroma"])
def test_meaning_is_looked_up_in_either_engine(strategy):
    """The fake embedder knows equal words only, so the question is a description."""
    question = described(SHOP.tables["suppliers"])
    found = choose_tables(SchemaSearch(SHOP, HashEmbedder(256)), question, strategy)
    assert names(found)[0] == "suppliers"


def test_both_engines_say_the_same():
    search = SchemaSearch(SHOP, HashEmbedder(256))
    question = "сумма заказа город покупателя"
    assert names(choose_tables(search, question, "dense")) == names(choose_tables(search, question, "chroma"))


def test_tables_of_named_values_are_shown_whatever_the_words():
    found = choose_tables(SchemaSearch(SHOP, None, ("suppliers",)), "Сколько заказов?", "keyword")
    assert "suppliers" in names(found)


def test_where_nothing_is_found_all_is_shown():
    assert names(choose_tables(SchemaSearch(SHOP), "Почему?", "keyword")) == list(SHOP.tables)
    with pytest.raises(SettingsError):
        choose_tables(SchemaSearch(SHOP), "Почему?", "magic")


def test_the_setting_knows_every_strategy():
    known = get_args(SqlSettings.model_fields["tables"].annotation)
    assert known == tuple(strategy.name for strategy in SCHEMA_STRATEGIES)


def test_every_strategy_is_described_in_both_languages():
    for strategy in SCHEMA_STRATEGIES:
        for about in (strategy.about["ru"], strategy.about["en"]):
            assert all((about.title, about.what, about.pros, about.cons, about.best_for))


def test_examples_are_the_owner_s_then_made_ones_the_nearest_last():
    from dataclasses import replace

    own = (("Сколько клиентов?", "SELECT 1"), ("Средняя цена товара?", "SELECT 2"))
    catalog = replace(SHOP, examples=own)
    shown = excerpt(catalog, ["orders"], ("customers",))
    found = nearest_examples("Какая средняя цена?", catalog, shown)
    assert len(found) == 3
    assert found[-1] == own[1]
    made = list(made_examples(shown))
    assert made[0][1] == (
        "SELECT customers.name, COUNT(*) FROM orders JOIN customers ON orders.customer_id = customers.id "
        "GROUP BY customers.name"
    )


def test_many_threads_embed_a_schema_once(monkeypatch):
    made = []

    class Slow(TableVectors):
        def __init__(self, *given):
            made.append(given)
            time.sleep(0.05)  # long enough for the others to come
            super().__init__(*given)

    monkeypatch.setattr("pipeline.sql.schema_search.TableVectors", Slow)
    search = SchemaSearch(SHOP, HashEmbedder(256))
    with ThreadPoolExecutor(4) as pool:
        near = list(pool.map(lambda _: replace(search, named=()).nearness("Сколько заказов?"), range(4)))
    assert len(made) == len(set(near)) == 1
