"""Word documents: made by python-docx, their XML changed by hand where it can't make what is needed."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from office_files import TABLE, fill

from pipeline.errors import UnreadableFileError
from pipeline.ingest.build import collect
from pipeline.ingest.readers.docx import read_docx
from pipeline.types import Document

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BOX = (
    f"<w:p {nsdecls('w')}><w:r><w:t>До рамки. </w:t></w:r><w:r><mc:AlternateContent "
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">'
    "<w:drawing><w:txbxContent><w:p><w:r><w:t>В рамке.</w:t></w:r></w:p></w:txbxContent></w:drawing>"
    "</mc:Choice><mc:Fallback>"
    "<w:pict><w:txbxContent><w:p><w:r><w:t>В рамке.</w:t></w:r></w:p></w:txbxContent></w:pict>"
    "</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>После рамки.</w:t></w:r></w:p>"
)


def saved(document: Any, folder: Path) -> Document:
    document.save(str(folder / "a.docx"))
    return read_docx(folder / "a.docx", "a.docx")[0]


def with_parts(path: Path, parts: Mapping[str, str]) -> None:
    """Replace or add parts of an archive."""
    with zipfile.ZipFile(path) as package:
        kept = {name: package.read(name) for name in package.namelist() if name not in parts}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in kept.items():
            package.writestr(name, data)
        for name, text in parts.items():
            package.writestr(name, text)


def from_body(folder: Path, body: str, **parts: str) -> Document:
    docx.Document().save(str(folder / "a.docx"))
    changed = {f"word/{name}.xml": text for name, text in parts.items()}
    changed["word/document.xml"] = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    with_parts(folder / "a.docx", changed)
    return read_docx(folder / "a.docx", "a.docx")[0]


def test_order_rows_merged_cells_and_boxes(tmp_path: Path) -> None:
    """Case 40."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Колонтитул"
    document.add_paragraph("До таблицы.")
    table = document.add_table(4, 2)
    fill(table, [*TABLE, ("Прочие", "")])
    table.cell(3, 0).merge(table.cell(3, 1))
    fill(table.cell(2, 1).add_table(2, 2), [("Разряд", "Доплата"), ("1", "500")])
    document.element.body.insert(-1, parse_xml(BOX))
    document.add_paragraph("В конце.")
    read = saved(document, tmp_path)
    assert read.text == (
        "До таблицы.\n\n"
        "| Должность: Кладовщик | Оклад: 45 000 |\n"
        "| Должность: Грузчик | Оклад: 40 000 Разряд: 1, Доплата: 500 |\n"
        "| Должность: Прочие |\n\n"
        "До рамки. После рамки.\n\nВ рамке.\n\nВ конце."
    )
    assert len(read.blocks) == 1


