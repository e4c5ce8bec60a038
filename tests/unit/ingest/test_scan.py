"""What counts as a file of the knowledge base."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pipeline.ingest.reasons import restored, stored
from pipeline.ingest.scan import scan


def keys(folder: Path) -> dict[str, str]:
    return {item.file: item.skip.key if item.skip else "" for item in scan(folder)}


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_links_are_named_once_and_never_followed(tmp_path: Path) -> None:
    """Case 37."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("тайна")
    base = tmp_path / "kb"
    (base / "sub").mkdir(parents=True)
    (base / "a.txt").write_text("а")
    (base / "sub" / "b.txt").write_text("б")
    (base / "to_file.txt").symlink_to(outside / "secret.txt")
    (base / "to_folder").symlink_to(outside)
    (base / "to_self").symlink_to(base)
    (base / "loop").symlink_to("loop")
    (base / "dangling.txt").symlink_to("nowhere")
    (base / "inside.txt").symlink_to("a.txt")
    os.link(outside / "secret.txt", base / "hard.txt")
    assert keys(base) == {
        "a.txt": "",
        "dangling.txt": "skip_link_broken",
        "hard.txt": "",  # the same as a copy: nothing tells it from one
        "inside.txt": "skip_link_inside",
        "loop": "skip_link_broken",
        "sub/b.txt": "",
        "to_file.txt": "skip_link_outside",
        "to_folder": "skip_link_outside",
        "to_self": "skip_link_inside",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_a_knowledge_base_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("а")
    (tmp_path / "kb").symlink_to("real")
    assert keys(tmp_path / "kb") == {"a.txt": ""}


def test_hidden_files_are_passed_over_and_the_order_is_fixed(tmp_path: Path) -> None:
    for name in ("б.txt", "а.txt", "Я/к.txt", ".hidden.txt", ".git/x.txt", "Я/.y.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("т")
    assert list(keys(tmp_path)) == ["Я/к.txt", "а.txt", "б.txt"]


def test_an_absent_or_empty_knowledge_base_has_no_files(tmp_path: Path) -> None:
    """Case 7."""
    assert scan(tmp_path) == scan(tmp_path / "нет") == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_names_and_things_that_cannot_be_used(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "wb"):  # noqa: PTH123
        pass
    os.mkfifo(tmp_path / "pipe.txt")
    assert keys(tmp_path) == {"?.txt": "skip_name", "pipe.txt": "skip_not_regular"}


def test_reasons_come_back_from_the_manifest() -> None:
    for item in ("no_text", "unsupported: .png", "json: 3:5"):
        assert stored(restored(item)) == item
    assert restored("unsupported: .png").text("ru") == "формат не поддерживается (.png)"
