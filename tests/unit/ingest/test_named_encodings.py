"""Encodings that ``sources.toml`` names win over the guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import SettingsError
from pipeline.health.files import check_sources
from pipeline.health.finding import Say
from pipeline.index import Manifest
from pipeline.ingest.collect import Collection, KnownFiles, collect
from pipeline.ingest.fingerprints import READERS_VERSION
from pipeline.ingest.sources.declared import load_sources

GREEK = "Η άδεια διαρκεί είκοσι οκτώ ημέρες."


def declare(folder: Path, *lines: str) -> None:
    (folder / "sources.toml").write_text("\n".join(["[encodings]", *lines]) + "\n", "utf-8")


def texts(made: Collection) -> dict[str, tuple[str, object]]:
    return {
        document.file: (document.text.strip("| "), document.metadata["encoding"])
        for document in made.documents
    }


def test_a_named_encoding_is_taken_by_every_text_format(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("a.txt", "b.md", "c.csv"):
        (tmp_path / "old" / name).write_bytes(GREEK.encode("cp1253"))
    (tmp_path / "d.html").write_bytes(f"<meta charset=windows-1251><p>{GREEK}".encode("cp1253"))
    (tmp_path / "e.txt").write_text("Обычный.", "cp1251")
    declare(tmp_path, '"old/*" = "cp1253"', '"d.html" = "iso8859-7"', '"*" = "cp1251"')
    found = texts(collect(tmp_path))
    assert {found[f"old/{name}"] for name in ("a.txt", "b.md", "c.csv")} == {(GREEK, "cp1253")}
    assert found["d.html"] == (GREEK, "iso8859-7")
    assert found["e.txt"] == ("Обычный.", "cp1251")


def test_bytes_of_another_encoding_are_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(GREEK.encode("cp1253"))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf" + GREEK.encode())
    declare(tmp_path, '"*" = "utf-8"')
    made = collect(tmp_path)
    assert made.skipped["a.txt"].text("en") == "it is no text in the encoding utf-8 that sources.toml names"
    assert texts(made) == {"b.txt": (GREEK, "utf-8")}


def test_a_change_of_the_declaration_has_texts_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(GREEK.encode("cp1253"))

    def again(before: Collection) -> Collection:
        manifest = Manifest(
            "", "", 0, "none", {}, before.files, {}, before.unread, before.beside, READERS_VERSION
        )
        return collect(tmp_path, KnownFiles(manifest, before.documents))

    first = collect(tmp_path)
    assert again(first).read == 0
    declare(tmp_path, '"a.txt" = "cp1253"')
    second = again(first)
    assert (second.read, texts(second)) == (1, {"a.txt": (GREEK, "cp1253")})
    assert again(second).read == 0
    (tmp_path / "sources.toml").unlink()
    third = again(second)
    assert third.read == 1
    assert texts(third) == texts(first)


@pytest.mark.parametrize("name", ["cp9999", "base64", ""])
def test_an_unknown_encoding_is_refused_and_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("Текст.", "utf-8")
    declare(tmp_path, f'"*" = "{name}"')
    with pytest.raises(SettingsError, match="encoding"):
        load_sources(tmp_path)
    assert texts(collect(tmp_path)) == {"a.txt": ("Текст.", "utf-8")}
    (finding,) = check_sources(tmp_path, Say("en"))
    assert finding.state == "problem"
    assert "encodings" in finding.detail
    assert "otvet index" in finding.next_step
