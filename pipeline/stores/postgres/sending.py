"""Rows on their way into the tables of a base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.index import Index
from pipeline.ports import Progress
from pipeline.stores.postgres import rows
from pipeline.stores.postgres.difference import Difference, difference
from pipeline.stores.postgres.schema import in_schema

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["Target", "known_hashes", "relabel", "send_chunks", "write_documents"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where an index goes.

    Attributes:
        store: As people call it.
        schema: The schema of the base.
        source: Who writes; other sources of the base stay as they are.
        links: Of the HNSW graph, see the setting ``store.hnsw_links``.
        build: Likewise ``store.hnsw_build``.
    """

    store: str
    schema: str
    source: str
    links: int = 32
    build: int = 200


def known_hashes(connection: Connection, to: Target, table: str) -> dict[str, bytes]:
    """Id and hash of the rows that this source has in a table."""
    found = connection.execute(
        in_schema(f"SELECT id, hash FROM {{schema}}.{table} WHERE source = %s", to.schema), [to.source]
    )
    return {row["id"]: row["hash"] for row in found}


def relabel(connection: Connection, made: rows.ChunkRows, changed: Difference, to: Target) -> None:
    """Rows whose text and vectors stay, with what their document says now."""
    if not changed.relabelled:
        return
    listed = ", ".join(rows.LABEL_COLUMNS)
    connection.execute(
        in_schema(
            f"CREATE TEMP TABLE relabelled ON COMMIT DROP AS SELECT {listed} FROM {{schema}}.chunks"
            " WITH NO DATA",
            to.schema,
        )
    )
    given = (made.labels(number, digest) for number, digest in changed.relabelled.items())
    _copy(connection, "pg_temp", "relabelled", rows.LABEL_COLUMNS, given)
    pairs = ", ".join(f"{name} = new.{name}" for name in rows.LABEL_COLUMNS if name not in ("source", "id"))
    connection.execute(
        in_schema(
            f"UPDATE {{schema}}.chunks AS old SET {pairs} FROM pg_temp.relabelled AS new"
            " WHERE old.source = new.source AND old.id = new.id",
            to.schema,
        )
    )


def send_chunks(
    connection: Connection,
    made: rows.ChunkRows,
    changed: Difference,
    to: Target,
    progress: Progress | None,
    *,
    table: str,
) -> None:
    """New rows, in one stream."""
    total = len(changed.sent)

    def told() -> Iterable[tuple[object, ...]]:
        for done, (number, digest) in enumerate(changed.sent.items()):
            if progress is not None and done % 100 == 0:
                progress(done, total)
            yield made.row(number, digest)

    if total:
        _copy(connection, to.schema, table, rows.CHUNK_COLUMNS, told())
    if progress is not None and total:
        progress(total, total)


def write_documents(connection: Connection, index: Index, to: Target) -> Difference:
    """What has changed of the documents, and their order."""
    documents = list(index.documents.values())
    hashes = ((one.id, rows.document_hash(one)) for one in documents)
    changed = difference(known_hashes(connection, to, "documents"), hashes)
    statement = "DELETE FROM {schema}.documents WHERE source = %s AND id = ANY (%s)"
    connection.execute(in_schema(statement, to.schema), [to.source, list(changed.gone)])
    made = (rows.document_row(to.source, documents[n], digest, n) for n, digest in changed.sent.items())
    _copy(connection, to.schema, "documents", rows.DOCUMENT_COLUMNS, made)
    # Those that stay may have another place now.
    connection.execute(
        in_schema(
            "UPDATE {schema}.documents AS d SET place = o.place::int - 1"
            " FROM unnest(%s::text[]) WITH ORDINALITY AS o (id, place)"
            " WHERE d.source = %s AND d.id = o.id AND d.place <> o.place - 1",
            to.schema,
        ),
        [[one.id for one in documents], to.source],
    )
    return changed


def _copy(
    connection: Connection,
    name: str,
    table: str,
    columns: Mapping[str, str],
    made: Iterable[Sequence[object]],
) -> None:
    listed = ", ".join(columns)
    statement = f"COPY {{schema}}.{table} ({listed}) FROM STDIN (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(in_schema(statement, name)) as copy:
        copy.set_types(list(columns.values()))
        for row in made:
            copy.write_row(row)
