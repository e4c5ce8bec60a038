"""Spreadsheets: every visible sheet a block, every row a line that keeps values beside their headers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, stem
from pipeline.ingest.readers.container import check_tree, open_package
from pipeline.ingest.readers.number_format import shown
from pipeline.ingest.readers.origin import origin_of
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.readers.tables import Row, table_lines
from pipeline.ingest.reasons import reason
from pipeline.types import Document

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

__all__ = ["Budget", "read_xlsx"]

MAX_ROWS = 200_000
_MAX_CELLS = 5_000_000
_CYRILLIC = re.compile("[а-яё]", re.I)
_SAMPLE_ROWS = 30
_STREAMED = ("xl/worksheets/", "xl/media/")  # the rest openpyxl holds in memory whole


class Budget:
    """How many rows and cells of a file may still be read, all its sheets together."""

    def __init__(self, rows: int = MAX_ROWS, cells: int = _MAX_CELLS) -> None:
        self.rows_read = 0
        self.exceeded = False
        self._rows = rows
        self._cells = cells

    def within(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows, as long as there is room; empty ones take room of cells only."""
        for row in rows:
            self._cells -= len(row) + 1
            if self._cells < 0 or self.rows_read >= self._rows:
                self.exceeded = True
                return
            self.rows_read += any(row)
            yield row


def read_xlsx(path: Path, file: str) -> list[Document]:
    """Read an ``.xlsx`` file; see `pipeline.ports.Reader`."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    sections, budget = Sections(file), Budget()
    try:
        # openpyxl opens the archive anew, so this look at it is only for the bounds.
        with open_package(path, file) as package, warnings.catch_warnings(), path.open("rb") as stream:
            for name in package.namelist():
                if not name.startswith(_STREAMED):
                    check_tree(package, name, file)
            warnings.simplefilter("ignore")  # of styles and extensions that make no difference here
            book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
            hidden = _read_sheets(book, sections, budget)
            title = " ".join((book.properties.title or "").split())
            author = " ".join((book.properties.creator or "").split())
    except (InvalidFileException, ParseError, AttributeError, TypeError, IndexError) as error:
        # openpyxl trusts its input; what is missing or misplaced surfaces as any of these.
        raise UnreadableFileError(file=file, reason=reason("damaged", type(error).__name__)) from error
    metadata: dict[str, str | int | float | bool] = {"source_type": "xlsx"}
    if author and author != "openpyxl":
        metadata["author"] = author
    if hidden:
        metadata["hidden_sheets"] = hidden
    if budget.exceeded:
        metadata["rows_read"] = budget.rows_read
    title = title or stem(file)
    blocks = sections.blocks(title)
    return [make_document(file, title, sections.text, blocks, metadata, link=origin_of(path))]


def _read_sheets(book: Workbook, sections: Sections, budget: Budget) -> int:
    """Read all visible sheets; how many were hidden."""
    russian = _is_russian(book)
    hidden = 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            hidden += 1
            continue
        sections.heading(1, sheet.title)
        sections.add_lines(table_lines(budget.within(_rows(sheet, russian))))
    return hidden


def _is_russian(book: Workbook) -> bool:
    """True if the sheets' names or first rows hold a Russian letter."""
    for sheet in book.worksheets:
        if _CYRILLIC.search(sheet.title):
            return True
        for row in islice(sheet.iter_rows(values_only=True), _SAMPLE_ROWS):
            if any(isinstance(value, str) and _CYRILLIC.search(value) for value in row):
                return True
    return False


def _rows(sheet: ReadOnlyWorksheet, russian: bool) -> Iterator[Row]:
    # The dimension a file states may be wrong; then rows would be cut off.
    sheet.reset_dimensions()
    for row in sheet.iter_rows():
        yield [
            "" if cell.value is None else shown(cell.value, cell.number_format or "General", russian)
            for cell in row
        ]
