"""The page's own files as plain bytes, and nothing that lies outside their folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from pipeline.assets import asset_folder
from pipeline.errors import NotFoundError
from pipeline.web.exchange import HTML, Response
from pipeline.web.security import page_headers

__all__ = ["package_file", "page_file", "static_file"]

# A table of our own: what the system thinks of ".js" can be changed by any program on Windows.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": HTML,
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json; charset=utf-8",
    ".woff2": "font/woff2",
}
# One step down a folder: no "..", no drive, no hidden file, no name that Windows reads as a device stream.
_STEP = re.compile(r"[\w][\w .-]*")


def page_file(name: str, headers: Mapping[str, str]) -> Response:
    """A page of the folder ``templates``.

    Raises:
        NotFoundError: There is none of that name.
    """
    return _send(asset_folder("templates"), name, headers)


def static_file(path: str, headers: Mapping[str, str]) -> Response:
    """A file of the folder ``static``; ``path`` is what the caller asked for.

    Raises:
        NotFoundError: There is none, or the path leads elsewhere.
    """
    return _send(asset_folder("static"), path, headers)


def package_file(path: Path, headers: Mapping[str, str]) -> Response:
    """A file that an installed package brings and the page needs; ``path`` never comes from a caller.

    Raises:
        NotFoundError: It is of no kind that is served.
    """
    return _send(path.parent, path.name, headers)


def _send(folder: Path, path: str, headers: Mapping[str, str]) -> Response:
    file = _inside(folder, path)
    content_type = _TYPES.get(file.suffix.lower()) if file is not None else None
    if file is None or content_type is None:
        raise NotFoundError(what=path[:200])
    body = file.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    extra = {"ETag": tag, "Cache-Control": "no-cache"}
    if content_type in (HTML, _TYPES[".svg"]):
        extra |= page_headers()
    if _matches(headers.get("if-none-match", ""), tag):
        return Response(304, b"", content_type, extra)
    return Response(200, body, content_type, extra)


def _inside(folder: Path, path: str) -> Path | None:
    steps = path.split("/")
    if not all(_STEP.fullmatch(step) for step in steps):
        return None
    file = folder.joinpath(*steps)
    try:
        inside = file.resolve().is_relative_to(folder.resolve())
        return file if inside and file.is_file() else None
    except OSError:  # a name too long for the file system
        return None


def _matches(if_none_match: str, tag: str) -> bool:
    given = [item.strip().removeprefix("W/") for item in if_none_match.split(",")]
    return tag in given or "*" in given
