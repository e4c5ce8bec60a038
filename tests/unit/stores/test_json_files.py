"""Vectors out of JSON, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import IndexDamagedError
from pipeline.stores import json_files
from pipeline.stores.json_files import dump_list, vectors_in
from pipeline.types import Chunk


def chunks(ids: list[str]) -> list[Chunk]:
    return [Chunk(name, "d", row, "", "", 0, 0) for row, name in enumerate(ids)]


def entries(ids: list[str]) -> dict[str, dict[str, list[float]]]:
    return {name: {"topic_text": [row, 0.5], "text": [-row, 0.25]} for row, name in enumerate(ids)}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("spaces", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("piece", [7, 64, 1 << 22])
@pytest.mark.parametrize("ids", [[], ["a"], ["a", "b", "c"], ['x]},"y', "b]},"]])
def test_any_spelling_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    indent: int | None,
    spaces: tuple[str, str],
    piece: int,
    ids: list[str],
) -> None:
    monkeypatch.setattr(json_files, "_PIECE", piece)
    path = tmp_path / "embeddings.json"
    path.write_text(json.dumps(entries(ids), indent=indent, separators=spaces), "utf-8")
    both, text = vectors_in(path, chunks(ids), 2)
    assert both.tolist() == [[row, 0.5] for row in range(len(ids))]
    assert text.tolist() == [[-row, 0.25] for row in range(len(ids))]
    assert both.dtype == text.dtype == np.float32


def test_too_few_and_too_many_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 20."""
    monkeypatch.setattr(json_files, "_PIECE", 16)
    path = tmp_path / "embeddings.json"
    path.write_text(json.dumps(entries(["a", "b", "c"]), separators=(",", ":")), "utf-8")
    for ids in (["a", "b"], ["a", "b", "c", "d"], ["a", "c", "b"], []):
        with pytest.raises(IndexDamagedError):
            vectors_in(path, chunks(ids), 2)


@given(st.integers(0, 600), st.integers(1, 300))
def test_a_list_in_pieces_is_the_list(count: int, batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_BATCH", batch)
        written = b"".join(dump_list({"n": number} for number in range(count)))
    assert written.endswith(b"]\n")
    assert json.loads(written) == [{"n": number} for number in range(count)]
