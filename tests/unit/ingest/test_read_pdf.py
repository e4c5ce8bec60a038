"""PDF files, written by hand in `office_files`."""

from __future__ import annotations

from pathlib import Path

import pytest
from office_files import Line, paragraph_lines, pdf_bytes

from pipeline.errors import UnreadableFileError
from pipeline.ingest.build import collect
from pipeline.ingest.readers.pdf import read_pdf
from pipeline.ingest.readers.pdf_layout import joined
from pipeline.ingest.readers.pdf_process import PdfProcess
from pipeline.ingest.readers.pdf_worker import records
from pipeline.types import Document

LONG = "Ежегодный отпуск предоставляется работнику на двадцать восемь дней"


def read(folder: Path, pages: list[list[Line]], **more: object) -> Document:
    path = folder / "a.pdf"
    path.write_bytes(pdf_bytes(pages, **more))  # type: ignore[arg-type]
    return read_pdf(path, "a.pdf")[0]


def encrypted(data: bytes, user: str, owner: str) -> bytes:
    import io

    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user_password=user, owner_password=owner, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_lines_become_paragraphs_with_page_numbers(tmp_path: Path) -> None:
    first = [*paragraph_lines(LONG, "и ещё три дня сверх того."), *paragraph_lines(f"{LONG}.", top=640)]
    document = read(tmp_path, [first, paragraph_lines(f"Иное. {LONG}.")], title="Отпуска")
    assert document.text == f"{LONG} и ещё три дня сверх того.\n\n{LONG}.\n\nИное. {LONG}."
    assert [(block.page, block.topic) for block in document.blocks] == [(1, "Отпуска"), (2, "Отпуска")]
    assert document.metadata == {"source_type": "pdf", "pages": 2, "date": "2024-03-05"}


def test_headers_footers_and_page_numbers_go(tmp_path: Path) -> None:
    def page(number: int) -> list[Line]:
        return [
            (60, 810, "ООО «Ромашка». Положение"),
            (60, 796, f"Раздел {'абвгд'[number]} {number + 7}"),
            *paragraph_lines(f"{LONG} {number}."),
            (60, 30, f"- {number + 1} -"),
        ]

    document = read(tmp_path, [page(number) for number in range(5)])
    assert document.text == "\n\n".join(f"{LONG} {number}." for number in range(5))


def test_what_only_looks_like_a_running_head_stays(tmp_path: Path) -> None:
    pages = [
        [
            (60.0, 800.0, f"Приложение {name}", 20.0),
            *paragraph_lines(LONG, f"к приложению {name}.", LONG + "."),
        ]
        for name in "АБВГ"
    ]
    document = read(tmp_path, pages)
    assert [block.headings for block in document.blocks] == [(f"Приложение {name}",) for name in "АБВГ"]


def test_words_broken_at_line_ends_are_whole(tmp_path: Path) -> None:
    lines = paragraph_lines(
        "Для каждого работника ежегодный оплачивае-",
        "мый отпуск устанавливается, если какой-",
        "либо закон не говорит иного, по схеме А-",
        "17 и по прайсам, а прайс тот есть просто-",
        "лист склада.",
    )
    assert read(tmp_path, [lines]).text == (
        "Для каждого работника ежегодный оплачиваемый отпуск устанавливается, если какой-либо закон "
        "не говорит иного, по схеме А-17 и по прайсам, а прайс тот есть простолист склада."
    )


@pytest.mark.parametrize(
    ("first", "second", "words", "whole"),
    [
        ("оплачивае-", "мый", set(), "оплачиваемый"),
        ("оплачивае\ufffe", "мый", set(), "оплачиваемый"),
        ("какой-", "либо", set(), "какой-либо"),
        ("прайс-", "лист", {"прайс-лист"}, "прайс-лист"),
        ("Москва-", "Сити", set(), "Москва-Сити"),
        ("2020-", "2024", set(), "2020-2024"),
        ("дом -", "работа", set(), "дом - работа"),
        ("одно", "два", set(), "одно два"),
    ],
)
def test_joining_two_lines(first: str, second: str, words: set[str], whole: str) -> None:
    assert joined(first, second, words) == whole


def test_a_sentence_over_two_pages_is_whole_on_the_first(tmp_path: Path) -> None:
    document = read(tmp_path, [paragraph_lines(LONG), paragraph_lines("и ещё три. Новое предложение.")])
    assert [(b.page, document.text[b.start : b.end]) for b in document.blocks] == [
        (1, f"{LONG} и ещё три."),
        (2, "Новое предложение."),
    ]


def test_columns_are_read_one_after_another(tmp_path: Path) -> None:
    left = paragraph_lines("Первый столбец начат", "и продолжен.", "Конец первого.")
    right = paragraph_lines("Второй столбец начат", "и закончен.", left=320)
    assert read(tmp_path, [[*left, *right]]).text == (
        "Первый столбец начат и продолжен.\nКонец первого.\n\nВторой столбец начат и закончен."
    )


def test_rows_and_items_keep_their_lines(tmp_path: Path) -> None:
    lines = paragraph_lines(LONG + ":", "1. раз;", "2. два.", "Кладовщик 45 000", "Грузчик 40 000")
    assert read(tmp_path, [lines]).text == f"{LONG}:\n1. раз;\n2. два.\nКладовщик 45 000\nГрузчик 40 000"


