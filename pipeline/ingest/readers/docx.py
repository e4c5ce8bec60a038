"""Word documents: paragraphs, tables, lists, text boxes and footnotes in their order.

Read from the archive's own XML: text boxes, nested tables, footnotes and automatic numbers (the
«3.2.» of a regulation) are in no library's plain view of a document. Page headers and footers,
comments and deleted text are left out.
"""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, stem
from pipeline.ingest.readers.container import local, open_package, parse_part, stream_part
from pipeline.ingest.readers.docx_body import BodyReader
from pipeline.ingest.readers.docx_styles import read_numbering, read_styles
from pipeline.ingest.readers.docx_text import Note, note_text
from pipeline.ingest.readers.origin import origin_of
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.reasons import reason
from pipeline.text.normalise import clean_text
from pipeline.types import Document

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["read_docx"]

_MAIN_PART = "word/document.xml"
_CORE = {"creator": "author", "created": "date", "subject": "subject"}


def read_docx(path: Path, file: str) -> list[Document]:
    """Read a ``.docx`` file; see `pipeline.ports.Reader`."""
    sections = Sections(file)
    with open_package(path, file) as package:
        main = _main_part(package, file)
        folder = posixpath.dirname(main)
        styles = read_styles(parse_part(package, f"{folder}/styles.xml", file))
        numbering = read_numbering(parse_part(package, f"{folder}/numbering.xml", file))
        core, tags = _core(package, file)
        reader = BodyReader(sections, styles, numbering, _notes(package, folder, file))
        _read_body(package, main, reader, file)
    title = reader.title or sections.title or str(core.get("title", "")) or stem(file)
    core.pop("title", None)
    metadata = {**core, "source_type": "docx"}
    blocks = sections.blocks(title)
    return [make_document(file, title, sections.text, blocks, metadata, link=origin_of(path), tags=tags)]


def _read_body(package: zipfile.ZipFile, main: str, reader: BodyReader, file: str) -> None:
    def is_part_of_body(depth: int, element: Element) -> bool:
        return depth == 2 and local(element.tag) != "body"

    with package.open(main) as stream:
        # The children of w:body one by one: of a long document only the paragraph at hand is in memory.
        for element in stream_part(stream, file, is_part_of_body):
            reader.read(element)


def _main_part(package: zipfile.ZipFile, file: str) -> str:
    relations = parse_part(package, "_rels/.rels", file)
    for relation in relations if relations is not None else ():
        if relation.get("Type", "").endswith("/officeDocument"):
            target = relation.get("Target", "").lstrip("/")
            if target in package.namelist():
                return target
    if _MAIN_PART not in package.namelist():
        raise UnreadableFileError(file=file, reason=reason("damaged", _MAIN_PART))
    return _MAIN_PART


def _notes(package: zipfile.ZipFile, folder: str, file: str) -> dict[Note, str]:
    notes: dict[Note, str] = {}
    for kind in ("footnote", "endnote"):
        root = parse_part(package, f"{folder}/{kind}s.xml", file)
        for element in root if root is not None else ():
            # Separators between text and notes are kept as notes of a type of their own.
            if local(element.tag) == kind and not any(local(name) == "type" for name in element.attrib):
                number = next((value for name, value in element.attrib.items() if local(name) == "id"), "")
                notes[(kind, number)] = note_text(element)
    return notes


def _core(package: zipfile.ZipFile, file: str) -> tuple[dict[str, str | int | float | bool], tuple[str, ...]]:
    metadata: dict[str, str | int | float | bool] = {}
    tags: tuple[str, ...] = ()
    root = parse_part(package, "docProps/core.xml", file)
    for element in root if root is not None else ():
        value = " ".join(clean_text(element.text or "").split())
        name = local(element.tag)
        if name == "keywords":
            tags = tuple(filter(None, (tag.strip() for tag in value.replace(";", ",").split(","))))
        elif name == "title" and value:
            metadata["title"] = value
        elif name in _CORE and value:
            metadata[_CORE[name]] = value[:10] if name == "created" else value
    return metadata, tags
