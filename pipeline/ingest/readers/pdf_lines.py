"""Lines of a PDF page with their places, as pdfium finds them."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["HYPHEN", "Line", "Page", "read_page"]

HYPHEN = "\ufffe"  # pdfium's mark for the hyphen of a word that goes on in the next line
_BREAKS = re.compile("\r\n|[\r\n]")
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text as it stands on the page; lengths in points, the origin is the page's lower left.

    Attributes:
        text: The line; it ends with `HYPHEN` if its last word goes on in the next line.
        size: Height of the letters' font.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its lines in reading order as far as the file tells it.

    Attributes:
        number: From 1.
        height: In points.
        is_blank: Nothing is drawn on it at all; a page without lines that is not blank is a scan.
    """

    number: int
    height: float
    lines: tuple[Line, ...]
    is_blank: bool = False


def read_page(page: PdfPage, number: int) -> Page:
    """The lines of a page.

    A text layer that is mostly signs without a meaning (fonts that don't tell their letters) counts as none.
    """
    import pypdfium2.raw as pdfium

    textpage = page.get_textpage()
    try:
        text = _text(textpage)
        visible = sum(1 for character in text if not character.isspace())
        lines: list[Line] = []
        if visible and len(_UNREADABLE.findall(text)) <= 0.3 * visible:
            lines = _lines(textpage, text)
    finally:
        textpage.close()
    is_blank = not lines and not pdfium.FPDFPage_CountObjects(page)
    return Page(number, float(page.get_height()), tuple(lines), is_blank)


def _text(textpage: object) -> str:
    """The page's text, one character for each of pdfium's."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    if count <= 0:
        return ""
    buffer = ctypes.create_string_buffer((count + 1) * 2)
    pdfium.FPDFText_GetText(textpage, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    text = buffer.raw[: count * 2].decode("utf-16-le", "replace")
    if len(text) == count and "\0" not in text:
        return text
    # Letters outside of the basic plane, or signs that GetText leaves out: character by character.
    # Halves of a surrogate pair stay two, so that places count right; clean_text joins them.
    codes = (pdfium.FPDFText_GetUnicode(textpage, index) for index in range(count))
    return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)


def _lines(textpage: object, text: str) -> list[Line]:
    lines: list[Line] = []
    position = 0
    for raw in _BREAKS.split(text):
        for part in re.findall(f"[^{HYPHEN}]*{HYPHEN}|[^{HYPHEN}]+", raw):
            start = position + len(part) - len(part.lstrip())
            end = position + len(part.rstrip(f" \t{HYPHEN}")) - 1
            if end >= start:
                lines.append(_placed(textpage, part.strip(), start, end))
            position += len(part)
        position = _after_break(text, position)
    return lines


def _after_break(text: str, position: int) -> int:
    match = _BREAKS.match(text, position)
    return match.end() if match else position


def _placed(textpage: object, text: str, start: int, end: int) -> Line:
    import pypdfium2.raw as pdfium

    boxes = []
    for index in (start, end):
        box = pdfium.FS_RECTF()
        pdfium.FPDFText_GetLooseCharBox(textpage, index, box)
        boxes.append(box)
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(textpage, start, matrix):
        scale = float((matrix.b**2 + matrix.d**2) ** 0.5) or 1.0
    return Line(
        text=text,
        left=min(box.left for box in boxes),
        right=max(box.right for box in boxes),
        bottom=min(box.bottom for box in boxes),
        top=max(box.top for box in boxes),
        size=round(float(pdfium.FPDFText_GetFontSize(textpage, start)) * scale, 1),
    )
