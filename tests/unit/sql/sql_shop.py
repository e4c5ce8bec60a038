"""A small shop for the tests of statements: who refers to whom is worked out by hand."""

from pipeline.sql.catalog import Catalog, Column, ForeignKey, Table


def column(name, kind, note="", *synonyms, values=(), type_="TEXT"):
    return Column(name, type_, kind, note, synonyms, tuple(values))


def table(name, columns, links=(), note="", *synonyms, rows=10):
    foreign = tuple(ForeignKey(source, target, "id") for source, target in links)
    return Table(name, (column("id", "id"), *columns), "id", foreign, note, synonyms, rows)


TABLES = (
    table(
        "categories",
        [column("name", "category", values=["Ноутбуки", "Мониторы"])],
        (),
        "Категории",
        "разделы",
    ),
    table(
        "products",
        [
            column("name", "other", "название"),
            column("category_id", "id"),
            column("price", "number", "цена, руб."),
            column("on_sale", "flag", "продаётся ли", "в продаже"),
        ],
        [("category_id", "categories")],
        "Товары",
        "товары",
    ),
    table(
        "customers",
        [
            column("name", "other"),
            column("city", "category", "город покупателя", values=["Казань", "Пермь"]),
        ],
        (),
        "Покупатели",
        "клиенты",
    ),
    table(
        "orders",
        [
            column("customer_id", "id"),
            column("status", "category", "состояние", values=["новый", "отменён"]),
            column("ordered_on", "date", "дата заказа"),
            column("total", "number", "сумма заказа"),
        ],
        [("customer_id", "customers")],
        "Заказы",
        "заказы",
        rows=100,
    ),
    table(
        "order_items",
        [column("order_id", "id"), column("product_id", "id"), column("quantity", "number", "штук")],
        [("order_id", "orders"), ("product_id", "products")],
        "Строки заказов",
        "позиции",
        rows=300,
    ),
    table(
        "suppliers",
        [column("city", "category", "город поставщика", values=["Казань"])],
        (),
        "Поставщики",
        "поставщики",
    ),
)
SHOP = Catalog("shop", "sqlite", {one.name: one for one in TABLES}, "Магазин", (), "f1")
