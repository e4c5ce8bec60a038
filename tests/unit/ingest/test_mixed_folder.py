"""A knowledge base as people have them: every format, odd names, faults between good files."""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from office_files import MAKERS, paragraph_lines, pdf_bytes

from pipeline.ingest.build import collect
from pipeline.ingest.notes import notes_of
from pipeline.ingest.readers.pdf import read_pdf

NAMES = ["Приказ № 5 (копия)", "vacation ", "%20#?'", "Ё" * 60, "a\nb", "  два  пробела", "точка.в.имени"]


def test_all_formats_in_one_folder(tmp_path: Path) -> None:
    for make in MAKERS.values():
        make(tmp_path)
    (tmp_path / "z.png").write_bytes(b"\x89PNG")
    (tmp_path / "z.docx").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "z.pdf").write_bytes(b"%PDF-1.4\n")
    collection = collect(tmp_path)
    assert {file: phrase.key for file, phrase in collection.skipped.items()} == {
        "z.docx": "skip_damaged",
        "z.pdf": "skip_damaged",
        "z.png": "skip_unsupported",
    }
    assert set(collection.files) == {f"a.{name}" for name in MAKERS}
    assert collection.found == len(MAKERS) + 3  # sources.toml is nothing to read
    assert {document.metadata["source_type"] for document in collection.documents} == set(MAKERS)
    ids = [(document.file, document.id) for document in collection.documents]
    assert len(set(ids)) == len(ids)


@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows does not know")
@pytest.mark.parametrize("ending", ["csv", "docx", "html", "pdf", "xlsx"])
def test_names_of_any_kind(tmp_path: Path, ending: str) -> None:
    """Case 42."""
    sound = MAKERS[ending](tmp_path)
    base = tmp_path / "База знаний"
    base.mkdir()
    for name in NAMES:
        shutil.copy(sound, base / f"{name}.{ending.upper()}")
    collection = collect(base)
    assert not collection.skipped
    assert {document.file for document in collection.documents} == {
        f"{name}.{ending.upper()}" for name in NAMES
    }


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_bytes([paragraph_lines("Текст."), []], pictures=[1]))
    document = read_pdf(tmp_path / "a.pdf", "a.pdf")[0]
    assert [note.text("en") for note in notes_of(document)] == [
        "pages without text: 1 (pictures are not recognised)"
    ]
    assert notes_of(collect(MAKERS["md"](tmp_path).parent).documents[0]) == []


@pytest.mark.parametrize("ending", ["docx", "xlsx"])
def test_an_archive_that_explodes(tmp_path: Path, ending: str) -> None:
    with zipfile.ZipFile(tmp_path / f"bomb.{ending}", "w", zipfile.ZIP_DEFLATED) as package:
        for number in range(40):
            package.writestr(f"xl/{number}.xml", b"\0" * 1_000_000)
    assert [phrase.key for phrase in collect(tmp_path).skipped.values()] == ["skip_explodes"]


@pytest.mark.parametrize("ending", ["docx", "xlsx"])
def test_a_part_too_large_for_memory(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MAKERS[ending](tmp_path)
    monkeypatch.setattr("pipeline.ingest.readers.container.MAX_TREE_BYTES", 100)
    assert [phrase.key for phrase in collect(tmp_path).skipped.values()] == ["skip_explodes"]
