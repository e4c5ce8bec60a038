"""Tables of long texts in SQLite files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.sqlite import read_sqlite
from pipeline.types import Document

DECLARED = """
[[table]]
database = "sub/База № 1.sqlite"
table = "ста\\"тьи"
id = "id"
title = "title"
text = "body"
link = "url"
metadata = ["author", "year"]
"""


def made(folder: Path, rows: list[tuple[object, ...]], declared: str = DECLARED) -> Path:
    (folder / "sources.toml").write_text(declared, "utf-8")
    path = folder / "sub" / "База № 1.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE "ста""тьи" (id, title, body, url, author, year)')
        connection.execute("CREATE TABLE users (password)")
        connection.executemany('INSERT INTO "ста""тьи" VALUES (?, ?, ?, ?, ?, ?)', rows)
    return path


def read(path: Path) -> list[Document]:
    return read_sqlite(path, "sub/База № 1.sqlite")


def test_a_row_is_a_document_with_its_own_metadata(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [
        (2, "Отпуск", "28 дней.\r\n\r\nИ ещё.", "https://e.org/2", "Иванов", 2024),
        (1, None, "Без названия.", "javascript:x", None, 1.5),
        (3, "Пусто", "  \n", None, None, None),
        (4, "Байты", "Ёлка".encode(), None, b"x", None),
    ]
    documents = read(made(tmp_path, rows))
    assert [(d.file, d.title, d.link, d.text) for d in documents] == [
        ('sub/База № 1.sqlite/ста"тьи/1', "1", None, "Без названия."),
        ('sub/База № 1.sqlite/ста"тьи/2', "Отпуск", "https://e.org/2", "Отпуск\n\n28 дней.\n\nИ ещё."),
        ('sub/База № 1.sqlite/ста"тьи/4', "Байты", None, "Байты\n\nЁлка"),
    ]
    assert documents[1].metadata == {
        "author": "Иванов", "year": 2024, "source_type": "sqlite", "table": 'ста"тьи',
    }  # fmt: skip
    assert documents[0].metadata["year"] == 1.5


def test_equal_ids_make_different_files(tmp_path: Path) -> None:
    row = (1, "А", "Текст.", None, None, None)
    assert len({document.file for document in read(made(tmp_path, [row, row]))}) == 2


def test_html_columns_are_read_as_pages(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        [(1, "", "<h1>З</h1><p>а<script>x</script>", None, None, None)],
        DECLARED + 'format = "html"\n',
    )
    assert (read(path)[0].title, read(path)[0].text) == ("З", "З\n\nа")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("", "no table"),
        ('[[table]]\ndatabase = "другая.sqlite"\ntable = "t"\ntext = "b"\n', "no table"),
        ("[[table]\n", "sources.toml is wrong"),
        ('[[table]]\ndatabase = "sub/База № 1.sqlite"\n', "table.0.table"),
        (DECLARED + "colour = 1\n", "colour"),
        (DECLARED.replace("body", "нет"), "no such column"),
        (DECLARED.replace('ста\\"тьи', "нет"), "no such table"),
        (DECLARED.replace('ста\\"тьи', "users; DROP TABLE users"), "no such table"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, declared: str, reason: str) -> None:
    path = made(tmp_path, [(1, "А", "Текст.", None, None, None)], declared)
    with pytest.raises(UnreadableFileError) as caught:
        read(path)
    assert reason in str(caught.value)


def test_nothing_is_written_and_nothing_runs_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = (
        "CREATE VIEW endless AS WITH RECURSIVE n(body) AS (SELECT 1 UNION ALL SELECT body + 1 FROM n) "
        "SELECT body FROM n WHERE body < 0"
    )
    declared = '[[table]]\ndatabase = "sub/База № 1.sqlite"\ntable = "endless"\ntext = "body"\n'
    path = made(tmp_path, [], declared)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(endless)
    before = path.read_bytes()
    monkeypatch.setattr("pipeline.ingest.readers.sqlite._MAX_TURNS", 20)
    with pytest.raises(UnreadableFileError, match="interrupted"):
        read(path)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"MZ" * 600)
    with pytest.raises(UnreadableFileError, match="damaged"):
        read_sqlite(tmp_path / "a.db", "a.db")
