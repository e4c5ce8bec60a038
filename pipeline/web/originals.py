"""The files of the knowledge base as they are, for keeping: the ones that passages come from, no others."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from pipeline.errors import NotFoundError
from pipeline.types import SourceView
from pipeline.web.exchange import Context, Response

__all__ = ["attachment", "original", "original_file", "passage"]

_CHUNK_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def passage(context: Context) -> SourceView:
    """The passage that the address names.

    Raises:
        NotFoundError: There is none.
    """
    chunk_id = context.params["chunk_id"]
    if _CHUNK_ID.fullmatch(chunk_id) is None:
        raise NotFoundError(what=chunk_id[:200])
    return context.service.source(chunk_id)


def original(context: Context) -> Response:
    """``GET /source/{chunk_id}/original``: the file the passage comes from, byte for byte.

    It is sent as bytes to be saved, never to be shown: an HTML file of the knowledge base must not run here.
    """
    file = passage(context).document.file
    path = original_file(context.settings.knowledge_base, file)
    if path is None:
        raise NotFoundError(what=file[:200])
    return attachment(path.read_bytes(), path.name)


def original_file(knowledge_base: Path, file: str) -> Path | None:
    """Where the file of a document lies; None if it is gone or not a plain file of the knowledge base.

    A row of a database is named ``file/table/id``: its file is the database.
    """
    root = knowledge_base.resolve()
    path = root / file
    for candidate in (path, *path.parents):
        if candidate == root or not candidate.is_relative_to(root):
            return None
        try:
            if candidate.is_file():
                return candidate if candidate.resolve().is_relative_to(root) else None
        except OSError:  # a name too long for the file system
            return None
    return None


def attachment(body: bytes, name: str, content_type: str = "application/octet-stream") -> Response:
    """Bytes that a browser saves under a name, whatever letters it has."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(200, body, content_type, headers)
