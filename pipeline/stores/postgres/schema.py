"""The tables of a knowledge base in PostgreSQL, brought up to date step by step.

One schema holds one knowledge base, whatever number of sources write to it::

    base        one row: version, number of chunks and of terms; changed last by every write
    sources     a row for each indexer: its manifest and its calibration
    documents   what chunks belong to, with metadata
    chunks      texts, labels, vectors, token vectors, and two full-text columns:
                words     our own stems and codes, what BM25 counts
                fulltext  configurations "russian" and "english" of this schema, which an administrator
                          may extend (synonyms, dictionaries of a trade)
    terms       each stem with the number of chunks that hold it

Tables of vectors have the dimension of the embedder that made them; another embedder gets new ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.errors import StoreNotWrittenError
from pipeline.messages import Phrase

if TYPE_CHECKING:
    import psycopg
    from psycopg.sql import Composed

__all__ = [
    "LATEST",
    "configurations",
    "create_chunks",
    "ensure_tables",
    "finish_chunks",
    "in_schema",
    "small_letters",
]

HNSW_DIMENSIONS = 2000
"""pgvector indexes no vector that is longer."""
INLINE_DIMENSIONS = 1024
"""A vector up to this length lies in the row itself, where an exact search reads it without a detour."""
BUILD_MEMORY_MB = 512
PGVECTOR = (0, 8)
"""The first version whose graph is searched on until enough rows meet a filter."""

_UPPER = "АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯё"
_LOWER = "абвгдеежзийклмнопрстуфхцчшщъыьэюяе"
_SMALL = str.maketrans(_UPPER, _LOWER)

_FIRST = """
CREATE TABLE {schema}.base (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    version bigint NOT NULL DEFAULT 0,
    embedder_id text, dimension int,
    chunks bigint NOT NULL DEFAULT 0, terms bigint NOT NULL DEFAULT 0
);
INSERT INTO {schema}.base DEFAULT VALUES;
CREATE TABLE {schema}.sources (
    name text COLLATE "C" PRIMARY KEY,
    build_id text NOT NULL, manifest text NOT NULL, calibration text,
    chunks bigint NOT NULL, written timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE {schema}.documents (
    source text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, hash bytea NOT NULL, place int NOT NULL,
    file text COLLATE "C" NOT NULL, title text NOT NULL, link text,
    tags text[] NOT NULL, metadata jsonb NOT NULL, text text NOT NULL, blocks jsonb NOT NULL,
    PRIMARY KEY (source, id)
);
CREATE INDEX documents_id ON {schema}.documents (id);
CREATE TABLE {schema}.terms (term text COLLATE "C" PRIMARY KEY, chunks int NOT NULL);
CREATE TEXT SEARCH CONFIGURATION {schema}.russian (COPY = pg_catalog.russian);
CREATE TEXT SEARCH CONFIGURATION {schema}.english (COPY = pg_catalog.english);
"""
# Locale C knows no capitals but Latin ones: Cyrillic ones are made small here.
_CHUNKS = """
CREATE TABLE {schema}.chunks_next (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    twin bytea NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    ordinal int NOT NULL,
    file text COLLATE "C" NOT NULL,
    topic text NOT NULL,
    text text NOT NULL,
    starts int NOT NULL, ends int NOT NULL,
    headings text[] NOT NULL, link text, tags text[] NOT NULL, page int,
    source_type text COLLATE "C" NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    facets text[] COLLATE "C" NOT NULL,
    metadata jsonb NOT NULL,
    length int NOT NULL,
    words tsvector NOT NULL,
    embedding vector({dimension}) NOT NULL,
    text_embedding vector({dimension}) NOT NULL,
    tokens bytea NOT NULL,
    spans bytea NOT NULL,
    fulltext tsvector GENERATED ALWAYS AS (
        to_tsvector({russian}::regconfig, translate(topic || E'\\n' || text, {upper}, {lower}))
        || to_tsvector({english}::regconfig, translate(topic || E'\\n' || text, {upper}, {lower}))
    ) STORED,
    UNIQUE (source, id)
);
ALTER TABLE {schema}.chunks_next ALTER tokens SET STORAGE EXTERNAL, ALTER spans SET STORAGE EXTERNAL,
    ALTER words SET STORAGE EXTERNAL;
"""
_INDEXES = (
    "CREATE INDEX next_words ON {schema}.chunks_next USING gin (words) WITH (fastupdate = off)",
    "CREATE INDEX next_fulltext ON {schema}.chunks_next USING gin (fulltext) WITH (fastupdate = off)",
    "CREATE INDEX next_labels ON {schema}.chunks_next USING gin (labels) WITH (fastupdate = off)",
    "CREATE INDEX next_facets ON {schema}.chunks_next USING gin (facets) WITH (fastupdate = off)",
    "CREATE INDEX next_file ON {schema}.chunks_next (file, document_id, ordinal)",
    "CREATE INDEX next_source_type ON {schema}.chunks_next (source_type)",
    "CREATE INDEX next_day ON {schema}.chunks_next (day)",
    "CREATE INDEX next_id ON {schema}.chunks_next (id)",
)
_HNSW = """CREATE INDEX next_embedding ON {schema}.chunks_next USING hnsw (embedding vector_ip_ops)
    WITH (m = {links}, ef_construction = {build})"""

_SWAP = (
    "SET LOCAL lock_timeout = '60s'",  # a reader that never ends must not keep all others out
    "DROP TABLE IF EXISTS {schema}.chunks",
    "ALTER TABLE {schema}.chunks_next RENAME TO chunks",
    "ALTER INDEX {schema}.chunks_next_pkey RENAME TO chunks_pkey",
    "ALTER INDEX {schema}.chunks_next_source_id_key RENAME TO chunks_source_id_key",
)
_INDEXED = ("words", "fulltext", "labels", "facets", "file", "source_type", "day", "id", "embedding")

MIGRATIONS = (_FIRST,)
LATEST = len(MIGRATIONS)


def in_schema(statement: str, schema: str, **literals: object) -> Composed:
    """A statement of this package with the name of the schema put in; values are bound, never put in."""
    from psycopg import sql

    # The text is this package's own; what a person wrote comes as a bound parameter.
    return sql.SQL(statement).format(
        schema=sql.Identifier(schema), **{name: sql.Literal(value) for name, value in literals.items()}
    )


def configurations(schema: str) -> dict[str, str]:
    """The text search configurations of a base by language, as a ``regconfig`` is written."""
    quoted = schema.replace('"', '""')
    return {language: f'"{quoted}".{language}' for language in ("russian", "english")}


def small_letters(text: str) -> str:
    """A text as the column ``fulltext`` takes it in."""
    return text.translate(_SMALL)


def ensure_tables(connection: psycopg.Connection[Any], schema: str, store: str) -> None:
    """Extension, schema and tables, within the caller's transaction and lock.

    Raises:
        StoreNotWrittenError: The database does not hold Unicode, pgvector is missing or old, or a newer
            version of the product made these tables.
    """
    found = connection.execute("SELECT current_setting('server_encoding') AS name").fetchone()
    if found is None or found["name"] != "UTF8":
        reason = Phrase("store_encoding", {"found": found["name"] if found is not None else ""})
        raise StoreNotWrittenError(store=store, reason=reason)
    _ensure_extension(connection, store)
    # Asked first: whoever may not create a schema may still write to one that was made for him.
    named = in_schema("SELECT count(*) AS n FROM pg_namespace WHERE nspname = %s", schema)
    if not _number(connection, named, schema):
        connection.execute(in_schema("CREATE SCHEMA {schema}", schema))
    connection.execute(
        in_schema(
            "CREATE TABLE IF NOT EXISTS {schema}.migrations"
            " (version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
            schema,
        )
    )
    version = _number(connection, in_schema("SELECT max(version) AS n FROM {schema}.migrations", schema))
    if version > LATEST:
        reason = Phrase("store_newer", {"found": version, "known": LATEST})
        raise StoreNotWrittenError(store=store, reason=reason)
    for number in range(version, LATEST):
        connection.execute(in_schema(MIGRATIONS[number], schema))
        connection.execute(in_schema("INSERT INTO {schema}.migrations VALUES (%s)", schema), [number + 1])


def _ensure_extension(connection: psycopg.Connection[Any], store: str) -> None:
    from psycopg import errors

    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise StoreNotWrittenError(store=store, reason=Phrase("store_no_pgvector")) from error
    except errors.InsufficientPrivilege as error:
        raise StoreNotWrittenError(store=store, reason=Phrase("store_pgvector_right")) from error
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    found = row["extversion"] if row is not None else ""
    numbers = [int(part) for part in found.split(".") if part.isdigit()]
    if tuple(numbers) < PGVECTOR:
        known = ".".join(map(str, PGVECTOR))
        reason = Phrase("store_old_pgvector", {"found": found, "known": known})
        raise StoreNotWrittenError(store=store, reason=reason)


def _number(connection: psycopg.Connection[Any], statement: Composed, *values: object) -> int:
    row = connection.execute(statement, values).fetchone()
    return int((row["n"] if row is not None else 0) or 0)


def create_chunks(connection: psycopg.Connection[Any], schema: str, dimension: int) -> None:
    """An empty table ``chunks_next`` for vectors of this dimension, and nothing in the others."""
    for table in ("documents", "terms", "sources"):
        connection.execute(in_schema(f"DELETE FROM {{schema}}.{table}", schema))
    names = configurations(schema)
    connection.execute(in_schema(_CHUNKS, schema, dimension=dimension, upper=_UPPER, lower=_LOWER, **names))
    if dimension <= INLINE_DIMENSIONS:
        plain = "ALTER TABLE {schema}.chunks_next ALTER embedding SET STORAGE PLAIN"
        connection.execute(in_schema(plain, schema))
    connection.execute(
        in_schema("UPDATE {schema}.base SET chunks = 0, terms = 0, dimension = %s", schema), [dimension]
    )


def finish_chunks(
    connection: psycopg.Connection[Any], schema: str, dimension: int, *, links: int, build: int
) -> None:
    """Index ``chunks_next``, which has been filled, and put it in the place of ``chunks``.

    A full table is indexed much quicker than row by row. Until the very end readers use the old one; those
    that look at it at that moment are waited for.
    """
    from psycopg import errors

    for statement in _INDEXES:
        connection.execute(in_schema(statement, schema))
    indexed = _INDEXED if dimension <= HNSW_DIMENSIONS else _INDEXED[:-1]
    if dimension <= HNSW_DIMENSIONS:
        connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", [f"{BUILD_MEMORY_MB}MB"])
        hnsw = in_schema(_HNSW, schema, links=links, build=build)
        try:
            with connection.transaction():
                connection.execute(hnsw)
        except (errors.DiskFull, errors.OutOfMemory):
            # Workers share memory through /dev/shm, of which a container has little.
            connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
            connection.execute(hnsw)
    renamed = (f"ALTER INDEX {{schema}}.next_{name} RENAME TO chunks_{name}" for name in indexed)
    for statement in (*_SWAP, *renamed):
        connection.execute(in_schema(statement, schema))
