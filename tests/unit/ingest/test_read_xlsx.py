"""Spreadsheets."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.number_format import shown
from pipeline.ingest.readers.xlsx import read_xlsx
from pipeline.types import Document


def saved(book: Any, folder: Path) -> Document:
    book.save(folder / "Цены.xlsx")
    return read_xlsx(folder / "Цены.xlsx", "Цены.xlsx")[0]


def test_every_visible_sheet_is_a_block(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Оклады"
    for row in (["Штатное расписание"], [], ["Должность", "Оклад", "С даты"], ["Кладовщик", 45000, None]):
        sheet.append(row)
    sheet["B4"].number_format = '#,##0.00\\ "₽"'
    sheet["C4"] = datetime.datetime(2024, 3, 5)
    sheet.merge_cells("A1:C1")
    book.create_sheet("Пустой")
    other = book.create_sheet("Доли")
    for row in (["Отдел", "Доля", "Код"], ["Склад", 0.25, 42]):
        other.append(row)
    other["B2"].number_format, other["C2"].number_format = "0%", "00000"
    hidden = book.create_sheet("Скрытый")
    hidden["A1"] = "тайна"
    hidden.sheet_state = "hidden"
    document = saved(book, tmp_path)
    assert [(b.topic, document.text[b.start : b.end]) for b in document.blocks] == [
        ("Цены / Оклады",
         "| Штатное расписание |\n| Должность: Кладовщик | Оклад: 45 000,00 ₽ | С даты: 05.03.2024 |"),
        ("Цены / Доли", "| Отдел: Склад | Доля: 25% | Код: 00042 |"),
    ]  # fmt: skip
    assert document.metadata == {"source_type": "xlsx", "hidden_sheets": 1}


def test_formulas_show_their_kept_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Товар", "Сумма"], ["Болт", "=1+1"], ["Гайка", 3]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {part: package.read(part) for part in package.namelist()}
    # openpyxl keeps no values of formulas; Excel does.
    parts[name] = (
        parts[name]
        .replace(b"<v></v>", b"<v>2</v>")
        .replace(b"<v />", b"<v>2</v>")
        .replace(b"<v/>", b"<v>2</v>")
    )
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as package:
        for part, data in parts.items():
            package.writestr(part, data)
    document = read_xlsx(tmp_path / "a.xlsx", "a.xlsx")[0]
    assert document.text == "Sheet\n\n| Товар: Болт | Сумма: 2 |\n| Товар: Гайка | Сумма: 3 |"


def test_a_header_over_two_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Товар", "Цена", None], [None, "опт", "розница"], ["Болт", 1, 2]):
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    assert saved(book, tmp_path).text.endswith("| Товар: Болт | Цена, опт: 1 | Цена, розница: 2 |")


def test_a_sheet_that_reaches_to_the_last_cell_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    for row in (["Товар", "Цена"], ["Болт", 1]):
        book.active.append(row)
    book.active["XFD1048576"] = "далеко"
    document = saved(book, tmp_path)
    assert "| Товар: Болт | Цена: 1 |" in document.text
    monkeypatch.setattr("pipeline.ingest.readers.xlsx.Budget.__init__.__defaults__", (1, 1000))
    assert read_xlsx(tmp_path / "Цены.xlsx", "Цены.xlsx")[0].metadata["rows_read"] == 1


BROKEN_ROW = "<worksheet><sheetData><row r='x'><c r='!'/></row></sheetData></worksheet>"


@pytest.mark.parametrize(
    "xml", ["<a/>", BROKEN_ROW, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<worksheet>"]
)
def test_sheets_that_are_no_sheets(tmp_path: Path, xml: str) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "а"
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {part: package.read(part) for part in package.namelist()}
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as package:
        for part, data in (parts | {"xl/worksheets/sheet1.xml": xml.encode()}).items():
            package.writestr(part, data)
    with pytest.raises(UnreadableFileError):
        read_xlsx(tmp_path / "a.xlsx", "a.xlsx")


@pytest.mark.parametrize(
    ("value", "form", "russian", "english"),
    [
        (45000, "General", "45000", "45000"),
        (45000.5, "#,##0.00", "45 000,50", "45,000.50"),
        (1234567, "#,##0", "1 234 567", "1,234,567"),
        (0.1 + 0.2, "General", "0,3", "0.3"),
        (1e21, "General", "1e+21", "1e+21"),
        (0.255, "0.0%", "25,5%", "25.5%"),
        (42, "00000", "00042", "00042"),
        (7, '0" шт."', "7 шт.", "7 шт."),
        (7.5, "[$€-407] #,##0.00", "€7,50", "€7.50"),
        (1500, "#,##0.00\\ [$₽-419]", "1 500,00 ₽", "1,500.00 ₽"),
        (5, '_-* #,##0.00\\ _₽_-;\\-* #,##0.00', "5,00", "5.00"),
        (-5.5, "0.00;[Red]-0.00", "-5,50", "-5.50"),
        (True, "General", "ИСТИНА", "TRUE"),
        ("#REF!", "General", "", ""),
        ("текст", "@", "текст", "текст"),
        (None, "General", "", ""),
        (float("nan"), "0", "", ""),
        (datetime.datetime(2024, 3, 5, 14, 30), "General", "05.03.2024 14:30", "05.03.2024 14:30"),
        (datetime.date(2024, 3, 5), "General", "05.03.2024", "05.03.2024"),
        (datetime.time(9, 5), "h:mm", "09:05", "09:05"),
        (datetime.timedelta(hours=36, minutes=30), "[h]:mm", "36:30", "36:30"),
    ],
)  # fmt: skip
def test_values_are_shown_as_in_the_sheet(value: object, form: str, russian: str, english: str) -> None:
    assert (shown(value, form, True), shown(value, form, False)) == (russian, english)
