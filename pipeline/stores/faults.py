"""What can go wrong with writing an index, in words."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import IndexNotWrittenError
from pipeline.messages import Phrase

__all__ = ["FULL", "READ_ONLY", "writing"]

FULL = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system says of a failed write becomes an error for people.

    Raises:
        IndexNotWrittenError: Something inside raised an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise IndexNotWrittenError(path=error.filename or path, reason=_reason(error)) from error


def _reason(error: OSError) -> Phrase:
    if error.errno in FULL:
        return Phrase("index_disk_full")
    detail = {"detail": error.strerror or type(error).__name__}
    return Phrase("index_read_only" if error.errno in READ_ONLY else "index_write_failed", detail)
