"""PDF: paragraphs by page, headings from the outline or the letters' size, no running heads.

Pictures of text are not recognised: a file of scans is skipped, and one with some scanned pages is
indexed with a note (metadata ``pages_without_text``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, stem
from pipeline.ingest.readers.container import check_size
from pipeline.ingest.readers.origin import origin_of
from pipeline.ingest.readers.pdf_layout import (
    Piece,
    heading_sizes,
    joined,
    page_pieces,
    vocabulary,
    without_running_heads,
)
from pipeline.ingest.readers.pdf_lines import Page, read_page
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.reasons import reason
from pipeline.text.normalise import clean_text
from pipeline.text.sentences import split_sentences
from pipeline.types import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

__all__ = ["read_pdf"]

_SIZE_FACTOR = 8  # pictures make files large; their text is no larger than that of others
_MAX_PAGES = 20_000
_MAX_OUTLINE = 20_000
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_NO_TITLE = re.compile(
    r"\s*(?:microsoft \w+ - .*|untitled.*|без ?(?:имени|названия).*|(?:документ|document|презентация)\s?\d*|"
    r".*\.(?:docx?|pdf|indd|qxd|tex|dvi|xlsx?|pptx?|rtf|html?|cdr))?\s*",
    re.I,
)
_pdfium = Lock()  # pdfium must not be entered by two threads

Outline = Mapping[int, Sequence[tuple[int, str]]]
"""Page number -> (level from 1, title) of the headings that start there."""


def read_pdf(path: Path, file: str) -> list[Document]:
    """Read a ``.pdf`` file; see `pipeline.ports.Reader`."""
    check_size(path, file, _SIZE_FACTOR)
    with _pdfium:
        pages, outline, metadata = _read(path, file)
    silent = sum(1 for page in pages if not page.lines and not page.is_blank)
    if not any(page.lines for page in pages):
        raise UnreadableFileError(file=file, reason=reason("scan" if silent else "no_text"))
    sections = Sections(file)
    for page, piece in _flowing(_pieces(pages, outline)):
        sections.page(page)
        if piece.level:
            sections.heading(piece.level, piece.text)
        else:
            sections.add(piece.text, tight=piece.tight)
    title = str(metadata.pop("title", "")) or sections.title or stem(file)
    metadata |= {"source_type": "pdf", "pages": len(pages)}
    if silent:
        metadata["pages_without_text"] = silent
    blocks = sections.blocks(title)
    return [make_document(file, title, sections.text, blocks, metadata, link=origin_of(path))]


def _read(path: Path, file: str) -> tuple[list[Page], Outline, dict[str, str | int | float | bool]]:
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with path.open("rb") as stream, PdfDocument(stream) as document:
            if len(document) > _MAX_PAGES:
                raise UnreadableFileError(file=file, reason=reason("too_many_pages", _MAX_PAGES))
            pages = [_page(document, number) for number in range(1, len(document) + 1)]
            return pages, _outline(document), _metadata(document)
    except PdfiumError as error:
        locked = getattr(error, "err_code", None) == _PASSWORD_ERROR
        cause = reason("password") if locked else reason("damaged", "PDF")
        raise UnreadableFileError(file=file, reason=cause) from error
    except OSError as error:
        raise UnreadableFileError(file=file, reason=reason("unopened", error.strerror or "?")) from error


def _page(document: PdfDocument, number: int) -> Page:
    from pypdfium2 import PdfiumError

    try:
        page = document[number - 1]
    except PdfiumError:  # one damaged page among good ones counts as a page without text
        return Page(number, 0.0, ())
    try:
        return read_page(page, number)
    except PdfiumError:
        return Page(number, 0.0, ())
    finally:
        page.close()


def _outline(document: PdfDocument) -> Outline:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for entry in islice(document.get_toc(), _MAX_OUTLINE):
        target = entry.get_dest()
        index = target.get_index() if target is not None else None
        title = " ".join(clean_text(entry.get_title() or "").split())
        if title and index is not None and index >= 0:
            found[index + 1].append((entry.level + 1, title))
    return found


def _metadata(document: PdfDocument) -> dict[str, str | int | float | bool]:
    given = document.get_metadata_dict()
    values = {key: " ".join(clean_text(value).split()) for key, value in given.items() if value}
    metadata: dict[str, str | int | float | bool] = {}
    title = values.get("Title", "")
    if not _NO_TITLE.fullmatch(title):
        metadata["title"] = title
    if values.get("Author"):
        metadata["author"] = values["Author"]
    date = re.match(r"D:(\d{4})(\d\d)(\d\d)", values.get("CreationDate", ""))
    if date:
        metadata["date"] = "-".join(date.groups())
    return metadata


def _pieces(pages: Sequence[Page], outline: Outline) -> Iterator[tuple[int, Piece]]:
    words = vocabulary(pages)
    cleaned = without_running_heads(pages)
    sizes = heading_sizes(cleaned)
    for page in cleaned:
        pieces = page_pieces(page, words, sizes)
        if outline:
            pieces = _outlined(pieces, outline.get(page.number, ()))
        yield from ((page.number, piece) for piece in pieces)


def _outlined(pieces: Sequence[Piece], entries: Sequence[tuple[int, str]]) -> list[Piece]:
    """Pieces with the outline's headings: those found on the page in their place, others before it."""
    waiting = list(entries)
    placed: list[Piece] = []
    for piece in pieces:
        found = next((entry for entry in waiting if _same(entry[1], piece.text)), None)
        if found:
            waiting.remove(found)
            placed.append(Piece(piece.text, found[0], size=piece.size))
        else:
            placed.append(Piece(piece.text, 0, piece.tight, piece.size))
    missing = [Piece(title, level) for level, title in waiting]
    return [*missing, *placed]


def _same(title: str, text: str) -> bool:
    def letters(words: str) -> str:
        return "".join(character for character in words.casefold() if character.isalpha())

    return len(text) <= 2 * len(title) + 20 and bool(letters(title)) and letters(title) == letters(text)


def _flowing(pieces: Iterator[tuple[int, Piece]]) -> Iterator[tuple[int, Piece]]:
    """Pieces in which a sentence that crosses a page is whole, on the page where it begins."""
    held: tuple[int, Piece] | None = None
    for number, following in pieces:
        piece = following
        if held is not None:
            if held[0] != number and _goes_on(held[1], piece):
                start, end = split_sentences(piece.text)[0]
                text = joined(held[1].text, piece.text[start:end], ())
                held = (held[0], Piece(text, 0, held[1].tight, held[1].size))
                piece = Piece(piece.text[end:].lstrip(), 0, piece.tight, piece.size)
            yield held
        held = (number, piece)
    if held is not None:
        yield held


def _goes_on(piece: Piece, following: Piece) -> bool:
    ended = piece.text.rstrip("»”\"')]")[-1:] in (".", "!", "?", "…", ":", ";")
    return not piece.level and not following.level and not ended and following.text[:1].islower()
