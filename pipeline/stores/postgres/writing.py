"""One write: what differs goes over, in one transaction, and the version changes last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from pipeline.stores.postgres.difference import difference
from pipeline.stores.postgres.schema import in_schema
from pipeline.stores.postgres.sending import (
    Target,
    known_hashes,
    relabel,
    send_chunks,
    write_documents,
)
from pipeline.stores.postgres.texts import to_postgres

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["write"]

_MUCH = 0.1
"""Where more than this share is new, the planner's statistics are renewed at once."""


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
    known = known_hashes(connection, to, "chunks") if replaced is None else {}
    changed = difference(known, made.hashes())
    if changed.gone:
        # What the rows held is taken off the statistics by the same statement.
        connection.execute(in_schema(_REMOVE_CHUNKS, to.schema), [to.source, list(changed.gone)])
    relabel(connection, made, changed, to)
    send_chunks(
        connection, made, changed, to, progress, table="chunks" if replaced is None else "chunks_next"
    )
    _count_terms(connection, index, list(changed.sent), to.schema)
    if replaced is not None:
        dimension = index.manifest.dimension
        schema.finish_chunks(connection, to.schema, dimension, links=to.links, build=to.build)
    documents = write_documents(connection, index, to)
    if len(changed.sent) > len(index.chunks) * _MUCH:
        connection.execute(in_schema("ANALYZE {schema}.chunks, {schema}.terms", to.schema))
    _write_head(connection, index, to, changed=not (changed.nothing and documents.nothing))
    return StoreReport(
        added=len(changed.sent), removed=len(changed.gone) + (replaced or 0), kept=changed.kept
    )


def _renew_for_embedder(connection: Connection, index: Index, to: Target) -> int | None:
    """A new table where the vectors there are of another embedder; how many rows it replaces, else None."""
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
    schema.create_chunks(connection, to.schema, wanted[1])
    connection.execute(in_schema("UPDATE {schema}.base SET embedder_id = %s", to.schema), [wanted[0]])
    return mine["n"] if mine is not None else 0


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
