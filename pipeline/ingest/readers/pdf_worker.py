"""The process in which pdfium reads files, one JSON line a page. See `pdf_process` for why.

It imports nothing heavy of the pipeline, so that it starts in a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.ingest.readers.pdf_lines import Page, read_page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

__all__ = ["main", "records"]

_MEMORY_BYTES = 3 * 1024**3
MAX_PAGES = 20_000
_MAX_OUTLINE = 20_000
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD

Record = dict[str, Any]


def main() -> None:
    """Answer requests on standard input, a JSON string with a path each, until it ends."""
    _bound_memory()
    for request in sys.stdin:
        for record in records(Path(json.loads(request))):
            sys.stdout.write(json.dumps(record) + "\n")
            sys.stdout.flush()


def records(path: Path) -> Iterator[Record]:
    """What a file holds: a head, its pages, and an end; or an error at any place."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with path.open("rb") as stream, PdfDocument(stream) as document:
            if len(document) > MAX_PAGES:
                yield {"error": "too_many_pages", "detail": MAX_PAGES}
                return
            yield {"pages": len(document), "outline": _outline(document), "info": _info(document)}
            for number in range(1, len(document) + 1):
                yield {"page": astuple(_page(document, number))}
            yield {"end": True}
    except PdfiumError as error:
        yield {"error": "password" if getattr(error, "err_code", None) == _PASSWORD_ERROR else "damaged"}
    except OSError as error:
        yield {"error": "unopened", "detail": error.strerror or "?"}


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


def _outline(document: PdfDocument) -> list[tuple[int, int, str]]:
    """Page (from 1), level (from 1) and title of the outline's entries."""
    found = []
    for entry in islice(document.get_toc(), _MAX_OUTLINE):
        target = entry.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None and index >= 0:
            found.append((index + 1, entry.level + 1, entry.get_title() or ""))
    return found


def _info(document: PdfDocument) -> dict[str, str]:
    return {key: value for key, value in document.get_metadata_dict().items() if value}


def _bound_memory() -> None:
    """A small file can unpack to more than the machine holds; better this process fails than the machine."""
    if sys.platform in ("win32", "darwin"):
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
