"""Made vectors that lie to each other as real ones do; the table of the stores."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import look_alike
    import stores_table

    yield look_alike, stores_table
    for name in ("look_alike", "stores_table"):
        sys.modules.pop(name)


def test_they_are_of_length_one_the_same_every_time_and_near_as_real_ones_are(scripts):
    look_alike, _ = scripts
    vectors = look_alike.look_alike(2000, 384, 8)
    assert np.array_equal(vectors, look_alike.look_alike(2000, 384, 8))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    told = look_alike.described(vectors)
    assert 0.82 < told["cosine of two passages, 50 %"] < 0.86
    assert 0.92 < told["cosine with neighbour 1"] < 0.96
    assert told["variance in 100 axes"] < 0.9
    questions = look_alike.moved(vectors[:50])
    nearest = np.argmax(questions @ vectors.T, axis=1)
    assert np.mean(nearest == np.arange(50)) > 0.9
    assert np.max(np.sum(questions * vectors[:50], axis=1)) < 0.97


def test_the_table_holds_what_was_recorded(scripts, tmp_path):
    _, stores_table = scripts
    pair = {"p50_ms": 1.25, "p99_ms": 20.0, "recall": 0.998}
    one = {
        f"{mode}, {wanted}": pair for mode in ("dense", "keyword", "hybrid") for wanted in stores_table.WANTED
    }
    one |= {"tokens_ms": 0.5, "build_s": 61.4, "search_mb": 50.0, "server_mb": 0.0, "disk_mb": 1000.0}
    one["when"] = "2026-11-30 05:40"
    recorded = {
        "chunks": 100_000,
        "stores": {"faiss-hnsw": one, "json": one, "postgres": one | {"server_mb": 9}},
    }
    path = tmp_path / "stores.json"
    path.write_text(json.dumps(recorded))
    lines = stores_table.recorded_table(path).splitlines()
    assert lines[0] == "100,000 passages, 2026-11-30."
    assert [line.split("|")[1].strip() for line in lines[4:]] == ["`json`", "`faiss-hnsw`", "`postgres`"]
    assert "| 0.998 0.998 0.998 | 1.2 / 20.0 |" in lines[4]
    assert "| 61 + 61 |" in lines[5]
    assert "50 + 9 server" in lines[6]
