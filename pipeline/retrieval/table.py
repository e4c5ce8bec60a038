"""Candidates under way through the stages: equal-length columns that are sorted and cut together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.index import Index, TokenStore, order_of
from pipeline.ranking import Scores, Ties, best_rows, ranks
from pipeline.rerankers.late_interaction import JoinedSimilarity, joined_similarity
from pipeline.rerankers.text_only import text_only_scores
from pipeline.retrieval.keyword import coverage, covered_share
from pipeline.snapshot import Pool
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens
from pipeline.types import Candidate, Chunk, FloatMatrix, Hit, QuestionTerm, Stage, TokenVectors

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Candidates in their present order.

    Attributes:
        rows: Rows of the index.
        ties: What equal scores are ordered by.
        order: Score that the present order rests on, falling.
        stages: Stage name -> score of each candidate, in the order the stages ran.
        ranks: Stage name -> rank of each candidate among all that the stage saw.
        covered: float32, shape (candidates, question terms).
        similarity: Question tokens against the chunk's tokens.
    """

    rows: tuple[int, ...]
    chunks: tuple[Chunk, ...]
    ties: Ties
    order: Scores
    stages: Mapping[str, Scores]
    ranks: Mapping[str, tuple[int, ...]]
    covered: FloatMatrix
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
        everyone = order_of(index).ranks[list(pool.rows)]
        first = {"cosine": pool.cosine, "bm25": pool.keyword, "fusion": pool.fused}
        rows, ties = pool.rows[:count], everyone[:count]
        similarity = _similarity(index.tokens, rows, question.vectors)
        covered = coverage(index.postings, terms, rows)
        second = {
            "text_only": text_only_scores(vector, index.text_vectors[list(rows)]),
            "coverage": covered_share(terms, covered),
            "late_interaction": similarity.scores(),
        }
        return cls(
            rows=rows,
            chunks=tuple(index.chunks[row] for row in rows),
            ties=ties,
            order=pool.fused[:count],
            stages={name: scores[:count] for name, scores in first.items()} | second,
            ranks={name: tuple(ranks(scores, everyone)[:count]) for name, scores in first.items()}
            | {name: tuple(ranks(scores, ties)) for name, scores in second.items()},
            covered=covered,
            similarity=tuple(similarity.matrices()),
        )

    def taken(self, places: Iterable[int]) -> Table:
        """Only these places, in this order; places beyond the end are passed over."""
        kept = [place for place in places if place < len(self.rows)]
        return replace(
            self,
            rows=tuple(self.rows[place] for place in kept),
            chunks=tuple(self.chunks[place] for place in kept),
            ties=self.ties[kept],
            order=self.order[kept],
            stages={name: scores[kept] for name, scores in self.stages.items()},
            ranks={name: tuple(column[place] for place in kept) for name, column in self.ranks.items()},
            covered=self.covered[kept],
            similarity=tuple(self.similarity[place] for place in kept),
        )

    def ordered(self, scores: Scores, name: str = "") -> Table:
        """Sorted by scores; with a name they are a stage of their own."""
        table = replace(self, order=scores)
        if name:
            table = replace(
                table,
                stages={**self.stages, name: scores},
                ranks={**self.ranks, name: tuple(ranks(scores, self.ties))},
            )
        return table.taken(best_rows(scores, len(scores), self.ties))

    def candidates(self, tokens: TokenStore, shown: int) -> tuple[Candidate, ...]:
        """What later stages get; the first ``shown`` with their token vectors."""
        return tuple(
            Candidate(hit, self.covered[place], _shown(tokens, row, place < shown), self.similarity[place])
            for place, (hit, row) in enumerate(zip(self._hits(), self.rows, strict=True))
        )

    def _hits(self) -> list[Hit]:
        columns = [
            [Stage(name, score, rank) for score, rank in zip(_rounded(scores), self.ranks[name], strict=True)]
            for name, scores in self.stages.items()
        ]
        rows = zip(self.chunks, _rounded(self.order), zip(*columns, strict=True), strict=True)
        return [
            Hit(chunk, score, place, stages) for place, (chunk, score, stages) in enumerate(rows, start=1)
        ]


def _shown(tokens: TokenStore, row: int, shown: bool) -> TokenVectors | None:
    return tokens[row] if shown else None


def _rounded(scores: Scores) -> list[float]:
    return [round(score, 6) for score in scores.tolist()]


def _similarity(tokens: TokenStore, rows: Sequence[int], question: FloatMatrix) -> JoinedSimilarity:
    if isinstance(tokens, QuantisedTokens | GatheredTokens):
        pairs = [tokens.scaled(row) for row in rows]
        return joined_similarity(question, [values for values, _ in pairs], [scales for _, scales in pairs])
    return joined_similarity(question, [tokens[row].vectors for row in rows])
