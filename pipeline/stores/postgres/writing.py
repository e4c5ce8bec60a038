"""One write: what differs goes over, in one transaction, and the version changes last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from pipeline.errors import StoreNotWrittenError
from pipeline.index import Index
from pipeline.messages import Phrase
from pipeline.ports import Progress
from pipeline.snapshot import StoreReport
from pipeline.stores import records
from pipeline.stores.postgres import rows, schema
from pipeline.stores.postgres.binary import register
from pipeline.stores.postgres.difference import Difference, difference
from pipeline.stores.postgres.schema import in_schema
from pipeline.stores.postgres.texts import to_postgres

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["Target", "write"]

_MUCH = 0.1
"""Where more than this share is new, the planner's statistics are renewed at once."""


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
    links: int = 16
    build: int = 128


def write(connection: Connection, index: Index, to: Target, progress: Progress | None) -> StoreReport:
    """Make a base hold an index of one source, within the caller's transaction.

    Writers of one base wait for each other; readers wait for nobody and see the old state to the end.

    Raises:
        StoreNotWrittenError: Another source of this base has vectors of another embedder.
    """
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"otvet {to.schema}"])
    schema.ensure_tables(connection, to.schema, to.store)
    replaced = _renew_for_embedder(connection, index, to)
    register(connection)
    made = rows.ChunkRows(index, to.source)
    changed = difference(_known(connection, to, "chunks"), made.hashes())
    if changed.gone:
        # What the rows held is taken off the statistics by the same statement.
        connection.execute(in_schema(_REMOVE_CHUNKS, to.schema), [to.source, list(changed.gone)])
    _relabel(connection, made, changed, to)
    _send_chunks(connection, made, changed, to, progress)
    _count_terms(connection, index, list(changed.sent), to.schema)
    if replaced is not None:
        dimension = index.manifest.dimension
        schema.create_indexes(connection, to.schema, dimension, links=to.links, build=to.build)
    documents = _write_documents(connection, index, to)
    if len(changed.sent) > len(index.chunks) * _MUCH:
        connection.execute(in_schema("ANALYZE {schema}.chunks, {schema}.terms", to.schema))
    _write_head(connection, index, to, changed=not (changed.nothing and documents.nothing))
    return StoreReport(
        added=len(changed.sent), removed=len(changed.gone) + (replaced or 0), kept=changed.kept
    )


def _renew_for_embedder(connection: Connection, index: Index, to: Target) -> int | None:
    """Empty tables where the vectors there are of another embedder; how many rows they replace, else None."""
    base = _one(connection, "SELECT embedder_id, dimension FROM {schema}.base FOR UPDATE", to.schema)
    wanted = index.manifest.embedder_id, index.manifest.dimension
    if base is not None and (base["embedder_id"], base["dimension"]) == wanted:
        return None
    others = "SELECT count(*) AS n FROM {schema}.sources WHERE name <> %s AND chunks > 0"
    found = _one(connection, others, to.schema, [to.source])
    if found is not None and found["n"]:
        known = base["embedder_id"] if base is not None else ""
        reason = Phrase("store_other_embedder", {"found": known, "wanted": wanted[0]})
        raise StoreNotWrittenError(store=to.store, reason=reason)
    mine = _one(connection, "SELECT coalesce(sum(chunks), 0)::int AS n FROM {schema}.sources", to.schema)
    schema.recreate_chunks(connection, to.schema, wanted[1])
    connection.execute(in_schema("UPDATE {schema}.base SET embedder_id = %s", to.schema), [wanted[0]])
    return mine["n"] if mine is not None else 0


def _known(connection: Connection, to: Target, table: str) -> dict[str, bytes]:
    found = connection.execute(
        in_schema(f"SELECT id, hash FROM {{schema}}.{table} WHERE source = %s", to.schema), [to.source]
    )
    return {row["id"]: row["hash"] for row in found}


