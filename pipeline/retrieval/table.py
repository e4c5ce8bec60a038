"""Candidates under way through the stages: equal-length columns that are sorted and cut together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.index import Index
from pipeline.rerankers.late_interaction import late_interaction_score, similarities
from pipeline.rerankers.text_only import text_only_scores
from pipeline.retrieval.candidates import Pool
from pipeline.retrieval.keyword import coverage, covered_share
from pipeline.retrieval.ranking import Scores, best_rows, ranks
from pipeline.types import Candidate, Chunk, FloatMatrix, Hit, QuestionTerm, Stage, TokenVectors

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Candidates in their present order.

    Attributes:
        rows: Rows of the index.
        order: Score that the present order rests on, falling.
        stages: Stage name -> score of each candidate, in the order the stages ran.
        ranks: Stage name -> rank of each candidate among all that the stage saw.
        covered: float32, shape (candidates, question terms).
        tokens: Token vectors of each chunk.
        similarity: Question tokens against the chunk's tokens.
    """

    rows: tuple[int, ...]
    chunks: tuple[Chunk, ...]
    order: Scores
    stages: Mapping[str, Scores]
    ranks: Mapping[str, tuple[int, ...]]
    covered: FloatMatrix
    tokens: tuple[TokenVectors, ...]
    similarity: tuple[FloatMatrix, ...]

    @classmethod
    def of(
        cls,
        index: Index,
        pool: Pool,
        count: int,
        *,
        vector: FloatMatrix,
        question: TokenVectors,
        terms: Sequence[QuestionTerm],
    ) -> Table:
        """The first ``count`` candidates of a pool, looked at token by token and word by word.

        Ranks of the first stages are those among the whole pool.
        """
        everyone = tuple(index.chunks[row] for row in pool.rows)
        first = {"cosine": pool.cosine, "bm25": pool.keyword, "fusion": pool.fused}
        rows = pool.rows[:count]
        tokens = tuple(index.tokens[row] for row in rows)
        similarity = tuple(similarities(question.vectors, [item.vectors for item in tokens]))
        late = np.array([late_interaction_score(matrix) for matrix in similarity], dtype=np.float32)
        covered = coverage(index.postings, terms, rows)
        second = {
            "text_only": text_only_scores(vector, index.text_vectors[list(rows)]),
            "coverage": covered_share(terms, covered),
            "late_interaction": late,
        }
        chunks = everyone[:count]
        return cls(
            rows=rows,
            chunks=chunks,
            order=pool.fused[:count],
            stages={name: scores[:count] for name, scores in first.items()} | second,
            ranks={name: tuple(_ranks(everyone, scores))[:count] for name, scores in first.items()}
            | {name: tuple(_ranks(chunks, scores)) for name, scores in second.items()},
            covered=covered,
            tokens=tokens,
            similarity=similarity,
        )

    def taken(self, places: Iterable[int]) -> Table:
        """Only these places, in this order; places beyond the end are passed over."""
        kept = [place for place in places if place < len(self.rows)]
        return replace(
            self,
            rows=tuple(self.rows[place] for place in kept),
            chunks=tuple(self.chunks[place] for place in kept),
            order=self.order[kept],
            stages={name: scores[kept] for name, scores in self.stages.items()},
            ranks={name: tuple(column[place] for place in kept) for name, column in self.ranks.items()},
            covered=self.covered[kept],
            tokens=tuple(self.tokens[place] for place in kept),
            similarity=tuple(self.similarity[place] for place in kept),
        )

    def ordered(self, scores: Scores, name: str = "") -> Table:
        """Sorted by scores; with a name they are a stage of their own."""
        table = replace(self, order=scores)
        if name:
            table = replace(
                table,
                stages={**self.stages, name: scores},
                ranks={**self.ranks, name: tuple(_ranks(self.chunks, scores))},
            )
        return table.taken(best_rows(scores, len(scores), _by_id(self.chunks)))

    def candidates(self) -> tuple[Candidate, ...]:
        """What later stages get."""
        return tuple(
            Candidate(self._hit(place), self.covered[place], self.tokens[place], self.similarity[place])
            for place in range(len(self.rows))
        )

    def _hit(self, place: int) -> Hit:
        stages = tuple(
            Stage(name, round(float(scores[place]), 6), self.ranks[name][place])
            for name, scores in self.stages.items()
        )
        return Hit(self.chunks[place], round(float(self.order[place]), 6), place + 1, stages)


def _by_id(chunks: tuple[Chunk, ...]) -> Callable[[int], str]:
    return lambda place: chunks[place].id


def _ranks(chunks: tuple[Chunk, ...], scores: Scores) -> list[int]:
    return ranks(scores, _by_id(chunks))
