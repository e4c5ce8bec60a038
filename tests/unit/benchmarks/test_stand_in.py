"""The knowledge base of made-up words and the embedder that takes no time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.ingest.build import build_index
from pipeline.ports import EmbedderSpec
from pipeline.settings import IndexSettings

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
SPEC = EmbedderSpec("real/int8", 32, "e5", 500)


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import stand_in

    yield stand_in
    for name in ("stand_in", "synthetic"):
        sys.modules.pop(name)


def test_it_gives_as_many_passages_as_asked_for(stand_in, tmp_path):
    characters = stand_in.write_texts(tmp_path, 12, each=3)
    built = build_index(tmp_path, stand_in.StandIn(SPEC), IndexSettings())
    assert (built.report.indexed, built.report.chunks, built.report.dropped_tokens) == (4, 12, 0)
    assert characters == sum(len(path.read_text("utf-8")) for path in tmp_path.rglob("*.txt"))


def test_a_text_always_has_the_same_vectors(stand_in):
    texts = ["Склад открыт.", "", "Склад открыт."]
    encoded = stand_in.StandIn(SPEC).encode(texts, "passage", with_tokens=True)
    again = stand_in.StandIn(SPEC).encode(texts[:1], "passage", with_tokens=True)
    assert np.array_equal(encoded.vectors[0], encoded.vectors[2])
    assert np.array_equal(encoded.vectors[:1], again.vectors)
    assert np.allclose(np.linalg.norm(encoded.vectors, axis=1), 1, atol=1e-6)
    assert [len(one) for one in encoded.tokens] == [5, 0, 5]
    assert np.array_equal(encoded.tokens[0].vectors, again.tokens[0].vectors)
