"""``[[database]]`` in sources.toml: what may stand there, and its texts as documents, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from word_embedder import WordEmbedder

from pipeline.databases import DatabaseSource
from pipeline.errors import SettingsError, UnreadableFileError
from pipeline.ingest.build import build_index
from pipeline.ingest.readers.sqlite import read_sqlite
from pipeline.ingest.sources.declared import load_sources
from pipeline.settings import IndexSettings

DECLARED = """
[[database]]
name = "kb"
file = "kb.sqlite"
note = "Статьи"

[[database.table]]
table = "articles"
id = "id"
title = "title"
text = "body"
metadata = ["category"]
synonyms = ["статьи"]
columns.category = { note = "рубрика", synonyms = ["раздел"] }

[[database.table]]
table = "authors"
hidden = ["phone"]

[[database.example]]
question = "Сколько статей?"
sql = "SELECT COUNT(*) FROM articles"
"""
ROWS = [
    (7, "Отпуск", "отдых", "Отпуск длится двадцать восемь дней."),
    (9, "Касса", "деньги", "Касса закрыта в обед."),
    (11, "Склад", "товар", "Склад открыт с девяти."),
]


def made(folder: Path, rows: list[tuple[object, ...]] = ROWS, declared: str = DECLARED) -> Path:
    (folder / "sources.toml").write_text(declared, "utf-8")
    path = folder / "kb.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, title, category, body)")
        connection.execute("CREATE TABLE authors (id INTEGER PRIMARY KEY, name, phone)")
        connection.executemany("INSERT INTO articles VALUES (?, ?, ?, ?)", rows)
    return path


def test_a_table_of_texts_is_read_and_each_document_says_which_row_it_is(tmp_path):
    documents = read_sqlite(made(tmp_path), "kb.sqlite")
    assert [(item.file, item.title) for item in documents] == [
        ("kb.sqlite/articles/7", "Отпуск"),
        ("kb.sqlite/articles/9", "Касса"),
        ("kb.sqlite/articles/11", "Склад"),
    ]
    assert documents[0].metadata == {
        "category": "отдых", "source_type": "sqlite", "table": "articles", "row_id": 7,
    }  # fmt: skip
    (source,) = load_sources(tmp_path).database
    assert all(item.file.startswith(source.documents_of("articles")) for item in documents)


def test_only_changed_rows_are_embedded_again(tmp_path):
    """Per row, not per file: every byte of the file may have moved."""
    settings = IndexSettings()
    made(tmp_path)
    first = build_index(tmp_path, WordEmbedder(), settings)
    changed = [
        ROWS[0],
        (9, "Касса", "деньги", "Касса открыта весь день."),
        ROWS[2],
        (12, "Архив", "", "Архив пуст."),
    ]
    made(tmp_path, changed)
    embedder = WordEmbedder()
    second = build_index(tmp_path, embedder, settings, previous=first.index)
    assert (second.report.embedded, second.report.reused, second.report.removed) == (2, 2, 1)
    assert {text for _, text in embedder.seen if "Отпуск" in text or "Склад" in text} == set()


def test_a_base_without_texts_is_skipped_with_its_reason(tmp_path):
    path = made(tmp_path, declared=DECLARED.replace('text = "body"\n', ""))
    with pytest.raises(UnreadableFileError) as caught:
        read_sqlite(path, "kb.sqlite")
    assert caught.value.values["reason"].key == "skip_asked_only"


def test_a_table_beside_a_database_stays_as_it_was(tmp_path):
    declared = '[[table]]\ndatabase = "kb.sqlite"\ntable = "articles"\nid = "id"\ntext = "body"\n'
    documents = read_sqlite(made(tmp_path, declared=declared), "kb.sqlite")
    assert "row_id" not in documents[0].metadata


def test_a_server_keeps_its_rows_under_its_name(tmp_path):
    declared = DECLARED.replace('file = "kb.sqlite"', 'url = "postgresql://reader@127.0.0.1/kb"')
    (tmp_path / "sources.toml").write_text(declared, "utf-8")
    (table,) = load_sources(tmp_path).texts
    assert (table.file, table.is_url) == ("fetched/kb_articles.sqlite", True)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"file": "a.sqlite", "url": "sqlite:///a"}, "either a file or a url"),
        ({}, "either a file or a url"),
        ({"file": "../a.sqlite"}, "a file of the knowledge base"),
        ({"file": "C:\\a.sqlite"}, "a file of the knowledge base"),
        ({"file": "/etc/a.sqlite"}, "a file of the knowledge base"),
        ({"url": "a.sqlite"}, "an SQLAlchemy URL"),
        ({"file": "a.sqlite", "name": "a b"}, "needs a name"),
        ({"file": "a.sqlite", "table": []}, "at least 1 item"),
        ({"file": "a.sqlite", "table": [{"table": "t"}, {"table": "T"}]}, "named twice: t"),
        ({"file": "a.sqlite", "table": [{"table": "t", "text": "b"}]}, "needs its id"),
        ({"file": "a.sqlite", "table": [{"table": "t", "id": "a", "hidden": ["A"]}]}, "hidden and used: a"),
        ({"file": "a.sqlite", "table": [{"table": 'a"b'}]}, "a table needs a name"),
        ({"file": "a.sqlite", "tables": []}, "Extra inputs"),
    ],
)
def test_a_wrong_declaration_is_told(entry, reason):
    with pytest.raises(ValueError, match=reason):
        DatabaseSource.model_validate({"name": "a", "table": [{"table": "t"}], **entry})


def test_two_databases_of_one_name_are_refused(tmp_path):
    (tmp_path / "sources.toml").write_text(DECLARED + DECLARED.replace('"kb"', '"KB"'), "utf-8")
    with pytest.raises(SettingsError, match="named twice"):
        load_sources(tmp_path)