def test_vertically_merged_cells_are_said_once(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(3, 2)
    fill(table, [("Отдел", "Оклад"), ("Склад", "45 000"), ("", "40 000")])
    table.cell(1, 0).merge(table.cell(2, 0))
    assert saved(document, tmp_path).text == "| Отдел: Склад | Оклад: 45 000 |\n| Оклад: 40 000 |"


def test_headings_title_and_properties(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Положение", 0)
    document.add_paragraph("Начало.")
    document.add_heading("Премии", 1)
    document.add_paragraph("Раз.")
    document.add_heading("Годовые", 2)
    document.add_paragraph("Два.")
    document.core_properties.keywords = "кадры; отпуск, оклад"
    document.core_properties.author = "Отдел кадров"
    read = saved(document, tmp_path)
    assert read.title == "Положение"
    assert read.tags == ("кадры", "отпуск", "оклад")
    assert read.metadata["author"] == "Отдел кадров"
    assert [block.topic for block in read.blocks] == [
        "Положение", "Положение / Премии", "Положение / Премии / Годовые",
    ]  # fmt: skip


NUMBERS = (
    f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="7">'
    '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2."/></w:lvl>'
    '<w:lvl w:ilvl="2"><w:numFmt w:val="russianLower"/><w:lvlText w:val="%3)"/></w:lvl>'
    '<w:lvl w:ilvl="3"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%4)"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>'
)


def item(level: int, text: str, number: int = 1) -> str:
    numbered = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{numbered}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_automatic_numbers_are_part_of_the_text(tmp_path: Path) -> None:
    body = (
        item(0, "Оплата") + item(1, "Оклад") + item(1, "Премия") + item(2, "годовая") + item(2, "иная")
        + item(3, "за срок") + item(0, "Отпуск") + item(1, "Срок") + item(0, "точка", 2) + item(0, "снято", 0)
    )  # fmt: skip
    assert from_body(tmp_path, body, numbering=NUMBERS).text == (
        "3. Оплата\n  3.1. Оклад\n  3.2. Премия\n    а) годовая\n    б) иная\n      (i) за срок\n"
        "4. Отпуск\n  4.1. Срок\n- точка\n\nснято"
    )


def test_footnotes_fields_deletions_and_hidden_text(tmp_path: Path) -> None:
    notes = (
        f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>Кроме субботы.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    body = (
        '<w:p><w:r><w:t>Склад открыт</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        "<w:del><w:r><w:delText>нет</w:delText><w:t>нет</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t> всег</w:t></w:r></w:ins>"
        "<w:r><w:t>да</w:t><w:br/><w:t>и</w:t><w:tab/><w:t>ночью</w:t><w:noBreakHyphen/><w:t>то</w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>тайна</w:t></w:r>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        "<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>В поле.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    text = from_body(tmp_path, body, footnotes=notes).text
    assert text == "Склад открыт всегда\nи ночью-то\n\nКроме субботы.\n\nВ поле."


def test_a_frame_of_one_cell_is_read_as_text(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_table(1, 1).cell(0, 0).text = "Внимание!"
    assert saved(document, tmp_path).text == "Внимание!"


def test_the_strict_namespace_is_read_too(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "a.docx"))
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    body = f'<w:document xmlns:w="{strict}"><w:body><w:p><w:r><w:t>а</w:t></w:r></w:p></w:body></w:document>'
    with_parts(tmp_path / "a.docx", {"word/document.xml": body})
    assert read_docx(tmp_path / "a.docx", "a.docx")[0].text == "а"


ENTITIES = '<!DOCTYPE w [<!ENTITY a "ха"><!ENTITY b "&a;&a;&a;&a;">]>'


def hostile_files(folder: Path) -> None:
    """Faulty Word files, one a kind, and a sound one."""
    docx.Document().save(str(folder / "no text.docx"))
    good = (folder / "no text.docx").read_bytes()
    (folder / "cut.docx").write_bytes(good[: len(good) // 2])
    (folder / "not a zip.docx").write_text("текст", "utf-8")
    (folder / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le")
    (folder / "password.docx").write_bytes(encrypted)
    for name, xml in {
        "entities": f'{ENTITIES}<w:document xmlns:w="{W}"><w:body>&b;</w:body></w:document>',
        "file of the machine": '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]><w>&a;</w>',
        "deep": "<a>" * 5000 + "</a>" * 5000,
        "half": f'<w:document xmlns:w="{W}"><w:body><w:p>',
    }.items():
        (folder / f"{name}.docx").write_bytes(good)
        with_parts(folder / f"{name}.docx", {"word/document.xml": xml})
    with zipfile.ZipFile(folder / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"0" * 40_000_000)
    with zipfile.ZipFile(folder / "empty zip.docx", "w") as package:
        package.writestr("a.txt", "а")
    document = docx.Document()
    document.add_paragraph("Текст.")
    document.save(str(folder / "sound.docx"))


def test_hostile_and_damaged_files_are_named_and_the_run_goes_on(tmp_path: Path) -> None:
    """Archives that explode, entity bombs, encryption, damage: the kind of case 39."""
    hostile_files(tmp_path)
    collection = collect(tmp_path)
    assert {file: phrase.key for file, phrase in collection.skipped.items()} == {
        "bomb.docx": "skip_explodes",
        "cut.docx": "skip_damaged",
        "deep.docx": "skip_too_deep",
        "empty zip.docx": "skip_damaged",
        "entities.docx": "skip_hostile_xml",
        "file of the machine.docx": "skip_hostile_xml",
        "half.docx": "skip_damaged",
        "no text.docx": "skip_no_text",
        "not a zip.docx": "skip_damaged",
        "old.docx": "skip_old_office",
        "password.docx": "skip_password",
    }
    assert [document.text for document in collection.documents] == ["Текст."]


def test_a_declared_size_over_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.container.MAX_UNPACKED_BYTES", 1000)
    document = docx.Document()
    document.add_paragraph("Текст.")
    with pytest.raises(UnreadableFileError, match="trap"):
        saved(document, tmp_path)
