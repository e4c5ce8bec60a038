"""CSV in its dialects, and tables as lines."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.csv import delimiter_of, read_csv
from pipeline.ingest.readers.tables import inline_table, table_lines
from pipeline.types import Document


def read(folder: Path, data: str | bytes) -> Document:
    path = folder / "a.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_csv(path, "a.csv")[0]


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16"])
def test_every_dialect_gives_the_same_lines(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = [
        ["Должность", "Оклад", "Где"],
        ["Кладовщик", "45 000", 'Склад "Север",\nворота; 2'],
        ["Грузчик", "40 000", "Там же"],
    ]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    assert read(tmp_path, out.getvalue().encode(encoding)).text == (
        '| Должность: Кладовщик | Оклад: 45 000 | Где: Склад "Север", ворота; 2 |\n'
        "| Должность: Грузчик | Оклад: 40 000 | Где: Там же |"
    )


def test_excels_hint_and_short_and_long_rows(tmp_path: Path) -> None:
    text = "sep=;\nТовар;Цена\nБолт;10,5;лишнее\nГайка;\n"
    assert read(tmp_path, text).text == "| Товар: Болт | Цена: 10,5 | лишнее |\n| Товар: Гайка |"


def test_a_quote_mark_that_nothing_closes_swallows_nothing(tmp_path: Path) -> None:
    text = 'Товар,Цена\n"Болт,10\nГайка,20\n'
    assert read(tmp_path, text).text == '| Товар: "Болт | Цена: 10 |\n| Товар: Гайка | Цена: 20 |'


@pytest.mark.parametrize("text", ["", "\n\n", ";;;\n;;;\n", "sep=;\n", '""'])
def test_no_values_no_document(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableFileError, match="no text"):
        read(tmp_path, text)


def test_a_huge_table_is_cut_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.xlsx.MAX_ROWS", 3)
    monkeypatch.setattr("pipeline.ingest.readers.xlsx.Budget.__init__.__defaults__", (3, 1000))
    document = read(tmp_path, "Товар;Цена\n" + "Болт;1\n" * 10)
    assert document.metadata["rows_read"] == 3


def test_a_huge_line_and_a_huge_field(tmp_path: Path) -> None:
    document = read(tmp_path, "Товар;Цена\n" + "Болт " * 40_000 + ";1\n")
    assert document.text.endswith("Цена: 1 |")
    assert len(read(tmp_path, "а," * 50_000 + "\n").text) < 5000  # columns beyond all use are left out


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([["А", "Б"], ["1", "2"]], ["| А: 1 | Б: 2 |"]),
        ([["1", "2"], ["3", "4"]], ["| 1 | 2 |", "| 3 | 4 |"]),
        ([["Прайс"], [], ["Товар", "Цена"], ["Болт", "1"]], ["| Прайс |", "| Товар: Болт | Цена: 1 |"]),
        ([["Прайс", ""], ["Товар", "Цена"], ["Болт", "1"]], ["Прайс", "| Товар: Болт | Цена: 1 |"]),
        ([["Товар", "Цена", "Шт"], ["Метизы", "", ""], ["Болт", "1", "2"]],
         ["| Метизы |", "| Товар: Болт | Цена: 1 | Шт: 2 |"]),
        ([["Товар", "Цена", ""], ["", "опт", "розница"], ["Болт", "1", "2"]],
         ["| Товар: Болт | Цена, опт: 1 | Цена, розница: 2 |"]),
        ([["Телефон:", "123"], ["Адрес:", "Мира, 5"]], ["| Телефон: 123 |", "| Адрес: Мира, 5 |"]),
        ([["Год", "2023", "2024"], ["Прибыль", "1", "2"]], ["| Год: Прибыль | 2023: 1 | 2024: 2 |"]),
        ([["А", "Б"], ["1", "2"], ["А", "Б"], ["3", "4"]], ["| А: 1 | Б: 2 |", "| А: 3 | Б: 4 |"]),
        ([["А", "Б"], ["1", "2"], ["", ""], ["3", "4"]], ["| А: 1 | Б: 2 |", "| А: 3 | Б: 4 |"]),
        ([["А", "А"], ["1", "2"]], ["| А | А |", "| 1 | 2 |"]),
        ([["один"], ["два"]], ["| один |", "| два |"]),
        ([], []),
    ],
)  # fmt: skip
def test_headers_are_seen_as_a_person_sees_them(rows: list[list[str]], lines: list[str]) -> None:
    assert list(table_lines(rows)) == lines


def test_a_header_too_long_for_a_label_is_given_in_full_once() -> None:
    lines = list(table_lines([["А" * 100, "Б"], ["1", "2"]]))
    assert lines == [f"| {'А' * 100} | Б |", f"| {'А' * 80}…: 1 | Б: 2 |"]


def test_a_table_inside_a_cell() -> None:
    assert inline_table([["А", "Б"], ["1", "2"], ["3", ""]]) == "А: 1, Б: 2; А: 3"


CELLS = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from('\n";, '), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=8), st.sampled_from(";,\t|"))
def test_no_value_of_a_well_formed_file_is_lost(rows: list[list[str]], delimiter: str) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    parsed = list(csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=delimiter))
    text = " ".join("\n".join(table_lines(parsed)).split())
    if rows[-1] not in rows[:-1]:  # the last row is never a header
        assert all(" ".join(cell.split()) in text for cell in rows[-1])


@given(st.text(max_size=200))
def test_any_text_has_a_delimiter(text: str) -> None:
    assert delimiter_of(text) in ";,\t|"


def test_a_field_without_end_is_a_reason_not_a_crash(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.csv._FIELD_CHARACTERS", 100_000)
    with pytest.raises(UnreadableFileError, match="characters of text"):
        read(tmp_path, 'a;b\n1;"' + "слово " * 20_000 + '"\n')
