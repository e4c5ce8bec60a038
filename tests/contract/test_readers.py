"""What every reader of a text format owes: clean text, exact offsets, one error for what is unreadable."""

from __future__ import annotations

import contextlib
import json
import random
import re
from pathlib import Path

import pytest
from office_files import MAKERS

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.registry import READERS, reader_for
from pipeline.text.normalise import clean_text
from pipeline.types import Document

BODY = "Отпуск — 28 дней.\n\nУдлинённый — 35 дней."


def written(suffix: str, text: str) -> str:
    """A file of the format with this text in it."""
    if suffix in (".html", ".htm"):
        return "<p>" + re.sub("(\r\n|\r|\n){2}", r"</p>\g<0><p>", text)
    return json.dumps([{"topic": "Т", "text": text}], ensure_ascii=False) if suffix == ".json" else text


def read(path: Path, data: bytes) -> list[Document]:
    path.write_bytes(data)
    reader = reader_for(path.name)
    assert reader is not None
    return reader(path, path.name)


@pytest.fixture(params=[".htm", ".html", ".json", ".markdown", ".md", ".txt"])
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def texts(documents: list[Document]) -> list[str]:
    return [d.text[b.start : b.end] for d in documents for b in d.blocks]


def test_blocks_are_ordered_ranges_of_clean_text(tmp_path: Path, suffix: str) -> None:
    documents = read(tmp_path / f"a{suffix}", written(suffix, BODY).encode())
    assert texts(documents) == [BODY]
    for document in documents:
        assert document.file == f"a{suffix}"
        assert document.metadata["source_type"] == {".htm": "html", ".markdown": "md"}.get(suffix, suffix[1:])
        assert document.title
        position = 0
        for block in document.blocks:
            assert position <= block.start < block.end <= len(document.text)
            position = block.end


def test_an_upper_case_name_is_read_too(suffix: str) -> None:
    assert reader_for(f"ФАЙЛ{suffix.upper()}") is READERS[suffix]
    assert reader_for("a.exe") is None


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_changes_nothing(tmp_path: Path, suffix: str, mark: str, encoding: str) -> None:
    """Case 3."""
    documents = read(tmp_path / f"a{suffix}", (mark + written(suffix, BODY)).encode(encoding))
    assert texts(documents) == [BODY]
    assert documents[0].id == read(tmp_path / f"a{suffix}", written(suffix, BODY).encode())[0].id


@pytest.mark.parametrize("encoding", ["cp1251", "cp866", "koi8-r"])
def test_old_code_pages(tmp_path: Path, suffix: str, encoding: str) -> None:
    """Case 1."""
    plain = BODY.replace("—", "-")
    documents = read(tmp_path / f"a{suffix}", written(suffix, plain).encode(encoding))
    assert texts(documents) == [plain]
    assert documents[0].metadata["encoding"] == encoding


@pytest.mark.parametrize("line_break", ["\r\n", "\r"])
def test_line_breaks_of_every_kind(tmp_path: Path, suffix: str, line_break: str) -> None:
    """Case 5."""
    data = written(suffix, BODY.replace("\n", line_break)).encode()
    documents = read(tmp_path / f"a{suffix}", data)
    assert texts(documents) == [BODY]
    assert "\r" not in documents[0].text


def test_a_nul_is_dropped_and_its_neighbours_stay(tmp_path: Path, suffix: str) -> None:
    """Case 6."""
    documents = read(tmp_path / f"a{suffix}", written(suffix, "Возврат това\x00ра 14 дней").encode())
    assert texts(documents) == ["Возврат товара 14 дней"]


@pytest.mark.parametrize("data", [b"", b"\n\n \t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf  \n"])
def test_files_without_text(tmp_path: Path, suffix: str, data: bytes) -> None:
    """Case 7."""
    with pytest.raises(UnreadableFileError) as caught:
        read(tmp_path / f"a{suffix}", data)
    assert "нет текста" in caught.value.message("ru")
    assert "no text" in caught.value.message("en")


def test_noise_is_refused_with_a_reason(tmp_path: Path, suffix: str) -> None:
    """Case 4."""
    with pytest.raises(UnreadableFileError, match="not text"):
        read(tmp_path / f"a{suffix}", random.Random(1).randbytes(2048))


def test_a_file_that_is_gone_is_an_error_of_ours(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        READERS[suffix](tmp_path / "нет", "нет")


def test_a_file_over_the_bound_is_not_even_opened(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.common.MAX_FILE_BYTES", 4)
    with pytest.raises(UnreadableFileError, match="larger"):
        read(tmp_path / f"a{suffix}", b"12345")


@pytest.fixture(params=sorted(MAKERS))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A sound file of every format, as its usual program would write it."""
    return MAKERS[request.param](tmp_path)


def test_every_format_has_a_sound_file_here() -> None:
    assert {f".{name}" for name in MAKERS} == set(READERS) - {".markdown", ".htm", ".tsv", ".db"}


def test_every_format_gives_ordered_ranges_of_clean_text(made: Path) -> None:
    documents = READERS[made.suffix](made, made.name)
    assert "Кладовщик" in "".join(texts(documents))
    assert len({document.id for document in documents}) == len(documents)
    for document in documents:
        assert document.file == made.name or document.file.startswith(f"{made.name}/")
        assert document.title
        assert document.metadata["source_type"] == made.suffix[1:]
        assert clean_text(document.text) == document.text
        position = 0
        for block in document.blocks:
            assert position <= block.start < block.end <= len(document.text)
            assert document.text[block.start : block.end].strip() == document.text[block.start : block.end]
            position = block.end


def test_reading_twice_gives_the_same(made: Path) -> None:
    assert READERS[made.suffix](made, made.name) == READERS[made.suffix](made, made.name)


def test_no_format_trusts_its_file(made: Path) -> None:
    """Case 39 and its like: cut, emptied, scrambled and foreign files are skipped with a reason, or read."""
    data = made.read_bytes()
    scrambled = bytearray(data)
    generator = random.Random(5)
    for _ in range(max(len(data) // 50, 4)):
        scrambled[generator.randrange(len(data))] = generator.randrange(256)
    for bad in (
        b"",
        data[:10],
        data[: len(data) // 2],
        data[len(data) // 2 :],
        bytes(scrambled),
        b"\0" * 999,
    ):
        made.write_bytes(bad)
        with contextlib.suppress(UnreadableFileError):  # any other error is a failure
            READERS[made.suffix](made, made.name)


def test_a_file_of_any_format_that_is_gone(made: Path) -> None:
    made.unlink()
    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        READERS[made.suffix](made, made.name)


def test_a_file_of_any_format_over_the_bound(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.common.MAX_FILE_BYTES", 1)
    with pytest.raises(UnreadableFileError, match="larger"):
        READERS[made.suffix](made, made.name)
