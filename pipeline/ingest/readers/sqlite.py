"""Rows of SQLite tables that ``sources.toml`` names; a row is a document.

Nothing is guessed: a database may hold passwords beside its articles, so only declared columns are read.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from pipeline.errors import SettingsError, UnreadableFileError
from pipeline.ingest.notes import ROWS_CUT
from pipeline.ingest.readers.common import make_document, stem, web_link
from pipeline.ingest.readers.container import check_size
from pipeline.ingest.readers.html import html_sections
from pipeline.ingest.readers.sections import MAX_CHARACTERS, Sections
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.declared import AskedTable, TableSource, load_sources, root_of
from pipeline.messages import Phrase
from pipeline.text.normalise import clean_text
from pipeline.types import Document

__all__ = ["read_sqlite"]

_SIZE_FACTOR = 32  # the texts may be a small part of the database
_MAX_ROWS = 200_000
_STEPS = 10_000  # of the virtual machine, between two looks at the clockwork below
_MAX_TURNS = 200_000
_MAGIC = b"SQLite format 3\0"

Value = str | int | float | None


def read_sqlite(path: Path, file: str) -> list[Document]:
    """Read a SQLite file; see `pipeline.ports.Reader`. A document's file is ``base.sqlite/table/id``."""
    check_size(path, file, _SIZE_FACTOR)
    with path.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise UnreadableFileError(file=file, reason=reason("damaged", "SQLite"))
    try:
        sources = load_sources(root_of(path, file))
    except SettingsError as error:
        why = error.values["reason"]
        if not isinstance(why, Phrase):
            why = reason("sources", f"{error.values['where']}: {why}")
        raise UnreadableFileError(file=file, reason=why) from error
    tables = [table for table in sources.texts if table.file == file]
    if not tables and any(base.asked.inside == file for base in sources.database):
        raise UnreadableFileError(file=file, reason=reason("asked_only"))
    if not tables:
        raise UnreadableFileError(file=file, reason=reason("not_declared"))
    try:
        with closing(_opened(path)) as connection:
            documents = [document for table in tables for document in _rows(connection, table, file)]
    except sqlite3.Error as error:
        raise UnreadableFileError(file=file, reason=reason("database", error)) from error
    if not documents:
        raise UnreadableFileError(file=file, reason=reason("no_text"))
    return documents


def _opened(path: Path) -> sqlite3.Connection:
    """A connection that can change nothing and cannot run for ever."""
    # Without a journal beside it the file is read as it lies, and no lock file is made in the folder.
    journal = path.with_name(f"{path.name}-wal")
    mode = "mode=ro" if journal.exists() else "mode=ro&immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?{mode}", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    turns = iter(range(_MAX_TURNS))
    connection.set_progress_handler(lambda: int(next(turns, None) is None), _STEPS)
    return connection


def _rows(connection: sqlite3.Connection, table: TableSource, file: str) -> list[Document]:
    """A document a row; where there are more rows than are read, the last document says so."""
    # Without "t." SQLite would take the name of a column that is not there for a text.
    columns = ", ".join(f"t.{_quoted(column)}" for column in table.columns)
    order = f"ORDER BY t.{_quoted(table.id)}" if table.id else ""
    # Names come from the user's own file and are quoted; SQL has no parameters for them.
    query = f"SELECT {columns} FROM {_quoted(table.table)} AS t {order} LIMIT {_MAX_ROWS + 1}"  # noqa: S608
    documents: list[Document] = []
    characters = 0
    seen: set[str] = set()
    for number, values in enumerate(connection.execute(query), start=1):
        if number > _MAX_ROWS:
            documents[-1:] = [_cut_short(document) for document in documents[-1:]]
            break
        row = dict(zip(table.columns, map(_value, values), strict=True))
        characters += len(str(row[table.text] or ""))
        if characters > MAX_CHARACTERS:
            raise UnreadableFileError(file=file, reason=reason("too_much_text", MAX_CHARACTERS // 1_000_000))
        key = " ".join(str(row.get(table.id) or number).split()) or str(number)
        if key in seen:
            key = f"{key} ({number})"
        seen.add(key)
        document = _document(table, row, f"{file}/{table.table}/{key}")
        if document is not None:
            documents.append(document)
    return documents


def _cut_short(document: Document) -> Document:
    return replace(document, metadata={**document.metadata, ROWS_CUT: _MAX_ROWS})


def _document(table: TableSource, row: dict[str, Value], name: str) -> Document | None:
    text = str(row[table.text] or "")
    title = " ".join(clean_text(str(row.get(table.title) or "")).split())
    if table.format == "html":
        sections = html_sections(text, name)
        title = title or sections.title
    else:
        sections = Sections(name)
        sections.heading(1, title)
        sections.add(text)
    title = title or stem(name)
    blocks = sections.blocks(title)
    if not blocks:
        return None
    metadata: dict[str, str | int | float | bool] = {
        column: value for column in table.metadata if (value := row[column]) is not None
    }
    metadata |= {"source_type": "sqlite", "table": table.table}
    if isinstance(table, AskedTable) and (own := row[table.id]) is not None:
        metadata["row_id"] = own  # a search can be limited to the rows that a statement selects
    link = web_link(str(row.get(table.link) or ""))
    return make_document(name, title, sections.text, blocks, metadata, link=link)


def _value(value: object) -> Value:
    if isinstance(value, bytes):
        return clean_text(value.decode("utf-8", "replace"))
    if isinstance(value, str):
        return clean_text(value)
    return value if isinstance(value, int | float) else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
