"""CSV in any of its dialects: every row a line that keeps values beside their headers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, read_text, stem
from pipeline.ingest.readers.origin import origin_of
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.readers.tables import Row, table_lines
from pipeline.ingest.readers.xlsx import Budget
from pipeline.ingest.reasons import reason
from pipeline.types import Document

__all__ = ["delimiter_of", "read_csv"]

_DELIMITERS = (";", ",", "\t", "|")
_SAMPLE_CHARACTERS = 65536
_SAMPLE_ROWS = 100
_FIELD_CHARACTERS = 10_000_000


def read_csv(path: Path, file: str) -> list[Document]:
    """Read a ``.csv`` or ``.tsv`` file; see `pipeline.ports.Reader`."""
    decoded = read_text(path, file)
    text = decoded.text
    named = _named_delimiter(text)
    if named:
        text = text.partition("\n")[2]
    sections, budget = Sections(file), Budget()
    rows = budget.within(_rows(text, named or delimiter_of(text)))
    try:
        sections.add_lines(table_lines(rows))
    except csv.Error as error:  # outside of its strict mode it refuses an over-long field and nothing else
        limit = _FIELD_CHARACTERS // 1_000_000
        raise UnreadableFileError(file=file, reason=reason("too_much_text", limit)) from error
    title = stem(file)
    metadata: dict[str, str | int | float | bool] = {"source_type": "csv", "encoding": decoded.encoding}
    if budget.exceeded:
        metadata["rows_read"] = budget.rows_read
    blocks = sections.blocks(title)
    return [make_document(file, title, sections.text, blocks, metadata, link=origin_of(path))]


def delimiter_of(text: str) -> str:
    """The delimiter by which most rows have the same number of fields, the more fields the better.

    Quoted fields are taken as such, so delimiters and line breaks inside of them don't count.
    """
    sample = text[:_SAMPLE_CHARACTERS]

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in islice(_parsed(sample, delimiter), _SAMPLE_ROWS) if any(row)]
        if len(widths) > 2 and len(sample) < len(text):
            widths.pop()  # cut by the sample's end
        usual, times = Counter(widths).most_common(1)[0] if widths else (1, 1)
        return (times / max(len(widths), 1) if usual > 1 else 0.0), usual

    return max(_DELIMITERS, key=fitness)


def _named_delimiter(text: str) -> str:
    """Excel's own hint, a first line ``sep=;``."""
    line = text.partition("\n")[0].strip('\n\r "').lower()
    return line[4:] if line.startswith("sep=") and len(line) == 5 else ""


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    return _parsed(text, delimiter, quoted=not _has_open_quote(text, delimiter))


def _parsed(text: str, delimiter: str, *, quoted: bool = True) -> Iterator[Row]:
    csv.field_size_limit(_FIELD_CHARACTERS)
    lines = io.StringIO(text, newline="")
    if quoted:
        return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)


def _has_open_quote(text: str, delimiter: str) -> bool:
    """True if a quote mark that nothing closes would swallow the rest of the file."""
    csv.field_size_limit(_FIELD_CHARACTERS)
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "end of data" in str(error)
    return False
