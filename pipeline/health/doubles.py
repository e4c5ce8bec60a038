"""What is said twice: equal files, and passages of different places that say nearly the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from pipeline.health.finding import Finding, Say, State
from pipeline.index import Index
from pipeline.retrieval.near_duplicates import COSINE, say_the_same, word_counts
from pipeline.types import Chunk

__all__ = ["check_doubles", "near_pairs"]

_SAMPLE = 4000  # passages that are compared with all others: 4 s of one core where there are 100,000
_BLOCK_CELLS = 1 << 23
_NEAREST = 8  # of which a near-duplicate is one; more copies than that are found from another of them


def check_doubles(index: Index, say: Say) -> list[Finding]:
    """Equal files and near-duplicate passages; both make one answer come up several times."""
    same: dict[str, list[str]] = defaultdict(list)
    for file, digest in index.manifest.files.items():
        same[digest].append(file)
    groups = [files for files in same.values() if len(files) > 1]
    findings = [
        Finding(
            say("same_files"),
            "warning" if groups else "ok",
            say("same_files_count", count=sum(len(files) - 1 for files in groups)),
            say("same_files_next") if groups else "",
            tuple(" = ".join(files) for files in groups),
        )
    ]
    pairs = [
        f"{_place(one)} ≈ {_place(other)}"
        for one, other in near_pairs(index)
        if index.manifest.files.get(one.file, one.file) != index.manifest.files.get(other.file, other.file)
    ]
    detail = say("doubles_count", count=len(pairs), looked=min(_SAMPLE, len(index.chunks)))
    state: State = "warning" if pairs else "ok"
    findings.append(Finding(say("doubles"), state, detail, "otvet map" if pairs else "", tuple(pairs)))
    return findings


def near_pairs(index: Index) -> Iterator[tuple[Chunk, Chunk]]:
    """Pairs of passages that say nearly the same, each once; of a large index a sample is looked at."""
    count = len(index.chunks)
    rows = (
        np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64))
        if count
        else np.zeros(0, int)
    )
    seen: set[tuple[int, int]] = set()
    step = max(1, _BLOCK_CELLS // max(count, 1))
    for begin in range(0, len(rows), step):
        block = rows[begin : begin + step]
        cosines = index.text_vectors[block] @ index.text_vectors.T
        cosines[np.arange(len(block)), block] = -1.0
        for place, row in enumerate(block):
            near = np.flatnonzero(cosines[place] > COSINE)
            near = near[np.argsort(-cosines[place, near], kind="stable")][:_NEAREST]
            for other in near:
                pair = (min(int(row), int(other)), max(int(row), int(other)))
                if pair not in seen and _same(index.chunks[pair[0]], index.chunks[pair[1]]):
                    yield index.chunks[pair[0]], index.chunks[pair[1]]
                seen.add(pair)


def _same(one: Chunk, other: Chunk) -> bool:
    return say_the_same(word_counts(one.text), word_counts(other.text))


def _place(chunk: Chunk) -> str:
    return f"{chunk.file} ({chunk.headings[-1] if chunk.headings else chunk.topic})"
