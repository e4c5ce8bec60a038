"""Vectors that lie to each other as those of multilingual-e5-small do, made by a seeded generator.

Uniform noise would flatter no index and punish all: its vectors have no neighbours. Measured on a real base
(kb_bsl, 977 passages): the mean of all vectors has the length 0.92; the cosine of two passages has the
median 0.84 (1 % below 0.80, 1 % above 0.91), with the nearest other passage 0.95, with the tenth 0.90; ten
principal axes hold 28 % of what differs, fifty 62 %, a hundred 80 %.

So a vector here is a common part, plus the parts of a topic, of a document of that topic and of the passage,
each drawn along axes whose variances fall as measured, brought to length 1. A question is a passage, moved.
``python benchmarks/look_alike.py`` prints both columns.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from pipeline.types import FloatMatrix

__all__ = ["look_alike", "moved"]

_COMMON = 0.838
_TOPIC, _DOCUMENT, _PASSAGE = 0.025, 0.055, 0.08
_DOCUMENTS_A_TOPIC = 8
_QUESTION = 0.13
_BATCH = 8192


def look_alike(chunks: int, dimension: int, chunks_a_document: int, seed: int = 11) -> FloatMatrix:
    """Vectors of passages, those of a document one after another.

    Returns:
        float32, shape (chunks, dimension), rows of length 1.
    """
    rng = np.random.default_rng(seed)
    scales, common = _scales(dimension), _common(rng, dimension)
    documents = -(-chunks // chunks_a_document)
    topics = -(-documents // _DOCUMENTS_A_TOPIC)
    of_topic = _drawn(rng, topics, scales, _TOPIC)
    of_document = _drawn(rng, documents, scales, _DOCUMENT)
    of_document += of_topic[rng.integers(0, topics, documents)]
    made = np.empty((chunks, dimension), dtype=np.float32)
    for begin in range(0, chunks, _BATCH):
        rows = np.arange(begin, min(begin + _BATCH, chunks))
        part = common + of_document[rows // chunks_a_document] + _drawn(rng, len(rows), scales, _PASSAGE)
        made[rows] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return made


def moved(vectors: FloatMatrix, seed: int = 12) -> FloatMatrix:
    """Questions whose nearest passages are about these: each vector with a part of its own."""
    rng = np.random.default_rng(seed)
    part = vectors + _drawn(rng, len(vectors), _scales(vectors.shape[1]), _QUESTION)
    moved: FloatMatrix = (part / np.linalg.norm(part, axis=1, keepdims=True)).astype(np.float32)
    return moved


def _scales(dimension: int) -> FloatMatrix:
    """Standard deviations along the axes, of a sum of squares of 1."""
    axes = np.arange(dimension, dtype=np.float64)
    variances = np.exp(-axes / 300) / (axes + 20)
    scales: FloatMatrix = np.sqrt(variances / variances.sum()).astype(np.float32)
    return scales


def _common(rng: np.random.Generator, dimension: int) -> FloatMatrix:
    drawn = rng.standard_normal(dimension)
    common: FloatMatrix = (drawn * np.sqrt(_COMMON) / np.linalg.norm(drawn)).astype(np.float32)
    return common


def _drawn(rng: np.random.Generator, rows: int, scales: FloatMatrix, share: float) -> FloatMatrix:
    drawn: FloatMatrix = rng.standard_normal((rows, len(scales)), dtype=np.float32)
    drawn *= scales * np.float32(np.sqrt(share))
    return drawn


def described(vectors: FloatMatrix, seed: int = 1) -> dict[str, float]:
    """The figures of the module's docstring, for some vectors."""
    rng = np.random.default_rng(seed)
    some = vectors[rng.choice(len(vectors), min(len(vectors), 1000), replace=False)]
    near = np.sort(some @ vectors.T, axis=1)[:, ::-1]  # the first is the passage itself
    pairs = np.einsum(
        "ij,ij->i", vectors[rng.integers(0, len(vectors), 9000)], vectors[rng.integers(0, len(vectors), 9000)]
    )
    spectrum = np.linalg.svd(some - some.mean(axis=0), compute_uv=False) ** 2
    axes = np.cumsum(spectrum) / spectrum.sum()
    return {
        "length of the mean": float(np.linalg.norm(vectors.mean(axis=0))),
        **{f"cosine of two passages, {part} %": float(np.percentile(pairs, part)) for part in (1, 50, 99)},
        **{f"cosine with neighbour {place}": float(np.median(near[:, place])) for place in (1, 10, 100)},
        **{f"variance in {count} axes": float(axes[count - 1]) for count in (10, 50, 100)},
    }


def main() -> None:
    """Print how a real index and made vectors compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, help="folder of a real index")
    parser.add_argument("--chunks", type=int, default=1000)
    options = parser.parse_args()
    columns = {f"made ({options.chunks})": described(look_alike(options.chunks, 384, 8))}
    if options.index:
        from pipeline.stores import json_store

        vectors = np.asarray(json_store.load(options.index).vectors)
        columns = {f"real ({len(vectors)})": described(vectors)} | columns
    print(f"{'':34}" + "".join(f"{name:>16}" for name in columns))
    for name in next(iter(columns.values())):
        print(f"{name:34}" + "".join(f"{column[name]:16.3f}" for column in columns.values()))


if __name__ == "__main__":
    main()
