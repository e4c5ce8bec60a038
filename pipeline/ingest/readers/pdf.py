"""PDF: paragraphs by page, headings from the outline or the letters' size, no running heads.

Pictures of text are not recognised: a file of scans is skipped, and one with some scanned pages is
indexed with a note (metadata ``pages_without_text``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

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
from pipeline.ingest.readers.pdf_lines import Line, Page
from pipeline.ingest.readers.pdf_process import read_pdf_file
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.reasons import reason
from pipeline.text.normalise import clean_text
from pipeline.text.sentences import split_sentences
from pipeline.types import Document

__all__ = ["read_pdf"]

_SIZE_FACTOR = 8  # pictures make files large; their text is no larger than that of others
_NO_TITLE = re.compile(
    r"\s*(?:microsoft \w+ - .*|untitled.*|без ?(?:имени|названия).*|(?:документ|document|презентация)\s?\d*|"
    r".*\.(?:docx?|pdf|indd|qxd|tex|dvi|xlsx?|pptx?|rtf|html?|cdr))?\s*",
    re.I,
)

Outline = Mapping[int, Sequence[tuple[int, str]]]
"""Page number -> (level from 1, title) of the headings that start there."""


def read_pdf(path: Path, file: str) -> list[Document]:
    """Read a ``.pdf`` file; see `pipeline.ports.Reader`."""
    check_size(path, file, _SIZE_FACTOR)
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
    head, *rest = read_pdf_file(path, file)
    pages = []
    for record in rest:
        number, height, lines, is_blank = record["page"]
        pages.append(Page(number, height, tuple(Line(*line) for line in lines), is_blank))
    return pages, _outline(head["outline"]), _metadata(head["info"])


def _outline(entries: Iterable[tuple[int, int, str]]) -> Outline:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for page, level, text in entries:
        title = " ".join(clean_text(text).split())
        if title:
            found[page].append((level, title))
    return found


def _metadata(info: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    values = {key: " ".join(clean_text(value).split()) for key, value in info.items()}
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
