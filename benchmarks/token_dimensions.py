"""What token vectors of fewer dimensions cost in quality: late interaction over projected ones, as a table.

    python benchmarks/token_dimensions.py --data ../shared/data --models MODELS

A projection is learnt from the token vectors of the other sets (principal components, then a random
rotation among them, so that one byte a number suits all of them) or is a random one. «centred» takes the
mean of all token vectors off instead. Sentences: the answer is in the two best ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from quality import search
from question_sets import CACHE, QuestionSet, RememberingEmbedder, load_sets

from pipeline.answer.sentences import choose_sentences
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.embedders.tokenised import unit_rows
from pipeline.evaluation.metrics import mean_reciprocal_rank, recall_at
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.settings import IndexSettings
from pipeline.stores.token_store import pack_tokens, quantise
from pipeline.types import Encoded, FloatMatrix, IntMatrix, Role, TokenVectors

Projection = Callable[[FloatMatrix], FloatMatrix]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the token vectors of some sets: mean, and principal axes in columns, the strongest first."""

    mean: FloatMatrix
    axes: FloatMatrix

    @classmethod
    def of(cls, sets: Sequence[QuestionSet]) -> Statistics:
        """Look at every token of every set."""
        dimension = sets[0].index.manifest.dimension
        total, products, count = np.zeros(dimension), np.zeros((dimension, dimension)), 0
        for one in sets:
            for row in range(len(one.index.tokens)):
                vectors = one.index.tokens[row].vectors.astype(np.float64)
                total += vectors.sum(axis=0)
                products += vectors.T @ vectors
                count += len(vectors)
        axes = np.linalg.eigh(products)[1][:, ::-1]
        return cls((total / count).astype(np.float32), axes.astype(np.float32))


class Projected:
    """An embedder whose token vectors are projected.

    Args:
        embedder: Makes the vectors.
        project: What becomes of its token vectors.
    """

    def __init__(self, embedder: Embedder, project: Projection) -> None:
        self._embedder = embedder
        self._project = project
        made = project(np.ones((1, embedder.spec.dimension), np.float32))
        self.spec: EmbedderSpec = replace(embedder.spec, dimension=made.shape[1])

    def encode(
        self, texts: Sequence[str], role: Role, *, with_tokens: bool = False, progress: Progress | None = None
    ) -> Encoded:
        """See `pipeline.ports.Embedder`."""
        encoded = self._embedder.encode(texts, role, with_tokens=with_tokens, progress=progress)
        tokens = encoded.tokens
        return replace(encoded, tokens=tokens and tuple(projected(one, self._project) for one in tokens))

    def token_spans(self, text: str) -> IntMatrix:
        """See `pipeline.ports.Embedder`."""
        return self._embedder.token_spans(text)


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["kb_bsl", "xquad-ru", "xquad-en"])
    parser.add_argument("--dimensions", nargs="*", type=int, default=[256, 192, 128])
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / "multilingual-e5-small", threads=2)
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    everything = load_sets(arguments.data, inner, IndexSettings())
    print(f"{'':12}{'':22}{'R@1':>7}{'R@3':>7}{'MRR':>7}{'sentences':>11}{'ms':>7}")
    for one in everything:
        if one.name in arguments.sets:
            line(one, "as they are", embedder)
            # The two XQuAD are translations of each other.
            others = [other for other in everything if other.name[:5] != one.name[:5]]
            for name, project in projections(Statistics.of(others), arguments.dimensions):
                rows = range(len(one.index.tokens))
                texts = [projected(one.index.tokens[row], project) for row in rows]
                packed = pack_tokens(
                    [(quantise(text.vectors), text.spans) for text in texts], texts[0].vectors.shape[1]
                )
                line(
                    replace(one, index=replace(one.index, tokens=packed)), name, Projected(embedder, project)
                )


def projections(known: Statistics, dimensions: Sequence[int]) -> list[tuple[str, Projection]]:
    """All that are compared, with their names."""
    found: list[tuple[str, Projection]] = [("centred", lambda vectors: vectors - known.mean)]
    random = np.random.default_rng(3)
    for count in dimensions:
        turn = np.linalg.qr(random.standard_normal((count, count)))[0].astype(np.float32)
        anyhow = np.linalg.qr(random.standard_normal(known.axes.shape))[0].astype(np.float32)
        found.append((f"{count} principal", _times(known.axes[:, :count] @ turn)))
        found.append((f"{count} random", _times(anyhow[:, :count])))
    return found


def projected(tokens: TokenVectors, project: Projection) -> TokenVectors:
    """Token vectors of length 1 again."""
    return TokenVectors(unit_rows(project(tokens.vectors)), tokens.spans)


def line(one: QuestionSet, name: str, embedder: Embedder) -> None:
    """Search all answerable questions and print."""
    run = search(one, embedder)
    ranks, held = run.ranks(), []
    for question, found in zip(run.questions, run.found, strict=True):
        chosen = choose_sentences(found, sources=3, count=2, tokens=10_000)[:2]
        texts = [sentence.text.lower() for sentence in chosen if sentence.chunk.file in question.files]
        held.append(any(answer.lower() in text for answer in question.answers for text in texts))
    milliseconds = np.median([found.timings_ms["late_interaction"] for found in run.found])
    print(
        f"{one.name:12}{name:22}{recall_at(ranks, 1):7.3f}{recall_at(ranks, 3):7.3f}"
        f"{mean_reciprocal_rank(ranks):7.3f}{np.mean(held):11.3f}{milliseconds:7.2f}",
        flush=True,
    )


def _times(matrix: FloatMatrix) -> Projection:
    return lambda vectors: vectors @ matrix


if __name__ == "__main__":
    main()
