"""Binary files opened with care: bounded sizes, archives that would explode refused, safe XML."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers import common
from pipeline.ingest.reasons import reason
from pipeline.messages import Phrase

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["check_size", "check_tree", "local", "open_package", "parse_part", "stream_part"]

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_TREE_BYTES = 96 * 1024 * 1024
_MAX_RATIO = 300  # office files stay below 100; deflate ends at 1032
_RATIO_FROM_BYTES = 16 * 1024 * 1024
_MAX_PARTS = 20_000
_MAX_DEPTH = 400
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of the old binary formats
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def check_size(path: Path, file: str, times: int = 1) -> None:
    """Refuse a file that is gone, empty, or larger than ``times`` the bound of all readers.

    Raises:
        UnreadableFileError: With the reason.
    """
    limit = common.MAX_FILE_BYTES * times
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise UnreadableFileError(file=file, reason=reason("unopened", error.strerror or "?")) from error
    if size > limit:
        raise UnreadableFileError(file=file, reason=reason("too_large", limit // 1024**2))
    if size == 0:
        raise UnreadableFileError(file=file, reason=reason("no_text"))


@contextmanager
def open_package(path: Path, file: str) -> Iterator[zipfile.ZipFile]:
    """An office file as a zip archive, after a look at what it would unpack to (zip bombs).

    Damage met while the archive is read, inside the ``with``, is reported likewise.

    Raises:
        UnreadableFileError: It is encrypted, of an old format, damaged, or would explode.
    """
    check_size(path, file)
    try:
        with zipfile.ZipFile(path) as package:
            _check_parts(package, file)
            yield package
    except RecursionError as error:
        raise UnreadableFileError(file=file, reason=reason("too_deep")) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError, ValueError) as error:
        raise UnreadableFileError(file=file, reason=_damage(path, error)) from error
    except RuntimeError as error:  # zipfile's word for a part with a password
        raise UnreadableFileError(file=file, reason=reason("password")) from error
    except OSError as error:
        raise UnreadableFileError(file=file, reason=reason("unopened", error.strerror or "?")) from error


def _check_parts(package: zipfile.ZipFile, file: str) -> None:
    # zipfile never unpacks more of a part than the size declared here, so a lie helps nobody.
    parts = package.infolist()
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    explodes = unpacked > _RATIO_FROM_BYTES and unpacked > _MAX_RATIO * max(packed, 1)
    if unpacked > MAX_UNPACKED_BYTES or explodes or len(parts) > _MAX_PARTS:
        raise UnreadableFileError(file=file, reason=reason("explodes", unpacked // 1024**2))


def _damage(path: Path, error: Exception) -> Phrase:
    with path.open("rb") as stream:
        head = stream.read(8)
        if head == _OLE:
            encrypted = _ENCRYPTED in stream.read(common.MAX_FILE_BYTES)
            return reason("password" if encrypted else "old_office")
    return reason("damaged", type(error).__name__)


def local(tag: object) -> str:
    """A tag's name without its namespace; Word writes two sets of them (transitional and strict)."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def parse_part(package: zipfile.ZipFile, name: str, file: str) -> Element | None:
    """The root of a small XML part, or None if the archive has no such part.

    Raises:
        UnreadableFileError: The XML is damaged, hostile, too deep or too large.
    """
    if name not in package.namelist():
        return None
    check_tree(package, name, file)
    with package.open(name) as stream:
        return next(stream_part(stream, file, lambda _depth, _element: False), None)


def check_tree(package: zipfile.ZipFile, name: str, file: str) -> None:
    """Refuse a part that would be too large in memory as a whole.

    Raises:
        UnreadableFileError: With the reason.
    """
    if package.getinfo(name).file_size > MAX_TREE_BYTES:
        raise UnreadableFileError(file=file, reason=reason("explodes", MAX_TREE_BYTES // 1024**2))


def stream_part(stream: IO[bytes], file: str, wanted: Callable[[int, Element], bool]) -> Iterator[Element]:
    """Elements of an XML stream as they end: those that are ``wanted(depth, element)``, last the root.

    A wanted element is emptied after its turn, so memory stays bounded by the largest of them.
    Entities are refused (entity bombs, files of the machine).

    Raises:
        UnreadableFileError: The XML is damaged, hostile or too deep.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    depth = 0
    element: Element | None = None
    try:
        for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
            depth += 1 if event == "start" else -1
            if depth > _MAX_DEPTH:
                raise UnreadableFileError(file=file, reason=reason("too_deep"))
            if event == "end" and wanted(depth, element):
                yield element
                element.clear()
    except ParseError as error:
        raise UnreadableFileError(file=file, reason=reason("damaged", f"XML {error.position[0]}")) from error
    except DefusedXmlException as error:
        raise UnreadableFileError(file=file, reason=reason("hostile_xml")) from error
    if element is not None:
        yield element
