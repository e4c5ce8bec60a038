"""A small database of books, indexed and asked, with fakes for every model."""

import datetime as dt
import sqlite3
from contextlib import closing

import psycopg

from pipeline.embedders.hash import HashEmbedder
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.ingest.sources.declared import load_sources
from pipeline.ingest.sources.fetch import fetch_sources
from pipeline.lazy import Lazy
from pipeline.service import Parts, QAService
from pipeline.settings import Settings, SqlSettings
from pipeline.sql.database import open_databases
from pipeline.tables.answers import Tables
from pipeline.tables.costs import Costs
from pipeline.tables.tools import Tools

SOURCES = """
[[database]]
name = "library"
file = "library.sqlite"
note = "Библиотека"

[[database.table]]
table = "books"
id = "id"
title = "title"
text = "body"
metadata = ["genre"]
note = "Книги"
synonyms = ["книги", "издания"]
columns.genre = { note = "жанр", synonyms = ["жанр"] }
columns.price = { note = "цена, руб.", synonyms = ["цена"] }
columns.published_on = { note = "дата выхода", synonyms = ["вышла"] }

[[database.table]]
table = "authors"
id = "id"
note = "Писатели"
synonyms = ["авторы"]
columns.town = { note = "город писателя", synonyms = ["город"] }

[[database.table]]
table = "readers"
id = "id"
note = "Читатели"
synonyms = ["читатели"]
columns.town = { note = "город читателя", synonyms = ["город"] }
"""
SCRIPT = """
CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE readers (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, genre TEXT, author_id INTEGER REFERENCES authors (id),
    price REAL, published_on DATE, body TEXT);
INSERT INTO authors VALUES (1, 'Антон Щербинин', 'Вологда'), (2, 'Вера Кукушкина', 'Тверь');
INSERT INTO readers VALUES (1, 'Олег', 'Тверь'), (2, 'Ирина', 'Рязань');
INSERT INTO books VALUES
    (1, 'Мост', 'Повести', 1, 300, '2023-04-01', 'Плотник строил мост через реку и нашёл в опоре письмо.'),
    (2, 'Лиса', 'Сказки', 2, 150, '2024-02-10', 'Лиса построила мост из хвороста и потеряла рукавицу.'),
    (3, 'Печь', 'Сказки', 2, 450, '2024-06-01', 'Печь умела говорить и любила кашу с маслом.'),
    (4, 'Гора', 'Повести', 1, 500, '2022-01-01', 'На горе стоял дом, и мост к нему снесло водой.');
"""


def no_one_left() -> bool:
    return False


class Library:
    """Services over the same small base: a SQLite file, or a database of the PostgreSQL at ``url``."""

    def __init__(self, folder, url=""):
        self.folder = folder
        (folder / "kb").mkdir()
        where = f'url = "{url}"\nwriter = "warn"' if url else 'file = "library.sqlite"'
        declared = SOURCES.replace('file = "library.sqlite"', where)
        (folder / "kb" / "sources.toml").write_text(declared, encoding="utf-8")
        if url:
            with psycopg.connect(url) as connection:
                connection.execute(SCRIPT)
            fetch_sources(folder / "kb")
        else:
            with closing(sqlite3.connect(folder / "kb" / "library.sqlite")) as connection, connection:
                connection.executescript(SCRIPT)
        self.index = build_index(folder / "kb", HashEmbedder(256), Settings().index).index
        self.services = []
        self.tools = None

    def service(self, replies=None, settings=None, **script) -> QAService:
        """A service whose model says these things; without any there is no model."""
        self.generator = ScriptedGenerator(replies, **script) if replies is not None else None
        worker = Lazy(lambda: GeneratorWorker(lambda: self.generator, 8)) if self.generator else None
        if worker is not None:
            worker.get().wait_ready(30)
        chosen = settings or SqlSettings(tables="keyword")
        databases = open_databases(load_sources(self.folder / "kb").database, self.folder / "kb", chosen)
        embedder = Lazy(lambda: HashEmbedder(256))
        costs = Costs(self.folder / "costs.jsonl", lambda: dt.date(2025, 7, 15))
        self.tools = Tools(
            databases, embedder, worker, chosen, self.folder, costs, today=lambda: dt.date(2025, 7, 15)
        )
        parts = Parts(lambda: self.index, embedder, Lazy(lambda: None), worker, tables=Tables(self.tools))
        service = QAService(parts, Settings(sql=chosen))
        service.start(wait=True)
        self.services.append(service)
        return service