def test_headings_by_the_size_of_letters(tmp_path: Path) -> None:
    page: list[Line] = [
        (60, 780, "Положение", 22), *paragraph_lines(f"{LONG}.", LONG, LONG + ".", top=740),
        (60, 680, "Премии", 16), *paragraph_lines(f"{LONG}.", LONG, LONG + ".", top=650),
    ]  # fmt: skip
    document = read(tmp_path, [page])
    assert document.title == "Положение"
    assert [block.headings for block in document.blocks] == [("Положение",), ("Положение", "Премии")]


def test_the_outline_names_headings(tmp_path: Path) -> None:
    pages = [
        [*paragraph_lines(f"{LONG}."), (60, 600, "1. Премии"), *paragraph_lines("Раз.", top=560)],
        paragraph_lines("Два."),
        paragraph_lines("Три."),
    ]
    document = read(tmp_path, pages, outline=[("Премии", 0), ("Поездки", 2)])
    assert [(block.page, block.headings) for block in document.blocks] == [
        (1, ()), (1, ("1. Премии",)), (2, ("1. Премии",)), (3, ("Поездки",)),
    ]  # fmt: skip


def test_scans_passwords_and_damage(tmp_path: Path) -> None:
    """Case 39."""
    good = pdf_bytes([paragraph_lines("Текст.")])
    files = {
        "broken.pdf": good[:10],
        "cut.pdf": good[:40] + b"\0" * 20,
        "empty.pdf": pdf_bytes([[], []]),
        "mixed.pdf": pdf_bytes([paragraph_lines("Текст."), [], [], []], pictures=[1, 2, 3]),
        "not.pdf": "Просто текст".encode(),
        "owner.pdf": encrypted(good, "", "owner"),
        "scan.pdf": pdf_bytes([[]], pictures=[0]),
        "user.pdf": encrypted(good, "user", "owner"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    collection = collect(tmp_path)
    assert {name: phrase.key for name, phrase in collection.skipped.items()} == {
        "broken.pdf": "skip_damaged",
        "cut.pdf": "skip_damaged",
        "empty.pdf": "skip_no_text",
        "not.pdf": "skip_damaged",
        "scan.pdf": "skip_scan",
        "user.pdf": "skip_password",
    }
    read = {document.file: document for document in collection.documents}
    assert read["owner.pdf"].text == read["mixed.pdf"].text == "Текст."
    assert read["mixed.pdf"].metadata["pages_without_text"] == 3
    assert "pages_without_text" not in read["owner.pdf"].metadata


def test_letters_outside_of_the_basic_plane(tmp_path: Path) -> None:
    """Case 11."""
    assert read(tmp_path, [paragraph_lines("Смех 😀 и слёзы")]).text == "Смех 😀 и слёзы"


def test_a_text_layer_without_letters_is_no_text(tmp_path: Path) -> None:
    page = paragraph_lines("\ue001\ue002\ue003 \ue004\ue005")
    with pytest.raises(UnreadableFileError, match="pictures"):
        read(tmp_path, [page])


def test_too_many_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.pdf_worker.MAX_PAGES", 1)
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_bytes([paragraph_lines("а"), paragraph_lines("б")]))
    assert list(records(path)) == [{"error": "too_many_pages", "detail": 1}]


def test_the_process_says_what_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_bytes([paragraph_lines("аб"), []], title="Т", outline=[("О", 1)]))
    head, first, second, end = records(path)
    assert (head["pages"], head["outline"], head["info"]["Title"]) == (2, [(2, 1, "О")], "Т")
    assert first["page"][2][0][0] == "аб"
    assert second["page"] == (2, 842.0, (), True)
    assert end == {"end": True}
    assert next(records(tmp_path / "нет"))["error"] == "unopened"


def heavy(path: Path) -> None:
    """A small file whose one page is 30 million drawn lines."""
    import zlib

    import office_files

    plain = office_files.pdf_bytes([paragraph_lines("Текст.")])
    stream = zlib.compress(b"0 0 m 1 1 l S\n" * 4_000_000)
    start = plain.index(b"/Filter /FlateDecode")
    end = plain.index(b"endstream", start)
    head = b"/Filter /FlateDecode /Length %d >>\nstream\n" % len(stream)
    path.write_bytes(plain[:start] + head + stream + b"\n" + plain[end:])


def test_a_file_that_is_too_much_is_skipped_and_the_next_is_read(tmp_path: Path) -> None:
    """Archives that explode, as a PDF: case 39's kind."""
    heavy(tmp_path / "heavy.pdf")
    (tmp_path / "good.pdf").write_bytes(pdf_bytes([paragraph_lines("Текст.")]))
    process = PdfProcess(page_seconds=0.5)
    with pytest.raises(UnreadableFileError, match="time or memory"):
        process.read(tmp_path / "heavy.pdf", "heavy.pdf")
    process = PdfProcess()
    assert len(process.read(tmp_path / "good.pdf", "good.pdf")) == 2
    process.close()
    assert len(process.read(tmp_path / "good.pdf", "good.pdf")) == 2
    process.close()


def test_a_process_that_dies_is_started_anew(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_bytes([paragraph_lines("Текст.")]))
    process = PdfProcess()
    process.read(tmp_path / "a.pdf", "a.pdf")
    running = process._process
    assert running is not None
    running.kill()
    running.wait()
    assert len(process.read(tmp_path / "a.pdf", "a.pdf")) == 2
    process.close()


def test_files_of_the_current_folder_are_no_part_of_the_program(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit", encoding="utf-8")
    (tmp_path / "a.pdf").write_bytes(pdf_bytes([paragraph_lines("Текст.")]))
    monkeypatch.chdir(tmp_path)
    process = PdfProcess()
    assert len(process.read(tmp_path / "a.pdf", "a.pdf")) == 2
    process.close()
