"""A folder of all formats and faults: every file is read or named with its reason, none stops the run."""

from __future__ import annotations

from pathlib import Path

import faulty_folder
import pytest
from word_embedder import WordEmbedder

from pipeline.errors import ModelMissingError
from pipeline.index import Manifest
from pipeline.ingest import collect as collecting
from pipeline.ingest.build import build_index
from pipeline.ingest.collect import Collection, KnownFiles, collect
from pipeline.ingest.fingerprints import READERS_VERSION
from pipeline.ingest.survey import survey
from pipeline.settings import IndexSettings
from pipeline.types import Document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    base = tmp_path_factory.mktemp("faulty")
    return base, faulty_folder.make(base, small_files=200)


@pytest.fixture(scope="module")
def collection(folder: tuple[Path, dict[str, str]]) -> Collection:
    return collect(folder[0])


def became(collection: Collection) -> dict[str, str]:
    skipped = {file: phrase.key.removeprefix("skip_") for file, phrase in collection.skipped.items()}
    return {**dict.fromkeys(collection.files, faulty_folder.READ), **skipped}


def test_every_file_becomes_what_it_must(folder: tuple[Path, dict[str, str]], collection: Collection) -> None:
    """Cases 1, 3 to 8, 11, 37, 39, 41, 42 and their like."""
    assert became(collection) == folder[1]
    assert len(collection.files) + len(collection.skipped) == collection.found


def test_texts_in_every_encoding_come_out_equal(collection: Collection) -> None:
    """Cases 1, 3, 4."""
    texts = {document.file: document.text for document in collection.documents}
    plain = [text for file, text in texts.items() if file.startswith("encodings/") and "large" not in file]
    assert sum(text == faulty_folder.RULE for text in plain) == 9 + 1  # the page that names its encoding
    large = {text for file, text in texts.items() if file.startswith("encodings/") and "large" in file}
    assert large == {"\n".join([faulty_folder.RULE] * 3000)}
    assert texts["encodings/lf.md"] == texts["encodings/crlf.md"] == texts["encodings/cr.md"]
    assert texts["encodings/nul.txt"] == "Возврат товара 14 дней"
    assert not any(sign in text for text in texts.values() for sign in ("\r", "\0", "\ufeff"))


def test_all_of_it_is_cut_and_nothing_is_lost(folder: tuple[Path, dict[str, str]]) -> None:
    """Cases 8 and 15: indexed + skipped = found, and no token of a read file is dropped."""
    for name in ("encodings", "empty", "shapes", "data"):
        report = build_index(folder[0] / name, WordEmbedder(), IndexSettings()).report
        assert report.indexed + len(report.skipped) == report.found
        assert report.dropped_tokens == 0


def test_a_second_look_finds_the_same(folder: tuple[Path, dict[str, str]], collection: Collection) -> None:
    """Reasons are equal in every run, or an index would never be up to date."""
    skipped = {
        file: phrase.key.removeprefix("skip_") + (f": {phrase.values['detail']}" if phrase.values else "")
        for file, phrase in collection.skipped.items()
    }
    manifest = Manifest(
        "",
        "",
        0,
        "none",
        {},
        collection.files,
        skipped,
        collection.unread,
        collection.beside,
        READERS_VERSION,
    )
    assert {status.state for status in survey(folder[0], manifest)} == {"indexed", "skipped"}
    again = collect(folder[0], KnownFiles(manifest, collection.documents))
    assert became(again) == folder[1]
    assert again.read <= sum(
        reason.partition(":")[0] in collecting._TRIED_AGAIN for reason in skipped.values()
    )


@pytest.mark.parametrize(
    ("raised", "key"),
    [
        (ValueError("<object at 0x7f12ab> in {path}"), "skip_reader"),
        (KeyError("w:val"), "skip_reader"),
        (RecursionError("maximum depth"), "skip_reader"),
        (AssertionError(), "skip_reader"),
        (OSError(5, "Input/output error"), "skip_reader"),
        (UserWarning("odd sheet"), "skip_reader"),
        (StopIteration(), "skip_reader"),
        (MemoryError(), "skip_no_memory"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_a_reader_raises_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException, key: str
) -> None:
    """Case 4: a fault that no reader thought of costs one file."""
    (tmp_path / "a.txt").write_text("Хороший.", "utf-8")
    (tmp_path / "b.docx").write_text("", "utf-8")

    def broken(path: Path, file: str) -> list[Document]:
        raised.args = tuple(str(part).format(path=path) for part in raised.args)
        raise raised

    real = collecting.reader_for
    monkeypatch.setattr(
        collecting, "reader_for", lambda file: broken if file.endswith(".docx") else real(file)
    )
    made = collect(tmp_path)
    assert list(made.files) == ["a.txt"]
    assert made.skipped["b.docx"].key == key
    assert made.found == 2
    said = made.skipped["b.docx"].text("en")
    assert str(tmp_path) not in said
    assert "0x7f" not in said
    if key == "skip_reader":
        assert type(raised).__name__ in said
    # A newer version may read it: unlike other faults this one is not remembered.
    assert made.unread == {}


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), SystemExit(), ModelMissingError(model="m")])
def test_what_is_not_the_fault_of_a_file_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    (tmp_path / "a.txt").write_text("Хороший.", "utf-8")

    def broken(path: Path, file: str) -> list[Document]:
        raise raised

    monkeypatch.setattr(collecting, "reader_for", lambda file: broken)
    with pytest.raises(type(raised)):
        collect(tmp_path)
