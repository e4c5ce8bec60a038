"""What a base is at one version, kept by a process as long as that version is the newest it has seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import orjson

from pipeline.errors import IndexDamagedError, IndexMissingError
from pipeline.index import Calibration, Manifest
from pipeline.messages import Phrase
from pipeline.stores import records
from pipeline.stores.postgres.connect import Server
from pipeline.stores.postgres.schema import in_schema
from pipeline.stores.postgres.texts import from_postgres, to_postgres
from pipeline.stores.postgres.union import Part, united_calibration, united_manifest
from pipeline.text.spelling import Vocabulary

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["Stamp", "States", "Statistics", "Version"]

Stamp = tuple[str, int]
_MOST_HELD = 50_000
"""Terms whose numbers a process remembers."""
_UNASKED = -1


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a base.

    Attributes:
        stamp: Another one for every version.
        mean_length: Terms of a chunk on average.
    """

    stamp: Stamp
    manifest: Manifest
    calibration: Calibration | None
    chunks: int
    mean_length: float
    sources: int
    held: dict[str, int | None] = field(default_factory=dict)
    words: list[Vocabulary] = field(default_factory=list)


class States:
    """Reads versions, and keeps the newest.

    Args:
        schema: The schema of the base.
        server: Where it is.
    """

    def __init__(self, schema: str, server: Server) -> None:
        self._schema = schema
        self._server = server
        self._lock = Lock()
        self._latest: Version | None = None

    def current(self, connection: Connection) -> Version:
        """The version that a transaction sees. Its first statement, and the one that fixes what it sees.

        Raises:
            IndexMissingError: Nothing has been written.
        """
        from psycopg import errors

        try:
            # Tables that are about to be replaced for another embedder are waited for first.
            connection.execute(in_schema("LOCK TABLE {schema}.chunks IN ACCESS SHARE MODE", self._schema))
            statement = "SELECT id::text, version, chunks, terms FROM {schema}.base"
            base = connection.execute(in_schema(statement, self._schema)).fetchone()
        except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
            raise self._missing() from error
        if base is None or not base["version"]:
            raise self._missing()
        stamp = base["id"], base["version"]
        with self._lock:
            latest = self._latest
        if latest is not None and latest.stamp == stamp:
            return latest
        made = self._read(connection, stamp, base)
        with self._lock:
            if self._latest is None or self._latest.stamp[0] != stamp[0] or self._latest.stamp < stamp:
                self._latest = made
        return made

    def _missing(self) -> IndexMissingError:
        return IndexMissingError(path=f"{self._server.address} ({self._schema})")

    def _read(self, connection: Connection, stamp: Stamp, base: dict[str, Any]) -> Version:
        statement = "SELECT name, manifest, calibration, chunks FROM {schema}.sources ORDER BY name"
        parts = [self._part(row) for row in connection.execute(in_schema(statement, self._schema))]
        full = [part for part in parts if part.chunks] or parts
        return Version(
            stamp=stamp,
            manifest=united_manifest(full),
            calibration=united_calibration(full),
            chunks=base["chunks"],
            mean_length=base["terms"] / max(base["chunks"], 1),
            sources=len(full),
        )

    def _part(self, row: dict[str, Any]) -> Part:
        calibration = row["calibration"]
        try:
            return Part(
                name=row["name"],
                manifest=records.manifest_from(orjson.loads(row["manifest"])),
                calibration=None
                if calibration is None
                else records.calibration_from({"calibration": orjson.loads(calibration)}),
                chunks=row["chunks"],
            )
        except (records.BadRecordError, orjson.JSONDecodeError) as error:
            reason = Phrase("index_shape", {"detail": f"sources.{row['name']}"})
            raise IndexDamagedError(path=self._server.address, reason=reason) from error


class Statistics:
    """`pipeline.snapshot.TermStatistics` of a version.

    Args:
        connection: In the transaction that sees this version.
        version: Keeps what has been asked.
        schema: The schema of the base.
    """

    def __init__(self, connection: Connection, version: Version, schema: str) -> None:
        self._connection = connection
        self._version = version
        self._schema = schema

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return self._version.chunks

    def holding(self, term: str) -> int | None:
        """How many chunks hold a term; None for one that occurs nowhere."""
        held = self._version.held  # other requests fill and empty it meanwhile
        known = held.get(term, _UNASKED)
        if known != _UNASKED:
            return known
        statement = in_schema("SELECT chunks FROM {schema}.terms WHERE term = %s", self._schema)
        found = self._connection.execute(statement, [to_postgres(term)]).fetchone()
        if len(held) >= _MOST_HELD:
            held.clear()
        held[term] = known = None if found is None else int(found["chunks"])
        return known

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the base spelt like this one, each with a factor 0..1."""
        words = self._version.words
        if not words:
            statement = in_schema("SELECT term FROM {schema}.terms", self._schema)
            found = self._connection.execute(statement)
            words.append(Vocabulary(from_postgres(row["term"]) for row in found))
        return words[0].nearest(term)
