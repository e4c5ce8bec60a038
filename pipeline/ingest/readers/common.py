"""What the readers of text formats share: bytes to clean text, and the making of a document."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from pipeline.errors import UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.declared import encoding_named_for
from pipeline.text.encodings import Decoded, NotTextError, decode, decode_as
from pipeline.text.normalise import clean_text
from pipeline.types import Block, Document, Metadata

__all__ = ["MAX_FILE_BYTES", "make_document", "read_text", "stem", "trimmed", "web_link"]

MAX_FILE_BYTES = 64 * 1024 * 1024


def read_text(path: Path, file: str, decoder: Callable[[bytes], Decoded] = decode) -> Decoded:
    """Clean text of a file (see `clean_text`), and its encoding.

    Args:
        path: Where the file is.
        file: Its name inside the knowledge base.
        decoder: For a format that names its encoding inside the file.

    Raises:
        UnreadableFileError: It cannot be opened, is too large, or is not text.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableFileError(file=file, reason=reason("too_large", MAX_FILE_BYTES // 1024**2))
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(file=file, reason=reason("unopened", error.strerror or "?")) from error
    named = encoding_named_for(path, file)
    if named is not None:
        try:
            decoded = decode_as(data, named)
        except NotTextError as error:
            raise UnreadableFileError(file=file, reason=reason("encoding", named)) from error
        return Decoded(clean_text(decoded.text), decoded.encoding)
    try:
        decoded = decoder(data)
    except NotTextError as error:
        raise UnreadableFileError(file=file, reason=reason("not_text")) from error
    return Decoded(clean_text(decoded.text), decoded.encoding)


def make_document(
    file: str,
    title: str,
    text: str,
    blocks: Sequence[Block],
    metadata: Metadata,
    *,
    link: str | None = None,
    tags: Sequence[str] = (),
) -> Document:
    """A document whose id is a hash of its file name and text.

    Raises:
        UnreadableFileError: No block holds anything.
    """
    if not blocks:
        raise UnreadableFileError(file=file, reason=reason("no_text"))
    digest = hashlib.sha256(f"{file}\0{text}".encode()).hexdigest()[:16]
    return Document(digest, file, title, link, text, tuple(blocks), metadata, tuple(tags))


def stem(file: str) -> str:
    """The file's own name without its ending, for a document that names itself nowhere."""
    return PurePosixPath(file).stem.strip() or file


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without empty lines at its ends and spaces at the very end; empty if nothing is left.

    The indentation of the first line stays, because in code and lists it means something.
    """
    piece = text[start:end]
    body = piece.rstrip()
    if not body:
        return start, start
    blank = body[: len(body) - len(body.lstrip())]
    return start + blank.rfind("\n") + 1, start + len(body)


def web_link(value: str) -> str | None:
    """The link if it is an http or https address a browser may open, else None."""
    link = value.strip()
    if any(character.isspace() or not character.isprintable() for character in link):
        return None
    try:
        parts = urlsplit(link)
        host = parts.hostname
    except ValueError:
        return None
    return link if parts.scheme.lower() in ("http", "https") and host else None
