"""A declared database as the rest of the product uses it: its catalog, checked statements, results."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from pipeline.databases import DatabaseSource
from pipeline.errors import DatabaseUnknownError
from pipeline.settings import SqlSettings
from pipeline.sql.catalog import Catalog
from pipeline.sql.connect import Access, access_to
from pipeline.sql.copied import check_copy
from pipeline.sql.guard import Guarded, guard
from pipeline.sql.reflect import reflect
from pipeline.sql.rights import check_rights
from pipeline.sql.runner import Limits, ResultTable, run_statement

__all__ = ["Database", "find_database", "open_databases"]

_CATALOG_S = 300.0
"""How long a catalog is taken for true; stored values change slowly."""


class Database:
    """One database of ``sources.toml``; nothing is opened before it is asked for.

    Args:
        source: As declared; one that is asked over a copy is from here on the SQLite file that copy is.
        knowledge_base: The folder that holds its file.
        settings: Bounds of statements.

    Raises:
        DatabaseUnusableError: It is of a kind that cannot be asked.
    """

    def __init__(self, source: DatabaseSource, knowledge_base: Path, settings: SqlSettings) -> None:
        self.source = source.asked
        self.name = source.name
        self.access: Access = access_to(self.source, knowledge_base)
        self._declared = source
        self.limits = Limits(settings.rows, settings.seconds, settings.cost)
        self.may_change: tuple[str, ...] = ()
        """Tables its user may change all the same, once the catalog has been read."""
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._mark: object = None
        self._read_at = 0.0

    def catalog(self) -> Catalog:
        """What it holds; read again when the file has changed, or after some minutes.

        Raises:
            DatabaseUnusableError: It cannot be read.
            DatabaseWritableError: Its user may write, and the declaration does not allow that.
        """
        with self._lock:
            check_copy(self._declared, self.access)
            mark = self._file_mark()
            aged = time.monotonic() - self._read_at > _CATALOG_S
            if self._catalog is None:
                self.may_change = check_rights(self.source, self.access)
            if self._catalog is None or mark != self._mark or (aged and mark is None):
                self._catalog = reflect(self.source, self.access)
                self._mark, self._read_at = mark, time.monotonic()
            return self._catalog

    @property
    def copied_on(self) -> str:
        """Of what day the copy is that is asked, as ISO 8601; empty where the database itself is asked."""
        if not self._declared.is_copied:
            return ""
        try:
            fetched = Path(self.access.place).stat().st_mtime
        except OSError:
            return ""  # whoever opens it says so
        return dt.datetime.fromtimestamp(fetched).astimezone().date().isoformat()

    def check(self, statement: str) -> Guarded:
        """The statement as it may run.

        Raises:
            StatementRefusedError: It may not run; the reason says why.
        """
        return guard(statement, self.catalog(), self.limits.rows)

    def run(self, guarded: Guarded, limits: Limits | None = None) -> ResultTable:
        """Run a checked statement.

        Raises:
            StatementFailedError: It does not run, or not within its bounds.
            DatabaseUnusableError: The database cannot be opened.
        """
        readable = {
            name.lower(): frozenset(column.name.lower() for column in table.columns)
            for name, table in self.catalog().tables.items()
        }
        return run_statement(self.access, guarded.sql, limits or self.limits, readable)

    def _file_mark(self) -> object:
        if self.access.dialect != "sqlite":
            return None
        try:
            status = Path(self.access.place).stat()
        except OSError:
            return None  # whoever opens it says so
        return (status.st_mtime_ns, status.st_size, status.st_ino)


def open_databases(
    sources: Iterable[DatabaseSource], knowledge_base: Path, settings: SqlSettings
) -> dict[str, Database]:
    """The declared databases by name; no connection is made yet.

    Raises:
        DatabaseUnusableError: One is of a kind that cannot be asked.
    """
    return {source.name: Database(source, knowledge_base, settings) for source in sources}


def find_database(databases: dict[str, Database], name: str = "") -> Database:
    """The database of a name; the only one where no name is given.

    Raises:
        DatabaseUnknownError: There is none, or a name has to be given.
    """
    if not name and len(databases) == 1:
        return next(iter(databases.values()))
    if name in databases:
        return databases[name]
    raise DatabaseUnknownError(what=name, known=", ".join(sorted(databases)) or "—")
