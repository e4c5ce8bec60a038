"""Whether the copy that a database is asked over is there, and is one of what ``sources.toml`` says today."""

from __future__ import annotations

from pathlib import Path

from pipeline.databases import DatabaseSource
from pipeline.errors import DatabaseUnusableError
from pipeline.messages import Phrase
from pipeline.sql.connect import Access, first_line

__all__ = ["check_copy"]

_HEAD_BYTES = 64
_MARK = slice(60, 64)  # PRAGMA user_version (the file format of SQLite, 1.3)


def check_copy(source: DatabaseSource, access: Access) -> None:
    """Nothing for a database that is asked itself.

    Raises:
        DatabaseUnusableError: There is no copy, or one of another declaration, which may hold columns that
            are hidden by now.
    """
    if not source.is_copied:
        return
    try:
        with Path(access.place).open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except FileNotFoundError as error:
        raise DatabaseUnusableError(name=source.name, reason=Phrase("copy_missing")) from error
    except OSError as error:
        raise DatabaseUnusableError(name=source.name, reason=first_line(error)) from error
    if int.from_bytes(head[_MARK], "big") != source.copy_mark:
        raise DatabaseUnusableError(name=source.name, reason=Phrase("copy_outdated"))
