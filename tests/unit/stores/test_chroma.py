"""Chroma beside the JSON index: its filters say the same as ours, and it opens no connection."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from store_bases import EMBEDDER, Paper, base

from pipeline.bootstrap import create_store
from pipeline.errors import ExtraMissingError
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.local_store import LocalStore
from pipeline.retrieval.prefilter import matching_rows
from pipeline.settings import load_settings
from pipeline.stores import chroma as adapter
from pipeline.stores.chroma import ChromaVectors, conditions, mirrored
from pipeline.text.conditions import Wanted
from pipeline.types import Filter

PAPERS = tuple(
    Paper(
        f"{'кадры/' if number % 2 else 'docs/'}{number:03}.txt",
        [f"слово{number} общее слово{number % 7}"],
        tags=("Чёт",) if number % 2 == 0 else ("нечёт",),
        metadata={"n": number % 3, "date": f"20{10 + number % 10}-05-01", "big": number >= 20},
        source_type="md" if number % 4 else "txt",
    )
    for number in range(40)
)
FILTERS = (
    Filter(source_types=("md",)),
    Filter(tags=("чёт",)),
    Filter(tags=("чёт", "нечёт")),
    Filter(path_prefix="кадры/"),
    Filter(path_prefix="кадры/0"),
    Filter(metadata={"n": ("1", 2)}),
    Filter(metadata={"n": 0.0, "big": False}),
    Filter(since="2013", until="2016"),
    Filter(("md", "txt"), ("чёт",), "docs/", {"n": (0, 1)}, "2010", "2018"),
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> IndexSnapshot:
    home = tmp_path_factory.mktemp("home")
    store = create_store(load_settings({"home": str(home), "store.kind": "chroma"}, {}).settings)
    assert isinstance(store, LocalStore)
    store.write(base(PAPERS))
    return store.open()


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_its_own_filter_lets_through_the_same_rows(snapshot: IndexSnapshot, number: int) -> None:
    """What it is asked with more than a few rows left; and what it is asked with fewer."""
    wanted = FILTERS[number]
    chroma = snapshot.vectors
    assert isinstance(chroma, ChromaVectors)
    allowed = matching_rows(snapshot.index, wanted)
    assert allowed is not None
    assert len(allowed) > 2
    question = EMBEDDER.encode(["слово1 общее"], "query").vectors[0]
    found = chroma.nearest(question, 100, wanted, allowed)
    assert sorted(found.tolist()) == allowed.tolist()
    near = chroma.nearest(question, 3, wanted, allowed)
    assert set(near.tolist()) <= set(allowed.tolist())
    limits = {"where": conditions(Wanted.of(wanted))}
    if wanted.path_prefix in ("", "кадры/", "docs/"):
        rows = chroma.collection.query(
            query_embeddings=[question], n_results=100, include=["distances"], **limits
        )
        assert sorted(map(int, rows["ids"][0])) == allowed.tolist()


def test_what_is_mirrored_of_a_chunk() -> None:
    index = base((Paper("a/b/c.md", ["текст"], tags=("HR",), metadata={"date": "5 мая 2024", "n": 2.0}),))
    chunk = index.chunks[0]
    assert mirrored(chunk, index.documents[chunk.document_id]) == {
        "type": "txt",
        "day": 20240505,
        "tag:hr": True,
        "in:a/": True,
        "in:a/b/": True,
        "is:source_type": "txt",
        "is:date": "5 мая 2024",
        "is:n": "2",
    }


def test_a_database_that_fails_costs_no_answer(
    snapshot: IndexSnapshot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another process may have taken the folder away: the vectors themselves are at hand."""
    chroma = snapshot.vectors
    assert isinstance(chroma, ChromaVectors)

    class Broken:
        def query(self, **_: object) -> None:
            raise RuntimeError("no such collection")

    broken = ChromaVectors(chroma.client, Broken(), chroma.vectors)  # type: ignore[arg-type]
    question = EMBEDDER.encode(["слово1 общее"], "query").vectors[0]
    exact = np.argsort(-(chroma.vectors @ question), kind="stable")[:3]
    assert broken.nearest(question, 3, None, None)[0] == exact[0]
    assert "no such collection" in caplog.text


def test_no_connection_is_ever_opened(tmp_path: Path) -> None:
    """In a process of its own, where every connection is an error: made, opened again and searched."""
    code = """
import socket, sys
from pathlib import Path

def refuse(*given, **named):
    print("CONNECTION", given, file=sys.stderr, flush=True)
    raise OSError("no network")

socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
sys.path.insert(0, sys.argv[2])
from store_bases import EMBEDDER, Paper, base
from pipeline.bootstrap import create_store
from pipeline.settings import load_settings
settings = load_settings({"home": sys.argv[1], "store.kind": "chroma"}, {}).settings
create_store(settings).write(base((Paper("a.txt", ["отпуск длится", "склад закрыт"]),)))
with create_store(settings).snapshot() as snapshot:
    print(snapshot.vectors.nearest(snapshot.index.vectors[1], 1, None, None).tolist())
"""
    tests = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", code, str(tmp_path), tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(tests).parent)
    assert (done.returncode, done.stdout.strip()) == (0, "[1]"), done.stderr
    assert "CONNECTION" not in done.stderr
    assert socket.socket.connect is not None


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with pytest.raises(ExtraMissingError, match="chroma"):
        adapter._library()
