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
    "CHUNK_INDEXES",
    "LATEST",
    "configurations",
    "create_indexes",
    "ensure_tables",
    "in_schema",
    "recreate_chunks",
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
CREATE TABLE {schema}.chunks (
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
ALTER TABLE {schema}.chunks ALTER tokens SET STORAGE EXTERNAL, ALTER spans SET STORAGE EXTERNAL,
    ALTER words SET STORAGE EXTERNAL;
"""
CHUNK_INDEXES = (
    "CREATE INDEX chunks_words ON {schema}.chunks USING gin (words) WITH (fastupdate = off)",
    "CREATE INDEX chunks_fulltext ON {schema}.chunks USING gin (fulltext) WITH (fastupdate = off)",
    "CREATE INDEX chunks_labels ON {schema}.chunks USING gin (labels) WITH (fastupdate = off)",
    "CREATE INDEX chunks_facets ON {schema}.chunks USING gin (facets) WITH (fastupdate = off)",
    "CREATE INDEX chunks_file ON {schema}.chunks (file, document_id, ordinal)",
    "CREATE INDEX chunks_source_type ON {schema}.chunks (source_type)",
    "CREATE INDEX chunks_day ON {schema}.chunks (day)",
    "CREATE INDEX chunks_id ON {schema}.chunks (id)",
)
_HNSW = """CREATE INDEX chunks_embedding ON {schema}.chunks USING hnsw (embedding vector_ip_ops)
    WITH (m = {links}, ef_construction = {build})"""

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


def recreate_chunks(connection: psycopg.Connection[Any], schema: str, dimension: int) -> None:
    """Empty tables for vectors of this dimension; readers who look at the old ones are waited for."""
    connection.execute(in_schema("DROP TABLE IF EXISTS {schema}.chunks", schema))
    for table in ("documents", "terms", "sources"):
        connection.execute(in_schema(f"DELETE FROM {{schema}}.{table}", schema))
    names = configurations(schema)
    connection.execute(in_schema(_CHUNKS, schema, dimension=dimension, upper=_UPPER, lower=_LOWER, **names))
    if dimension <= INLINE_DIMENSIONS:
        connection.execute(in_schema("ALTER TABLE {schema}.chunks ALTER embedding SET STORAGE PLAIN", schema))
    connection.execute(
        in_schema("UPDATE {schema}.base SET chunks = 0, terms = 0, dimension = %s", schema), [dimension]
    )


def create_indexes(
    connection: psycopg.Connection[Any], schema: str, dimension: int, *, links: int, build: int
) -> None:
    """The indexes of a table that has just been filled: much quicker than filling them row by row."""
    from psycopg import errors

    for statement in CHUNK_INDEXES:
        connection.execute(in_schema(statement, schema))
    if dimension > HNSW_DIMENSIONS:
        return
    connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", [f"{BUILD_MEMORY_MB}MB"])
    hnsw = in_schema(_HNSW, schema, links=links, build=build)
    try:
        with connection.transaction():
            connection.execute(hnsw)
    except (errors.DiskFull, errors.OutOfMemory):
        # Workers share memory through /dev/shm, of which a container has little.
        connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        connection.execute(hnsw)
