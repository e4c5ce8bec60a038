"""Files of every format, made on the spot: sound ones, and what the fault tests need to build others."""

from __future__ import annotations

import io
import json
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

TABLE = (("Должность", "Оклад"), ("Кладовщик", "45 000"), ("Грузчик", "40 000"))

Line = tuple[float, float, str] | tuple[float, float, str, float]
"""x, y (from the bottom), text, and the font size if it is not 11."""


def pdf_bytes(
    pages: Sequence[Sequence[Line]],
    *,
    title: str = "",
    outline: Sequence[tuple[str, int]] = (),
    pictures: Sequence[int] = (),
) -> bytes:
    """A PDF of A4 pages written by hand.

    Args:
        pages: The lines of each page.
        title: For the document's information.
        outline: Title and page (from 0) of entries of one level.
        pictures: Pages (from 0) that hold a picture.
    """
    letters = sorted({character for page in pages for line in page for character in line[2]})
    codes = {letter: number for number, letter in enumerate(letters, start=1)}
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(head: str, data: bytes) -> bytes:
        return f"<< {head} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"

    def hexed(text: str) -> str:
        return f"<FEFF{text.encode('utf-16-be').hex()}>"

    mapped = "\n".join(f"<{code:04x}> <{letter.encode('utf-16-be').hex()}>" for letter, code in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /a def /CMapType 2 def "
        "1 begincodespacerange <0000> <ffff> endcodespacerange "
        f"{len(codes)} beginbfchar\n{mapped}\nendbfchar endcmap end end"
    )
    to_unicode = add(stream("", cmap.encode()))
    descriptor = add(
        b"<< /Type /FontDescriptor /FontName /Plain /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 "
        b"/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>"
    )
    descendant = add(
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /CIDSystemInfo << /Registry (Adobe) "
        b"/Ordering (Identity) /Supplement 0 >> /DW 500 /FontDescriptor %d 0 R >>" % descriptor
    )
    font = add(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H /DescendantFonts [%d 0 R] "
        b"/ToUnicode %d 0 R >>" % (descendant, to_unicode)
    )
    picture = add(
        stream(
            "/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8",
            bytes(range(0, 256, 4)),
        )
    )
    tree = len(objects) + 2 * len(pages) + 1
    numbers = []
    for number, lines in enumerate(pages):
        drawn = [f"q 400 0 0 400 50 300 cm /P {' Do Q'}"] if number in pictures else []
        for line in lines:
            size = line[3] if len(line) > 3 else 11
            shown = "".join(f"{codes[character]:04x}" for character in line[2])
            drawn.append(f"BT /F {size} Tf {line[0]} {line[1]} Td <{shown}> Tj ET")
        content = add(stream("/Filter /FlateDecode", zlib.compress("\n".join(drawn).encode())))
        numbers.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
                f"/Resources << /Font << /F {font} 0 R >> /XObject << /P {picture} 0 R >> >> >>".encode()
            )
        )
    kids = " ".join(f"{number} 0 R" for number in numbers)
    add(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    outlines = ""
    if outline:
        root = len(objects) + len(outline) + 1
        first = len(objects) + 1
        for place, (text, page) in enumerate(outline):
            following = f"/Next {first + place + 1} 0 R" if place + 1 < len(outline) else ""
            before = f"/Prev {first + place - 1} 0 R" if place else ""
            target = f"[{numbers[page]} 0 R /Fit]"
            add(f"<< /Title {hexed(text)} /Parent {root} 0 R /Dest {target} {before} {following} >>".encode())
        last = first + len(outline) - 1
        add(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>".encode())
        outlines = f"/Outlines {root} 0 R"
    catalog = add(f"<< /Type /Catalog /Pages {tree} 0 R {outlines} >>".encode())
    info = add(f"<< /Title {hexed(title)} /CreationDate (D:20240305120000) >>".encode())
    file = io.BytesIO()
    file.write(b"%PDF-1.5\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(file.tell())
        file.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % place for place in places)
    trailer = f"<< /Size {len(objects) + 1} /Root {catalog} 0 R /Info {info} 0 R >>"
    file.write(f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode())
    return file.getvalue()


def paragraph_lines(*lines: str, top: float = 700, left: float = 60) -> list[Line]:
    """Lines of a paragraph one below the other."""
    return [(left, top - 14 * number, line) for number, line in enumerate(lines)]


def fill(table: Any, rows: Sequence[Sequence[str]]) -> None:
    """Write texts into the cells of a table of python-docx."""
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text


def _csv(folder: Path) -> Path:
    path = folder / "a.csv"
    path.write_text("\n".join(";".join(row) for row in TABLE), "utf-8")
    return path


def _docx(folder: Path) -> Path:
    import docx

    document = docx.Document()
    document.add_heading("Оклады", 1)
    document.add_paragraph("До таблицы.")
    fill(document.add_table(3, 2), TABLE)
    document.add_paragraph("После таблицы.")
    document.save(str(folder / "a.docx"))
    return folder / "a.docx"


def _html(folder: Path) -> Path:
    rows = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in TABLE)
    (folder / "a.html").write_text(f"<h1>Оклады</h1><p>До<table>{rows}</table><p>После", "utf-8")
    return folder / "a.html"


def _json(folder: Path) -> Path:
    content = json.dumps([{"topic": "Оклады", "text": "Кладовщик: 45 000"}], ensure_ascii=False)
    (folder / "a.json").write_text(content, "utf-8")
    return folder / "a.json"


def _pdf(folder: Path) -> Path:
    pages = [paragraph_lines("Оклады", "Кладовщик получает 45 000."), paragraph_lines("Конец.")]
    (folder / "a.pdf").write_bytes(pdf_bytes(pages))
    return folder / "a.pdf"


def _sqlite(folder: Path) -> Path:
    path = folder / "a.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE articles (id INTEGER, title TEXT, body TEXT)")
        rows = [(1, "Оклады", "Кладовщик: 45 000"), (2, "Отпуск", "28 дней\n\nи ещё три")]
        connection.executemany("INSERT INTO articles VALUES (?, ?, ?)", rows)
    declared = 'database = "a.sqlite"\ntable = "articles"\nid = "id"\ntitle = "title"\ntext = "body"\n'
    (folder / "sources.toml").write_text(f"[[table]]\n{declared}", "utf-8")
    return path


def _text(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_text("# Оклады\n\nКладовщик: 45 000\n", "utf-8")
        return folder / name

    return make


def _xlsx(folder: Path) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    for row in TABLE:
        book.active.append(row)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


MAKERS: dict[str, Callable[[Path], Path]] = {
    "csv": _csv,
    "docx": _docx,
    "html": _html,
    "json": _json,
    "md": _text("a.md"),
    "pdf": _pdf,
    "sqlite": _sqlite,
    "txt": _text("a.txt"),
    "xlsx": _xlsx,
}
