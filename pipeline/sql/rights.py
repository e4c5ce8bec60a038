"""Whether the user of a connection may change data: a read-only one is the lock behind the guard."""

from __future__ import annotations

import logging
from contextlib import closing

from pipeline.databases import DatabaseSource
from pipeline.errors import DatabaseUnusableError, DatabaseWritableError
from pipeline.sql.connect import Access, connect_postgres, first_line

__all__ = ["check_rights", "writable"]

logger = logging.getLogger(__name__)

_SECONDS = 10.0
_NAMED = 5

_QUERY = b"""
SELECT 'superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL
(SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
 AND (has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE')
      OR has_table_privilege(c.oid, 'DELETE') OR has_table_privilege(c.oid, 'TRUNCATE'))
 ORDER BY 1 LIMIT 20)
"""


def check_rights(source: DatabaseSource, access: Access) -> tuple[str, ...]:
    """What the user may change; nothing for a file, which is opened for reading only.

    Raises:
        DatabaseWritableError: The user may write, and the declaration says ``writer = "refuse"``.
        DatabaseUnusableError: The server cannot be asked.
    """
    user, found = writable(access)
    if not found:
        return ()
    named = ", ".join(found[:_NAMED]) + ("…" if len(found) > _NAMED else "")
    error = DatabaseWritableError(name=source.name, user=user, tables=named)
    if source.writer == "refuse":
        raise error
    logger.warning("%s", error)
    return found


def writable(access: Access) -> tuple[str, tuple[str, ...]]:
    """The user of a connection, and the tables it may change; ``superuser`` stands for all of them.

    Raises:
        DatabaseUnusableError: The server cannot be asked.
    """
    if access.dialect == "sqlite":
        return "", ()
    import psycopg

    with closing(connect_postgres(access, _SECONDS)) as connection:
        try:
            rows = connection.execute(_QUERY).fetchall()
        except psycopg.Error as error:
            raise DatabaseUnusableError(name=access.name, reason=first_line(error)) from error
        return connection.info.user, tuple(str(row[0]) for row in rows)
