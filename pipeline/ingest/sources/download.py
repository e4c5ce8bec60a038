"""One address, fetched within bounds of size and time. Standard library only."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.registry import READERS
from pipeline.ingest.reasons import reason
from pipeline.messages import Phrase

__all__ = ["Download", "Limits", "download", "file_name"]

_CHUNK_BYTES = 64 * 1024
_KINDS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one download.

    Attributes:
        size: Bytes at most, unpacked.
        seconds: From the first connection to the last byte.
    """

    size: int = 32 * 1024 * 1024
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Download:
    """What an address gave.

    Attributes:
        data: The bytes, unpacked.
        kind: The media type, lower case, without parameters; empty if the server names none.
        charset: The encoding the server names, or an empty string.
    """

    data: bytes
    kind: str
    charset: str


def download(url: str, limits: Limits) -> Download:
    """Fetch an http or https address.

    Raises:
        UnreadableFileError: It cannot be fetched within the limits; the reason says why.
    """
    deadline = time.monotonic() + limits.seconds
    try:
        request = urllib.request.Request(  # noqa: S310 -- the opener below knows http and https only
            _ascii(url), headers={"User-Agent": "otvet", "Accept-Encoding": "gzip, identity"}
        )
        with _opener().open(request, timeout=min(limits.seconds, 20.0)) as response:
            data = _body(response, url, limits, deadline)
            kind = response.headers.get_content_type() if response.headers.get("Content-Type") else ""
            return Download(data, kind, response.headers.get_content_charset() or "")
    except urllib.error.HTTPError as error:
        raise _failed(url, reason("fetch", f"HTTP {error.code}")) from error
    except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
        cause = getattr(error, "reason", None) or error
        raise _failed(url, reason("fetch", cause)) from error


def file_name(url: str, kind: str) -> str:
    """A name for what an address gave: host and path, and an ending that a reader knows."""
    parts = urlsplit(url)
    path = PurePosixPath(unquote(parts.path))
    ending = path.suffix.lower()
    known = _KINDS.get(kind, "")
    if known or ending not in READERS:
        path, ending = (path.with_suffix("") if ending in READERS else path), known or ".html"
    else:
        path = path.with_suffix("")
    words = f"{parts.hostname}{path}{'_' + parts.query if parts.query else ''}"
    plain = re.sub(r"[^\w\-]+", "_", words).strip("_")
    return f"{plain[:80]}{ending}"


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = 5


def _opener() -> urllib.request.OpenerDirector:
    """An opener for http and https only; the usual one would also follow a redirect to ftp."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


def _body(response: http.client.HTTPResponse, url: str, limits: Limits, deadline: float) -> bytes:
    packed = (response.headers.get("Content-Encoding") or "").lower() in ("gzip", "x-gzip")
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS) if packed else None
    data = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        data += unpacker.decompress(chunk, limits.size + 1 - len(data)) if unpacker else chunk
        if len(data) > limits.size:
            raise _failed(url, reason("too_large", limits.size // 1024**2))
        if time.monotonic() > deadline:
            raise _failed(url, reason("fetch_slow", int(limits.seconds)))
    return bytes(data)


def _failed(url: str, why: Phrase) -> UnreadableFileError:
    return UnreadableFileError(file=url, reason=why)


def _ascii(url: str) -> str:
    """The address in the form that goes over the wire: Cyrillic hosts and paths are encoded."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna").decode()
    if parts.port:
        host = f"{host}:{parts.port}"
    safe = "/%:@!$&'()*+,;=~-._?"
    return urlunsplit(
        (parts.scheme, host, quote(parts.path or "/", safe=safe), quote(parts.query, safe=safe), "")
    )
