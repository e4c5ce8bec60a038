"""A knowledge base as bad as they come: all formats, all encodings, every fault, made on the spot.

`make` returns what must become of every file, so that tests and ``benchmarks/formats.py`` agree on it.
The numbers in comments are those of the cases.
"""

from __future__ import annotations

import io
import json
import os
import random
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from office_files import MAKERS, paragraph_lines, pdf_bytes

READ = ""
"""The value of a file that must be read; of any other it is the reason, without ``skip_``."""

Made = tuple[str, bytes, str]

RULE = "Срок отпуска двадцать восемь дней. Ёлка стоит в коридоре, объём съёмки велик."
TOPICS = "\n".join(f"[Тема] Правило {n}\n[Ссылка] https://example.org/{n}\n{RULE}" for n in range(2000))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1 or str()};" * 10}">' for n in range(1, 9))
    + "]><w:document>&a8;</w:document>"
)
NAMES = ["Приказ № 5 (копия)", "vacation ", "%20#?'", "Ё" * 60, "  два  пробела", "точка.в.имени",
         "'; DROP--", "<b>x</b>", "-rf", "👍🏽", "CON.prn", "a\nb", "a\\b", 'кавычки "и" |']  # fmt: skip
_WINDOWS_REFUSES = set('<>:"/\\|?*\n')


def make(folder: Path, small_files: int = 0, *, large: bool = False) -> dict[str, str]:
    """Fill a folder; what must become of each file, by its name in the folder.

    Args:
        folder: New and empty.
        small_files: How many small files to add.
        large: Add a large sound file of every format.
    """
    expected: dict[str, str] = {}
    groups = [_encodings, _empty, _shapes, _sound, _office, _pdf, _data, _names, *([_large] if large else [])]
    for file, data, what in (made for group in groups for made in group()):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        expected[file] = what
    (folder / "sources.toml").write_text(
        '[[table]]\ndatabase = "sound/a.sqlite"\ntable = "articles"\n'
        'id = "id"\ntitle = "title"\ntext = "body"\n'
        '[[table]]\ndatabase = "large/a.sqlite"\ntable = "t"\ntext = "body"\n'
        '[[table]]\ndatabase = "data/no-column.sqlite"\ntable = "t"\ntext = "body"\n',
        "utf-8",
    )
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.txt").write_text(RULE, "utf-8")
    if os.name != "nt":
        expected |= _links(folder)
    (folder / "many").mkdir()
    for number in range(small_files):
        place = folder / "many" / f"{number % 100:02}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.txt").write_text(f"Правило номер {number}: {RULE}", "utf-8")
        expected[f"many/{number % 100:02}/{number}.txt"] = READ
    return expected


def _encodings() -> Iterator[Made]:
    for name in (
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "cp1251",
        "cp866",
        "koi8-r",
    ):
        yield f"encodings/{name}.txt", RULE.encode(name), READ  # 1, 3, 4
        yield f"encodings/{name} large.txt", ("\n".join([RULE] * 3000)).encode(name), READ
    yield "encodings/capitals.txt", "ВНИМАНИЕ! РАБОТЫ ПРОВОДЯТСЯ ПОСЛЕ 18:00".encode("cp1251"), READ
    yield "encodings/number.txt", "Счёт-фактура №5".encode("cp1251"), READ
    yield "encodings/password.txt", "Пароль: 1234".encode("cp866"), READ
    yield "encodings/western.txt", "Le café est très bon près de la forêt.".encode("cp1252"), READ
    yield "encodings/noise.txt", random.Random(4).randbytes(2048), "not_text"
    yield (
        "encodings/picture.md",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0" * 40,
        "not_text",
    )
    yield "encodings/nul.txt", "Возврат това\x00ра 14 дней".encode(), READ  # 6
    yield "encodings/cut.txt", RULE.encode()[:-1], READ
    for name, end in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):  # 5
        text = "# А\n\nОдин.\n\n## Б\n\nДва.\n\n## В\n\nТри.\n".replace("\n", end)
        yield f"encodings/{name}.md", text.encode(), READ
    yield "encodings/meta.html", f"<meta charset=windows-1251><p>{RULE}".encode("cp1251"), READ  # 41


def _empty() -> Iterator[Made]:
    for ending in ("txt", "md", "html", "csv", "json"):  # 7
        yield f"empty/zero.{ending}", b"", "no_text"
        yield f"empty/blank.{ending}", b"\n\n \t\n", "no_text"
        yield f"empty/bom.{ending}", b"\xef\xbb\xbf", "no_text"
    for ending in ("pdf", "docx", "xlsx", "sqlite"):
        yield f"empty/zero.{ending}", b"", "no_text"
    yield "empty/list.json", b"[]", "no_text"
    yield "empty/headings.md", "# А\n\n# Б\n".encode(), "no_text"
    yield "empty/section.md", "# А\n\n# Б\n\nтекст".encode(), READ
    yield "empty/tags.html", b"<html><body><script>x()</script><div> </div>", "no_text"