_REMOVE_CHUNKS = """
WITH gone AS (
    DELETE FROM {schema}.chunks WHERE source = %s AND id = ANY (%s) RETURNING length, words
), counted AS (
    SELECT term, count(*) AS chunks FROM gone, unnest(tsvector_to_array(words)) AS term GROUP BY term
), fewer AS (
    UPDATE {schema}.terms AS known SET chunks = known.chunks - counted.chunks
    FROM counted WHERE known.term = counted.term
)
UPDATE {schema}.base SET chunks = chunks - (SELECT count(*) FROM gone),
    terms = terms - (SELECT coalesce(sum(length), 0) FROM gone)
"""


def _relabel(connection: Connection, made: rows.ChunkRows, changed: Difference, to: Target) -> None:
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


def _send_chunks(
    connection: Connection, made: rows.ChunkRows, changed: Difference, to: Target, progress: Progress | None
) -> None:
    total = len(changed.sent)

    def told() -> Iterable[tuple[object, ...]]:
        for done, (number, digest) in enumerate(changed.sent.items()):
            if progress is not None and done % 100 == 0:
                progress(done, total)
            yield made.row(number, digest)

    if total:
        _copy(connection, to.schema, "chunks", rows.CHUNK_COLUMNS, told())
    if progress is not None and total:
        progress(total, total)


def _write_documents(connection: Connection, index: Index, to: Target) -> Difference:
    documents = list(index.documents.values())
    hashes = ((one.id, rows.document_hash(one)) for one in documents)
    changed = difference(_known(connection, to, "documents"), hashes)
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


def _count_terms(connection: Connection, index: Index, sent: Sequence[int], name: str) -> None:
    """Add the terms of the rows that were sent to the statistics."""
    postings = index.postings
    new = np.zeros(len(postings.lengths), dtype=bool)
    new[list(sent)] = True
    held = np.add.reduceat(np.append(new[postings.rows], False), postings.starts[:-1], dtype=np.int64)
    held[np.diff(postings.starts) == 0] = 0
    counted = Counter[str]()
    for term, number in postings.terms.items():
        if held[number]:
            counted[to_postgres(term)] += int(held[number])
    terms = sorted(counted)
    connection.execute(
        in_schema(
            "INSERT INTO {schema}.terms AS known SELECT * FROM unnest(%s::text[], %s::int[])"
            " ON CONFLICT (term) DO UPDATE SET chunks = known.chunks + excluded.chunks",
            name,
        ),
        [terms, [counted[term] for term in terms]],
    )
    connection.execute(in_schema("DELETE FROM {schema}.terms WHERE chunks <= 0", name))
    lengths = int(np.asarray(postings.lengths)[new].sum())
    statement = "UPDATE {schema}.base SET chunks = chunks + %s, terms = terms + %s"
    connection.execute(in_schema(statement, name), [len(sent), lengths])


def _write_head(connection: Connection, index: Index, to: Target, *, changed: bool) -> None:
    """The source's manifest, and then the version of the base, if anything is another than it was."""
    calibration = records.calibration_record(index.calibration).get("calibration")
    values = {
        "name": to.source,
        "build_id": index.manifest.build_id,
        "manifest": _dumped(records.manifest_record(index.manifest)),
        "calibration": None if calibration is None else _dumped(calibration),
        "chunks": len(index.chunks),
    }
    written = connection.execute(
        in_schema(
            "INSERT INTO {schema}.sources AS known (name, build_id, manifest, calibration, chunks)"
            " VALUES (%(name)s, %(build_id)s, %(manifest)s, %(calibration)s, %(chunks)s)"
            " ON CONFLICT (name) DO UPDATE SET build_id = excluded.build_id, manifest = excluded.manifest,"
            " calibration = excluded.calibration, chunks = excluded.chunks, written = now()"
            " WHERE (known.build_id, known.manifest, known.calibration, known.chunks) IS DISTINCT FROM"
            " (excluded.build_id, excluded.manifest, excluded.calibration, excluded.chunks)",
            to.schema,
        ),
        values,
    ).rowcount
    if changed or written:
        connection.execute(in_schema("UPDATE {schema}.base SET version = version + 1", to.schema))


def _dumped(record: object) -> str:
    return orjson.dumps(record).decode()


def _one(
    connection: Connection, statement: str, name: str, values: Sequence[object] = ()
) -> dict[str, Any] | None:
    return connection.execute(in_schema(statement, name), list(values)).fetchone()