def _shapes() -> Iterator[Made]:
    yield "shapes/line.txt", ("Пункт договора о поставке. " * 4000).encode(), READ  # 8
    yield "shapes/word.txt", ("ы" * 300_000).encode(), READ
    yield "shapes/latin word.txt", b"x" * 300_000, READ
    yield "shapes/emoji.md", ("👨\u200d👩\u200d👧" * 3000).encode(), READ  # 11
    yield "shapes/marks.txt", ("а" + "\u0301" * 20_000).encode(), READ
    yield "shapes/topics.txt", TOPICS.encode("cp1251"), READ
    yield "shapes/topic.txt", f"[Тема] {'Очень длинная тема. ' * 2000}\n{RULE}".encode(), READ
    yield "shapes/fence.md", ("```\n" + "x = 1\n" * 20_000).encode(), READ
    yield "shapes/fences.md", ("`" * 50_000 + "\n" + RULE).encode(), READ
    yield "shapes/brackets.md", ("[" * 50_000 + RULE).encode(), READ
    yield (
        "shapes/headings.md",
        "".join(f"{'#' * (n % 6 + 1)} Раздел {n}\n\n{RULE}\n\n" for n in range(500)).encode(),
        READ,
    )
    yield "shapes/deep.html", ("<div>" * 20_000 + RULE).encode(), "too_deep"
    yield "shapes/deep.json", ("[" * 100_000).encode(), "json_list"
    yield (
        "shapes/wide.csv",
        (";".join(f"с{n}" for n in range(5000)) + "\n" + ";".join(["1"] * 5000)).encode(),
        READ,
    )
    yield "shapes/quote.csv", ('а;б\n"' + "незакрытая кавычка " * 5000).encode(), READ
    yield "shapes/long cell.csv", ("а;б\n1;" + RULE * 2000).encode(), READ


def _sound() -> Iterator[Made]:
    with tempfile.TemporaryDirectory() as name:
        for ending, maker in MAKERS.items():
            path = maker(Path(name))
            yield f"sound/{path.name}", path.read_bytes(), READ
            if ending in ("docx", "xlsx", "pdf"):
                data = path.read_bytes()
                yield f"damaged/half.{ending}", data[: len(data) // 2], "damaged"
                yield f"damaged/noise.{ending}", random.Random(7).randbytes(5000), "damaged"
                yield f"damaged/text.{ending}", RULE.encode(), "damaged"
        sheet = (Path(name) / "a.xlsx").read_bytes()
        yield "damaged/sheet.docx", sheet, "no_text"
        yield "damaged/half.sqlite", (Path(name) / "a.sqlite").read_bytes()[:4096], "not_declared"
        yield "damaged/text.sqlite", RULE.encode(), "damaged"


def _office() -> Iterator[Made]:
    yield "office/entities.docx", _zip({"word/document.xml": ENTITIES.encode()}), "hostile_xml"
    for ending in ("docx", "xlsx"):
        yield f"office/bomb.{ending}", _zip({f"xl/{n}.xml": b"\0" * 1_000_000 for n in range(40)}), "explodes"
        yield f"office/old.{ending}", OLE, "old_office"
        yield f"office/encrypted.{ending}", OLE + "EncryptedPackage".encode("utf-16-le"), "password"
        yield f"office/empty archive.{ending}", _zip({}), "damaged"
        yield f"office/parts.{ending}", _zip({f"p{n}": b"" for n in range(21_000)}), "explodes"
    yield "office/old.doc", OLE, "unsupported"
    yield "office/deck.pptx", _zip({"ppt/presentation.xml": b"<p/>"}), "unsupported"


def _pdf() -> Iterator[Made]:
    good = pdf_bytes([paragraph_lines(RULE)])
    yield "pdf/scan.pdf", pdf_bytes([[]], pictures=[0]), "scan"  # 39
    yield "pdf/blank.pdf", pdf_bytes([[], []]), "no_text"
    yield "pdf/mixed.pdf", pdf_bytes([paragraph_lines("Текст."), [], [], []], pictures=[1, 2, 3]), READ
    yield "pdf/ten bytes.pdf", b"%PDF-1.4\n0", "damaged"
    yield "pdf/user.pdf", _encrypted(good, "user"), "password"
    yield "pdf/owner.pdf", _encrypted(good, ""), READ
    yield "pdf/pages.pdf", pdf_bytes([paragraph_lines(f"Страница {n}. {RULE}") for n in range(200)]), READ


def _data() -> Iterator[Made]:
    yield "data/broken.json", b'[{"topic": ', "json"
    yield "data/object.json", b'{"a": 1}', "json_list"
    yield "data/item.json", b'[{"topic": 5, "text": "a"}]', "json_item"
    yield "data/surrogate.json", b'[{"topic": "\\ud83d", "text": "\\u0000\\ud83d \\u0430"}]', READ
    yield "data/numbers.json", b'[{"topic": "a", "text": "b"}, 1e999]', "json_list"
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE t (a TEXT)")
        yield "data/no-column.sqlite", path.read_bytes(), "database"
        yield "data/unnamed.sqlite", path.read_bytes(), "not_declared"
    yield "data/picture.png", b"\x89PNG", "unsupported"
    yield "data/no ending", b"a", "unsupported"


def _names() -> Iterator[Made]:
    for name in NAMES:  # 42
        if os.name == "nt" and (_WINDOWS_REFUSES & set(name) or name.startswith("CON")):
            continue
        yield f"имена и папки/{name}.TXT", RULE.encode(), READ
    yield "имена и папки/" + "глубже/" * 15 + "a.MD", RULE.encode(), READ


def _large() -> Iterator[Made]:
    import docx
    import openpyxl

    rows = [[f"Товар {n}", f"{n % 97} шт", f"{n * 7 % 1000},50", "склад № 3", RULE] for n in range(20_000)]
    sections = [f"Раздел {n}" for n in range(4000)]
    yield "large/a.txt", ("\n".join([RULE] * 20_000)).encode("cp1251"), READ
    yield "large/a.md", "".join(f"## {name}\n\n{RULE}\n\n" for name in sections).encode(), READ
    yield "large/a.html", "".join(f"<h2>{name}</h2><p>{RULE}" for name in sections).encode(), READ
    yield "large/a.csv", "\n".join(";".join(row) for row in rows).encode(), READ
    topics = [{"topic": name, "text": RULE} for name in sections]
    yield "large/a.json", json.dumps(topics, ensure_ascii=False).encode(), READ
    pages = [paragraph_lines(*[RULE] * 40, top=780) for _ in range(100)]
    yield "large/a.pdf", pdf_bytes(pages), READ
    out = io.BytesIO()
    document = docx.Document()
    for name in sections[:1500]:
        document.add_heading(name, 2)
        document.add_paragraph(RULE)
    document.save(out)
    yield "large/a.docx", out.getvalue(), READ
    out = io.BytesIO()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Остатки")
    for row in [["Товар", "Остаток", "Цена", "Место", "Правило"], *rows]:
        sheet.append(row)
    book.save(out)
    yield "large/a.xlsx", out.getvalue(), READ
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE t (body TEXT)")
            connection.executemany("INSERT INTO t VALUES (?)", [(f"{RULE} {n}",) for n in range(10_000)])
        yield "large/a.sqlite", path.read_bytes(), READ


def _links(folder: Path) -> dict[str, str]:
    """Links and other things that are no files (case 37)."""
    place = folder / "links"
    place.mkdir()
    (place / "sound.txt").write_text(RULE, "utf-8")
    (place / "hard.txt").hardlink_to(place / "sound.txt")
    (place / "inside.txt").symlink_to(place / "sound.txt")
    (place / "outside.txt").symlink_to(sys.executable)
    (place / "folder").symlink_to(Path(sys.executable).parent)
    (place / "loop").symlink_to(place)
    (place / "self.txt").symlink_to(place / "self.txt")
    (place / "nowhere.txt").symlink_to(place / "missing.txt")
    os.mkfifo(place / "pipe.txt")
    (place / "folder.txt").mkdir()
    expected = {
        "sound.txt": READ, "hard.txt": READ, "inside.txt": "link_inside", "outside.txt": "link_outside",
        "folder": "link_outside", "loop": "link_inside", "self.txt": "link_broken",
        "nowhere.txt": "link_broken", "pipe.txt": "not_regular",
    }  # fmt: skip
    if sys.platform == "linux":
        (place / os.fsdecode(b"\xff\xfe.txt")).write_text(RULE, "utf-8")
        expected["??.txt"] = "name"
    return {f"links/{name}": what for name, what in expected.items()}


def _zip(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return out.getvalue()


def _encrypted(data: bytes, user: str) -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user_password=user, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
